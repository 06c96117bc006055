"""The numbers for Prometheus."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from math import inf
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr

from bot.core.errors import AddressRefused, PageUnreadable, ProviderUnavailable, Stopped
from bot.core.measurements import NAMES, Observed, outcome_of, timed
from bot.core.messages import RunOptions
from bot.core.settings import Settings
from bot.operation.health import http_endpoint
from bot.operation.metrics import CONTENT_TYPE, Metrics, metrics_routes
from bot.pages.workers import Workers
from bot.search.blend import Search
from bot.search.provider import Policy, Query
from bot.service.platform import Connection
from bot.storage.journal import RecordedStep
from bot.storage.spending import Amount, Payer, add_spent
from bot.storage.store import Store, open_store
from tests.fakes import sqlite
from tests.fakes.postgres import Postgres
from tests.unit.storage.past import Past, a_channel_thread

TOKEN = "a-long-enough-token"
SECRET = "What is the salary of Ada Lovelace?"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_store(sqlite.migrated(tmp_path))
    yield store
    await store.close()


@pytest.fixture
def past(store: Store) -> Past:
    return Past(store, at=datetime.now(UTC) + timedelta(seconds=1))


@pytest.fixture
def observed() -> Observed:
    return Observed()


@pytest.fixture
def metrics(store: Store, observed: Observed, monkeypatch: pytest.MonkeyPatch) -> Metrics:
    monkeypatch.setattr("bot.storage.meter.QUICK_SECONDS", inf)  # each look sums, however slow
    return Metrics(store.database, observed)


async def families(metrics: Metrics) -> dict[str, Metric]:
    text = (await metrics.exposition()).decode()
    return {family.name: family for family in text_string_to_metric_families(text)}


async def numbers(metrics: Metrics) -> dict[str, float]:
    """Every sample as ``name{label,label}``, values of labels by their names' order."""
    found = {}
    for family in (await families(metrics)).values():
        for sample in family.samples:
            labels = ",".join(value for _, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}"] = sample.value
    return found


# ---------------------------------------------------------------- what the database keeps


async def test_runs_and_steps_are_counted_once_between_two_looks(
    metrics: Metrics, past: Past
) -> None:
    assert "footnote_step_seconds_count{model}" not in await numbers(metrics)
    await past.answered(steps=2)
    for _ in range(2):
        told = await numbers(metrics)
        assert told["footnote_step_seconds_count{model}"] == 2
        assert told["footnote_step_seconds_sum{model}"] == 1.0
        assert told["footnote_run_seconds_count{slack,answered}"] == 1
        assert told["footnote_runs{answered}"] == 1
    assert told["footnote_runs{failed}"] == 0


async def test_what_models_cost_is_told_by_platform(metrics: Metrics, past: Past) -> None:
    await past.answered(steps=3)
    told = await numbers(metrics)
    assert told["footnote_model_calls_total{slack}"] == 3
    assert told["footnote_model_cost_usd_total{slack}"] == pytest.approx(0.003)
    assert told["footnote_questions_total{slack}"] == 1
    assert told["footnote_model_tokens_total{output,slack}"] == 0


async def test_the_queue_is_told_with_its_age(metrics: Metrics, past: Past) -> None:
    past.at = datetime.now(UTC) - timedelta(minutes=5)
    await past.begun()
    await past.store.accept("w", past.message("And?", "ada"), RunOptions(), past.at)
    told = await numbers(metrics)
    assert told["footnote_queue_waiting{}"] == 1
    assert told["footnote_queue_running{}"] == 1
    assert 300 <= told["footnote_queue_oldest_seconds{}"] < 400


async def failing(past: Past, *failures: str) -> None:
    _, journal = await past.begun()
    hit = {"title": "T", "url": "https://e.org", "snippet": "", "provider": "wikipedia"}
    kept = json.dumps({"hits": [hit], "failures": failures})
    await journal.record(RecordedStep("s", "search", "tower", kept, 0.1, past.at))


async def test_failures_of_providers_are_counted(metrics: Metrics, past: Past) -> None:
    await failing(past, "brave: It is down.")
    told = await numbers(metrics)
    assert told["footnote_provider_errors_total{brave}"] == 1
    assert told["footnote_provider_searches_with_hits_total{wikipedia}"] == 1


async def test_names_that_a_provider_makes_up_become_one_label(
    metrics: Metrics, past: Past
) -> None:
    await failing(past, "brave: It is down. made-up-1: No. made-up-2: No.")
    told = await numbers(metrics)
    assert told["footnote_provider_errors_total{other}"] == 2
    assert not any("made-up" in name for name in told)


