"""Requests to Discord's REST API through the logged-in client, with rate limit and typed errors.

Every request here is idempotent: messages have an enforced nonce, edits replace the whole message,
and Discord's error code tells what is gone or exists already. So a request whose response was lost
is simply repeated.
"""

from __future__ import annotations

import asyncio
import io
import math
import time
from collections.abc import Callable
from enum import IntEnum
from json import dumps
from typing import Any

import aiohttp
import discord
import stamina
from discord.http import Route

from adapters.discord import limits
from adapters.discord.messages import DiscordMessage, parse_message, without_spare
from bot.core.errors import (
    CredentialsRefused,
    FootnoteError,
    PlatformUnavailable,
    PostRefused,
)
from bot.core.logs import get_logger
from bot.core.posting import still_ours
from bot.core.rate_limit import RateLimit

log = get_logger()

# Requests per second, and at once. At most 41 are sent in any second, so fewer than 50 arrive in
# any second even if some take a quarter of a second longer.
RATE, BURST = 36.0, 5


def paced(
    config: aiohttp.TraceConfig, clock: Callable[[], float] = time.monotonic
) -> aiohttp.TraceConfig:
    """Let the requests of a session with this trace wait for their turn, before it begins to
    measure their time.

    discord.py respects the limit of each route, but notices the global limit, 50 requests a second,
    only when Discord refuses a request:
    https://docs.discord.com/developers/topics/rate-limits#global-rate-limit. The endpoints of
    interactions and webhooks are exempt.
    """
    limit = RateLimit(RATE, BURST, clock)
    turn = asyncio.Lock()  # keeps the order and the pace after the event loop was blocked

    async def wait(
        session: object, context: object, params: aiohttp.TraceRequestStartParams
    ) -> None:
        url = params.url
        if url.scheme.startswith("http") and not {"interactions", "webhooks"} & {*url.parts[:4]}:
            async with turn:
                await asyncio.sleep(limit.reserve(math.inf) or 0.0)

    config.on_request_start.insert(0, wait)
    return config


ATTEMPTS = 4
FIRST_WAIT, LAST_WAIT = 0.2, 3.0  # seconds between attempts


class Code(IntEnum):
    """https://docs.discord.com/developers/topics/opcodes-and-status-codes#json"""

    UNKNOWN_CHANNEL = 10003
    UNKNOWN_MESSAGE = 10008
    UNKNOWN_INTERACTION = 10062
    ALREADY_ACKNOWLEDGED = 40060
    MISSING_ACCESS = 50001
    CLOSED_DIRECT = 50007
    NO_TEXT_CHANNEL = 50008
    MISSING_PERMISSIONS = 50013
    WRONG_CHANNEL_TYPE = 50024
    INVALID_WEBHOOK_TOKEN = 50027
    TOO_MANY_FOLLOW_UPS = 40094
    THREAD_ARCHIVED = 50083
    NO_HISTORY_TO_REPLY = 160002
    THREAD_EXISTS = 160004
    THREAD_LOCKED = 160005


# Errors that discord.py's requests raise, including aiohttp's own.
FAILURES = (discord.DiscordException, aiohttp.ClientError, OSError)


def log_failure(where: str, error: BaseException) -> None:
    """Log an error in handling one event, which does not affect the next ones."""
    if isinstance(error, (FootnoteError, *FAILURES)):
        log.warning("event not handled", event_name=where, error=str(error))
    else:
        log.error("event broke", event_name=where, error=repr(error))
        log.debug("event broke here", exc_info=error)


class DiscordRefused(PostRefused):
    """Discord refused a request, with an HTTP ``status`` and its own JSON ``code`` (0 if none)."""

    def __init__(self, status: int, code: int, text: str) -> None:
        super().__init__(
            "Discord did not let me do that: someone who manages the server can check what I am "
            "allowed to do there.",
            detail=f"{status} {code}: {text}",
        )
        self.status = status
        self.code = code


