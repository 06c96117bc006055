"""The Slack platform: one workspace, by its bot token, or all that installed the app."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from copy import copy
from time import monotonic
from typing import Any
from urllib.parse import parse_qsl

from pydantic import SecretStr
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.adapter.starlette.async_handler import to_async_bolt_request, to_starlette_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.authorization.async_authorize import AsyncAuthorize
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.signature import SignatureVerifier
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.slack.calls import (
    Calls,
    Json,
    Timing,
    new_session,
    sdk_logger,
    until_reached,
    web_client,
)
from adapters.slack.deferred import EphemeralMessages, SlowWork
from adapters.slack.format import escaped
from adapters.slack.incoming import (
    MALFORMED,
    SHARED,
    Command,
    Deletion,
    Edit,
    Mention,
    Opened,
    Reaction,
    SessionStop,
    SlackEvent,
    SlackMessage,
    note,
    parse_command,
    parse_event,
    parse_press,
    parse_shortcut,
)
from adapters.slack.installations import (
    ENDINGS,
    INSTALL_PATH,
    NOT_HERE,
    REDIRECT_PATH,
    STATE_SECONDS,
    States,
    handle_uninstall,
    installations_of,
    oauth_flow,
    workspace_of,
)
from adapters.slack.interactions import (
    ASK,
    CHECK_FACTS,
    CONTROLS,
    FOOTNOTE,
    RESEARCH_THIS,
    Buttons,
    Commands,
)
from adapters.slack.listener import Listener, Me
from adapters.slack.poster import SlackPoster
from adapters.slack.settings import SlackSettings, in_many_workspaces
from adapters.slack.teams import InstalledTeams, NotInstalled, OneTeam, Team
from adapters.slack.views import Home
from bot.core.errors import FootnoteError, StorageUnavailable
from bot.core.logs import get_logger
from bot.core.observing import Observed
from bot.core.settings import Settings
from bot.search.conversations import CONVERSATIONS
from bot.search.registry import configured_names
from bot.service.platform import Connection
from bot.service.reception import Reception
from bot.storage.database import Database
from bot.storage.workspaces import Workspaces

log = get_logger()

RETRY_HEADER = "x-slack-retry-num"

# The events of Slack; ``deploy/slack-manifest.yaml`` lists them.
EVENTS = ("app_mention", "message", "agent_session_stopped", "reaction_added", "app_home_opened")
COMMANDS = (ASK, FOOTNOTE)
SHORTCUTS = (RESEARCH_THIS, CHECK_FACTS)

InboxOf = Callable[[AsyncBoltContext], Awaitable["Inbox"]]


class Inbox:
    """Passes the parsed events, commands, presses and shortcuts of one workspace to their handlers.

    Close it with ``aclose``.
    """

    def __init__(self, me: Me, team: Team, reception: Reception, settings: Settings) -> None:
        self.me = me
        self.team = team
        self._ephemeral = EphemeralMessages(team.calls)
        self._slow_work = SlowWork(self._ephemeral)
        self._listener = Listener(me, reception, team.calls, team.people, self._ephemeral)
        providers = (*configured_names(settings), CONVERSATIONS)
        self._commands = Commands(self._listener, self._slow_work, providers)
        self.buttons = Buttons(self._listener, self._slow_work, team.calls)
        self._home = Home(me.team, settings, reception, team.calls, team.people)

    async def aclose(self) -> None:
        await self._slow_work.aclose()
        await self._ephemeral.aclose()

    async def handle(self, event: SlackEvent | None, retry: int) -> None:
        """Handle an event; ``retry`` counts Slack's redeliveries of it."""
        match event:
            case SlackMessage():
                await self._listener.handle_message(event, retry)
            case Mention():
                await self._listener.handle_mention(event, retry)
            case Edit():
                await self._listener.handle_edit(event, retry)
            case Deletion():
                await self._listener.handle_deletion(event)
            case SessionStop():
                await self._listener.handle_stop(event)
            case Reaction():
                await self._listener.handle_reaction(event)
            case Opened():
                self._ephemeral.later(self._home.opened(event))

    async def command(self, command: Command) -> str:
        """Return the private answer to a command, or "" if none is due now."""
        if command.name == ASK:
            return await self._commands.ask(command)
        self._ephemeral.later(self._commands.footnote(command))
        return ""


def bolt_app(
    client: AsyncWebClient, signing_secret: str, inbox_of: InboxOf, **authorizing: Any
) -> AsyncApp:
    """Return the bolt app with all listeners; ``authorizing`` are bolt's arguments for tokens."""
    client = copy(client)
    client.token = None  # bolt gets a token for each workspace
    app = AsyncApp(
        name="footnote",
        logger=sdk_logger(),
        client=client,
        signing_secret=signing_secret,
        process_before_response=True,
        raise_error_for_unhandled_request=True,
        attaching_function_token_enabled=False,
        attaching_conversation_kwargs_enabled=False,
        **authorizing,
    )

    async def take_event(
        event: Json, body: Json, request: AsyncBoltRequest, context: AsyncBoltContext
    ) -> None:
        retry = request.headers.get(RETRY_HEADER, ["0"])[0]
        parsed = parse_event(event, body.get(SHARED))
        await (await inbox_of(context)).handle(parsed, int(retry) if retry.isdecimal() else 0)

    async def take_command(command: Json, ack: Any, context: AsyncBoltContext) -> None:
        parsed = parse_command(command)
        text = await (await inbox_of(context)).command(parsed)
        if text:
            await ack(text=escaped(text), response_type="ephemeral")
        else:
            await ack()

    async def take_shortcut(body: Json, ack: Any, context: AsyncBoltContext) -> None:
        parsed = parse_shortcut(body)
        await (await inbox_of(context)).buttons.take(parsed)
        await ack()

    async def take_press(body: Json, ack: Any, context: AsyncBoltContext) -> None:
        parsed = parse_press(body)
        await (await inbox_of(context)).buttons.press(parsed)
        await ack()

    for name in EVENTS:
        app.event(name)(take_event)
    for name in COMMANDS:
        app.command(name)(take_command)
    for name in SHORTCUTS:
        app.message_shortcut(name)(take_shortcut)
    app.action(CONTROLS)(take_press)
    app.error(_failed)
    return app


