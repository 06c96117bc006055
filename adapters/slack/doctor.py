"""Checks of the Slack app's set-up. Errors name what is missing and where to correct it."""

from __future__ import annotations

import re

from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.calls import (
    TOKEN_ERRORS,
    Away,
    Calls,
    Json,
    Limited,
    Refusal,
    Timing,
    new_session,
    refused_token,
    scopes_in,
    web_client,
)
from adapters.slack.installations import (
    FILES,
    FOR_USER_GROUPS,
    PUBLIC,
    SCOPES,
    SEARCHED,
    Place,
    install_url,
    open_installations,
    redirect_url,
)
from adapters.slack.settings import SlackSettings, in_many_workspaces
from bot.core.errors import CredentialsRefused, InvalidSetting, PlatformUnavailable, PostRefused
from bot.pages.urls import display_url
from bot.search.registry import searches_conversations

APPS = "https://api.slack.com/apps"
MOST_ASKED = 20  # workspaces whose tokens are checked
NAMED = 5  # workspaces named in the report
_SIGNING_SECRET = re.compile(r"[0-9a-f]{32}")


async def examine(settings: SlackSettings) -> str:
    """Check the Slack app; return a sentence about what works. Raises ``FootnoteError``, which says
    what does not work and what to do.

    Slack's API does not show which events an app subscribes to; the manifest lists them.
    """
    _look_at_tokens(settings)
    async with new_session(settings) as session:
        client = web_client(settings, session)
        if in_many_workspaces(settings):
            where = await _installed(settings, client)
        else:
            bot, scopes = await _bot(client, settings, "SLACK_BOT_TOKEN")
            where = f"@{bot.get('user')} is in {bot.get('team')}"
            if searches_conversations(settings):
                where += f", {await _searched(client, scopes)}"
        ways = []
        if settings.slack_app_token is not None:
            await _open_socket(client, settings.slack_app_token)
            ways.append("Socket Mode works")
        if settings.slack_signing_secret is not None:
            ways.append("HTTP events are verified at /slack/events")
        unused = settings.slack_bot_token is not None and settings.slack_client_id is not None
        if unused:
            ways.append("SLACK_CLIENT_ID is not used as long as SLACK_BOT_TOKEN is set")
        return ", ".join([where, *ways])


async def _searched(client: AsyncWebClient, scopes: frozenset[str]) -> str:
    """Return the part of the report about search: the kinds of messages, or why none are searched,
    and whether files are."""
    kinds = [kind.replace("_", " ") for kind, scope in SEARCHED.items() if scope in scopes]
    if PUBLIC not in scopes:
        return f"messages are not searched, for which the app lacks {PUBLIC}"
    try:
        reply = await Calls(client, Timing()).once("assistant.search.info")
    except (Refusal, Limited, Away) as error:
        return f"messages cannot be searched ({error.detail})"
    meaning = " by meaning" if reply.get("is_ai_search_enabled") else ""
    files = "files too" if FILES in scopes else f"files are not, for which the app lacks {FILES}"
    return f"messages are searched{meaning} ({', '.join(kinds)}), {files}"


async def _bot(
    client: AsyncWebClient, settings: SlackSettings, variable: str
) -> tuple[Json, frozenset[str]]:
    """Return the response of auth.test, and the bot's scopes, which only its headers contain.

    Raises ``InvalidSetting`` if a needed scope is missing.
    """
    try:
        response = await Calls(client, Timing()).response("auth.test")
    except Refusal as refusal:
        if refusal.code in TOKEN_ERRORS:
            raise refused_token(refusal, variable) from refusal
        raise _away(settings, refusal.detail) from refusal
    except (Away, Limited) as away:
        raise _away(settings, away.detail) from away
    bot = response.data if isinstance(response.data, dict) else {}
    scopes = scopes_in(response.headers)
    wanted = SCOPES
    if not any(each.slack_groups for each in settings.collections):
        wanted -= {FOR_USER_GROUPS}
    if lacking := sorted(wanted - scopes):
        where = f" in {bot.get('team')}" if in_many_workspaces(settings) else ""
        raise InvalidSetting(
            f"The Slack app lacks {_scopes(lacking)}{where}: add what is missing at {APPS} under "
            "OAuth & Permissions (or paste adapters/slack/manifest.yaml under App Manifest), "
            "then install the app again."
        )
    return bot, scopes