class RestClient:
    """See the module docstring. ``client`` needs no gateway, only its ``login``, which may still be
    in progress when earlier runs are resumed."""

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
        file: tuple[str, bytes] | None = None,
        **ids: str,
    ) -> Any:
        """Send a request; return the JSON response. ``ids`` fill the placeholders in ``path``.
        ``file`` is the name and content of a file that a message gets.

        Raises ``PlatformUnavailable``, ``DiscordRefused``, and what ``still_ours`` raises.
        """
        await self._logged_in()
        extra: dict[str, Any] = {} if json is None or file is not None else {"json": json}
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
                        if file is not None:
                            extra |= _with_file(json or {}, *file)
                        return await self._client.http.request(Route(method, path, **ids), **extra)
        except discord.RateLimited as limited:
            raise _away("Discord asks to wait", str(limited), limited.retry_after) from limited
        except discord.HTTPException as error:
            raise _meaning(error) from error
        except (aiohttp.ClientError, OSError) as error:  # TimeoutError is an OSError
            raise _away("Discord cannot be reached", repr(error)) from error
        except RuntimeError as error:
            if "closed" not in str(error):  # aiohttp's message for a closed session
                raise
            raise _away("The connection to Discord is closed", str(error)) from error
        raise AssertionError("a retry that neither returned nor raised")

    def parsed(self, raw: Any, server: str = "") -> DiscordMessage:
        """Parse a message of a response; ``server`` is its server's id, if known."""
        channel = self._client.get_partial_messageable(
            int(raw["channel_id"]), guild_id=int(server) if server.isdecimal() else None
        )
        state = self._client._connection
        try:
            message = discord.Message(state=state, channel=channel, data=raw)
        except (KeyError, TypeError, ValueError, AttributeError):  # see ``client.SafeParsers``
            spare: Any = without_spare(raw)
            message = discord.Message(state=state, channel=channel, data=spare)
        return parse_message(message, int(self.user_id or 0))

    async def _logged_in(self) -> None:
        if self._login is not None:
            try:
                async with asyncio.timeout(limits.LOGIN_SECONDS):
                    await asyncio.shield(self._login)
            except (TimeoutError, CredentialsRefused) as error:
                raise _away("Discord cannot be reached", str(error)) from None


def _with_file(payload: dict[str, Any], name: str, body: bytes) -> dict[str, Any]:
    """Return the arguments of a request that uploads a file with a message, for one attempt."""
    file = discord.File(io.BytesIO(body), name)
    listed = {"attachments": [{"id": 0, "filename": name}]}
    part = {"name": "files[0]", "value": file.fp, "filename": name}
    part |= {"content_type": "application/octet-stream"}
    form = [{"name": "payload_json", "value": dumps(payload | listed)}, part]
    return {"form": form, "files": [file]}


def was_lost(error: Exception) -> bool:
    """Return True if the response was lost, or asks to retry soon."""
    if isinstance(error, discord.HTTPException):
        # discord.py waits out five 429s in a row. Without "Via" the response is not from Discord
        # but from its flood protection, and retrying soon makes things worse.
        patient = error.status == 429 and "Via" in error.response.headers
        return patient or error.status == 503
    return isinstance(error, (aiohttp.ClientError, ConnectionError))


def _meaning(error: discord.HTTPException) -> PlatformUnavailable | DiscordRefused:
    if error.status == 429:
        return _away("Discord asks to wait", str(error), _retry_after(error))
    if error.status >= 500:
        return _away("Discord has trouble", str(error))
    if error.status == 401 and error.code == 0:  # about the bot's token, not an interaction's
        return _away("Discord does not accept the bot's token", str(error))
    return DiscordRefused(error.status, error.code, error.text)


def _away(what: str, detail: str, retry_after: float | None = None) -> PlatformUnavailable:
    return PlatformUnavailable(
        f"{what}; the answer is kept and posted later.", detail=detail, retry_after=retry_after
    )


def _retry_after(error: discord.HTTPException) -> float | None:
    value = error.response.headers.get("Retry-After", "")
    return float(value) if value.replace(".", "", 1).isdigit() else None
