"""Slack's Web API: its client, calls with typed errors, and rate limits.

slack_sdk's own retry handlers are not used: if a message arrived and only the response was lost,
they would send it again. The caller decides which calls may be repeated.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import re
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from slack_bolt.logger.messages import warning_client_prioritized_and_token_skipped
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.slack.limits import CALLS_A_MINUTE
from adapters.slack.settings import SlackSettings
from bot.core.egress import Egress
from bot.core.errors import CredentialsRefused, PlatformUnavailable, PostRefused
from bot.core.logs import get_logger, redirect_library
from bot.core.measurements import PlatformCalls
from bot.core.posting import still_ours
from bot.core.texts import said
from bot.service.platform import Connection

Json = dict[str, Any]

# Shares of the calls that Slack allows in a minute: at once, and spread over the minute.
BURST, STEADY = 0.25, 0.55

# Errors of a call that does not reach Slack; TimeoutError is an OSError.
FAILURES = (aiohttp.ClientError, OSError, SlackClientError)

# https://docs.slack.dev/reference/methods: temporary errors
_PASSING = frozenset(
    {
        *("ratelimited", "rate_limited", "internal_error", "fatal_error", "request_timeout"),
        *("service_unavailable", "temporarily_unavailable", "accesslimited", "team_added_to_org"),
        *("org_login_required", "external_channel_migrating", "message_limit_exceeded"),
    }
)
CREDENTIALS = frozenset(
    {"invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive"}
)
_SENTENCES: Mapping[str, str] = {
    "channel_not_found": "Slack does not show Footnote that channel: invite it there.",
    "not_in_channel": "Footnote is not in that Slack channel: invite it there.",
    "is_archived": "That Slack channel is archived: unarchive it or ask elsewhere.",
    "thread_not_found": "The Slack thread of the question is gone: ask again.",
    "restricted_action": "A setting of the Slack workspace keeps Footnote from posting there: ask "
    "one of its admins.",
}


class Refusal(PostRefused):
    """Slack refused a call with the error ``code``; the call had no effect."""

    def __init__(self, method: str, code: str, detail: str = "") -> None:
        if code in CREDENTIALS:
            sentence = (
                "Slack does not accept Footnote's token: check SLACK_BOT_TOKEN, or install "
                "Footnote in the workspace again."
            )
        else:
            sentence = _SENTENCES.get(
                code, f"Slack refused to post the answer ({code}): ask an admin of the workspace."
            )
        super().__init__(sentence, detail=f"{method}: {code} {detail}".strip())
        self.method = method
        self.code = code


class Limited(PlatformUnavailable):
    """Slack asks to wait ``retry_after`` seconds; the call had no effect."""

    retry_after: float

    def __init__(self, method: str, retry_after: float) -> None:
        super().__init__(
            "Slack limits how often Footnote may post: the answer follows when it may.",
            detail=f"{method}: 429, Retry-After {retry_after:g}",
            retry_after=retry_after,
        )


class Away(PlatformUnavailable):
    """Slack does not answer; it is unknown whether the call took effect."""

    def __init__(self, method: str, detail: str) -> None:
        super().__init__(
            "Slack does not answer: the answer is kept and posted when it does.",
            detail=f"{method}: {detail}",
        )


@dataclass(frozen=True, slots=True)
class Timing:
    """Time limits, in seconds.

    ``stream_delay`` passes before a stream begins (a run that ends sooner needs none);
    ``first_sign`` limits how long opening a reply waits for Slack, ``patience`` how long the final
    post is retried, and ``reading`` how long reading a thread may take. ``backoff`` is the first
    pause between retries, ``between`` the shortest time between two updates of one reply. ``pace``
    is a factor on the time that Slack's rate limits demand between calls that can wait.
    """

    stream_delay: float = 0.8
    first_sign: float = 2.0
    patience: float = 120.0
    reading: float = 75.0
    backoff: float = 0.5
    between: float = 1.0
    pace: float = 1.0


class Calls:
    """Calls the Web API of one workspace. ``clock`` returns seconds."""

    def __init__(
        self, client: AsyncWebClient, timing: Timing, clock: Callable[[], float] = monotonic
    ) -> None:
        self._clock = clock
        self.client = copy(client)
        self.client.retry_handlers = []
        self.timing = timing
        self._held: dict[str, float] = {}  # method → time until which Slack limits it
        self._next: dict[str, float] = {}  # method → time when its token bucket is full again

    async def once(self, method: str, **arguments: Any) -> Json:
        """Call once. Raises ``Refusal``, ``Limited``, ``Away``, and what ``still_ours`` raises."""
        response = await self.response(method, **arguments)
        return response.data if isinstance(response.data, dict) else {}

    async def scopes(self) -> frozenset[str]:
        """Return the token's scopes, which only response headers contain. Raises as ``once``."""
        return scopes_in((await self.response("auth.test")).headers)

    async def response(self, method: str, **arguments: Any) -> AsyncSlackResponse:
        """Call once and return the whole response, with headers. Raises as ``once``."""
        await still_ours()
        known = getattr(self.client, method.replace(".", "_"), None)
        try:
            if known is None:  # slack_sdk 3.47 has no name for it
                return await self.client.api_call(method, data=arguments)
            response: AsyncSlackResponse = await known(**arguments)
        except SlackApiError as error:
            failure = self._failure(method, error)
        except FAILURES as error:
            failure = Away(method, repr(error))
        else:
            return response
        raise failure

    async def patiently(
        self, method: str, *, patience: float | None = None, repeat: bool = True, **arguments: Any
    ) -> Json:
        """Call until it works or ``patience`` seconds are over.

        ``repeat`` tells that the call is safe to send twice; if not, ``Away`` is raised at once.
        """
        deadline = monotonic() + (self.timing.patience if patience is None else patience)
        tries = 0
        while True:
            wait = self._held.get(method, 0.0) - self._clock()
            if wait > 0:
                await self._wait(method, wait, deadline)
            try:
                return await self.once(method, **arguments)
            except Limited as limited:
                await self._wait(method, limited.retry_after, deadline)
            except Away:
                if not repeat or not await self.back_off(tries, deadline):
                    raise
            tries += 1

    async def back_off(self, tries: int, deadline: float) -> bool:
        """Wait, longer with each try; return False if that would pass the deadline."""
        wait = self.timing.backoff * 2 ** min(tries, 6) * (0.75 + random.random() / 2)  # noqa: S311
        if monotonic() + wait > deadline:
            return False
        await asyncio.sleep(wait)
        return True

    def due(self, method: str) -> float:
        """Return the seconds until a call that can wait may be made; 0.0 reserves it now.

        All replies in a workspace share Slack's rate limit; part of it is reserved for calls that
        cannot wait.
        """
        now = self._clock()
        if (held := self._held.get(method, 0.0)) > now:
            return held - now
        # A token bucket: in any minute, at most BURST + STEADY of what Slack allows.
        allowed = CALLS_A_MINUTE[method]
        gap = self.timing.pace * 60 / (STEADY * allowed)
        full = max(self._next.get(method, 0.0), now)
        over = full - now - gap * (BURST * allowed - 1)
        if over > 0:
            return over
        self._next[method] = full + gap
        return 0.0

    async def _wait(self, method: str, seconds: float, deadline: float) -> None:
        if monotonic() + seconds > deadline:
            raise Limited(method, seconds)
        await asyncio.sleep(seconds)

    def _failure(self, method: str, error: SlackApiError) -> Refusal | Limited | Away:
        response = error.response
        data = response.data if isinstance(getattr(response, "data", None), dict) else {}
        status = int(getattr(response, "status_code", 0) or 0)
        code = str(data.get("error", ""))
        if status == 429 or code in ("ratelimited", "rate_limited"):
            wait = _seconds(response.headers.get("Retry-After") if status == 429 else None)
            self._held[method] = self._clock() + wait
            return Limited(method, wait)
        if status >= 500 or not code or code in _PASSING:
            return Away(method, f"{status} {code}".strip())
        told = (data.get("response_metadata") or {}).get("messages") or []
        needed = f"needs {data['needed']}" if "needed" in data else ""
        return Refusal(method, code, " ".join([needed, *map(str, told)]).strip()[:500])


