"""Metrics for Prometheus: those of the whole installation come from the database, those of this
process from ``observing.Observed``.

Metrics from the database count the work of all processes since this one started. Several processes
report the same values (take ``max``, not ``sum``). While the database is away, they are left out
and ``footnote_database_up`` is 0.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import get_args

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from bot import __version__
from bot.core.errors import StorageUnavailable
from bot.core.measurements import Observed
from bot.core.settings import Settings
from bot.operation.console_access import FORWARDED, Guesses, bearer_of, is_from_here, why_unclear
from bot.research.outcomes import health
from bot.search.registry import provider_names
from bot.service.platform import State
from bot.storage.database import Database
from bot.storage.meter import Look, Meter

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LOOK_SECONDS = 5.0  # for the database to answer: Prometheus itself waits for ten

STATES = ("accepted", "running", "answered", "partial", "not_found", "failed", "stopped")
# Seconds. A step takes milliseconds (a stored page) to minutes (a long answer), a run longer.
STEP_BUCKETS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120)
RUN_BUCKETS = (1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1_800)


def metrics_routes(
    settings: Settings, database: Database, observed: Observed, *, is_guarded: bool = False
) -> list[BaseRoute]:
    """Return the route ``/metrics`` for a process, open to those whom the settings allow.

    ``is_guarded`` is True if the console is open: its sign-in already protects this route.
    """
    if is_guarded:
        return []
    metrics = Metrics(database, observed, settings)
    guesses = Guesses(settings.console_token)

    async def exposed(request: Request) -> Response:
        if refusal := _refusal(settings, guesses, request):
            return PlainTextResponse(refusal, status_code=403)
        return await metrics.answer(request)

    return [Route("/metrics", exposed, methods=["GET"])]


def _refusal(settings: Settings, guesses: Guesses, request: Request) -> str:
    """Return why the client may not read the metrics, as the console would say; "" if it may."""
    if unclear := why_unclear(request.headers.getlist):
        return unclear
    peer = request.client.host if request.client else ""
    if settings.console_token is not None:
        shown = bearer_of(request.headers.get("authorization", ""))
        guess = "wrong" if shown is None else guesses.judge(shown, peer)
        if guess == "too many":
            return "Those were too many wrong tokens: wait a minute."
        if guess == "right":
            return ""
        return "Send FOOTNOTE_CONSOLE_TOKEN as Authorization: Bearer."
    is_forwarded = any(name in request.headers for name in FORWARDED)
    if is_from_here(peer, request.headers.get("host", "")) and not is_forwarded:
        return ""
    return (
        "Metrics are readable from this machine only: set FOOTNOTE_CONSOLE_TOKEN and send it as "
        "Authorization: Bearer."
    )


class Metrics:
    """``observed`` holds what this process has measured itself."""

    def __init__(
        self, database: Database, observed: Observed, settings: Settings | None = None
    ) -> None:
        self._meter = Meter(database, datetime.now(UTC))
        self._looking: asyncio.Task[Look] | None = None
        self._exposing = asyncio.Lock()
        self._kept = _Kept()
        self._providers = frozenset(provider_names(settings))
        # Creation times help only readers that cannot detect restarts from the counters.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = registry = CollectorRegistry(auto_describe=False)
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=registry)
        for own in (observed.searches, observed.fetches, observed.replies):
            registry.register(own)
        registry.register(self._kept)
        registry.register(_Seen(database, observed))
        self._ended = Histogram(
            "footnote_run_seconds",
            "From a question to its posted answer, by platform and outcome.",
            ["platform", "state"],
            buckets=RUN_BUCKETS,
            registry=registry,
        )
        self._steps = Histogram(
            "footnote_step_seconds",
            "Steps of research, by kind.",
            ["kind"],
            buckets=STEP_BUCKETS,
            registry=registry,
        )
        self._found = Counter(
            "footnote_provider_searches_with_hits",
            "Searches for which a provider returned hits.",
            ["provider"],
            registry=registry,
        )
        self._errors = Counter(
            "footnote_provider_errors",
            "Searches that a provider failed to answer.",
            ["provider"],
            registry=registry,
        )

    async def answer(self, request: Request) -> Response:
        """Return the metrics as an HTTP response."""
        return Response(await self.exposition(), media_type=CONTENT_TYPE)

    async def exposition(self) -> bytes:
        """Return the current metrics in Prometheus' text format."""
        async with self._exposing:
            self._kept.look = look = await self._look()
            self._kept.takes = look is not None and await self._takes()
            self._kept.now = datetime.now(UTC)
            if look is not None:
                self._count(look)
            return generate_latest(self.registry)

    async def _takes(self) -> bool:
        """Return True if the database accepts writes."""
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                await self._meter.try_to_write()
        except (StorageUnavailable, TimeoutError):
            return False
        return True

    async def _look(self) -> Look | None:
        """Read the database; None while it does not answer. A slow query continues: its result is
        counted the next time."""
        if self._looking is None:
            self._looking = asyncio.create_task(self._meter.look())
        await asyncio.wait({self._looking}, timeout=LOOK_SECONDS)
        if not self._looking.done():
            return None
        done, self._looking = self._looking, None
        try:
            return done.result()
        except StorageUnavailable:
            return None

    def _count(self, look: Look) -> None:
        for run in look.ended:
            self._ended.labels(run.platform, run.state).observe(run.seconds)
        for step in look.steps:
            self._steps.labels(step.kind).observe(step.seconds)
        for provider in health(look.searches):
            # Names are parsed from sentences that others may have influenced.
            name = provider.name if provider.name in self._providers else "other"
            self._found.labels(name).inc(provider.found)
            self._errors.labels(name).inc(provider.failed)


