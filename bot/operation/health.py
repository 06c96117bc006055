"""The HTTP endpoint of a process, and its health reports."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.core.errors import InvalidSetting, StorageUnavailable
from bot.core.measurements import Indexing
from bot.core.messages import CONSOLE
from bot.operation.http_connection import HttpConnection, Limits, bound
from bot.service.dispatch.attempts import Condition
from bot.service.dispatch.dispatcher import Dispatcher
from bot.service.platform import Connection
from bot.storage.database import Database

GRACE_SECONDS = 3  # for HTTP requests to finish when the process ends
CHECK_SECONDS = 2.0  # for the database to answer


@dataclass
class Readiness:
    """The state of a process for the health endpoints: its database, its dispatcher (None while it
    is being opened), its platforms and its documents. A process that ``listens`` is ready only when
    it receives a platform's events; a worker is ready when it can work. Both can be ready while
    documents are still being indexed.
    """

    database: Database
    platforms: Mapping[str, Connection] = field(default_factory=dict)
    listens: bool = True
    dispatcher: Dispatcher | None = None
    documents: Indexing | None = None
    ending: bool = False
    _check: asyncio.Task[_Look] | None = field(default=None, init=False, repr=False)
    _troubles: dict[str, tuple[str, datetime]] = field(default_factory=dict, init=False, repr=False)

    @property
    def hears(self) -> bool:
        """True if events of any platform arrive: one lost platform must not take the process off a
        load balancer. The console, which is always connected, counts only if it is the only
        platform."""
        chats = [each for name, each in self.platforms.items() if name != CONSOLE]
        asked = chats or list(self.platforms.values())
        return not asked or any(each.state == "connected" for each in asked)

    async def report(self) -> tuple[bool, dict[str, Any]]:
        """Check whether the process can do its work, and report the state of each part.

        The report comes in time even if a hanging connection takes longer to give up.
        """
        if self._check is None or self._check.done():
            self._check = asyncio.create_task(self._look())
        await asyncio.wait({self._check}, timeout=CHECK_SECONDS)
        look = (
            self._check.result()
            if self._check.done()
            else _Look(f"{self.database.name} does not answer.", None)
        )
        database = self._part("database", look.trouble, self.database.outages.since)
        dispatcher = self._dispatching(look.condition)
        ready = not (self.ending or look.trouble or dispatcher["state"] == "not ok")
        if self.listens:
            ready = ready and self.hears
        status = "ending" if self.ending else "ready" if ready else "not ready"
        return ready, {
            "status": status,
            "database": database,
            "dispatcher": dispatcher,
            "platforms": {name: _as_json(each) for name, each in sorted(self.platforms.items())},
            **self._documents(),
        }

    def _documents(self) -> dict[str, Any]:
        """Return the progress of indexing local documents; empty if there are none."""
        if self.documents is None or self.documents.state == "none":
            return {}
        return {"documents": self.documents.as_json()}

    async def _look(self) -> _Look:
        try:
            await self.database.check(CHECK_SECONDS)
            return _Look("", await self.dispatcher.condition() if self.dispatcher else None)
        except StorageUnavailable as trouble:
            return _Look(trouble.sentence, None)

    def _dispatching(self, condition: Condition | None) -> dict[str, Any]:
        if condition is None:
            is_starting = self.dispatcher is None
            why = "It is being started." if is_starting else "The database has to be there first."
            return self._part("dispatcher", why)
        report = self._part("dispatcher", condition.trouble)
        report["working"] = condition.working
        if condition.workers is not None:
            report["workers"] = condition.workers
        workers = self._part("workers", condition.advice)
        if condition.advice:
            report |= workers | {"state": "no workers"}
        return report

    def _part(self, name: str, trouble: str, since: datetime | None = None) -> dict[str, Any]:
        """Return the state of a part, and remember since when it has been in trouble."""
        if not trouble:
            self._troubles.pop(name, None)
            return {"state": "ok"}
        known = self._troubles.get(name)
        began = since or (known[1] if known is not None else datetime.now(UTC))
        self._troubles[name] = trouble, began
        return {"state": "not ok", "since": _moment(began), "why": trouble}


@dataclass(frozen=True, slots=True)
class _Look:
    """One health check. ``trouble`` is the database's problem, "" if it works; ``condition`` is the
    dispatcher's."""

    trouble: str
    condition: Condition | None


def _as_json(connection: Connection) -> dict[str, str]:
    found = {"state": connection.state, "since": _moment(connection.since)}
    return found | ({"why": str(connection.why)} if connection.why else {})


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def health_routes(state: Readiness) -> list[BaseRoute]:
    """Return the routes ``/healthz`` (the process is alive) and ``/readyz`` (it can do its work;
    otherwise 503 and the reason)."""

    async def healthz(request: Request) -> JSONResponse:
        return JSONResponse({"status": "ok"})

    async def readyz(request: Request) -> JSONResponse:
        ready, body = await state.report()
        return JSONResponse(body, status_code=200 if ready else 503)

    return [Route("/healthz", healthz), Route("/readyz", readyz)]


def _until_disconnected(app: ASGIApp) -> ASGIApp:
    """Wrap the app so that a client that disconnects before sending its body causes no error."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        with contextlib.suppress(ClientDisconnect):
            await app(scope, receive, send)

    return serve


def _below(root: str, app: ASGIApp) -> ASGIApp:
    """Wrap the app so that it answers paths with and without the prefix ``root``.

    ASGI's ``root_path`` is not set: uvicorn's setting is only for proxies that strip the prefix,
    and would become part of every path that a route sees.
    """
    if not root:
        return app

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if path == root or path.startswith(f"{root}/"):
            scope = {**scope, "path": path.removeprefix(root) or "/"}
        await app(scope, receive, send)

    return serve


class _Server(uvicorn.Server):
    """A server that leaves signals alone and sets an event once it is listening."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


@contextlib.asynccontextmanager
async def http_endpoint(
    host: str,
    port: int,
    routes: Sequence[BaseRoute],
    *,
    root: str = "",
    limits: Limits | None = None,
    listener: socket.socket | None = None,
) -> AsyncIterator[str]:
    """Serve the routes and yield the address. Clients beyond the ``limits`` are disconnected.

    ``root`` is the public path prefix, which a proxy may keep or strip. A ``listener`` of
    ``open_listener`` stays open afterwards, and its clients wait for the next endpoint. Raises
    ``InvalidSetting`` if the address cannot be bound.
    """
    limits = limits or Limits()
    listener = listener.dup() if listener else open_listener(host, port, limits)
    server = _Server(
        uvicorn.Config(
            _until_disconnected(_below(root, Starlette(routes=routes))),
            http=partial(HttpConnection, limits=limits, waiting={}),  # type: ignore[arg-type]
            lifespan="off",
            log_config=None,
            access_log=False,
            # uvicorn would trust X-Forwarded-For from any process on this machine. Code that needs
            # the client checks the TCP peer and the proxies that the operator names.
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
    )
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await server.listening.wait()
        shown = f"[{host}]" if ":" in host else host
        yield f"http://{shown}:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving
        listener.close()


def open_listener(host: str, port: int, limits: Limits | None = None) -> socket.socket:
    """Return a socket bound to an address. Raises ``InvalidSetting`` if it cannot be bound."""
    limits = limits or Limits()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol given, asyncio disables Nagle's algorithm on accepted connections.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound(listener, limits.patience)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise InvalidSetting(
            f"Footnote cannot listen on {host}:{port} ({error.strerror}): choose another address "
            "with FOOTNOTE_HTTP_HOST and FOOTNOTE_HTTP_PORT."
        ) from None
    return listener
