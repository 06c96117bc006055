"""Whether the Slack app is set up right; what is missing is named, and where to put it right."""

from __future__ import annotations

import re

from pydantic import SecretStr
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.calls import FAILURES, Calls, Json, Refusal, Timing
from adapters.slack.client import TOKEN_ERRORS, new_session, refused_token, web_client
from adapters.slack.scopes import needed
from bot.errors import InvalidSetting, PlatformUnavailable, PostRefused
from bot.settings import Settings

APPS = "https://api.slack.com/apps"
_SIGNING_SECRET = re.compile(r"[0-9a-f]{32}")


async def examine(settings: Settings) -> str:
    """What works, in one sentence. Raises ``FootnoteError``: what does not, and what to do.

    Which events the app subscribes to cannot be asked of Slack; the manifest has them.
    """
    _look_at_tokens(settings)
    async with new_session() as session:
        client = web_client(settings, session)
        bot, scopes = await _auth(client, settings)
        if lacking := sorted(needed() - scopes):
            raise InvalidSetting(
                f"The Slack app lacks {_scopes(lacking)}: add what is missing at {APPS} under "
                "OAuth & Permissions (or paste deploy/slack-manifest.yaml under App Manifest), "
                "then install the app again."
            )
        ways = []
        if settings.slack_app_token is not None:
            await _open_socket(client, settings.slack_app_token)
            ways.append("Socket Mode works")
        if settings.slack_signing_secret is not None:
            ways.append("HTTP events are verified at /slack/events")
        return f"@{bot.get('user')} is in {bot.get('team')}, {', '.join(ways)}"


def _look_at_tokens(settings: Settings) -> None:
    """Raises ``InvalidSetting`` for what can be seen without asking anybody."""
    _expect(settings.slack_bot_token, "SLACK_BOT_TOKEN", "xoxb-", "OAuth & Permissions")
    _expect(settings.slack_app_token, "SLACK_APP_TOKEN", "xapp-", "Basic Information")
    secret = settings.slack_signing_secret
    if secret is not None and not _SIGNING_SECRET.fullmatch(secret.get_secret_value()):
        raise InvalidSetting(
            "SLACK_SIGNING_SECRET is not 32 hexadecimal digits: copy the signing secret from "
            f"Basic Information of your app at {APPS}."
        )
    if settings.slack_bot_token is None:
        raise InvalidSetting(
            f"SLACK_BOT_TOKEN is not set: copy it from OAuth & Permissions of your app at {APPS}."
        )
    if settings.slack_app_token is None and secret is None:
        raise InvalidSetting(
            "Slack has no way in: set SLACK_APP_TOKEN for Socket Mode, or SLACK_SIGNING_SECRET "
            "for HTTP events."
        )


def _expect(token: SecretStr | None, variable: str, beginning: str, page: str) -> None:
    if token is not None and not token.get_secret_value().startswith(beginning):
        raise InvalidSetting(
            f"{variable} does not begin with {beginning}: that is another kind of token, copy the "
            f"right one from {page} of your app at {APPS}."
        )


async def _auth(client: AsyncWebClient, settings: Settings) -> tuple[Json, frozenset[str]]:
    """What auth.test tells, and the token's scopes, which only the response's headers have."""
    try:
        response = await client.auth_test()
    except SlackApiError as error:
        told = getattr(error.response, "data", None)
        code = str(told.get("error", "")) if isinstance(told, dict) else ""
        if code in TOKEN_ERRORS:
            raise refused_token(Refusal("auth.test", code), "SLACK_BOT_TOKEN") from error
        raise _away(settings, str(error)) from error
    except FAILURES as error:
        raise _away(settings, repr(error)) from error
    bot = response.data if isinstance(response.data, dict) else {}
    listed = next(
        (value for name, value in response.headers.items() if name.lower() == "x-oauth-scopes"), ""
    )
    return bot, frozenset(scope.strip() for scope in str(listed).split(","))


def _away(settings: Settings, detail: str) -> PlatformUnavailable:
    return PlatformUnavailable(
        f"Slack does not answer at {settings.slack_api_url}: check the network, or "
        "FOOTNOTE_SLACK_API_URL.",
        detail=detail[:300],
    )


async def _open_socket(client: AsyncWebClient, token: SecretStr) -> None:
    calls = Calls(client, Timing())
    try:
        await calls.once("apps.connections.open", app_token=token.get_secret_value())
    except Refusal as refusal:
        if refusal.code == "missing_scope":
            raise InvalidSetting(
                "SLACK_APP_TOKEN lacks connections:write: make a new app-level token with it under "
                f"Basic Information of your app at {APPS}."
            ) from refusal
        if refusal.code in TOKEN_ERRORS:
            raise refused_token(refusal, "SLACK_APP_TOKEN") from refusal
        raise PostRefused(
            f"Slack opens no Socket Mode connection ({refusal.code}): switch Socket Mode on for "
            f"your app at {APPS}.",
            detail=refusal.detail,
        ) from refusal


def _scopes(names: list[str]) -> str:
    return f"the scope {names[0]}" if len(names) == 1 else f"the scopes {', '.join(names)}"
