"""Slack as `footnote serve` runs it: Socket Mode, signed HTTP, or both."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from urllib.parse import parse_qsl

from slack_bolt.adapter.starlette.async_handler import to_async_bolt_request, to_starlette_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.slack import socket
from adapters.slack.calls import Calls, Timing
from adapters.slack.client import new_session, web_client
from adapters.slack.malformed import MALFORMED, note
from adapters.slack.poster import SlackPoster
from adapters.slack.settings import SlackSettings, in_many_workspaces
from adapters.slack.tenancy import ManyWorkspaces, OneWorkspace, Tenancy
from bot.conversing.reception import Reception
from bot.observing import Observed
from bot.platform import Connection
from bot.storage.workspaces import Workspaces

PATH = "/slack/events"  # events, commands and interactivity alike
LARGEST_BODY = 1_000_000  # bytes; Slack's own bodies stay far below


@asynccontextmanager
async def open_slack(
    settings: SlackSettings, workspaces: Workspaces, observed: Observed | None = None
) -> AsyncIterator[SlackPlatform]:
    """Slack as the settings say. Says nothing yet: a Slack that is away must stop nobody.

    Raises ``InvalidSetting`` for what several workspaces need and do not have.
    """
    async with new_session(observed.calls if observed is not None else None) as session:
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
    """See ``bot.platform.Platform``."""

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
        self.poster = SlackPoster(tenancy.teams, workspaces)

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
            self.connection.made()
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
        if not self._is_signed(body, request.headers):  # before anything of it is read
            return PlainTextResponse("invalid request", status_code=401)
        try:
            answer = await app.async_dispatch(_bolt_request(request, body))
        except (*MALFORMED, RecursionError) as error:  # of bolt, before any listener
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
    """Slack's look at our certificate, which it does not sign (bolt answers it in the same way)."""
    return len(body) < 1_000 and b"ssl_check=1" in body.split(b"&")


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