def ignore_the_rest(app: AsyncApp) -> None:
    """Acknowledge events beyond the manifest, or Slack would deliver them again."""
    app.event(re.compile(".*"))(_ignored)


async def _ignored() -> None:
    """Acknowledge an event without a handler."""


async def _failed(error: Exception) -> BoltResponse | None:
    """Log an error. Acknowledge an unreadable payload; for other errors bolt responds with 500."""
    if isinstance(error, (*MALFORMED, BoltUnhandledRequestError)):
        note(error)
        return BoltResponse(status=200, body="")
    if isinstance(error, StorageUnavailable):  # ``Outages`` logs it once for all events
        log.info("Slack event not taken, it will come again", error=str(error))
    elif isinstance(error, FootnoteError):
        log.warning("Slack event not taken, it will come again", error=str(error))
    else:
        log.error("Slack event broke", error=repr(error))
        log.debug("Slack event broke here", exc_info=error)
    return None


PING_SECONDS = 5.0  # a connection is given up after 1.5 intervals of silence
CONNECT_SECONDS = 15.0
DRAIN_SECONDS = 3.0  # Slack's time limit for an acknowledgement
LOOK_SECONDS = 0.25
GONE_SECONDS = 0.5  # time without a connection until a new one is made
RECONNECTING_SECONDS = 15.0  # the same while the SDK is reconnecting

GONE = "Slack's Socket Mode connection is gone: another one is being made."
NOT_MADE = "Slack's Socket Mode does not connect: it is tried on."


async def open_address(calls: Calls, app_token: str, connection: Connection) -> str:
    """Return a new WebSocket address. Raises as ``until_reached`` does."""

    async def call() -> Json:
        return await calls.once("apps.connections.open", app_token=app_token)

    return str((await until_reached(call, "SLACK_APP_TOKEN", connection))["url"])


async def listen(
    app: AsyncApp,
    calls: Calls,
    app_token: str,
    connected: Callable[[], None],
    connection: Connection,
) -> None:
    """Receive events until cancelled. Call ``connected`` whenever a connection is made, and report
    to ``connection`` whenever it is lost.

    When cancelled, it first waits until the events being handled are acknowledged. Raises
    ``CredentialsRefused`` and ``PostRefused``.
    """
    taking: set[asyncio.Task[Any]] = set()
    while True:
        address = await open_address(calls, app_token, connection)
        handler = AsyncSocketModeHandler(
            app, app_token, logger=sdk_logger(), web_client=calls.client, ping_interval=PING_SECONDS
        )
        client = handler.client
        client.proxy = calls.client.proxy  # instead of the proxy from the environment
        client.wss_uri = address
        client.socket_mode_request_listeners = [_tracked(handler, taking)]
        client.auto_reconnect_enabled = client.default_auto_reconnect_enabled = False
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await handler.connect_async()  # type: ignore[no-untyped-call]
            connected()
            await _until_gone(client)
            connection.mark_unreachable(GONE)
            log.info("Socket Mode connection is gone, making another")
        except asyncio.CancelledError:
            if taking:
                await asyncio.wait(taking, timeout=DRAIN_SECONDS)
            raise
        except TimeoutError:
            connection.mark_unreachable(NOT_MADE)
            log.warning("Socket Mode does not connect, trying on")
        finally:
            await handler.close_async()  # type: ignore[no-untyped-call]


def _tracked(
    handler: AsyncSocketModeHandler, taking: set[asyncio.Task[Any]]
) -> Callable[[AsyncBaseSocketModeClient, SocketModeRequest], Awaitable[None]]:
    """Wrap the handler so that ``taking`` holds the tasks that are handling events."""

    async def handle(client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        if (task := asyncio.current_task()) is not None:
            taking.add(task)
            task.add_done_callback(taking.discard)
        try:
            await handler.handle(client, request)  # type: ignore[arg-type]
        except MALFORMED as error:  # raised by bolt, before any listener ran
            note(error)
            await client.send_socket_mode_response(SocketModeResponse(request.envelope_id))

    return handle


async def _until_gone(client: SocketModeClient) -> None:
    """Return once there has been no connection for too long."""
    alive = monotonic()
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        if await client.is_connected():
            alive = monotonic()
            continue
        reconnecting = client.connect_operation_lock.locked()
        if monotonic() - alive > (RECONNECTING_SECONDS if reconnecting else GONE_SECONDS):
            return


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
                    await listen(app, calls, token, connected, self.connection)
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
