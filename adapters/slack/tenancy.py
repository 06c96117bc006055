"""For whom Footnote speaks in Slack: one workspace by its token, or all that installed the app."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol

from pydantic import SecretStr
from slack_bolt.adapter.starlette.async_handler import to_async_bolt_request, to_starlette_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.async_context import AsyncBoltContext
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.web.async_client import AsyncWebClient
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.slack.bolt import bolt_app, ignore_the_rest
from adapters.slack.calls import Calls, Json, Timing
from adapters.slack.client import until_reached
from adapters.slack.handlers import Handlers
from adapters.slack.inbox import Inbox
from adapters.slack.installations import States, installations_of
from adapters.slack.installed import InstalledTeams
from adapters.slack.listener import Me
from adapters.slack.oauth import (
    ENDINGS,
    INSTALL_PATH,
    NOT_HERE,
    REDIRECT_PATH,
    STATE_SECONDS,
    Authorize,
    ended,
    oauth_flow,
    workspace_of,
)
from adapters.slack.settings import SlackSettings
from adapters.slack.teams import OneTeam, Teams
from bot.conversing.reception import Reception
from bot.platform import Connection
from bot.storage.database import Database


class Tenancy(Protocol):
    """Close its ``teams`` at the end."""

    connection: Connection

    @property
    def teams(self) -> Teams: ...

    @property
    def routes(self) -> Sequence[Route]:
        """Its routes of the HTTP endpoint, beside the events."""
        ...

    async def reach(self) -> None:
        """Return once Slack is there to be posted in; raises as ``app`` does."""
        ...

    def app(self, reception: Reception) -> AbstractAsyncContextManager[AsyncApp]:
        """The bolt app, for as long as it listens. Raises ``FootnoteError`` when it cannot."""
        ...


class OneWorkspace:
    """The workspace of SLACK_BOT_TOKEN."""

    routes: Sequence[Route] = ()

    def __init__(self, settings: SlackSettings, client: AsyncWebClient) -> None:
        self._settings = settings
        self._client = client
        self.connection = Connection()
        self.teams = OneTeam(client, Timing())

    async def reach(self) -> None:
        await identify(self.teams.team.calls, self.connection)
        self.connection.made()

    @asynccontextmanager
    async def app(self, reception: Reception) -> AsyncIterator[AsyncApp]:
        """Raises ``CredentialsRefused``."""
        team = self.teams.team
        bot = await identify(team.calls, self.connection)
        enterprise = str(bot.get("enterprise_id") or "")
        me = Me(str(bot["team_id"]), str(bot["user_id"]), str(bot.get("bot_id") or ""), enterprise)
        authorized = AuthorizeResult(
            enterprise_id=bot.get("enterprise_id"),
            team_id=bot.get("team_id"),
            bot_user_id=bot.get("user_id"),
            bot_id=bot.get("bot_id"),
            bot_token=self._client.token,
        )
        inbox = Inbox(me, team, reception, self._settings)

        async def authorize() -> AuthorizeResult:
            return authorized  # asking Slack again would be on the way of an acknowledgement

        async def handlers_of(context: AsyncBoltContext) -> Handlers:
            return inbox.handlers

        secret = _secret(self._settings.slack_signing_secret)
        app = bolt_app(self._client, secret, handlers_of, authorize=authorize)
        ignore_the_rest(app)
        try:
            yield app
        finally:
            await inbox.aclose()


class ManyWorkspaces:
    """All workspaces that installed the app."""

    def __init__(self, settings: SlackSettings, client: AsyncWebClient, database: Database) -> None:
        """``client`` has no token. Raises ``InvalidSetting``."""
        self._settings = settings
        self._client = client
        self.connection = Connection()
        self._installations = installations_of(settings, database)
        states = States(STATE_SECONDS, database)
        self._flow = oauth_flow(settings, client, self._installations, states)
        rotator = AsyncTokenRotator(
            client_id=self._flow.client_id,
            client_secret=_secret(settings.slack_client_secret),
            client=client,
        )
        self.teams = InstalledTeams(self._installations, rotator, client, Timing())
        self._inboxes: dict[str, Inbox] = {}

    @property
    def routes(self) -> Sequence[Route]:
        return [
            Route(INSTALL_PATH, self._install, methods=["GET"]),
            Route(REDIRECT_PATH, self._redirected, methods=["GET"]),
        ]

    async def reach(self) -> None:
        await self._installations.reseal()
        self.connection.made()

    @asynccontextmanager
    async def app(self, reception: Reception) -> AsyncIterator[AsyncApp]:
        """Raises ``InvalidSetting`` when a stored token cannot be opened."""
        await self._installations.reseal()

        async def handlers_of(context: AsyncBoltContext) -> Handlers:
            return (await self._inbox(_workspace(context), reception)).handlers

        app = bolt_app(
            self._client,
            _secret(self._settings.slack_signing_secret),
            handlers_of,
            oauth_flow=self._flow,
            authorize=Authorize(self.teams),
            user_facing_authorize_error_message=NOT_HERE,
        )
        for name in ENDINGS:
            app.event(name)(self._ended)
        ignore_the_rest(app)
        try:
            yield app
        finally:
            while self._inboxes:
                await self._inboxes.popitem()[1].aclose()

    async def _inbox(self, workspace: str, reception: Reception) -> Inbox:
        known = await self.teams.installed(workspace)
        me = Me(workspace, known.bot_user, known.bot_id, known.enterprise)
        inbox = self._inboxes.get(workspace)
        if inbox is None or inbox.me != me or inbox.team is not known.team:
            self._inboxes[workspace] = Inbox(me, known.team, reception, self._settings)
            if inbox is not None:
                await inbox.aclose()
        return self._inboxes[workspace]

    async def _ended(self, body: dict[str, Any]) -> None:
        if workspace := await ended(self._installations, body):
            await self.teams.forget(workspace)
            if (inbox := self._inboxes.pop(workspace, None)) is not None:
                await inbox.aclose()

    # ------------------------------------------------------------ installing

    async def _install(self, request: Request) -> Response:
        answer = await self._flow.handle_installation(to_async_bolt_request(request, b""))
        return to_starlette_response(answer)

    async def _redirected(self, request: Request) -> Response:
        answer = await self._flow.handle_callback(to_async_bolt_request(request, b""))
        return to_starlette_response(answer)


def _workspace(context: AsyncBoltContext) -> str:
    return workspace_of(context.is_enterprise_install, context.enterprise_id, context.team_id)


async def identify(calls: Calls, connection: Connection) -> Json:
    """The response of auth.test, as soon as Slack can be reached.

    Raises ``CredentialsRefused``.
    """

    async def call() -> Json:
        return await calls.once("auth.test")

    return await until_reached(call, "SLACK_BOT_TOKEN", connection)


def _secret(value: SecretStr | None) -> str:
    return "" if value is None else value.get_secret_value()
