"""Slack's servers on one loopback port, in a thread with its own event loop."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from aiohttp import web

from tests.fakes.server import end
from tests.fakes.slack_api import RateLimited, WebApi
from tests.fakes.slack_call import Call, Refused
from tests.fakes.slack_oauth import OAuth
from tests.fakes.slack_socket import SocketMode
from tests.fakes.slack_workspace import Json, Workspace

T = TypeVar("T")
_LINE = 1024 * 1024  # slack_sdk sends some structured arguments in the query
_HTML = "<!DOCTYPE html><html><body><h1>Slack is down</h1></body></html>"


@dataclass(slots=True)
class Weather:
    """Slack's outages and delays, set by tests."""

    outage: str | None = None  # reset | a status such as 500 or 503
    slow: float = 0.0
    slow_methods: frozenset[str] | None = None
    responses: str | None = None  # only of response URLs: reset | a status


@dataclass(slots=True)
class Door:
    """The services of one workspace, and the calls that they received.

    ``files`` serves a file by name, or returns None if it belongs to another workspace; ``respond``
    handles posts to a response URL that it ``owns``.
    """

    ws: Workspace
    api: WebApi
    files: Callable[[str, str | None], web.Response | None]
    respond: Callable[[str, Any], Json]
    owns: Callable[[str], bool]
    calls: list[Call] = field(default_factory=list)


