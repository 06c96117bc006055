"""What this process says to chat platforms, counted: which methods, with what outcome.

All else that is worth watching is kept in the database, where every process leaves it
(``storage.meter``). Calls of platforms leave no trace there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from time import monotonic
from types import SimpleNamespace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import aiohttp

FAILED = "error"  # the status of a call that got no answer


class PlatformCalls:
    """``counts`` are by platform, method and HTTP status, ``seconds`` their sums by platform and
    method. Methods must be few: no ids in them."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str, str]] = Counter()
        self.seconds: dict[tuple[str, str], float] = {}

    def add(self, platform: str, method: str, status: str, seconds: float) -> None:
        """Count a call that has ended."""
        self.counts[platform, method, status] += 1
        before = self.seconds.get((platform, method), 0.0)
        self.seconds[platform, method] = before + seconds

    def trace(self, platform: str, method_of: Callable[[str], str]) -> aiohttp.TraceConfig:
        """What tells these counts of every request of an aiohttp session. ``method_of`` names the
        method that a URL means."""
        import aiohttp

        async def began(session: object, context: SimpleNamespace, params: object) -> None:
            context.began = monotonic()

        async def ended(
            session: object, context: SimpleNamespace, params: aiohttp.TraceRequestEndParams
        ) -> None:
            took = monotonic() - context.began
            self.add(platform, method_of(str(params.url)), str(params.response.status), took)

        async def broke(
            session: object, context: SimpleNamespace, params: aiohttp.TraceRequestExceptionParams
        ) -> None:
            took = monotonic() - context.began
            self.add(platform, method_of(str(params.url)), FAILED, took)

        config = aiohttp.TraceConfig()
        config.on_request_start.append(began)
        config.on_request_end.append(ended)
        config.on_request_exception.append(broke)
        return config
