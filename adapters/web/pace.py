"""Rate limits of clients: requests in a minute, and event streams at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from cachetools import TTLCache

CLIENTS = 10_000  # remembered at once


class Pace:
    """A token bucket for each client: a minute's worth at once, then as many as flow back."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = monotonic) -> None:
        self._size = float(per_minute)
        self._clock = clock
        # After a minute without a request a bucket is full again, as if it had never been.
        self._buckets: TTLCache[str, tuple[float, float]] = TTLCache(CLIENTS, 60.0, timer=clock)

    def allows(self, client: str) -> bool:
        """Whether one more is in order; it counts when it is."""
        left = self._left(client)
        if left < 1.0:
            return False
        self._buckets[client] = (left - 1.0, self._clock())
        return True

    def has_room(self, client: str) -> bool:
        """Whether one more would be in order."""
        return self._left(client) >= 1.0

    def _left(self, client: str) -> float:
        now = self._clock()
        left, since = self._buckets.get(client, (self._size, now))
        return min(self._size, left + (now - since) * self._size / 60.0)


class OpenStreams:
    """The event streams of each client; ``most`` may be open at once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    def allows(self, client: str) -> bool:
        """Whether one more is in order."""
        return self._open[client] < self._most

    @contextmanager
    def one(self, client: str) -> Iterator[None]:
        """Within the block one more is open."""
        self._open[client] += 1
        try:
            yield
        finally:
            self._open[client] -= 1
            if not self._open[client]:
                del self._open[client]
