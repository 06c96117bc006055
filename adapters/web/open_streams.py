"""Event streams that a client has open at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


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