def scopes_in(headers: Mapping[str, Any]) -> frozenset[str]:
    """Return the scopes of the token that made a call, from the headers of its response."""
    listed = next(
        (value for name, value in headers.items() if name.lower() == "x-oauth-scopes"), ""
    )
    return frozenset(scope.strip() for scope in str(listed).split(","))


def _seconds(header: object) -> float:
    """Parse ``Retry-After`` in seconds; one second if it is missing or invalid."""
    try:
        return min(max(float(str(header)), 0.1), 3_600.0)
    except ValueError:
        return 1.0


TIMEOUT_SECONDS = 30
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds between attempts to reach Slack at all

# Errors that every call with the same token would get, and those of apps.connections.open:
# https://docs.slack.dev/reference/methods/auth.test
TOKEN_ERRORS = CREDENTIALS.union(
    [
        *("not_allowed_token_type", "no_permission", "missing_scope", "access_denied"),
        *("team_access_not_granted", "forbidden_team", "socket_mode_not_enabled"),
    ]
)

# Bolt also finds SLACK_BOT_TOKEN in the environment, and warns that our client takes precedence.
_MEANT_SO = warning_client_prioritized_and_token_skipped()
# Bolt (1.30) logs this for each event from a workspace without the app; our line names it.
_NOT_INSTALLED = "Although the app should be installed into this workspace"

