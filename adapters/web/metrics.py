"""The numbers for Prometheus: of the whole installation from the database, of calls to chat
platforms from this process.

What is read from the database counts from the start of this process on, whichever process has
worked; where several processes are asked, each tells the same (take ``max``, not ``sum``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from bot.observing import PlatformCalls
from bot.research.health import health
from bot.storage.meter import Look, Meter

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

STATES = ("accepted", "running", "answered", "not_found", "failed", "stopped")
# Seconds. A step takes milliseconds (a page at hand) to minutes (a long answer), a run longer.
STEP_BUCKETS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120)
RUN_BUCKETS = (1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1_800)


class Metrics:
    """``calls`` counts what this process says to platforms."""

    def __init__(self, meter: Meter, calls: PlatformCalls) -> None:
        self._meter = meter
        self._looking = asyncio.Lock()
        self._spent = _Spent()
        self.registry = registry = CollectorRegistry(auto_describe=False)
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=registry)
        registry.register(self._spent)
        registry.register(_Called(calls))
        self._runs = Gauge(
            "footnote_runs", "Questions that are kept, by state.", ["state"], registry=registry
        )
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
            "Searches to which a provider gave hits.",
            ["provider"],
            registry=registry,
        )
        self._errors = Counter(
            "footnote_provider_errors",
            "Searches that a provider left without an answer.",
            ["provider"],
            registry=registry,
        )
        self._waiting = Gauge(
            "footnote_queue_waiting", "Questions nobody works on yet.", registry=registry
        )
        self._working = Gauge(
            "footnote_queue_running", "Questions that are worked on.", registry=registry
        )
        self._oldest = Gauge(
            "footnote_queue_oldest_seconds",
            "For how long the first of the waiting questions has waited.",
            registry=registry,
        )

    async def exposition(self) -> bytes:
        """The numbers as of now, in Prometheus' text format. Raises ``StorageUnavailable``."""
        async with self._looking:
            self._take(await self._meter.look(), datetime.now(UTC))
            return generate_latest(self.registry)

    def _take(self, look: Look, now: datetime) -> None:
        for state in dict.fromkeys((*STATES, *look.states)):
            self._runs.labels(state).set(look.states.get(state, 0))
        for run in look.ended:
            self._ended.labels(run.platform, run.state).observe(run.seconds)
        for step in look.steps:
            self._steps.labels(step.kind).observe(step.seconds)
        for provider in health(look.searches):
            self._found.labels(provider.name).inc(provider.found)
            self._errors.labels(provider.name).inc(provider.failed)
        self._spent.look = look
        oldest = look.queue.oldest
        self._waiting.set(look.queue.waiting)
        self._working.set(look.queue.running)
        self._oldest.set(max(0.0, (now - oldest).total_seconds()) if oldest else 0.0)


class _Spent:
    """What was spent on models: sums that the database keeps."""

    look: Look | None = None

    def collect(self) -> Iterable[Metric]:
        spent = self.look.spent if self.look else {}
        calls = CounterMetricFamily("footnote_model_calls", "Calls of models.", labels=["platform"])
        unpriced = CounterMetricFamily(
            "footnote_model_calls_unpriced",
            "Calls of models whose price is not known, which are missing in the cost.",
            labels=["platform"],
        )
        usd = CounterMetricFamily(
            "footnote_model_cost_usd", "US dollars for models.", labels=["platform"]
        )
        tokens = CounterMetricFamily(
            "footnote_model_tokens",
            "Tokens of models: input at full price or written to the cache, cached, output.",
            labels=["platform", "direction"],
        )
        asked = CounterMetricFamily("footnote_questions", "Questions.", labels=["platform"])
        for platform, amount in sorted(spent.items()):
            calls.add_metric([platform], amount.model_calls)
            unpriced.add_metric([platform], amount.unpriced_calls)
            usd.add_metric([platform], amount.usd)
            asked.add_metric([platform], amount.questions)
            tokens.add_metric([platform, "input"], amount.input_tokens)
            tokens.add_metric([platform, "cached"], amount.cached_tokens)
            tokens.add_metric([platform, "output"], amount.output_tokens)
        return calls, unpriced, usd, tokens, asked


class _Called:
    """What this process said to chat platforms; a call that was refused for its pace has the
    status 429."""

    def __init__(self, calls: PlatformCalls) -> None:
        self._calls = calls

    def collect(self) -> Iterator[Metric]:
        counted = CounterMetricFamily(
            "footnote_platform_calls",
            "Calls of chat platforms by this process, by method and HTTP status.",
            labels=["platform", "method", "status"],
        )
        for (platform, method, status), count in sorted(self._calls.counts.items()):
            counted.add_metric([platform, method, status], count)
        yield counted
        spent = CounterMetricFamily(
            "footnote_platform_call_seconds",
            "Seconds that calls of chat platforms took this process.",
            labels=["platform", "method"],
        )
        for (platform, method), seconds in sorted(self._calls.seconds.items()):
            spent.add_metric([platform, method], seconds)
        yield spent
