"""The Slack platform: one workspace, by its bot token, or all that installed the app."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qsl

from pydantic import SecretStr
from slack_bolt.adapter.starlette.async_handler import to_async_bolt_request, to_starlette_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.slack import socket
from adapters.slack.bolt import Inbox, bolt_app, ignore_the_rest
from adapters.slack.calls import Calls, Json, Timing, new_session, until_reached, web_client
from adapters.slack.incoming import MALFORMED, note
from adapters.slack.installations import States, installations_of
from adapters.slack.listener import Me
from adapters.slack.oauth import (
    ENDINGS,
    INSTALL_PATH,
    NOT_HERE,
    REDIRECT_PATH,
    STATE_SECONDS,
    Authorize,
    handle_uninstall,
    oauth_flow,
    workspace_of,
)
from adapters.slack.poster import SlackPoster
from adapters.slack.settings import SlackSettings, in_many_workspaces
from adapters.slack.teams import InstalledTeams, OneTeam
from bot.core.measurements import Observed
from bot.service.platform import Connection
from bot.service.reception import Reception
from bot.storage.database import Database
from bot.storage.workspaces import Workspaces


class OneWorkspace:
    """The workspace of SLACK_BOT_TOKEN. Close its ``teams`` at the end."""

    routes: Sequence[Route] = ()  # HTTP routes besides the one for events

    def __init__(self, settings: SlackSettings, client: AsyncWebClient) -> None:
        self._settings = settings
        self._client = client
        self.connection = Connection()
        self.teams = OneTeam(client, Timing())

    async def reach(self) -> None:
        """Wait until Slack can be reached for posting. Raises ``CredentialsRefused``."""
        await identify(self.teams.team.calls, self.connection)
        self.connection.mark_connected()

    @asynccontextmanager
    async def app(self, reception: Reception) -> AsyncIterator[AsyncApp]:
        """Yield the bolt app, which listens inside the block. Raises ``CredentialsRefused``."""
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
            return authorized  # asking Slack again would delay the acknowledgement

        async def inbox_of(context: AsyncBoltContext) -> Inbox:
            return inbox

        secret = _secret(self._settings.slack_signing_secret)
        app = bolt_app(self._client, secret, inbox_of, authorize=authorize)
        ignore_the_rest(app)
        try:
            yield app
        finally:
            await inbox.aclose()


class ManyWorkspaces:
    """All workspaces that installed the app. It has the methods of ``OneWorkspace``."""

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
        self.connection.mark_connected()

    @asynccontextmanager
    async def app(self, reception: Reception) -> AsyncIterator[AsyncApp]:
        """Yield the bolt app. Raises ``InvalidSetting`` if a stored token cannot be decrypted."""
        await self._installations.reseal()

        async def inbox_of(context: AsyncBoltContext) -> Inbox:
            enterprise, team = context.enterprise_id, context.team_id
            workspace = workspace_of(context.is_enterprise_install, enterprise, team)
            return await self._inbox(workspace, reception)

        app = bolt_app(
            self._client,
            _secret(self._settings.slack_signing_secret),
            inbox_of,
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
        if workspace := await handle_uninstall(self._installations, body):
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


Tenancy = OneWorkspace | ManyWorkspaces


async def identify(calls: Calls, connection: Connection) -> Json:
    """Return the response of auth.test, as soon as Slack can be reached.

    Raises ``CredentialsRefused``.
    """

    async def call() -> Json:
        return await calls.once("auth.test")

    return await until_reached(call, "SLACK_BOT_TOKEN", connection)


def _secret(value: SecretStr | None) -> str:
    return "" if value is None else value.get_secret_value()


PATH = "/slack/events"  # for events, commands and interactions
LARGEST_BODY = 1_000_000  # bytes; Slack's own bodies are far smaller


@asynccontextmanager
async def open_slack(
    settings: SlackSettings, workspaces: Workspaces, observed: Observed | None = None
) -> AsyncIterator[SlackPlatform]:
    """Open the Slack platform that the settings describe.

    It calls Slack only later, so an outage of Slack does not stop the other platforms. Raises
    ``InvalidSetting`` if a setting that several workspaces need is missing.
    """
    async with new_session(settings, observed.calls if observed is not None else None) as session:
        client = web_client(settings, session)
        tenancy: Tenancy = (
            ManyWorkspaces(settings, client, workspaces.database)
            if in_many_workspaces(settings)
            else OneWorkspace(settings, client)
        )
        try:
            yield SlackPlatform(settings, client, tenancy, workspaces)
        finally:
            await tenancy.teams.aclose()


class SlackPlatform:
    """See ``bot.service.platform.Platform``."""

    name = "slack"

    def __init__(
        self,
        settings: SlackSettings,
        client: AsyncWebClient,
        tenancy: Tenancy,
        workspaces: Workspaces,
    ) -> None:
        self._settings = settings
        self._client = client
        self._tenancy = tenancy
        self._app: AsyncApp | None = None
        secret = settings.slack_signing_secret
        self._verifier = SignatureVerifier(secret.get_secret_value()) if secret else None
        self.poster = SlackPoster(tenancy.teams, workspaces, settings.encryption_keys)

    @property
    def connection(self) -> Connection:
        return self._tenancy.connection

    @property
    def routes(self) -> Sequence[BaseRoute]:
        routes: list[BaseRoute] = list(self._tenancy.routes)
        if self._verifier is not None:
            routes.append(Route(PATH, self._take, methods=["POST"]))
        return routes

    async def reach(self) -> None:
        await self._tenancy.reach()

    async def run(self, reception: Reception, ready: Callable[[], None]) -> None:
        def connected() -> None:
            self.connection.mark_connected()
            ready()

        async with self._tenancy.app(reception) as app:
            self._app = app
            try:
                if self._settings.slack_app_token is None:
                    connected()
                    await asyncio.Event().wait()
                else:
                    token = self._settings.slack_app_token.get_secret_value()
                    calls = Calls(self._client, Timing())
                    await socket.listen(app, calls, token, connected, self.connection)
            finally:
                self._app = None

    # ------------------------------------------------------------ signed HTTP

    async def _take(self, request: Request) -> Response:
        app = self._app
        if app is None:
            return PlainTextResponse("starting", status_code=503)
        length = request.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > LARGEST_BODY:
            return PlainTextResponse("too large", status_code=413)
        body = await request.body()
        if _is_ssl_check(body):
            return PlainTextResponse("")
        if not self._is_signed(body, request.headers):  # before the body is parsed
            return PlainTextResponse("invalid request", status_code=401)
        try:
            answer = await app.async_dispatch(_bolt_request(request, body))
        except (*MALFORMED, RecursionError) as error:  # raised by bolt, before any listener ran
            note(error)
            return PlainTextResponse("")
        return to_starlette_response(answer)

    def _is_signed(self, body: bytes, headers: Headers) -> bool:
        timestamp = headers.get("x-slack-request-timestamp", "")
        signature = headers.get("x-slack-signature", "")
        if self._verifier is None or not (
            timestamp.isascii() and timestamp.isdecimal() and len(timestamp) <= 12
        ):
            return False
        try:
            return self._verifier.is_valid(body, timestamp, signature)
        except (UnicodeDecodeError, TypeError):  # Slack's bodies are UTF-8, its signatures ASCII
            return False


def _is_ssl_check(body: bytes) -> bool:
    """Return True for Slack's unsigned check of our certificate (bolt answers it the same way)."""
    return len(body) < 1_000 and b"ssl_check=1" in body.split(b"&")


def _bolt_request(request: Request, body: bytes) -> AsyncBoltRequest:
    """Convert a request into bolt's form.

    Bolt (1.30) mistakes any form that contains the word "payload", such as a question about one,
    for an interaction, and parses nothing. Such a form is parsed here.
    """
    made = to_async_bolt_request(request, body)
    if body and not made.body:
        form = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        read = AsyncBoltRequest(body=form, mode="socket_mode")
        made.body, made.context = read.body, read.context
    return made
