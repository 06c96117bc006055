"""Measurements of one process that the database does not store: its calls to chat platforms, search
providers, models and web pages, its open event streams, and the progress of indexing.

All other metrics are read from the database, where every process stores them (``storage.meter``).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from bot.core.errors import Broken, CredentialsRefused, Refused, Stopped, Unavailable
from bot.core.texts import Sentence

if TYPE_CHECKING:
    import aiohttp


IndexingState = Literal["none", "indexing", "ok", "not ok"]

BEGIN_SECONDS = 5.0  # longest wait for the number of files to index
OVER_SECONDS = 1.5  # longest wait for the end of it, before its progress is shown


class Indexing:
    """Progress of the indexing: ``done`` of ``total`` files are processed and can be searched.

    ``why`` is the error and ``since`` is when the state began. ``looked_at`` is when a look for
    changes ended, ``next_look`` when the next one begins. ``stop`` ends the indexing, ``again``
    asks for a look now: at these paths, or at all documents without any.
    """

    def __init__(self, has_documents: bool) -> None:
        self.state: IndexingState = "indexing" if has_documents else "none"
        self.done = 0
        self.total = 0
        self.why: Sentence = ""
        self.since = datetime.now(UTC)
        self.looked_at: datetime | None = None
        self.next_look: datetime | None = None
        self.stop: Callable[[], None] = lambda: None
        self.again: Callable[[Sequence[str]], None] = lambda paths: None
        self._begun, self._over = asyncio.Event(), asyncio.Event()
        if not has_documents:
            self._begun.set()
            self._over.set()

    @property
    def is_going_on(self) -> bool:
        """True if there are files that are not searchable yet."""
        return self.state == "indexing" and self.done < self.total

    async def wait_until_counted(self) -> None:
        """Wait until the number of files is known, for ``BEGIN_SECONDS`` at most."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(BEGIN_SECONDS):
                await self._begun.wait()

    async def wait_until_over(self) -> None:
        """Wait until everything is indexed, for ``OVER_SECONDS`` at most."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(OVER_SECONDS):
                await self._over.wait()

    def begin(self) -> None:
        """Begin to index again."""
        self.become("indexing")
        self.done = self.total = 0
        self._over.clear()

    def advance(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        self._begun.set()

    def become(self, state: IndexingState, why: Sentence = "") -> None:
        self.state, self.why, self.since = state, why, datetime.now(UTC)
        self._begun.set()
        self._over.set()

    def as_json(self) -> dict[str, Any]:
        """The state in the form that ``/readyz`` shows."""
        shown: dict[str, Any] = {"state": self.state}
        if self.state == "indexing":
            shown |= {"done": self.done, "total": self.total}
        elif self.state == "ok":
            shown["total"] = self.total
        elif self.why:
            since = self.since.isoformat(timespec="seconds").replace("+00:00", "Z")
            shown |= {"since": since, "why": str(self.why)}
        return shown


FAILED = "error"  # the status of a call that got no answer
UNAUTHORIZED = 401
SHORT = 1_000  # bytes: only shorter replies are checked for an error
NAMES = 20  # of models: an endpoint that invents names must not fill Prometheus' memory


@dataclass(frozen=True, slots=True)
class Load:
    """How many turns there are, are held, and are waited for."""

    size: int
    held: int
    waiting: int


Observe = Callable[[str, float], None]  # receives an outcome and its duration in seconds


def unobserved(outcome: str, seconds: float) -> None:
    """An ``Observe`` that does nothing."""


def nothing_observed(name: str) -> Observe:
    """Return ``unobserved`` for any name."""
    return unobserved


@contextmanager
def timed(observe: Observe) -> Iterator[None]:
    """Report the outcome and duration of the block; errors are passed on."""
    began = monotonic()
    try:
        yield
    except BaseException as error:
        observe(outcome_of(error), monotonic() - began)
        raise
    observe("ok", monotonic() - began)


def outcome_of(error: BaseException) -> str:
    """Return one of a few words for an error, by its meaning."""
    match error:
        case CredentialsRefused():
            return "credentials"
        case Refused():
            return "refused"
        case Unavailable():
            return "unavailable" if error.retry_after is None else "limited"
        case Broken():
            return "unusable"
        case Stopped() | GeneratorExit():
            return "cancelled"
        case Exception():
            return "error"
    return "cancelled"


class PlatformCalls:
    """Calls to platforms. ``counts`` are by platform, method and HTTP status, ``seconds`` are
    totals by platform and method, ``refusals`` count rejected tokens by platform. Methods must be
    few: no ids in them."""

    def __init__(self) -> None:
        self.refusals: Counter[str] = Counter()
        self.counts: Counter[tuple[str, str, str]] = Counter()
        self.seconds: dict[tuple[str, str], float] = {}

    def add(self, platform: str, method: str, status: str, seconds: float) -> None:
        """Count a call that has ended."""
        self.counts[platform, method, status] += 1
        before = self.seconds.get((platform, method), 0.0)
        self.seconds[platform, method] = before + seconds

    def trace(
        self,
        platform: str,
        method_of: Callable[[str], str],
        refuses_token: Callable[[bytes], bool] = lambda body: False,
    ) -> aiohttp.TraceConfig:
        """Return a trace configuration that counts every request of an aiohttp session.
        ``method_of`` returns the method for a URL. ``refuses_token`` recognizes a rejected token in
        the body of a reply, for platforms that do not use the status."""
        import aiohttp

        async def began(session: object, context: SimpleNamespace, params: object) -> None:
            context.began = monotonic()

        async def ended(
            session: object, context: SimpleNamespace, params: aiohttp.TraceRequestEndParams
        ) -> None:
            took = monotonic() - context.began
            self.add(platform, method_of(str(params.url)), str(params.response.status), took)
            if params.response.status == UNAUTHORIZED:
                self.refusals[platform] += 1

        async def received(
            session: object,
            context: SimpleNamespace,
            params: aiohttp.TraceResponseChunkReceivedParams,
        ) -> None:
            if len(params.chunk) < SHORT and refuses_token(params.chunk):
                self.refusals[platform] += 1

        async def broke(
            session: object, context: SimpleNamespace, params: aiohttp.TraceRequestExceptionParams
        ) -> None:
            took = monotonic() - context.began
            self.add(platform, method_of(str(params.url)), FAILED, took)

        config = aiohttp.TraceConfig()
        config.on_request_start.append(began)
        config.on_request_end.append(ended)
        config.on_request_exception.append(broke)
        config.on_response_chunk_received.append(received)
        return config


# In seconds: for a search engine or a page, and for a model's reply.
CALL_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20)
REPLY_BUCKETS = (0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300)


class HasState(Protocol):
    """``platform.Connection``."""

    @property
    def state(self) -> str: ...

    @property
    def why(self) -> Sentence: ...


class Shared(Protocol):
    """``pages.workers.Workers``."""

    @property
    def load(self) -> Load: ...

    @property
    def interrupted(self) -> int: ...


class Observed:
    """See the module docstring. ``searches`` are by provider and outcome, ``replies`` by model and
    outcome, ``fetches`` by outcome. ``streams`` returns the number of open event streams,
    ``resting`` the seconds for which each provider is still left alone, ``documents`` the progress
    of indexing; ``connections`` are those to platforms, ``readers`` the processes that read pages
    and uploads, by name; ``unusable`` is why the settings kept in the console are not in use."""

    def __init__(self) -> None:
        from prometheus_client import Histogram

        self.calls = PlatformCalls()
        self.searches = Histogram(
            "footnote_provider_request_seconds",
            "Requests of search providers by this process, retries included, by outcome.",
            ["provider", "outcome"],
            buckets=CALL_BUCKETS,
            registry=None,
        )
        self.fetches = Histogram(
            "footnote_fetch_seconds",
            "Pages of the web that this process fetched, by outcome.",
            ["outcome"],
            buckets=CALL_BUCKETS,
            registry=None,
        )
        self.replies = Histogram(
            "footnote_model_request_seconds",
            "Replies of models to this process, from the request to their end, by outcome.",
            ["model", "outcome"],
            buckets=REPLY_BUCKETS,
            registry=None,
        )
        self.streams: Callable[[], int] = lambda: 0
        self.connections: Mapping[str, HasState] = {}
        self.readers: dict[str, Shared] = {}
        self.resting: Callable[[], Mapping[str, float]] = dict
        self.documents = Indexing(False)
        self.unusable = ""
        self._models: set[str] = set()

    def search_observer(self, provider: str) -> Observe:
        """Return the observer for calls to a search provider."""
        return lambda outcome, seconds: self.searches.labels(provider, outcome).observe(seconds)

    def record_fetch(self, outcome: str, seconds: float) -> None:
        """Record the outcome of fetching a web page."""
        self.fetches.labels(outcome).observe(seconds)

    def model_observer(self, model: str) -> Observe:
        """Return the observer for calls to a model."""
        if len(self._models) < NAMES:
            self._models.add(model)
        name = model if model in self._models else "other"
        return lambda outcome, seconds: self.replies.labels(name, outcome).observe(seconds)
