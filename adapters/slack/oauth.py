"""Installs the app in workspaces: the scopes it requests, and bolt's own OAuth flow.

https://docs.slack.dev/authentication/installing-with-oauth
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urljoin

from slack_bolt.authorization import AuthorizeResult
from slack_bolt.authorization.async_authorize import AsyncAuthorize
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.error import BoltError
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.request.internals import extract_enterprise_id, extract_team_id
from slack_sdk.oauth.installation_store import Installation
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.calls import FAILURES, Json, sdk_logger
from adapters.slack.conversations import EVERY_SCOPE as SEARCHING
from adapters.slack.installations import Installations, States
from adapters.slack.places import READERS
from adapters.slack.settings import SlackSettings
from adapters.slack.teams import InstalledTeams, NotInstalled
from bot.core.errors import FootnoteError
from bot.core.logs import get_logger
from bot.operation.console_access import console_address
from bot.search.registry import searches_conversations

# Scopes of the bot token and their reasons; ``deploy/slack-manifest.yaml`` requests exactly these.
# They are on the pages of https://docs.slack.dev/reference/methods and
# https://docs.slack.dev/reference/events.
_READING = ("channels:history", "groups:history", "im:history", "mpim:history")

# Web API method that the adapter calls → scopes it needs.
METHODS: Mapping[str, tuple[str, ...]] = {
    "agents.sessions.setStatus": ("chat:write",),
    "apps.connections.open": (),  # connections:write of the app-level token
    "assistant.search.context": (),  # optional scopes: see ``conversations.EVERY_SCOPE``
    "assistant.search.info": (),
    "assistant.threads.setSuggestedPrompts": ("assistant:write",),
    "assistant.threads.setTitle": ("assistant:write",),
    "auth.test": (),
    "chat.appendStream": ("chat:write",),
    "chat.delete": ("chat:write",),
    "chat.postEphemeral": ("chat:write",),
    "chat.postMessage": ("chat:write",),
    "chat.startStream": ("chat:write",),
    "chat.stopStream": ("chat:write",),
    "chat.update": ("chat:write",),
    "conversations.history": _READING,
    "conversations.info": (),  # by the kind of the channel: see ``OTHER``
    "conversations.replies": _READING,
    "files.info": ("files:read",),
    "usergroups.users.list": ("usergroups:read",),
    "users.info": ("users:read",),
    "views.open": (),
    "views.publish": (),
}

# Event that the manifest subscribes to → scope it needs.
EVENTS: Mapping[str, str] = {
    "agent_session_stopped": "chat:write",
    "app_home_opened": "",
    "app_mention": "app_mentions:read",
    "app_uninstalled": "",
    "assistant_thread_started": "assistant:write",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
    "reaction_added": "reactions:read",
    "tokens_revoked": "",
}

# Scopes of features that are neither methods nor events, or not all those of a method.
OTHER = (
    *READERS,  # conversations.info, for who reads in a channel
    "commands",  # slash commands and the message shortcut
    "files:read",  # downloading files that came with a question or were found
)


# This scope is used only if collections name user groups; apps without it work too.
FOR_USER_GROUPS = "usergroups:read"


def needed_scopes() -> frozenset[str]:
    """Return every scope that the manifest requests."""
    called = {scope for scopes in METHODS.values() for scope in scopes}
    return frozenset(called | set(filter(None, EVENTS.values())) | set(OTHER))


def asked_for(settings: SlackSettings) -> frozenset[str]:
    """Return the scopes requested from a workspace. The search scopes are included only if the
    operator enabled the search of messages, since Slack refuses apps that do not have them."""
    is_said = "conversations" in settings.model_fields_set
    wanted = SEARCHING if is_said and searches_conversations(settings) else ()
    return needed_scopes().union(wanted)


INSTALL_PATH = "/slack/install"
REDIRECT_PATH = "/slack/oauth_redirect"
STATE_SECONDS = 600  # time to approve the installation in Slack

# Events that end an installation; https://docs.slack.dev/reference/events/tokens_revoked
UNINSTALLED, REVOKED = "app_uninstalled", "tokens_revoked"
ENDINGS = (UNINSTALLED, REVOKED)

# Shown to people in a workspace where the app is not installed.
NOT_HERE = (
    "Footnote is not installed in this workspace any more: one of its admins can install it again."
)

log = get_logger()


def install_url(settings: SlackSettings) -> str:
    """Return the URL at which an admin starts the installation, derived from the settings."""
    return f"{console_address(settings)}{INSTALL_PATH}"


def redirect_url(settings: SlackSettings) -> str:
    """Return the URL to which Slack redirects them; it must be among the app's "Redirect URLs"."""
    return f"{console_address(settings)}{REDIRECT_PATH}"


