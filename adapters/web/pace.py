"""How many requests a client may make in a minute."""

from __future__ import annotations

from collections.abc import Callable
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
        now = self._clock()
        left, since = self._buckets.get(client, (self._size, now))
        left = min(self._size, left + (now - since) * self._size / 60.0)
        if left < 1.0:
            return False
        self._buckets[client] = (left - 1.0, now)
        return True
