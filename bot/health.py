"""The HTTP endpoint of a process, and what it tells of its health."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route

from bot.errors import InvalidSetting, StorageUnavailable
from bot.storage.database import Database

GRACE_SECONDS = 3  # that HTTP requests get when the process ends
CHECK_SECONDS = 2.0  # that the database gets to answer
CONSOLE = "web"


@dataclass
class Readiness:
    """What the health endpoints tell of the platforms and the database."""

    database: Database
    platforms: frozenset[str] = frozenset()
    waiting: set[str] = field(default_factory=set)  # that are not connected yet
    failed: dict[str, str] = field(default_factory=dict)
    _check: asyncio.Task[str] | None = field(default=None, init=False, repr=False)

    @property
    def hears(self) -> bool:
        """Whether any platform's events are taken: one that is away must not take the others off a
        load balancer. The console counts only where it is alone: nothing can keep it away."""
        asked = self.platforms - {CONSOLE} or self.platforms
        return not asked or bool(asked - self.waiting - self.failed.keys())

    async def missing(self) -> str:
        """What the database lacks, in a sentence; "" when it works.

        Whoever asks is told in time, though a connection that hangs takes longer to give up.
        """
        if self._check is None or self._check.done():
            self._check = asyncio.create_task(self._trouble())
        await asyncio.wait({self._check}, timeout=CHECK_SECONDS)
        if not self._check.done():
            return f"{self.database.name} does not answer."
        return self._check.result()

    async def _trouble(self) -> str:
        try:
            await self.database.check(CHECK_SECONDS)
        except StorageUnavailable as trouble:
            return trouble.sentence
        return ""


def health_routes(state: Readiness) -> list[BaseRoute]:
    """``/healthz``: the process lives. ``/readyz``: it can do its work, else 503 and why not."""

    async def healthz(request: Request) -> JSONResponse:
        return JSONResponse({"status": "ok"})

    async def readyz(request: Request) -> JSONResponse:
        missing = await state.missing()
        ready = state.hears and not missing
        body = {
            "status": "ready" if ready else "not ready",
            "database": missing or "ok",
            "waiting": sorted(state.waiting),
            "failed": state.failed,
        }
        return JSONResponse(body, status_code=200 if ready else 503)

    return [Route("/healthz", healthz), Route("/readyz", readyz)]


class _Server(uvicorn.Server):
    """Leaves the signals to others and tells when it listens."""

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
async def http_endpoint(host: str, port: int, routes: Sequence[BaseRoute]) -> AsyncIterator[str]:
    """Serve the routes; yields the address. Raises ``InvalidSetting`` if it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio switches Nagle's algorithm off for what it accepts.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise InvalidSetting(
            f"{host}:{port} cannot be listened on ({error.strerror}): "
            "choose another place with FOOTNOTE_HTTP_HOST and FOOTNOTE_HTTP_PORT."
        ) from None
    server = _Server(
        uvicorn.Config(
            Starlette(routes=routes),
            lifespan="off",
            log_config=None,
            access_log=False,
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
