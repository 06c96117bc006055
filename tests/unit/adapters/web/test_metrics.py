"""The numbers for Prometheus."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot.messages import RunOptions
from bot.storage.journal import RecordedStep
from tests.unit.adapters.web.insight_stage import Stage, opened
from tests.unit.storage.past import Past


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with opened(tmp_path) as stage:
        yield stage


@pytest.fixture
def past(stage: Stage) -> Past:
    return Past(stage.store, at=datetime.now(UTC) + timedelta(seconds=1))


async def numbers(stage: Stage) -> dict[str, float]:
    """Every sample as ``name{label,label}``, values of labels by their names' order."""
    answer = await stage.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = {}
    for family in text_string_to_metric_families(answer.text):
        assert family.documentation
        for sample in family.samples:
            labels = ",".join(value for _, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}"] = sample.value
    return found


async def test_runs_and_steps_are_counted_once_between_two_looks(stage: Stage, past: Past) -> None:
    assert "footnote_step_seconds_count{model}" not in await numbers(stage)
    await past.answered(steps=2)
    for _ in range(2):
        told = await numbers(stage)
        assert told["footnote_step_seconds_count{model}"] == 2
        assert told["footnote_step_seconds_sum{model}"] == 1.0
        assert told["footnote_run_seconds_count{slack,answered}"] == 1
        assert told["footnote_runs{answered}"] == 1
    assert told["footnote_runs{failed}"] == 0


async def test_what_models_cost_is_told_by_platform(stage: Stage, past: Past) -> None:
    await past.answered(steps=3)
    told = await numbers(stage)
    assert told["footnote_model_calls_total{slack}"] == 3
    assert told["footnote_model_cost_usd_total{slack}"] == pytest.approx(0.003)
    assert told["footnote_questions_total{slack}"] == 1
    assert told["footnote_model_tokens_total{output,slack}"] == 0


async def test_the_queue_is_told_with_its_age(stage: Stage, past: Past) -> None:
    past.at = datetime.now(UTC) - timedelta(minutes=5)
    await past.begun()
    await past.store.accept("w", past.message("And?", "ada"), RunOptions(), past.at)
    told = await numbers(stage)
    assert told["footnote_queue_waiting{}"] == 1
    assert told["footnote_queue_running{}"] == 1
    assert 300 <= told["footnote_queue_oldest_seconds{}"] < 400


async def test_failures_of_providers_are_counted(stage: Stage, past: Past) -> None:
    await numbers(stage)
    _, journal = await past.begun()
    hit = {"title": "T", "url": "https://e.org", "snippet": "", "provider": "wikipedia"}
    kept = json.dumps({"hits": [hit], "failures": ["brave: It is down."]})
    await journal.record(RecordedStep("s", "search", "tower", kept, 0.1, past.at))
    told = await numbers(stage)
    assert told["footnote_provider_errors_total{brave}"] == 1
    assert told["footnote_provider_searches_with_hits_total{wikipedia}"] == 1


async def test_calls_of_platforms_are_told_with_their_refusals(stage: Stage) -> None:
    stage.console.calls.add("slack", "chat.postMessage", "429", 0.5)
    stage.console.calls.add("slack", "chat.postMessage", "200", 0.25)
    told = await numbers(stage)
    assert told["footnote_platform_calls_total{chat.postMessage,slack,429}"] == 1
    assert told["footnote_platform_call_seconds_total{chat.postMessage,slack}"] == 0.75
