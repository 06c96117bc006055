"""Work since the last reading is counted once, whichever process did it."""

from __future__ import annotations

import json
from datetime import timedelta
from math import inf

import pytest

from bot.core.messages import RunOptions
from bot.storage.journal import RecordedStep
from bot.storage.meter import OVERLAP, Meter, RunEnded, StepDone
from bot.storage.overview import Queue
from bot.storage.spending import Amount
from bot.storage.store import Store
from tests.unit.samples import NOW
from tests.unit.storage.past import Past


@pytest.fixture
def past(store: Store) -> Past:
    return Past(store, at=NOW + timedelta(minutes=10))


@pytest.fixture
def meter(store: Store, monkeypatch: pytest.MonkeyPatch) -> Meter:
    monkeypatch.setattr("bot.storage.meter.QUICK_SECONDS", inf)  # each look sums, however slow
    return Meter(store.database, NOW)


async def test_every_step_and_every_end_is_told_once(past: Past, meter: Meter) -> None:
    await past.answered(steps=2)
    first = await meter.look()
    assert first.steps == (StepDone("model", 0.5), StepDone("model", 0.5))
    assert first.ended == (RunEnded("slack", "answered", 0.0),)
    again = await meter.look()
    assert (again.steps, again.ended) == ((), ())
    past.at += timedelta(seconds=1)
    await past.answered()
    assert len((await meter.look()).steps) == 1


async def test_what_comes_late_is_told_all_the_same(past: Past, meter: Meter) -> None:
    await past.answered()
    await meter.look()
    past.at -= OVERLAP / 2  # another process' clock, or a transaction that took long
    await past.answered(steps=3)
    late = await meter.look()
    assert (len(late.steps), len(late.ended)) == (3, 1)
    assert (await meter.look()).steps == ()


async def test_what_was_before_the_start_is_not_told(past: Past, meter: Meter) -> None:
    past.at = NOW - timedelta(seconds=1)
    await past.answered()
    look = await meter.look()
    assert (look.steps, look.ended) == ((), ())
    assert look.states == {"answered": 1, "accepted": 0, "running": 0}


async def test_how_long_runs_took_and_how_they_ended(past: Past, meter: Meter) -> None:
    run, _ = await past.begun()
    ended = past.at + timedelta(seconds=7)
    await past.store.end(run.id, run.attempt, "stopped", ended)
    (told,) = (await meter.look()).ended
    assert (told.platform, told.state) == ("slack", "stopped")
    assert told.seconds == pytest.approx(7, 0.01)


async def test_what_was_spent_is_the_sum_of_all_time(past: Past, meter: Meter) -> None:
    past.at = NOW - timedelta(days=3)
    await past.answered(steps=2)
    past.at = NOW + timedelta(minutes=1)
    await past.answered(steps=1)
    spent = (await meter.look()).spent
    assert spent == {"slack": Amount(micro_usd=3_000, model_calls=3, questions=2)}


async def test_the_queue_is_what_waits_and_works(past: Past, meter: Meter) -> None:
    assert (await meter.look()).queue == Queue(0, 0, None)
    await past.begun()
    await past.store.accept("w", past.message("And?", "ada"), RunOptions(), past.at)
    look = await meter.look()
    assert look.queue == Queue(1, 1, past.at)
    assert look.states == {"running": 1, "accepted": 1}


async def test_only_searches_come_with_their_results(past: Past, meter: Meter) -> None:
    _, journal = await past.begun()
    result = json.dumps({"hits": [], "failures": ["brave: It is down."]})
    await journal.record(RecordedStep("s", "search", "tower", result, 0.1, past.at))
    await journal.record(RecordedStep("r", "ready", "", "[]", 0.1, past.at))
    look = await meter.look()
    assert [search.result for search in look.searches] == [result]
    assert [step.kind for step in look.steps] == ["search"]
