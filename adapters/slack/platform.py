"""The Slack platform: one workspace, by its bot token, or all that installed the app.

Bolt waits for a listener to end before it responds (``process_before_response``). If the listener
raises, bolt responds with 500, or in Socket Mode not at all, and Slack delivers the event again. An
unreadable payload is acknowledged, because it would come again unchanged.
"""

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
    LinkShared,
    Mention,
    Opened,
    Reaction,
    SessionStop,
    SlackEvent,
    SlackMessage,
    Viewing,
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
from adapters.slack.listener import Listener
from adapters.slack.poster import SlackPoster
from adapters.slack.settings import SlackSettings, in_many_workspaces
from adapters.slack.teams import Installed, InstalledTeams, Me, NotInstalled, OneTeam
from adapters.slack.views import Home
from bot.core.errors import FootnoteError, StorageUnavailable
from bot.core.logs import get_logger
from bot.core.measurements import Observed
from bot.core.settings import Settings
from bot.search.registry import CONVERSATIONS, configured_names
from bot.service.platform import Connection
from bot.service.reception import Reception
from bot.storage.database import Database
from bot.storage.workspaces import Workspaces

log = get_logger()

RETRY_HEADER = "x-slack-retry-num"

# The events of Slack; ``adapters/slack/manifest.yaml`` lists them.
EVENTS = (
    *("app_mention", "message", "agent_session_stopped", "reaction_added", "app_home_opened"),
    *("app_context_changed", "link_shared"),
)
COMMANDS = (ASK, FOOTNOTE)
SHORTCUTS = (RESEARCH_THIS, CHECK_FACTS)

InboxOf = Callable[[AsyncBoltContext], Awaitable["Inbox"]]


class Inbox:
    """Passes the parsed events, commands, presses and shortcuts of one workspace to their handlers.

    Close it with ``aclose``.
    """

    def __init__(self, installed: Installed, reception: Reception, settings: Settings) -> None:
        self.installed = installed
        me, team = installed.me, installed.team
        self._ephemeral = EphemeralMessages(team.calls)
        self._slow_work = SlowWork(self._ephemeral)
        self._listener = Listener(me, reception, team.calls, team.people, self._ephemeral)
        providers = (*configured_names(settings), CONVERSATIONS)
        self._commands = Commands(self._listener, self._slow_work, providers)
        self.buttons = Buttons(self._listener, self._slow_work, team.calls)
        self._home = Home(self._listener, team.calls)

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
            case Viewing():
                self._ephemeral.later(self._home.viewed(event))
            case LinkShared():
                self._ephemeral.later(self._home.preview(event))

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
        parsed = parse_event(event, body.get(SHARED), body.get("authorizations"))
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


async def _ignored() -> None:
    """Acknowledge an event beyond the manifest, or Slack would deliver it again."""


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


async def listen(
    app: AsyncApp,
    calls: Calls,
    app_token: str,
    connected: Callable[[], None],
    connection: Connection,
) -> None:
    """Receive events by Socket Mode until cancelled. Call ``connected`` whenever a connection is
    made, and report to ``connection`` whenever it is lost.

    The SDK handles Slack's own requests to reconnect, but a broken network or an expired address
    not well: its client is watched and replaced when its connection is lost.

    When cancelled, it first waits until the events being handled are acknowledged. Raises
    ``CredentialsRefused`` and ``PostRefused``.
    """
    taking: set[asyncio.Task[Any]] = set()
    while True:
        opened = await until_reached(
            calls, "apps.connections.open", "SLACK_APP_TOKEN", connection, app_token=app_token
        )
        handler = AsyncSocketModeHandler(
            app, app_token, logger=sdk_logger(), web_client=calls.client, ping_interval=PING_SECONDS
        )
        client = handler.client
        client.proxy = calls.client.proxy  # instead of the proxy from the environment
        client.wss_uri = str(opened["url"])
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

    def __init__(self, teams: OneTeam | InstalledTeams) -> None:
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
            bot_user_id=known.me.user,
            bot_id=known.me.bot,
            bot_token=known.team.calls.client.token,
        )