class _Kept:
    """Metrics from the database: totals and the current state."""

    look: Look | None = None
    takes: bool = False  # writes
    now: datetime = datetime.now(UTC)

    def collect(self) -> Iterable[Metric]:
        yield GaugeMetricFamily(
            "footnote_database_up",
            "Whether the database answered just now: 1 or 0.",
            value=float(self.look is not None),
        )
        yield GaugeMetricFamily(
            "footnote_database_writable",
            "Whether the database took a row of this process lately: 1 or 0.",
            value=float(self.takes),
        )
        if self.look is not None:
            yield from _standing(self.look, self.now)
            yield from _spent(self.look)


def _standing(look: Look, now: datetime) -> Iterator[Metric]:
    runs = GaugeMetricFamily("footnote_runs", "Stored questions, by state.", labels=["state"])
    for state in dict.fromkeys((*STATES, *look.states)):
        runs.add_metric([state], look.states.get(state, 0))
    yield runs
    queue = look.queue
    waits = max(0.0, (now - queue.oldest).total_seconds()) if queue.oldest else 0.0
    for name, description, value in (
        ("footnote_queue_waiting", "Questions waiting in the queue.", queue.waiting),
        ("footnote_queue_running", "Questions in progress.", queue.running),
        (
            "footnote_queue_oldest_seconds",
            "Waiting time of the oldest question in the queue.",
            waits,
        ),
    ):
        yield GaugeMetricFamily(name, description, value=value)
    if look.workers is not None:
        yield GaugeMetricFamily(
            "footnote_queue_workers", "Processes that take questions from the queue.", look.workers
        )