async def test_live_workers_are_counted_where_there_is_a_queue(
    postgres: Postgres, metrics: Metrics
) -> None:
    assert "footnote_queue_workers{}" not in await numbers(metrics)
    queued = await open_store(postgres.migrated())
    async with queued.database.write() as db:
        for age in ("0 seconds", "1 hour"):
            await db.execute(
                sa.text(
                    "INSERT INTO procrastinate_workers (last_heartbeat)"
                    " VALUES (now() - CAST(:age AS interval))"
                ),
                {"age": age},
            )
    told = await numbers(Metrics(queued.database, Observed()))
    assert told["footnote_queue_workers{}"] == 1
    await queued.close()


# ---------------------------------------------------------------- what the process sees


async def test_calls_of_platforms_are_told_with_their_refusals(
    metrics: Metrics, observed: Observed
) -> None:
    observed.calls.add("slack", "chat.postMessage", "429", 0.5)
    observed.calls.add("slack", "chat.postMessage", "200", 0.25)
    told = await numbers(metrics)
    assert told["footnote_platform_calls_total{chat.postMessage,slack,429}"] == 1
    assert told["footnote_platform_call_seconds_total{chat.postMessage,slack}"] == 0.75


class Down:
    name = "brave"
    kind = "web"

    async def search(self, query: Query) -> tuple[Any, ...]:
        raise ProviderUnavailable("It is down.")


async def test_providers_are_told_with_their_time_outcome_and_rest(
    metrics: Metrics, observed: Observed
) -> None:
    search = Search(
        [Down()],  # type: ignore[list-item]
        policies={"brave": Policy(attempts=1, failures=1, rest=60)},
        observe=observed.search_observer,
    )
    observed.resting = search.resting
    assert "footnote_provider_resting_seconds{brave}" not in await numbers(metrics)
    for _ in range(2):  # the second time it is not asked
        with pytest.raises(Exception, match="brave"):
            await search.search(Query("tower", 5))
    told = await numbers(metrics)
    assert told["footnote_provider_request_seconds_count{unavailable,brave}"] == 1
    assert 0 < told["footnote_provider_resting_seconds{brave}"] <= 60
    await search.aclose()


async def test_fetches_replies_and_onlookers_are_told(metrics: Metrics, observed: Observed) -> None:
    observed.record_fetch("ok", 0.2)
    observed.record_fetch("unusable", 3)
    observed.model_observer("claude-x")("limited", 7)
    observed.streams = lambda: 4
    told = await numbers(metrics)
    assert told["footnote_fetch_seconds_count{ok}"] == 1
    assert told["footnote_fetch_seconds_sum{unusable}"] == 3
    assert told["footnote_model_request_seconds_bucket{5.0,claude-x,limited}"] == 0
    assert told["footnote_model_request_seconds_bucket{10.0,claude-x,limited}"] == 1
    assert told["footnote_event_streams{}"] == 4


async def test_readers_and_uploads_are_told(
    metrics: Metrics, observed: Observed, store: Store
) -> None:
    workers = Workers(2)
    observed.readers["pages"] = workers
    payer = Payer("web", "console", "ada", "ada")
    async with store.database.write() as db:
        await add_spent(db, payer, datetime.now(UTC).date(), Amount(uploaded_bytes=2_000))
    told = await numbers(metrics)
    states = {name: told[f"footnote_readers{{pages,{name}}}"] for name in ("allowed", "busy")}
    assert states == {"allowed": 2, "busy": 0}
    assert told["footnote_readers{pages,waiting}"] == 0
    assert told["footnote_readers_interrupted_total{pages}"] == 0
    assert told["footnote_uploaded_bytes_total{web}"] == 2_000
    await workers.aclose()


async def test_more_models_than_anyone_uses_become_one_label(
    metrics: Metrics, observed: Observed
) -> None:
    for number in range(10 * NAMES):
        observed.model_observer(f"model-{number}")("ok", 1)
    told = await numbers(metrics)
    counts = [name for name in told if name.startswith("footnote_model_request_seconds_count")]
    assert len(counts) == NAMES + 1
    assert told["footnote_model_request_seconds_count{other,ok}"] == 9 * NAMES


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (AddressRefused("No."), "refused"),
        (PageUnreadable("No."), "unusable"),
        (ProviderUnavailable("No."), "unavailable"),
        (ProviderUnavailable("No.", retry_after=3), "limited"),
        (Stopped("No."), "cancelled"),
        (asyncio.CancelledError(), "cancelled"),
        (ZeroDivisionError(), "error"),
    ],
)
def test_errors_are_told_by_their_meaning(error: BaseException, outcome: str) -> None:
    told: list[str] = []
    with (
        pytest.raises(type(error)),
        timed(lambda outcome, seconds: told.append(outcome)),
    ):
        raise error
    assert told == [outcome] == [outcome_of(error)]


# ---------------------------------------------------------------- while the database is away