class Installing:
    """An app that workspaces install: its stored installations, their teams and bolt's OAuth flow.

    ``client`` has no token. Raises ``InvalidSetting``.
    """

    def __init__(self, settings: SlackSettings, client: AsyncWebClient, database: Database) -> None:
        self.store = installations_of(settings, database)
        self.flow = oauth_flow(settings, client, self.store, States(STATE_SECONDS, database))
        rotator = AsyncTokenRotator(
            client_id=self.flow.client_id,
            client_secret=secret_of(settings.slack_client_secret),
            client=client,
        )
        self.teams = InstalledTeams(self.store, rotator, client, Timing())

    @property
    def routes(self) -> Sequence[Route]:
        return [
            Route(INSTALL_PATH, self._install, methods=["GET"]),
            Route(REDIRECT_PATH, self._redirected, methods=["GET"]),
        ]

    async def _install(self, request: Request) -> Response:
        answer = await self.flow.handle_installation(to_async_bolt_request(request, b""))
        return to_starlette_response(answer)

    async def _redirected(self, request: Request) -> Response:
        answer = await self.flow.handle_callback(to_async_bolt_request(request, b""))
        return to_starlette_response(answer)


def secret_of(value: SecretStr | None) -> str:
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
        platform = SlackPlatform(settings, web_client(settings, session), workspaces.database)
        try:
            yield platform
        finally:
            await platform.teams.aclose()


class SlackPlatform:
    """See ``bot.service.platform.Platform``."""

    name = "slack"

    def __init__(self, settings: SlackSettings, client: AsyncWebClient, database: Database) -> None:
        """``client`` has no token if workspaces install the app. Raises ``InvalidSetting``."""
        self._settings = settings
        self._client = client
        self.connection = Connection()
        self._installing: Installing | None = None
        self.teams: OneTeam | InstalledTeams
        if in_many_workspaces(settings):
            self._installing = Installing(settings, client, database)
            self.teams = self._installing.teams
        else:
            self.teams = OneTeam(client, Timing())
        self._inboxes: dict[str, Inbox] = {}
        self._app: AsyncApp | None = None
        self._secret = secret_of(settings.slack_signing_secret)
        self._verifier = SignatureVerifier(self._secret) if self._secret else None
        self.poster = SlackPoster(self.teams, settings.encryption_keys)

    @property
    def routes(self) -> Sequence[BaseRoute]:
        routes: list[BaseRoute] = list(self._installing.routes) if self._installing else []
        if self._verifier is not None:
            routes.append(Route(PATH, self._take, methods=["POST"]))
        return routes

    async def reach(self) -> None:
        await self._prepare()
        self.connection.mark_connected()

    async def run(self, reception: Reception, ready: Callable[[], None]) -> None:
        def connected() -> None:
            self.connection.mark_connected()
            ready()

        await self._prepare()
        self._app = self._bolt_app(reception)
        try:
            if self._settings.slack_app_token is None:
                connected()
                await asyncio.Event().wait()
            else:
                token = self._settings.slack_app_token.get_secret_value()
                calls = Calls(self._client, Timing())
                await listen(self._app, calls, token, connected, self.connection)
        finally:
            self._app = None
            while self._inboxes:
                await self._inboxes.popitem()[1].aclose()

    async def _prepare(self) -> None:
        """Raises ``CredentialsRefused``, and ``InvalidSetting`` if a stored token cannot be
        decrypted."""
        if self._installing is not None:
            await self._installing.store.reseal()
        elif isinstance(self.teams, OneTeam):
            calls = self.teams.team.calls
            told = await until_reached(calls, "auth.test", "SLACK_BOT_TOKEN", self.connection)
            self.teams.me = Me.of(told)

    # ------------------------------------------------------------ workspaces

    def _bolt_app(self, reception: Reception) -> AsyncApp:
        async def inbox_of(context: AsyncBoltContext) -> Inbox:
            enterprise, team = context.enterprise_id, context.team_id
            workspace = workspace_of(context.is_enterprise_install, enterprise, team)
            known = await self.teams.installed(workspace)
            inbox = self._inboxes.get(known.me.team)
            if inbox is None or inbox.installed != known:
                self._inboxes[known.me.team] = Inbox(known, reception, self._settings)
                if inbox is not None:
                    await inbox.aclose()
            return self._inboxes[known.me.team]

        authorizing: dict[str, Any] = {"authorize": Authorize(self.teams)}
        if self._installing is not None:
            authorizing["oauth_flow"] = self._installing.flow
            authorizing["user_facing_authorize_error_message"] = NOT_HERE
        app = bolt_app(self._client, self._secret, inbox_of, **authorizing)
        if self._installing is not None:
            for name in ENDINGS:
                app.event(name)(self._ended)
        app.event(re.compile(".*"))(_ignored)
        return app

    async def _ended(self, body: Json) -> None:
        assert self._installing is not None  # noqa: S101
        if workspace := await handle_uninstall(self._installing.store, body):
            await self._installing.teams.forget(workspace)
            if (inbox := self._inboxes.pop(workspace, None)) is not None:
                await inbox.aclose()

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