_METHOD = re.compile(r"[a-z]+(?:\.[A-Za-z]+){1,3}")  # "chat.postMessage", "users.info"

log = get_logger()


def web_client(settings: SlackSettings, session: aiohttp.ClientSession) -> AsyncWebClient:
    """Return a client for the bot's token. It does not retry; see the module docstring."""
    token = settings.slack_bot_token
    egress = Egress.of(settings)
    client = AsyncWebClient(
        token=token.get_secret_value() if token is not None else None,
        base_url=settings.slack_api_url.rstrip("/") + "/",
        timeout=TIMEOUT_SECONDS,
        ssl=egress.ssl_context("aiohttp"),
        session=session,
        logger=sdk_logger(),
        retry_handlers=[],
    )
    # Set afterwards: given None, the SDK uses HTTPS_PROXY and ignores NO_PROXY.
    client.proxy = egress.proxy_for(settings.slack_api_url) or None
    return client


def new_session(
    settings: SlackSettings, calls: PlatformCalls | None = None
) -> aiohttp.ClientSession:
    """Return a connection pool for all requests to Slack, which are counted in ``calls``."""
    egress = Egress.of(settings)
    return aiohttp.ClientSession(
        connector=egress.connector(),
        proxy=egress.proxy_for(settings.slack_api_url) or None,
        timeout=aiohttp.ClientTimeout(total=TIMEOUT_SECONDS),
        trace_configs=None if calls is None else [calls.trace("slack", method_of, refuses_token)],
    )


def method_of(url: str) -> str:
    """Return the Web API method that a URL calls, or "other" (sockets, files, response URLs)."""
    name = urlsplit(url).path.rpartition("/api/")[2]
    return name if _METHOD.fullmatch(name) else "other"


def refuses_token(body: bytes) -> bool:
    """Return True if a response of the Web API, whose HTTP status is 200 even then, rejects the
    token."""
    if b'"error"' not in body:
        return False
    try:
        reply = json.loads(body)
    except ValueError:
        return False
    return isinstance(reply, dict) and reply.get("error") in CREDENTIALS


def refused_token(refusal: Refusal, variable: str) -> CredentialsRefused:
    """Return the error for a refusal of the token in the setting ``variable``."""
    told = said("check-slack-token", setting=variable, code=refusal.code)
    return CredentialsRefused(told, detail=refusal.detail)


async def until_reached(
    calls: Calls, method: str, variable: str, connection: Connection, **arguments: Any
) -> Json:
    """Return the response of a call, retried with growing pauses while Slack is away.

    Reports an outage to ``connection``, and once to the log. Raises ``PostRefused``, and
    ``CredentialsRefused``, which names ``variable``, the setting with the call's token.
    """
    pause = FIRST_PAUSE
    while True:
        try:
            answer = await calls.once(method, **arguments)
        except Refusal as refusal:
            if refusal.code in TOKEN_ERRORS:
                raise refused_token(refusal, variable) from refusal
            raise
        except PlatformUnavailable as away:
            connection.mark_unreachable(away.said)
            if pause == FIRST_PAUSE:
                log.warning("Slack is away, trying on", error=away.detail)
            await asyncio.sleep(away.retry_after or pause * random.uniform(0.5, 1.0))  # noqa: S311
            pause = min(pause * 2, LONGEST_PAUSE)
        else:
            if pause > FIRST_PAUSE:
                log.warning("Slack is back")
            return answer


def sdk_logger() -> logging.Logger:
    """Return the logger for bolt and the SDK. Never below INFO: they would log people's words."""
    logger = redirect_library("slack", quiet=(_MEANT_SO, _NOT_INSTALLED))
    logger.setLevel(logging.INFO)
    return logger