def _spent(look: Look) -> Iterator[Metric]:
    """Yield the metrics of spending on models."""
    spent = sorted(look.spent.items())
    for name, told, field in (
        ("footnote_model_calls", "Calls of models.", "model_calls"),
        (
            "footnote_model_calls_unpriced",
            "Calls of models whose price is unknown, which the cost does not include.",
            "unpriced_calls",
        ),
        ("footnote_model_cost_usd", "US dollars for models.", "usd"),
        ("footnote_questions", "Questions.", "questions"),
        ("footnote_uploaded_bytes", "Files that people sent in the console.", "uploaded_bytes"),
    ):
        family = CounterMetricFamily(name, told, labels=["platform"])
        for platform, amount in spent:
            family.add_metric([platform], getattr(amount, field))
        yield family
    tokens = CounterMetricFamily(
        "footnote_model_tokens",
        "Tokens of models: input at full price or written to the cache, cached, output.",
        labels=["platform", "direction"],
    )
    for platform, amount in spent:
        tokens.add_metric([platform, "input"], amount.input_tokens)
        tokens.add_metric([platform, "cached"], amount.cached_tokens)
        tokens.add_metric([platform, "output"], amount.output_tokens)
    yield tokens


class _Seen:
    """Metrics of this process alone. A call that a platform rate-limited has the status 429."""

    def __init__(self, database: Database, observed: Observed) -> None:
        self._database = database
        self._observed = observed

    def collect(self) -> Iterator[Metric]:
        build = GaugeMetricFamily(
            "footnote_build_info", "1, by the version of Footnote.", labels=["version"]
        )
        build.add_metric([__version__], 1)
        yield build
        outages = self._database.outages
        yield CounterMetricFamily(
            "footnote_database_outages",
            "How often this process found the database away, read-only or full.",
            value=outages.count,
        )
        yield CounterMetricFamily(
            "footnote_database_outage_seconds",
            "For how long it did, in all.",
            value=outages.seconds,
        )
        yield GaugeMetricFamily(
            "footnote_event_streams",
            "Event streams of the console that this process holds open.",
            value=self._observed.streams(),
        )
        resting = GaugeMetricFamily(
            "footnote_provider_resting_seconds",
            "Seconds until this process calls a repeatedly failing search provider again.",
            labels=["provider"],
        )
        for name, seconds in sorted(self._observed.resting().items()):
            resting.add_metric([name], seconds)
        yield resting
        yield from self._readers()
        yield from self._called()

    def _readers(self) -> Iterator[Metric]:
        readers = GaugeMetricFamily(
            "footnote_readers",
            "Processes of this process that may read pages or uploads, those that do, and the "
            "documents that wait for one.",
            labels=["kind", "state"],
        )
        interrupted = CounterMetricFamily(
            "footnote_readers_interrupted",
            "Documents whose reading was begun again, because other people waited.",
            labels=["kind"],
        )
        for kind, each in sorted(self._observed.readers.items()):
            load = each.load
            readers.add_metric([kind, "allowed"], load.size)
            readers.add_metric([kind, "busy"], load.held)
            readers.add_metric([kind, "waiting"], load.waiting)
            interrupted.add_metric([kind], each.interrupted)
        yield readers
        yield interrupted

    def _called(self) -> Iterator[Metric]:
        connected = GaugeMetricFamily(
            "footnote_platform_state",
            "1 for the state of this process's connection to a platform, 0 for the others.",
            labels=["platform", "state"],
        )
        for name, connection in sorted(self._observed.connections.items()):
            for state in get_args(State):
                connected.add_metric([name, state], float(connection.state == state))
        yield connected
        calls = self._observed.calls
        refused = CounterMetricFamily(
            "footnote_platform_token_refusals",
            "Calls by this process in which a chat platform rejected the token.",
            labels=["platform"],
        )
        for name in sorted({*self._observed.connections, *calls.refusals}):
            refused.add_metric([name], calls.refusals[name])
        yield refused
        counted = CounterMetricFamily(
            "footnote_platform_calls",
            "Calls of chat platforms by this process, by method and HTTP status.",
            labels=["platform", "method", "status"],
        )
        for (platform, method, status), count in sorted(calls.counts.items()):
            counted.add_metric([platform, method, status], count)
        yield counted
        spent = CounterMetricFamily(
            "footnote_platform_call_seconds",
            "Seconds that calls of chat platforms took this process.",
            labels=["platform", "method"],
        )
        for (platform, method), seconds in sorted(calls.seconds.items()):
            spent.add_metric([platform, method], seconds)
        yield spent