class Server:
    """Serves the Web API, files, response URLs, Socket Mode and OAuth until ``stop``. The token of
    a call determines its workspace."""

    def __init__(self, door: Door, sockets: SocketMode, oauth: OAuth) -> None:
        self.doors = [door]
        self._sockets, self._oauth = sockets, oauth
        self.weather = Weather()
        # Called twice per call: before it takes effect (False; if it returns False, the call counts
        # as never received), and after it (True), before the response is sent.
        self.witness: Callable[[str, bool], bool] = lambda method, done: True
        self.cuts: dict[str, int] = {}
        self.crashes: list[Exception] = []  # faults of the fake itself
        self.loop: asyncio.AbstractEventLoop | None = None
        self.base = ""
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="fake-slack", daemon=True)
        self._runner: web.AppRunner | None = None
        self._listener = socket.create_server(("127.0.0.1", 0))

    def start(self) -> None:
        self._thread.start()
        if not self._started.wait(60):
            raise RuntimeError("the fake Slack did not start")

    def stop(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Stop serving; ``last`` runs on the loop before the port closes."""
        assert self.loop is not None
        self.run(self._close(last))
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(20)

    def run(self, work: Coroutine[Any, Any, T], timeout: float = 60.0) -> T:
        """Run ``work`` on the server's loop, from another thread."""
        assert self.loop is not None
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout)

    def soon(self, work: Callable[[], object]) -> None:
        assert self.loop is not None
        self.loop.call_soon_threadsafe(work)

    def _run(self) -> None:
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._open())
        self._started.set()
        self.loop.run_forever()
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()

    async def _open(self) -> None:
        app = web.Application(client_max_size=16 * 1024 * 1024)
        app.router.add_route("*", "/api/{method}", self._serve_api)
        app.router.add_get("/link/", self._serve_link)
        app.router.add_get("/oauth/v2/authorize", self._serve_authorize)
        app.router.add_get("/files-pri/{file}/{rest:.*}", self._serve_file)
        app.router.add_post("/respond/{name}", self._serve_response_url)
        self._runner = web.AppRunner(
            app, access_log=None, shutdown_timeout=0.5, max_line_size=_LINE
        )
        await self._runner.setup()
        self.base = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        await web.SockSite(self._runner, self._listener).start()

    async def _close(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        await last()
        assert self._runner is not None
        await end(self._runner, self._listener)
        rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    # --- the Web API ---

    async def _serve_api(self, request: web.Request) -> web.StreamResponse:
        began = time.perf_counter()
        method = request.match_info["method"]
        weather = self.weather
        door = self.doors[0]
        if weather.slow and (weather.slow_methods is None or method in weather.slow_methods):
            await asyncio.sleep(weather.slow)
        if weather.outage == "reset":
            return self._cut(door, request, Call(method, {}, began, 0.0, 0, "reset"))
        if weather.outage is not None:
            status = int(weather.outage)
            self._record(door, Call(method, {}, began, 0.0, status, "outage"))
            return web.Response(status=status, text=_HTML, content_type="text/html")
        try:
            token, args = await _decoded(request)
        except Refused as refused:
            call = Call(method, {}, began, 0.0, 200, refused.code, refused.json())
            return self._reply(door, call)
        door = next((one for one in self.doors if one.api.knows(token)), door)
        if not self.witness(method, False):
            return self._cut(door, request, Call(method, args, began, 0.0, 0, "lost"))
        call = self._answered(door, method, token, args, began, request)
        if call.took_effect:
            self.witness(method, True)
        if call.took_effect and self.cuts.get(method, 0) > 0:
            self.cuts[method] -= 1
            return self._cut(
                door, request, Call(method, args, began, 0.0, 0, "cut", call.reply, True)
            )
        return self._reply(door, call)

    def _answered(
        self,
        door: Door,
        method: str,
        token: str | None,
        args: Json,
        began: float,
        request: web.Request,
    ) -> Call:
        try:
            with door.ws.lock:
                if method == "oauth.v2.access":
                    args, secret = {}, args  # exchanged secrets are not recorded here
                    reply = self._oauth.access(request.headers.get("Authorization", ""), secret)
                else:
                    door.api.authorize(method, token)
                    reply = door.api.answer(method, args)
        except Refused as refused:
            return Call(method, args, began, 0.0, 200, refused.code, refused.json())
        except RateLimited as limited:
            reply = {"ok": False, "error": "ratelimited", "retry_after": limited.retry_after}
            return Call(method, args, began, 0.0, 429, "ratelimited", reply)
        except Exception as error:
            self.crashes.append(error)
            raise
        return Call(method, args, began, 0.0, 200, None, reply, True)

    def _reply(self, door: Door, call: Call) -> web.Response:
        self._record(door, call)
        headers = {"X-OAuth-Scopes": ",".join(sorted(door.ws.scopes)), "X-Slack-Req-Id": "1"}
        reply = dict(call.reply)
        if call.status == 429:
            headers["Retry-After"] = str(reply.pop("retry_after"))
        return web.json_response(reply, status=call.status, headers=headers)

    def _cut(self, door: Door, request: web.Request, call: Call) -> web.Response:
        """Cut the connection without a response."""
        self._record(door, call)
        if request.transport is not None:
            request.transport.abort()
        return web.Response()

    def _record(self, door: Door, call: Call) -> None:
        done = replace(call, seconds=time.perf_counter() - call.began)
        with door.ws.lock:
            door.calls.append(done)
            door.ws.lock.notify_all()

    # --- sockets, files and response URLs ---

    async def _serve_link(self, request: web.Request) -> web.StreamResponse:
        if self.weather.outage is not None:
            return web.Response(status=503, text=_HTML, content_type="text/html")
        return await self._sockets.serve(request)

    async def _serve_file(self, request: web.Request) -> web.Response:
        name = request.match_info["file"].partition("-")[2]
        found = (door.files(name, _bearer(request)) for door in self.doors)
        return next((file for file in found if file is not None), web.Response(status=404))

    async def _serve_response_url(self, request: web.Request) -> web.Response:
        if (outage := self.weather.responses or self.weather.outage) is not None:
            if outage == "reset" and request.transport is not None:
                request.transport.abort()
            return web.Response(status=500 if outage == "reset" else int(outage), text=_HTML)
        try:
            body = json.loads(await request.text())
        except json.JSONDecodeError:
            return web.Response(status=400, text="invalid_payload")
        name = request.match_info["name"]
        door = next((one for one in self.doors if one.owns(name)), self.doors[0])
        try:
            with door.ws.lock:
                door.respond(name, body)
                door.ws.lock.notify_all()
        except Refused as refused:
            status = 404 if refused.code in ("used_url", "expired_url") else 500
            return web.json_response(refused.json(), status=status)
        return web.Response(text="ok", content_type="text/plain")

    async def _serve_authorize(self, request: web.Request) -> web.Response:
        if self.weather.outage is not None:
            return web.Response(status=503, text=_HTML, content_type="text/html")
        with self.doors[0].ws.lock:
            page = self._oauth.page(request.query, request.cookies)
        headers = {"Location": page.location} if page.location else {}
        return web.Response(status=page.status, text=page.text, headers=headers)


def _bearer(request: web.Request) -> str | None:
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    return token if kind == "Bearer" and token else None


async def _decoded(request: web.Request) -> tuple[str | None, Json]:
    """Return token and arguments, from the query, a form, or a JSON object."""
    args: Json = dict(request.query)
    if request.method == "POST":
        if request.content_type == "application/json":
            try:
                body = json.loads(await request.text())
            except json.JSONDecodeError:
                raise Refused("invalid_json") from None
            if not isinstance(body, dict):
                raise Refused("json_not_object")
            args |= body
        elif request.content_type.startswith(("application/x-www-form", "multipart/")):
            args |= dict(await request.post())
        elif request.body_exists:
            raise Refused("invalid_post_type")
    elif request.method != "GET":
        raise Refused("invalid_method")
    in_body = args.pop("token", None)
    return _bearer(request) or in_body, args
