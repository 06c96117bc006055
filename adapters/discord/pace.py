"""The pace of an application's requests to Discord, whatever they are for.

discord.py keeps to the limit of each route, and learns of the one on all of them, 50 requests a
second, by being refused: https://docs.discord.com/developers/topics/rate-limits#global-rate-limit.
Here a request waits for its turn before it is sent. The endpoints of interactions and webhooks are
not counted by Discord.
"""

from __future__ import annotations

import asyncio
import math
import time

import aiohttp
import yarl

from bot.rate_limit import RateLimit

RATE, BURST = 38.0, 10  # a second, and at once: 48 in any second
_UNCOUNTED = frozenset({"interactions", "webhooks"})


class Pace:
    """A turn for each request of one client, in the order in which they are made."""

    def __init__(self) -> None:
        self._limit = RateLimit(RATE, BURST, time.monotonic)

    def set_for(self, config: aiohttp.TraceConfig) -> aiohttp.TraceConfig:
        """Have the requests of a session with this trace wait for their turn, before the trace
        itself begins to count their time."""
        config.on_request_start.insert(0, self._wait)
        return config

    async def _wait(
        self, session: object, context: object, params: aiohttp.TraceRequestStartParams
    ) -> None:
        if _is_counted(params.url):
            await asyncio.sleep(self._limit.reserve(math.inf) or 0.0)


def _is_counted(url: yarl.URL) -> bool:
    return url.scheme in ("http", "https") and _UNCOUNTED.isdisjoint(url.parts[:4])
