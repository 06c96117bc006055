"""Slack as `footnote serve` runs it: Socket Mode, signed HTTP, or both."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from urllib.parse import parse_qsl

from pydantic import SecretStr
from slack_bolt.adapter.starlette.async_handler import to_async_bolt_request, to_starlette_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.web.async_client import AsyncWebClient
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.slack import socket
from adapters.slack.agent import Pane
from adapters.slack.buttons import Buttons
from adapters.slack.calls import Calls, Json, Timing
from adapters.slack.client import new_session, until_reached, web_client
from adapters.slack.commands import Commands
from adapters.slack.home import Home
from adapters.slack.listener import Listener, Me
from adapters.slack.malformed import MALFORMED, note
from adapters.slack.patience import Patience
from adapters.slack.people import People
from adapters.slack.poster import SlackPoster
from adapters.slack.whispers import Whispers
from adapters.slack.wiring import Wiring
from bot.conversing.reception import Reception
from bot.search.registry import configured_names
from bot.settings import Settings
from bot.storage.workspaces import Workspaces

PATH = "/slack/events"  # events, commands and interactivity alike
LARGEST_BODY = 1_000_000  # bytes; Slack's own bodies stay far below


@asynccontextmanager
async def open_slack(settings: Settings, workspaces: Workspaces) -> AsyncIterator[SlackPlatform]:
    """Slack as the settings say. Says nothing yet: a Slack that is away must stop nobody."""
    async with new_session() as session:
        platform = SlackPlatform(settings, web_client(settings, session), workspaces)
        try:
            yield platform
        finally:
            await platform.aclose()


class SlackPlatform:
    """One workspace; see ``bot.platform.Platform``."""

    name = "slack"

    def __init__(self, settings: Settings, client: AsyncWebClient, workspaces: Workspaces) -> None:
        self._settings = settings
        self._client = client
        self._calls = Calls(client, Timing())
        self._people = People(self._calls)
        self._app: AsyncApp | None = None
        self.poster = SlackPoster(client, workspaces, people=self._people)

    async def aclose(self) -> None:
        await self._people.aclose()

    @property
    def routes(self) -> Sequence[BaseRoute]:
        if self._settings.slack_signing_secret is None:
            return []
        return [Route(PATH, self._take, methods=["POST"])]

    async def run(self, reception: Reception, ready: Callable[[], None]) -> None:
        bot = await identify(self._calls)
        whispers = Whispers(self._calls)
        patience = Patience(whispers)
        wiring = self._wired(bot, reception, whispers, patience)
        app = wiring.app(
            self._client,
            _secret(self._settings.slack_signing_secret),
            _authorized(bot, self._client),
        )
        self._app = app
        try:
            if self._settings.slack_app_token is None:
                ready()
                await asyncio.Event().wait()
            else:
                token = _secret(self._settings.slack_app_token)
                await socket.listen(app, self._calls, token, ready)
        finally:
            self._app = None
            await patience.aclose()
            await whispers.aclose()

    def _wired(
        self, bot: Json, reception: Reception, whispers: Whispers, patience: Patience
    ) -> Wiring:
        me = Me(str(bot["team_id"]), str(bot["user_id"]), str(bot.get("bot_id") or ""))
        listener = Listener(me, reception, self._calls, self._people, whispers)
        return Wiring(
            listener,
            Commands(listener, patience, configured_names(self._settings)),
            Buttons(listener, patience),
            Pane(self._calls, self._people),
            Home(me.team, self._settings, reception, self._calls, self._people),
        )

    # ------------------------------------------------------------ signed HTTP

    async def _take(self, request: Request) -> Response:
        app = self._app
        if app is None:
            return PlainTextResponse("starting", status_code=503)
        length = request.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > LARGEST_BODY:
            return PlainTextResponse("too large", status_code=413)
        body = await request.body()
        try:
            answer = await app.async_dispatch(_bolt_request(request, body))
        except MALFORMED as error:  # of bolt, which met it before any listener did
            note(error)
            return PlainTextResponse("")
        return to_starlette_response(answer)


def _bolt_request(request: Request, body: bytes) -> AsyncBoltRequest:
    """The request as bolt reads it.

    Bolt (1.30) takes a form that only mentions the word "payload", such as a question about one,
    for an interaction and reads nothing: such a form is read here.
    """
    made = to_async_bolt_request(request, body)
    if body and not made.body:
        form = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        read = AsyncBoltRequest(body=form, mode="socket_mode")
        made.body, made.context = read.body, read.context
    return made


async def identify(calls: Calls) -> Json:
    """What auth.test tells of the bot, as soon as Slack can be reached.

    Raises ``CredentialsRefused``.
    """

    async def call() -> Json:
        return await calls.once("auth.test")

    return await until_reached(call, "SLACK_BOT_TOKEN")


def _authorized(bot: Json, client: AsyncWebClient) -> AuthorizeResult:
    return AuthorizeResult(
        enterprise_id=bot.get("enterprise_id"),
        team_id=bot.get("team_id"),
        bot_user_id=bot.get("user_id"),
        bot_id=bot.get("bot_id"),
        bot_token=client.token,
    )


def _secret(value: SecretStr | None) -> str:
    return "" if value is None else value.get_secret_value()
