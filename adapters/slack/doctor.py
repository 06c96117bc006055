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
from bot.core.texts import Said, listed, said
from bot.pages.urls import display_url
from bot.search.registry import searches_conversations

APPS = "https://api.slack.com/apps"
MOST_ASKED = 20  # workspaces whose tokens are checked
NAMED = 5  # workspaces named in the report
_SIGNING_SECRET = re.compile(r"[0-9a-f]{32}")


async def examine(settings: SlackSettings) -> Said:
    """Check the Slack app; return what works. Raises ``FootnoteError``, which says
    what does not work and what to do.

    Slack's API does not show which events an app subscribes to; the manifest lists them.
    """
    _look_at_tokens(settings)
    async with new_session(settings) as session:
        client = web_client(settings, session)
        if in_many_workspaces(settings):
            told = await _installed(settings, client)
        else:
            bot, scopes = await _bot(client, settings, "SLACK_BOT_TOKEN")
            told = said("check-slack", bot=str(bot.get("user")), team=str(bot.get("team")))
            if searches_conversations(settings):
                told += await _searched(client, scopes)
        if settings.slack_app_token is not None:
            await _open_socket(client, settings.slack_app_token)
            told += said("check-slack-socket")
        if settings.slack_signing_secret is not None:
            told += said("check-slack-http")
        unused = settings.slack_bot_token is not None and settings.slack_client_id is not None
        if unused:
            told += said("check-slack-unused")
        return told


async def _searched(client: AsyncWebClient, scopes: frozenset[str]) -> Said:
    """Return the part of the report about search: the kinds of messages, or why none are searched,
    and whether files are."""
    may_search = [kind.replace("_", "-") for kind, scope in SEARCHED.items() if scope in scopes]
    kinds = [said(f"slack-{kind}") for kind in may_search]
    if PUBLIC not in scopes:
        return said("check-slack-unsearched", scope=PUBLIC)
    try:
        reply = await Calls(client, Timing()).once("assistant.search.info")
    except (Refusal, Limited, Away) as error:
        return said("check-slack-unsearchable", detail=error.detail)
    by_meaning = str(bool(reply.get("is_ai_search_enabled")))
    told = said("check-slack-searched", kinds=listed(kinds), meaning=by_meaning)
    no_files = said("check-slack-no-files", scope=FILES)
    return told + (said("check-slack-files") if FILES in scopes else no_files)


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
        team = str(bot.get("team")) if in_many_workspaces(settings) else "none"
        names, count = ", ".join(lacking), len(lacking)
        raise InvalidSetting(said("check-slack-scopes", names=names, count=count, team=team))
    return bot, scopes


# ---------------------------------------------------------------- several workspaces


async def _installed(settings: SlackSettings, client: AsyncWebClient) -> Said:
    """Check the bot in each workspace; return how many have the app, and where to install it."""
    await _look_at_secret(settings, client)
    async with open_installations(settings) as installations:
        places = await installations.places()
        for place in places[:MOST_ASKED]:
            bot = await installations.bot_of(place.id)
            if bot is not None:
                client.token = bot.bot_token
                await _in(place, client, settings)
    names = [place.name for place in places[:NAMED]] + ["…"] * (len(places) > NAMED)
    told = said("check-slack-installed", count=len(places), names=", ".join(names))
    url, back = install_url(settings), redirect_url(settings)
    return told + said("check-slack-install", url=url, back=back)


async def _in(place: Place, client: AsyncWebClient, settings: SlackSettings) -> None:
    try:
        await _bot(client, settings, place.name)
    except CredentialsRefused as refused:
        told = said("check-slack-revoked", team=place.name, url=install_url(settings))
        raise CredentialsRefused(told, detail=refused.detail) from refused


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
            told = said("check-slack-token", setting=f"SLACK_CLIENT_{name}", code=refusal.code)
            raise CredentialsRefused(told, detail=refusal.detail) from refusal
    except (Away, Limited) as away:
        raise _away(settings, away.detail) from away


# ---------------------------------------------------------------- tokens


def _look_at_tokens(settings: SlackSettings) -> None:
    """Raises ``InvalidSetting`` for mistakes that can be found without calling Slack."""
    _expect(settings.slack_bot_token, "SLACK_BOT_TOKEN", "xoxb-", "OAuth & Permissions")
    _expect(settings.slack_app_token, "SLACK_APP_TOKEN", "xapp-", "Basic Information")
    secret = settings.slack_signing_secret
    if secret is not None and not _SIGNING_SECRET.fullmatch(secret.get_secret_value()):
        raise InvalidSetting(said("check-slack-secret"))


def _expect(token: SecretStr | None, variable: str, beginning: str, page: str) -> None:
    if token is not None and not token.get_secret_value().startswith(beginning):
        told = said("check-slack-kind", setting=variable, beginning=beginning, page=page)
        raise InvalidSetting(told)


def _away(settings: SlackSettings, detail: str) -> PlatformUnavailable:
    told = said("check-slack-away", url=display_url(settings.slack_api_url))
    return PlatformUnavailable(told, detail=detail[:300])


async def _open_socket(client: AsyncWebClient, token: SecretStr) -> None:
    calls = Calls(client, Timing())
    try:
        await calls.once("apps.connections.open", app_token=token.get_secret_value())
    except Refusal as refusal:
        if refusal.code == "missing_scope":
            raise InvalidSetting(said("check-slack-socket-scope")) from refusal
        if refusal.code in TOKEN_ERRORS:
            raise refused_token(refusal, "SLACK_APP_TOKEN") from refusal
        told = said("check-slack-socket-off", code=refusal.code)
        raise PostRefused(told, detail=refusal.detail) from refusal
