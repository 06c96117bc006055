"""The Web API client, reaching Slack at all, and where the SDK's log goes."""

from __future__ import annotations

import asyncio
import logging
import random
import re
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import aiohttp
from slack_bolt.logger.messages import warning_client_prioritized_and_token_skipped
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.calls import Json, Refusal
from adapters.slack.settings import SlackSettings
from bot.errors import CredentialsRefused, PlatformUnavailable
from bot.logs import get_logger
from bot.observing import PlatformCalls
from bot.platform import Connection

TIMEOUT_SECONDS = 30
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds between attempts to reach Slack at all

# Errors that any call with the same token would meet, and those of apps.connections.open:
# https://docs.slack.dev/reference/methods/auth.test
TOKEN_ERRORS = frozenset(
    [
        *("invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"),
        *("not_allowed_token_type", "no_permission", "missing_scope", "access_denied"),
        *("team_access_not_granted", "forbidden_team", "socket_mode_not_enabled"),
    ]
)

# Bolt finds SLACK_BOT_TOKEN in the environment too, and warns that our client goes before it.
_MEANT_SO = warning_client_prioritized_and_token_skipped()
# Bolt (1.30) says of every event from where the app is not installed; ours names the workspace.
_NOT_INSTALLED = "Although the app should be installed into this workspace"

_METHOD = re.compile(r"[a-z]+(?:\.[A-Za-z]+){1,3}")  # "chat.postMessage", "users.info"

log = get_logger()


def web_client(settings: SlackSettings, session: aiohttp.ClientSession) -> AsyncWebClient:
    """A client for the bot's token. It repeats nothing by itself; see ``calls``."""
    token = settings.slack_bot_token
    return AsyncWebClient(
        token=token.get_secret_value() if token is not None else None,
        base_url=settings.slack_api_url.rstrip("/") + "/",
        timeout=TIMEOUT_SECONDS,
        session=session,
        logger=sdk_logger(),
        retry_handlers=[],
    )


def new_session(calls: PlatformCalls | None = None) -> aiohttp.ClientSession:
    """One pool of connections for everything said to Slack, which is counted in ``calls``."""
    return aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(total=TIMEOUT_SECONDS),
        trust_env=True,
        trace_configs=None if calls is None else [calls.trace("slack", method_of)],
    )


def method_of(url: str) -> str:
    """The Web API method that a URL calls; "other" for all else: sockets, files, response URLs."""
    name = urlsplit(url).path.rpartition("/api/")[2]
    return name if _METHOD.fullmatch(name) else "other"


def refused_token(refusal: Refusal, variable: str) -> CredentialsRefused:
    """A refusal that is about the token in the setting ``variable``."""
    return CredentialsRefused(
        f"Slack does not accept {variable} ({refusal.code}): copy the token again from your app's "
        "page at https://api.slack.com/apps.",
        detail=refusal.detail,
    )


async def until_reached(
    call: Callable[[], Awaitable[Json]], variable: str, connection: Connection
) -> Json:
    """The answer of ``call``, tried with growing pauses for as long as Slack is away.

    Tells ``connection`` that it is, and the log once. Raises ``CredentialsRefused`` that names
    ``variable``, the setting with the call's token, and ``PostRefused``.
    """
    pause = FIRST_PAUSE
    while True:
        try:
            answer = await call()
        except Refusal as refusal:
            if refusal.code in TOKEN_ERRORS:
                raise refused_token(refusal, variable) from refusal
            raise
        except PlatformUnavailable as away:
            connection.away(away.sentence)
            if pause == FIRST_PAUSE:
                log.warning("Slack is away, trying on", error=away.detail)
            await asyncio.sleep(away.retry_after or pause * random.uniform(0.5, 1.0))  # noqa: S311
            pause = min(pause * 2, LONGEST_PAUSE)
        else:
            if pause > FIRST_PAUSE:
                log.warning("Slack is back")
            return answer


class _ToOurLog(logging.Handler):
    """One line an event, without tracebacks; what is information to the SDK is detail to us."""

    def emit(self, record: logging.LogRecord) -> None:
        line = record.getMessage().partition("\n")[0]
        known = line == _MEANT_SO or line.startswith(_NOT_INSTALLED)
        if record.levelno >= logging.WARNING and not known:
            log.warning(line, by="slack")
        else:
            log.debug(line, by="slack")


def sdk_logger() -> logging.Logger:
    """The logger that bolt and the SDK get. Never below INFO: they would log what people say."""
    logger = logging.getLogger("footnote.slack")
    if not logger.handlers:
        logger.addHandler(_ToOurLog())
        logger.setLevel(logging.INFO)
        logger.propagate = False
    return logger