class Flow(AsyncOAuthFlow):
    """Logs the outcome of an installation, even where bolt does not."""

    async def run_installation(self, code: str) -> Installation | None:
        try:
            return await super().run_installation(code)
        except FAILURES as error:
            log.warning("Slack app not installed: Slack does not answer", error=repr(error))
            return None

    async def store_installation(
        self, request: AsyncBoltRequest, installation: Installation
    ) -> None:
        try:
            await super().store_installation(request, installation)
        except FootnoteError as error:
            log.error("Slack app not installed: it could not be stored", error=str(error))
            raise BoltError(error.sentence) from error
        workspace = workspace_of(
            installation.is_enterprise_install, installation.enterprise_id, installation.team_id
        )
        log.info("Slack app installed", workspace=workspace, by=installation.user_id)


def oauth_flow(
    settings: SlackSettings, client: AsyncWebClient, installations: Installations, states: States
) -> AsyncOAuthFlow:
    """Return bolt's OAuth flow; ``client`` has no token."""
    assert settings.slack_client_secret is not None  # noqa: S101
    return Flow(
        client=client,
        logger=sdk_logger(),
        settings=AsyncOAuthSettings(
            client_id=settings.slack_client_id,
            client_secret=settings.slack_client_secret.get_secret_value(),
            scopes=sorted(asked_for(settings)),
            user_scopes=[],
            # Without it, Slack uses the first of the app's redirect URLs.
            redirect_uri=redirect_url(settings) if settings.public_url else None,
            install_path=INSTALL_PATH,
            install_page_rendering_enabled=False,
            redirect_uri_path=REDIRECT_PATH,
            authorization_url=urljoin(settings.slack_api_url, "/oauth/v2/authorize"),
            installation_store=installations,
            installation_store_bot_only=True,
            state_store=states,
            state_expiration_seconds=STATE_SECONDS,
            logger=sdk_logger(),
        ),
    )


def workspace_of(whole: bool | None, enterprise_id: str | None, team_id: str | None) -> str:
    """Return the id that threads name: the organisation's if all of it installed the app
    (``whole``), or else the team's."""
    return str((enterprise_id if whole or not team_id else team_id) or "")


class Authorize(AsyncAuthorize):
    """Gives bolt the token and the bot of an event's workspace, as stored at the installation.

    Bolt's own ``AsyncInstallationStoreAuthorize`` (1.30) calls ``auth.test`` before an event is
    acknowledged. It mistakes a database outage or a rate limit for a missing installation, so the
    event would be acknowledged and lost.
    """

    def __init__(self, teams: InstalledTeams) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._teams = teams

    async def __call__(
        self,
        *,
        context: AsyncBoltContext,
        enterprise_id: str | None,
        team_id: str | None,
        user_id: str | None,
        actor_enterprise_id: str | None = None,
        actor_team_id: str | None = None,
        actor_user_id: str | None = None,
    ) -> AuthorizeResult | None:
        """Raises ``FootnoteError`` if the installation cannot be looked up now."""
        workspace = workspace_of(context.is_enterprise_install, enterprise_id, team_id)
        try:
            known = await self._teams.installed(workspace)
        except NotInstalled:
            log.warning("Slack app not installed where this comes from", workspace=workspace)
            return None
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=team_id,
            bot_user_id=known.bot_user,
            bot_id=known.bot_id,
            bot_token=known.team.calls.client.token,
        )


async def handle_uninstall(installations: Installations, body: Json) -> str:
    """Handle ``app_uninstalled`` and ``tokens_revoked``; return the workspace that lost its
    installation, or "".

    These events come without an authorization and may not say whether a whole organisation is
    meant.
    """
    event = body["event"]
    tokens: Any = event.get("tokens") or {}
    if event["type"] == REVOKED and not tokens.get("bot"):
        return ""  # a person's token, which this app does not use
    # Event times are in whole seconds; no one reinstalls the app within a second.
    at = datetime.fromtimestamp(int(body["event_time"]) + 1, UTC)
    for workspace in filter(None, (extract_team_id(body), extract_enterprise_id(body))):
        if await installations.uninstall(workspace, at):
            log.info("Slack app uninstalled", workspace=workspace)
            return workspace
    return ""