# ---------------------------------------------------------------- several workspaces


async def _installed(settings: SlackSettings, client: AsyncWebClient) -> str:
    """Check the bot in each workspace; return how many have the app, and where to install it."""
    await _look_at_secret(settings, client)
    async with open_installations(settings) as installations:
        places = await installations.places()
        for place in places[:MOST_ASKED]:
            bot = await installations.bot_of(place.id)
            if bot is not None:
                client.token = bot.bot_token
                await _in(place, client, settings)
    count = "1 workspace" if len(places) == 1 else f"{len(places)} workspaces"
    names = ", ".join(place.name for place in places[:NAMED])
    more = ", …" if len(places) > NAMED else ""
    there = f"installed in {count}" + (f" ({names}{more})" if places else "")
    return f"{there}, to be installed at {install_url(settings)}, back to {redirect_url(settings)}"


async def _in(place: Place, client: AsyncWebClient, settings: SlackSettings) -> None:
    try:
        await _bot(client, settings, place.name)
    except CredentialsRefused as refused:
        raise CredentialsRefused(
            f"Slack does not accept the token of {place.name} any more: install the app there "
            f"again at {install_url(settings)}.",
            detail=refused.detail,
        ) from refused


async def _look_at_secret(settings: SlackSettings, client: AsyncWebClient) -> None:
    """Check the app's id and secret by sending an invalid code: Slack checks the secret first."""
    try:
        await Calls(client, Timing()).once(
            "oauth.v2.access",
            client_id=settings.slack_client_id,
            client_secret=(settings.slack_client_secret or SecretStr("")).get_secret_value(),
            code="doctor",
        )
    except Refusal as refusal:
        if refusal.code in ("invalid_client_id", "bad_client_secret"):
            name = "ID" if refusal.code == "invalid_client_id" else "SECRET"
            raise CredentialsRefused(
                f"Slack does not accept SLACK_CLIENT_{name} ({refusal.code}): copy it again from "
                f"Basic Information of your app at {APPS}.",
                detail=refusal.detail,
            ) from refusal
    except (Away, Limited) as away:
        raise _away(settings, away.detail) from away


# ---------------------------------------------------------------- tokens


def _look_at_tokens(settings: SlackSettings) -> None:
    """Raises ``InvalidSetting`` for mistakes that can be found without calling Slack."""
    _expect(settings.slack_bot_token, "SLACK_BOT_TOKEN", "xoxb-", "OAuth & Permissions")
    _expect(settings.slack_app_token, "SLACK_APP_TOKEN", "xapp-", "Basic Information")
    secret = settings.slack_signing_secret
    if secret is not None and not _SIGNING_SECRET.fullmatch(secret.get_secret_value()):
        raise InvalidSetting(
            "SLACK_SIGNING_SECRET is not 32 hexadecimal digits: copy the signing secret from "
            f"Basic Information of your app at {APPS}."
        )


def _expect(token: SecretStr | None, variable: str, beginning: str, page: str) -> None:
    if token is not None and not token.get_secret_value().startswith(beginning):
        raise InvalidSetting(
            f"{variable} does not begin with {beginning}: that is another kind of token, copy the "
            f"right one from {page} of your app at {APPS}."
        )


def _away(settings: SlackSettings, detail: str) -> PlatformUnavailable:
    return PlatformUnavailable(
        f"Slack does not answer at {display_url(settings.slack_api_url)}: check the network, or "
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
