"""Rate limits of clients: requests in a minute, and event streams at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from cachetools import TTLCache

from bot.rate_limit import Clock, RateLimit

CLIENTS = 10_000  # tracked at once


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


class OpenStreams:
    """The event streams of each client; ``most`` may be open at once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    def allows(self, client: str) -> bool:
        """Return True if one more stream is allowed."""
        return self._open[client] < self._most

    @contextmanager
    def one(self, client: str) -> Iterator[None]:
        """Count a stream as open within the block."""
        self._open[client] += 1
        try:
            yield
        finally:
            self._open[client] -= 1
            if not self._open[client]:
                del self._open[client]
