"""One request to Discord's REST API through the logged-in client: its pace, what its failures mean.

Everything sent here may be sent twice: messages carry an enforced nonce, edits say how a message
is to look, and what is gone or there already is told apart by Discord's error code. So a request
whose response was lost is simply repeated.
"""

from __future__ import annotations

import asyncio
import math
import time
from typing import Any

import aiohttp
import discord
import stamina
import yarl
from discord.http import Route

from adapters.discord import limits
from bot.errors import CredentialsRefused, PlatformUnavailable, PostRefused
from bot.posting import still_ours
from bot.rate_limit import RateLimit

# A second, and at once: 41 leave in any second, so that 50 arrive in none, if some are a quarter of
# a second longer on their way.
RATE, BURST = 36.0, 5
_UNCOUNTED = frozenset({"interactions", "webhooks"})


class Pace:
    """A turn for each request of one client, in the order in which they are made.

    discord.py keeps to the limit of each route, and learns of the one on all of them, 50 requests a
    second, by being refused:
    https://docs.discord.com/developers/topics/rate-limits#global-rate-limit. Here a request waits
    for its turn before it is sent. The endpoints of interactions and webhooks are not counted.
    """

    def __init__(self) -> None:
        self._limit = RateLimit(RATE, BURST, time.monotonic)
        self._turn = asyncio.Lock()  # so that what waited while the event loop stood goes in turns

    def set_for(self, config: aiohttp.TraceConfig) -> aiohttp.TraceConfig:
        """Have the requests of a session with this trace wait for their turn, before the trace
        itself begins to count their time."""
        config.on_request_start.insert(0, self._wait)
        return config

    async def _wait(
        self, session: object, context: object, params: aiohttp.TraceRequestStartParams
    ) -> None:
        if _is_counted(params.url):
            async with self._turn:
                await asyncio.sleep(self._limit.reserve(math.inf) or 0.0)


def _is_counted(url: yarl.URL) -> bool:
    return url.scheme in ("http", "https") and _UNCOUNTED.isdisjoint(url.parts[:4])


ATTEMPTS = 4
FIRST_WAIT, LAST_WAIT = 0.2, 3.0  # seconds between attempts

# https://docs.discord.com/developers/topics/opcodes-and-status-codes#json
UNKNOWN_CHANNEL, UNKNOWN_MESSAGE = 10003, 10008
MISSING_ACCESS, MISSING_PERMISSIONS, WRONG_CHANNEL_TYPE = 50001, 50013, 50024
INVALID_WEBHOOK_TOKEN = 50027
CLOSED_DIRECT, NO_TEXT_CHANNEL, INVALID_FORM = 50007, 50008, 50035
THREAD_ARCHIVED = 50083
NO_HISTORY_TO_REPLY, THREAD_EXISTS, THREAD_LOCKED = 160002, 160004, 160005

# Errors that a request of discord.py's own raises; aiohttp's errors pass through it.
FAILURES = (discord.DiscordException, aiohttp.ClientError, OSError)


class DiscordRefused(PostRefused):
    """Discord said no: HTTP ``status`` and its own JSON ``code`` (0 where it gave none)."""

    def __init__(self, status: int, code: int, text: str) -> None:
        super().__init__(
            "Discord did not let me do that: someone who manages the server can check what I am "
            "allowed to do there.",
            detail=f"{status} {code}: {text}",
        )
        self.status = status
        self.code = code


class Wire:
    """See the module docstring. ``client`` needs no gateway, only its ``login``, which may still go
    on while runs left from before are resumed."""

    def __init__(self, client: discord.Client, login: asyncio.Task[None] | None = None) -> None:
        self._client = client
        self._login = login

    @property
    def user_id(self) -> str:
        """The bot's own user id; "" before the first request."""
        user = self._client.user
        return "" if user is None else str(user.id)

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: dict[str, Any] | None = None,
        query: dict[str, Any] | None = None,
        **ids: str,
    ) -> Any:
        """Discord's answer as JSON; ``ids`` fill the places in ``path``.

        Raises ``PlatformUnavailable`` and ``DiscordRefused``, and as ``still_ours``.
        """
        await self._logged_in()
        extra: dict[str, Any] = {}
        if json is not None:
            extra["json"] = json
        if query is not None:
            extra["params"] = query
        try:
            async with asyncio.timeout(limits.REQUEST_SECONDS):
                async for attempt in stamina.retry_context(
                    on=was_lost,
                    attempts=ATTEMPTS,
                    timeout=None,
                    wait_initial=FIRST_WAIT,
                    wait_max=LAST_WAIT,
                ):
                    with attempt:
                        await still_ours()
                        return await self._client.http.request(Route(method, path, **ids), **extra)
        except discord.RateLimited as limited:
            raise _away("Discord asks to wait", str(limited), limited.retry_after) from limited
        except discord.HTTPException as error:
            raise _meaning(error) from error
        except (aiohttp.ClientError, OSError) as error:  # TimeoutError is an OSError
            raise _away("Discord cannot be reached", repr(error)) from error
        except RuntimeError as error:
            if "closed" not in str(error):  # aiohttp's word for a session that was closed
                raise
            raise _away("The connection to Discord is closed", str(error)) from error
        raise AssertionError("a retry that neither returned nor raised")

    async def _logged_in(self) -> None:
        if self._login is not None:
            try:
                async with asyncio.timeout(limits.LOGIN_SECONDS):
                    await asyncio.shield(self._login)
            except (TimeoutError, CredentialsRefused) as error:
                raise _away("Discord cannot be reached", str(error)) from None


def was_lost(error: Exception) -> bool:
    """Return True if the response never came, or says to come again soon."""
    if isinstance(error, discord.HTTPException):
        # discord.py sits out five 429s in a row; without "Via" it is not Discord who says it, but
        # its guard against floods, and coming again soon makes that worse.
        patient = error.status == 429 and "Via" in error.response.headers
        return patient or error.status == 503
    return isinstance(error, (aiohttp.ClientError, ConnectionError))


def _meaning(error: discord.HTTPException) -> PlatformUnavailable | DiscordRefused:
    if error.status == 429:
        return _away("Discord asks to wait", str(error), _retry_after(error))
    if error.status >= 500:
        return _away("Discord has trouble", str(error))
    if error.status == 401 and error.code == 0:  # the bot's token, not an interaction's
        return _away("Discord does not accept the bot's token", str(error))
    return DiscordRefused(error.status, error.code, error.text)


def _away(what: str, detail: str, retry_after: float | None = None) -> PlatformUnavailable:
    return PlatformUnavailable(
        f"{what}; the answer is kept and posted later.", detail=detail, retry_after=retry_after
    )


def _retry_after(error: discord.HTTPException) -> float | None:
    value = error.response.headers.get("Retry-After", "")
    return float(value) if value.replace(".", "", 1).isdigit() else None
