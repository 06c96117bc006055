"""Rate limits for one event loop, without sleeping or locking.

The clock is a parameter (monotonic seconds), so that tests can advance it by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from cachetools import TTLCache

Clock = Callable[[], float]
CLIENTS = 10_000  # tracked at once


class RateLimit:
    """A token bucket, represented by the time at which it is full again.

    The "virtual scheduling" form of the generic cell rate algorithm (ITU-T I.371, annex A):
    ``rate`` calls a second on average, ``burst`` at once.
    """

    def __init__(self, rate: float, burst: int, clock: Clock) -> None:
        if rate <= 0 or burst < 1:
            raise ValueError("a rate limit needs a rate above 0 and a burst of at least 1")
        self._interval = 1.0 / rate
        self._slack = (burst - 1) / rate
        self._clock = clock
        self._full_at = clock()

    @property
    def has_room(self) -> bool:
        """True if a call may be made now."""
        return self._full_at - self._slack <= self._clock()

    def reserve(self, at_most: float) -> float | None:
        """Reserve the next call; returns the seconds to wait for it.

        Returns None, and reserves nothing, if that is longer than ``at_most`` seconds.
        """
        now = self._clock()
        wait = max(0.0, self._full_at - self._slack - now)
        if wait > at_most:
            return None
        self._full_at = max(self._full_at, now) + self._interval
        return wait


class Pace:
    """A rate limit for each client: a minute's worth at once, which refills steadily."""

    def __init__(self, per_minute: int, clock: Clock = monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        # After a minute without requests, a limit has recovered and can be dropped.
        self._limits: TTLCache[str, RateLimit] = TTLCache(CLIENTS, 60.0, timer=clock)

    def allows(self, client: str) -> bool:
        """Return True if one more request is allowed, and count it."""
        limit = self._limit_of(client)
        self._limits[client] = limit  # renews its minute in the cache
        return limit.reserve(0.0) is not None

    def has_room(self, client: str) -> bool:
        """Return True if one more request would be allowed."""
        return self._limit_of(client).has_room

    def _limit_of(self, client: str) -> RateLimit:
        limit = self._limits.get(client)
        return limit or RateLimit(self._per_minute / 60.0, self._per_minute, self._clock)
