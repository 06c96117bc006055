"""The HTTP side: reads a request, applies rate limits and faults, checks it, and responds.

The routes are implemented in ``discord_messages``, ``discord_directory``, ``discord_commands`` and
``discord_webhooks``; each provides a table of routes.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.fakes.discord_errors import DiscordError, FormErrors, check_body, refuse, unauthorized
from tests.fakes.discord_state import Json, World
from tests.fakes.discord_traffic import Limited, Request, Traffic

PREFIX = "/api/v10"
HTML_502 = (
    "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n"
    "<body><center><h1>502 Bad Gateway</h1></center></body></html>"
)


@dataclass(frozen=True, slots=True)
class Call:
    """A parsed request: parts of its path, query, JSON body."""

    method: str
    template: str
    parts: Mapping[str, str]
    query: Mapping[str, str]
    body: Any = None
    uploads: Mapping[str, tuple[str, bytes]] = field(default_factory=dict)

    @property
    def fields(self) -> Json:
        """Return the body, which must be an object, with the files that came with it."""
        if not isinstance(self.body, dict):
            wrong = FormErrors()
            wrong.add((), "BASE_TYPE_BAD_TYPE", "Only dictionaries may be used here.")
            wrong.raise_if_any()
        result: Json = self.body
        return result | {"uploads": self.uploads} if self.uploads else result


@dataclass(frozen=True, slots=True)
class Answer:
    """A response with JSON and a status other than 200 (or 204 for None)."""

    status: int
    body: Any


Handler = Callable[[Call], Any]


@dataclass(frozen=True, slots=True)
class Route:
    """A route. ``template`` is as in Discord's documents. Without ``authorized`` no bot token is
    needed.

    ``schema`` is the template whose schema checks the body; None leaves it unchecked.
    """

    method: str
    template: str
    handler: Handler
    authorized: bool = True
    schema: str | None = field(default="")


class Rest:
    """Serves a table of routes below ``/api/v10``, and records all requests."""

    def __init__(self, world: World, traffic: Traffic, changed: Callable[[], None]) -> None:
        self.world = world
        self.traffic = traffic
        self._changed = changed
        # Called twice per request: before it takes effect (False; if it returns False, the request
        # counts as never received), and after it (True), before the response is sent.
        self.witness: Callable[[str, bool], bool] = lambda request, done: True

    def register(self, app: web.Application, routes: list[Route]) -> None:
        for route in routes:
            app.router.add_route(route.method, PREFIX + route.template, self._serving(route))

    def _serving(self, route: Route) -> Callable[[web.Request], Any]:
        async def serve(request: web.Request) -> web.StreamResponse:
            return await self._serve(route, request)

        return serve

    async def unknown_route(self, request: web.Request) -> web.StreamResponse:
        route = Route(request.method, request.path.removeprefix(PREFIX), _not_found, False)
        return await self._serve(route, request)

    async def _serve(self, route: Route, request: web.Request) -> web.StreamResponse:
        began, at = time.monotonic(), self.world.clock()
        path = request.path.removeprefix(PREFIX)
        body: Any = None
        headers = {"Via": "1.1 google"}
        line = f"{request.method} {path}"
        status, told = 200, None
        slow = self.traffic.strikes("slow", line)
        outage = self.traffic.outage(line)
        cut = None
        try:
            body, uploads = await _read(request)
            if slow is not None:
                await asyncio.sleep(slow.seconds)
            if outage is None:
                admitted = self.traffic.admit(
                    route.method, route.template, path, _major(request.match_info)
                )
                if isinstance(admitted, Limited):
                    status, told = 429, admitted.body
                    headers |= admitted.headers
                else:
                    headers |= admitted
                    call = Call(request.method, route.template, request.match_info,
                                request.query, body, uploads)  # fmt: skip
                    if self.witness(line, False):
                        status, told = self._answer(route, request, call)
                        cut = self.traffic.strikes("cut", line)
                        self.witness(line, True)
                    else:
                        outage = "reset"
        except DiscordError as error:
            status, told = error.status, error.body
        answered = outage != "reset" and cut is None
        if outage not in (None, "reset"):
            status = int(outage or 0)
        code = told.get("code") if isinstance(told, dict) and status >= 400 else None
        done = Request(
            request.method, path, route.template, dict(request.query), body,
            at, time.monotonic() - began, status, code,
            answered, request.headers.get("Authorization"),
        )  # fmt: skip
        with self.world.lock:
            self.traffic.requests.append(done)
        self._changed()
        if not answered:
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=500)
        if outage == "502":
            return web.Response(status=502, text=HTML_502, content_type="text/html")
        if outage is not None:
            failed = {"message": f"{outage}: Internal Server Error", "code": 0}
            return _json(failed, status, headers)
        if status == 204:
            return web.Response(status=204, headers=headers)
        return _json(told, status, headers)

    def _answer(self, route: Route, request: web.Request, call: Call) -> tuple[int, Any]:
        known = request.headers.get("Authorization") == f"Bot {self.world.app.token}"
        if route.authorized and not known:
            raise unauthorized()
        if call.body is not None and route.schema is not None:
            wrong = FormErrors()
            check_body(route.method, route.schema or route.template, call.body, wrong)
            wrong.raise_if_any()
        with self.world.lock:
            told = route.handler(call)
        if isinstance(told, Answer):
            return told.status, told.body
        return (204, None) if told is None else (200, told)


def _json(told: Any, status: int, headers: dict[str, str]) -> web.Response:
    """Return JSON without a charset, as Discord does; discord.py does not parse it otherwise."""
    whole = headers | {"Content-Type": "application/json"}
    return web.Response(body=json.dumps(told).encode(), status=status, headers=whole)


def _not_found(call: Call) -> None:
    raise refuse(0)


def _major(parts: Mapping[str, str]) -> str:
    """Return the parts of a path that have their own rate limits."""
    names = ("channel_id", "guild_id", "webhook_id", "webhook_token")
    return "+".join(parts[name] for name in names if name in parts)


Uploads = dict[str, tuple[str, bytes]]


async def _read(request: web.Request) -> tuple[Any, Uploads]:
    """Return the JSON body of a request, and the files that come with it, by id."""
    if request.content_type == "multipart/form-data":
        return await _read_form(request)
    raw = await request.read()
    if not raw:
        return None, {}
    if request.content_type != "application/json":
        raise refuse(50109)
    return _parsed(raw), {}


async def _read_form(request: web.Request) -> tuple[Json, Uploads]:
    """https://docs.discord.com/developers/reference#uploading-files"""
    form = await request.post()
    body: Json = _parsed(str(form.get("payload_json", "")))
    uploads: Uploads = {}
    for name, file in form.items():
        if isinstance(file, web.FileField):
            uploads[name.removeprefix("files[").removesuffix("]")] = (
                file.filename,
                file.file.read(),
            )
    listed = {str(each["id"]): each["filename"] for each in body.get("attachments") or ()}
    if any(listed.get(id) != name for id, (name, _) in uploads.items()):
        raise refuse(50109)
    return body, uploads


def _parsed(raw: str | bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        raise refuse(50109) from None
