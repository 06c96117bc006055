"""Wraps a provider with rate limit, retries, circuit breaker and cache: see ``Guarded``."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import stamina
from cachetools import TTLCache

from bot.core.errors import FootnoteError, PageUnreadable, ProviderUnavailable, Refused
from bot.core.measurements import Observe, timed, unobserved
from bot.core.rate_limit import Clock, RateLimit
from bot.core.texts import Sentence, said
from bot.pages.page import Page
from bot.search.provider import (
    GivenText,
    Hit,
    PageReader,
    PaidHits,
    Policy,
    ProviderKind,
    Query,
    Reporting,
    SearchProvider,
    Spent,
)

T = TypeVar("T")


class InFlight(Generic[T]):
    """The running tasks by key. Belongs to one event loop."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight[T]] = {}

    async def join(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of the task that is running for ``key``, or of ``work``, started now.

        Raises the errors of the work. A cancelled caller leaves the task to the other callers; when
        the last one is cancelled, so is the task.
        """
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.create_task(work()))
            flight.task.add_done_callback(lambda task: self._landed(key, task))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                flight.task.cancel()
                self._flights.pop(key, None)

    async def aclose(self) -> None:
        """Cancel all running tasks and wait until they have ended."""
        tasks = [flight.task for flight in self._flights.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _landed(self, key: Hashable, task: asyncio.Task[T]) -> None:
        flight = self._flights.get(key)
        if flight is not None and flight.task is task:
            del self._flights[key]
        if not task.cancelled():
            task.exception()  # mark it as retrieved, in case every caller was cancelled


@dataclass(slots=True)
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    waiting: int = 0


RESTS = "It failed repeatedly and is left alone for {} s."
_RESTING = re.compile(r"(?<=[.!?]) " + re.escape(RESTS).replace(r"\{\}", r"\d+"))
LONGEST_REST = 600.0  # seconds; longer Retry-After values are capped at this
CACHED_SEARCHES = 2_048
PROBE = Query("Earth", 1)  # a word that any source has; only whether it answers matters


class Guarded:
    """A provider with a cache, single flight, rate limit, deadline, retries and circuit breaker.

    Simultaneous equal searches share one call. ``Unavailable`` is retried with back-off, or after
    the provider's ``Retry-After`` if the deadline allows it; otherwise the provider rests for that
    long. ``Refused`` and ``Broken`` are final.
    """

    def __init__(
        self,
        provider: SearchProvider,
        policy: Policy,
        clock: Clock,
        observe: Observe = unobserved,
    ) -> None:
        self.name = provider.name
        self.kind: ProviderKind = provider.kind
        self.provider = provider
        self.policy = policy
        self._clock = clock
        self._observe = observe
        self._breaker = Breaker(policy.failures, policy.rest, clock)
        self._cause = ""  # the sentence of its last failure, shown while it rests
        self._limit = (
            RateLimit(policy.rate, policy.burst, clock) if math.isfinite(policy.rate) else None
        )
        self._cache: TTLCache[Query, tuple[Hit, ...]] = TTLCache(
            CACHED_SEARCHES, max(policy.ttl, 0.001), timer=clock
        )
        self._unpaid: dict[Query, Spent] = {}
        self._searches: InFlight[tuple[Hit, ...]] = InFlight()
        self._reads: InFlight[Page | GivenText] = InFlight()

    async def search(self, query: Query) -> tuple[Hit, ...]:
        """Raises the errors of ``SearchProvider.search``."""
        if (hits := self._cache.get(query)) is not None:
            return hits
        return await self._searches.join(query, lambda: self._search(query))

    async def _search(self, query: Query) -> tuple[Hit, ...]:
        found = await self.call(lambda: self.provider.search(query))
        if isinstance(found, PaidHits):
            self._unpaid[query] = found.spent
        hits = tuple(found)
        if self.policy.ttl > 0:
            self._cache[query] = hits
        return hits

    def bill(self, query: Query) -> Spent | None:
        """Return what a finished search cost, to the first who asks: of those who share it, only
        one pays."""
        return self._unpaid.pop(query, None)

    @property
    def rests_for(self) -> float:
        """Seconds for which it will not be called; 0 if it may be."""
        return self._breaker.left

    async def read(self, url: str) -> Page | GivenText:
        """Raises the errors of ``PageReader.read``. The caller caches pages, not this class."""
        provider = self.provider
        if not isinstance(provider, PageReader):
            raise PageUnreadable(f"{self.name} reads no pages.")
        return await self._reads.join(url, lambda: self.call(lambda: provider.read(url)))

    async def report(self) -> Sentence:
        """The provider's own report on its health and quota, or just whether it answers a search.

        Raises the errors of ``SearchProvider.search``.
        """
        if isinstance(self.provider, Reporting):
            return await self.call(self.provider.report)
        await self.call(lambda: self.provider.search(PROBE))
        return said("check-search")

    async def aclose(self) -> None:
        await asyncio.gather(self._searches.aclose(), self._reads.aclose())
        close = getattr(self.provider, "aclose", None)
        if close is not None:
            await close()

    # ------------------------------------------------------------ one call

    async def call(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do something with the provider, with rate limit, deadline, retries and breaker."""
        if left := self._breaker.left:
            raise self._resting(left)
        await self._take_turn(self.policy.patience)
        refused_for = self._breaker.refused_for()  # other calls may have failed while waiting
        if refused_for is not None:
            raise self._resting(refused_for)
        try:
            with timed(self._observe):
                result = await self._in_time(work)
        except asyncio.CancelledError:
            self._breaker.record_cancellation()
            raise
        except _TooBusy:
            self._breaker.record_cancellation()
            raise
        except (Refused, PageUnreadable):
            self._breaker.record_success()  # it did answer; retrying would not change the answer
            raise
        except ProviderUnavailable as error:
            self._cause = error.sentence
            wait = error.retry_after or 0.0
            self._breaker.record_failure(
                min(wait, LONGEST_REST) if wait > self.policy.deadline else 0.0
            )
            raise
        except Exception as error:
            self._cause = error.sentence if isinstance(error, FootnoteError) else ""
            self._breaker.record_failure()
            raise
        self._breaker.record_success()
        return result

    def _resting(self, seconds: float) -> ProviderUnavailable:
        rests = RESTS.format(math.ceil(seconds))
        words = f"{self._cause} {rests}" if self._cause else rests
        return ProviderUnavailable(words, retry_after=seconds)

    async def _in_time(self, work: Callable[[], Awaitable[T]]) -> T:
        ends = self._clock() + self.policy.deadline
        try:
            async with asyncio.timeout(self.policy.deadline):
                return await self._with_retries(work, ends)
        except TimeoutError as error:
            late = said("search-late", seconds=self.policy.deadline)
            raise ProviderUnavailable(late) from error

    async def _with_retries(self, work: Callable[[], Awaitable[T]], ends: float) -> T:
        def try_again(error: Exception) -> bool | float:
            if not isinstance(error, ProviderUnavailable) or isinstance(error, _TooBusy):
                return False
            if error.retry_after is None:
                return True
            return error.retry_after if error.retry_after < ends - self._clock() else False

        async for attempt in stamina.retry_context(
            on=try_again,
            attempts=self.policy.attempts,
            timeout=None,  # the caller enforces the deadline
            wait_initial=0.2,
            wait_max=3.0,
            wait_jitter=0.2,
        ):
            with attempt:
                if attempt.num > 1:  # half of the time left: the call itself needs time as well
                    await self._take_turn((ends - self._clock()) / 2)
                return await work()
        raise AssertionError("stamina returns or raises")

    async def _take_turn(self, at_most: float) -> None:
        """Wait for our own rate limit, for at most ``at_most`` seconds."""
        if self._limit is None:
            return
        wait = self._limit.reserve(at_most)
        if wait is None:
            raise _TooBusy("Too many searches are waiting for it: try again in a moment.")
        if wait > 0:
            await asyncio.sleep(wait)


def without_rest(sentence: str) -> str:
    """The last error of a resting provider without the remaining time, which changes every second
    and would make the same error look like many different ones."""
    return _RESTING.sub("", sentence)


class _TooBusy(ProviderUnavailable):
    """Our own rate limit was exceeded; not a failure of the provider."""


class Breaker:
    """Stops calling a provider that keeps failing, and then tries it again with one call at a time.

    Closed → open after ``failures`` in a row → half-open after ``rest`` seconds: one probe is let
    through; its success closes the breaker, its failure opens it again. (M. Nygard, Release It!,
    2nd ed. 2018, "Circuit Breaker".)
    """

    def __init__(self, failures: float, rest: float, clock: Clock) -> None:
        self._most = failures
        self._rest = rest
        self._clock = clock
        self._in_a_row = 0
        self._open_until: float | None = None
        self._probing = False

    def refused_for(self) -> float | None:
        """None when a call may go ahead, otherwise the seconds to wait before asking again.

        A caller that goes ahead must call one of the ``record_`` methods.
        """
        if self._open_until is None:
            return None
        left = self._open_until - self._clock()
        if left > 0:
            return left
        if self._probing:
            return self._rest
        self._probing = True
        return None

    @property
    def left(self) -> float:
        """Seconds until a call may go ahead again; does not change the state."""
        return max(0.0, self._open_until - self._clock()) if self._open_until is not None else 0.0

    def record_success(self) -> None:
        self._in_a_row = 0
        self._open_until = None
        self._probing = False

    def record_failure(self, rest: float = 0.0) -> None:
        """Count a failure. ``rest`` above 0 opens it at once: the provider requested that pause."""
        self._in_a_row += 1
        if rest > 0 or self._probing or self._in_a_row >= self._most:
            self._open_until = self._clock() + (rest or self._rest)
        self._probing = False

    def record_cancellation(self) -> None:
        """Ignore a cancelled call, which says nothing about the provider."""
        self._probing = False