async def test_without_the_database_the_rest_is_told_and_that_it_is_away(
    tmp_path: Path, observed: Observed
) -> None:
    store = await open_store(sqlite.migrated(tmp_path))
    metrics = Metrics(store.database, observed)
    told = await numbers(metrics)
    assert (told["footnote_database_up{}"], told["footnote_database_outages_total{}"]) == (1, 0)
    await store.close()
    folder = Path(tmp_path)
    for path in folder.iterdir():
        if path.name.startswith("footnote.sqlite"):
            path.rename(path.with_name(f"away-{path.name}"))
    path = next(folder.glob("away-*.sqlite"))
    (folder / path.name.removeprefix("away-")).mkdir()  # what stands there is no database
    observed.record_fetch("ok", 1)
    told = await numbers(metrics)
    assert told["footnote_database_up{}"] == 0
    assert told["footnote_database_outages_total{}"] == 1
    assert told["footnote_fetch_seconds_count{ok}"] == 1
    assert not any(name.startswith(("footnote_runs", "footnote_queue")) for name in told)
    await store.close()


# ---------------------------------------------------------------- form

# https://prometheus.io/docs/practices/naming/: base units, counters end in _total. What ends in
# neither counts things.
UNITS = ("_seconds", "_bytes", "_info", "_usd")
COUNTS = (
    "footnote_runs",
    "footnote_readers",
    "footnote_readers_interrupted",
    "footnote_questions",
    "footnote_queue_waiting",
    "footnote_queue_running",
    "footnote_queue_workers",
    "footnote_event_streams",
    "footnote_database_up",
    "footnote_database_writable",
    "footnote_database_outages",
    "footnote_platform_state",
    "footnote_platform_token_refusals",
    "footnote_model_calls",
    "footnote_model_calls_unpriced",
    "footnote_model_tokens",
    "footnote_platform_calls",
    "footnote_provider_errors",
    "footnote_provider_searches_with_hits",
)
LABELS = {
    "platform", "state", "kind", "provider", "direction", "method", "status", "outcome", "model",
    "version", "le",
}  # fmt: skip


async def test_every_metric_has_a_name_a_type_and_a_sentence_by_prometheus_conventions(
    metrics: Metrics, past: Past, observed: Observed
) -> None:
    await past.answered()
    past.thread = a_channel_thread("t2")
    await failing(past, "brave: It is down.")
    observed.calls.add("slack", "chat.postMessage", "200", 0.25)
    observed.record_fetch("ok", 1)
    observed.model_observer("m")("ok", 1)
    observed.search_observer("brave")("ok", 1)
    observed.resting = lambda: {"brave": 3.0}
    observed.connections = {"slack": Connection()}
    observed.readers["uploads"] = Workers(1)
    text = (await metrics.exposition()).decode()
    for family in text_string_to_metric_families(text):
        if not family.name.startswith("footnote_"):
            continue  # of the process and of Python, by the library
        assert family.samples, family.name
        assert re.fullmatch(r"[a-z_]+", family.name)
        assert family.name.endswith(UNITS) or family.name in COUNTS, family.name
        assert family.documentation.endswith("."), family.name
        assert family.type in ("counter", "gauge", "histogram")
        for sample in family.samples:
            assert set(sample.labels) <= LABELS, sample.name
            assert (family.type == "counter") == sample.name.endswith("_total"), sample.name
    lines = [line for line in text.splitlines() if line.startswith("# HELP footnote_")]
    assert len(lines) == len(set(lines)) == len({line.split()[2] for line in lines})


async def test_nothing_that_anyone_said_is_in_it(
    metrics: Metrics, past: Past, observed: Observed
) -> None:
    await failing(past, f"brave: {SECRET}")
    past.thread = a_channel_thread("t2")
    await past.answered(author="ada-lovelace")
    await past.store.accept("w", past.message(SECRET, "ada-lovelace"), RunOptions(), past.at)
    text = (await metrics.exposition()).decode()
    for word in ("salary", "Lovelace", "ada", "T1", "C1"):
        assert word not in text


# ---------------------------------------------------------------- who may read it


async def read(
    store: Store, host: str = "", headers: dict[str, str] | None = None, **settings: Any
) -> httpx.Response:
    given = Settings(_env_file=None, **settings)  # type: ignore[call-arg]
    async with (
        http_endpoint("127.0.0.1", 0, metrics_routes(given, store.database, Observed())) as address,
        httpx.AsyncClient(trust_env=False) as client,
    ):
        told = {**(headers or {}), **({"Host": host} if host else {})}
        return await client.get(f"{address}/metrics", headers=told)


async def test_this_machine_may_read_it_with_nothing_set(store: Store) -> None:
    answer = await read(store)
    assert (answer.status_code, answer.headers["content-type"]) == (200, CONTENT_TYPE)


@pytest.mark.parametrize(
    ("host", "headers"),
    [
        ("footnote.example.com", {}),
        ("", {"X-Forwarded-For": "203.0.113.7"}),
        ("", {"Forwarded": "for=203.0.113.7"}),
    ],
)
async def test_others_may_not_and_are_told_what_would_let_them(
    store: Store, host: str, headers: dict[str, str]
) -> None:
    answer = await read(store, host, headers)
    assert answer.status_code == 403
    assert "FOOTNOTE_CONSOLE_TOKEN" in answer.text


@pytest.mark.parametrize(
    ("shown", "status"),
    [(f"Bearer {TOKEN}", 200), (f"bearer {TOKEN}", 200), ("Bearer wrong", 403), ("", 403)],
)
async def test_where_there_is_a_token_it_has_to_be_shown(
    store: Store, shown: str, status: int
) -> None:
    headers = {"Authorization": shown} if shown else {}
    answer = await read(store, headers=headers, console_token=TOKEN)
    assert answer.status_code == status
    assert TOKEN not in answer.text


async def test_who_guesses_the_token_gets_ten_tries(store: Store) -> None:
    given = Settings(_env_file=None, console_token=SecretStr(TOKEN))  # type: ignore[call-arg]
    routes = metrics_routes(given, store.database, Observed())
    async with (
        http_endpoint("127.0.0.1", 0, routes) as address,
        httpx.AsyncClient(trust_env=False) as client,
    ):
        told = []
        for n, shown in enumerate([*(f"guess{n}" for n in range(12)), TOKEN]):
            headers = {"Authorization": f"Bearer {shown}", "X-Forwarded-For": f"203.0.113.{n}"}
            told.append(await client.get(f"{address}/metrics", headers=headers))
    assert {answer.status_code for answer in told} == {403}
    assert ["too many" in answer.text for answer in told] == [False] * 10 + [True] * 3


@pytest.mark.parametrize(
    "headers",
    [
        [("Authorization", "Bearer wrong"), ("Authorization", f"Bearer {TOKEN}")],
        [("Authorization", f"Bearer {TOKEN}"), ("Authorization", f"Bearer {TOKEN}")],
        [("Authorization", f"Bearer {TOKEN}"), ("Host", "127.0.0.1@evil.example")],
    ],
)
async def test_a_request_that_does_not_say_clearly_who_asks_reads_nothing(
    store: Store, headers: list[tuple[str, str]]
) -> None:
    given = Settings(_env_file=None, console_token=SecretStr(TOKEN))  # type: ignore[call-arg]
    async with (
        http_endpoint("127.0.0.1", 0, metrics_routes(given, store.database, Observed())) as address,
        httpx.AsyncClient(trust_env=False) as client,
    ):
        answer = await client.get(f"{address}/metrics", headers=headers)
    assert (answer.status_code, "footnote_" in answer.text) == (403, False)


# ---------------------------------------------------------------- what cannot be written


async def test_a_database_that_can_only_be_read_is_told(store: Store, metrics: Metrics) -> None:
    assert (await numbers(metrics))["footnote_database_writable{}"] == 1
    async with store.database.write() as db:
        await db.exec_driver_sql("PRAGMA query_only = ON")  # what a read-only file answers
    told = await numbers(Metrics(store.database, Observed()))
    assert (told["footnote_database_up{}"], told["footnote_database_writable{}"]) == (1, 0)


async def test_a_replica_is_told(postgres: Postgres) -> None:
    url = postgres.migrated()
    store = await open_store(url)
    async with store.database.write() as db:
        name = store.database.url.database
        await db.execute(sa.text(f"ALTER DATABASE {name} SET default_transaction_read_only = on"))
    await store.close()
    store = await open_store(url)
    told = await numbers(Metrics(store.database, Observed()))
    assert (told["footnote_database_up{}"], told["footnote_database_writable{}"]) == (1, 0)
    await store.close()


# ---------------------------------------------------------------- the state of platforms


async def test_the_state_of_platforms_is_told(metrics: Metrics, observed: Observed) -> None:
    slack, discord = Connection(), Connection()
    observed.connections = {"slack": slack, "discord": discord}
    slack.mark_connected()
    discord.mark_failed("The token was revoked.")
    told = await numbers(metrics)
    assert told["footnote_platform_state{slack,connected}"] == 1
    assert told["footnote_platform_state{slack,failed}"] == 0
    assert told["footnote_platform_state{discord,failed}"] == 1
    assert told["footnote_platform_token_refusals_total{slack}"] == 0
    slack.mark_unreachable("It is gone.")
    assert (await numbers(metrics))["footnote_platform_state{slack,lost}"] == 1
