"""An HTTP proxy on loopback that enforces the address rule; our browser's only way out.

The browser resolves no names: it sends host names to the proxy (RFC 9110 section 9.3.6 for CONNECT,
RFC 9112 section 3.2.2 for plain http), which has them judged and connects by the guard's route: to
a judged address, or through the operator's own proxy. So a page, its frames, scripts, redirects and
WebSockets reach only what a plain fetch would reach, even if a name resolves differently a moment
later.

One proxy serves one page: the bytes of all its connections are counted together.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from urllib.parse import urlsplit

import httpcore

from bot.core.egress import Proxy
from bot.core.errors import AddressRefused, FootnoteError
from bot.pages.guard import Guard, Route
from bot.pages.transport import connect_route, is_forwarded
from bot.pages.tunnel import to_proxy

HEAD_BYTES = 64_000  # of one request; Chromium's own limit is 256 kB for all headers
CONNECTIONS = 100  # concurrent; a browser opens six per host
CONNECT_SECONDS = 10.0
_PIECE = 65_536

_HOP = re.compile(rb"^(?:proxy-[a-z-]+|connection|keep-alive):.*\r\n", re.IGNORECASE | re.MULTILINE)
_PORT = re.compile(r"[0-9]{1,5}")


class GuardedProxy:
    """See the module docstring. ``most_bytes`` limits the incoming data; beyond it ``spent`` is set
    and all connections stop. ``refused`` are the hosts that the rule refused, in order.
    """

    def __init__(
        self,
        guard: Guard,
        most_bytes: int,
        network: httpcore.AsyncNetworkBackend | None = None,
    ) -> None:
        self.spent = asyncio.Event()
        self.refused: list[str] = []
        self._guard = guard
        self._network = network or httpcore.AnyIOBackend()
        self._left = most_bytes
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> int:
        """Listen on a free port of 127.0.0.1 and return it."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=HEAD_BYTES)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def aclose(self) -> None:
        """Close the port and all connections."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(self._tasks) >= CONNECTIONS or self.spent.is_set():
            writer.transport.abort()
            return
        self._tasks.add(task)
        try:
            await self._serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # one of the two ends disconnected: the browser notices
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        line, _, fields = head.partition(b"\r\n")
        method, _, rest = line.decode("latin-1").partition(" ")
        target = rest.rpartition(" ")[0]
        place = _place(method, target)
        if place is None:
            await _answer(writer, "400 Bad Request")
            return
        scheme = "https" if method == "CONNECT" else "http"
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                route = await self._guard.route(scheme, *place)
                site = await self._connected(route, scheme)
        except AddressRefused:
            self.refused.append(place[0])
            await _answer(writer, "403 Forbidden")
            return
        except (FootnoteError, OSError, httpcore.NetworkError, httpcore.TimeoutException):
            await _answer(writer, "502 Bad Gateway")
            return
        try:
            if method == "CONNECT":
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await writer.drain()
            else:  # one request per connection, so that none goes to a host that was not judged
                kept = _HOP.sub(b"", fields[:-2]) + b"Connection: close\r\n\r\n"
                await site.write(_line(method, target, route) + kept)
            await self._relay(reader, writer, site)
        except (httpcore.NetworkError, httpcore.TimeoutException):
            pass  # the site disconnected: the browser notices
        finally:
            await site.aclose()

    async def _connected(self, route: Route, scheme: str) -> httpcore.AsyncNetworkStream:
        egress = self._guard.egress
        if is_forwarded(route, scheme):
            return await to_proxy(self._network, route.proxy, egress, CONNECT_SECONDS)
        return await connect_route(route, egress, self._network, CONNECT_SECONDS)

    async def _relay(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        site: httpcore.AsyncNetworkStream,
    ) -> None:
        """Forward data in both directions until the site closes the connection."""
        upward = asyncio.ensure_future(_pump(reader, site))
        try:
            while data := await site.read(_PIECE):
                self._left -= len(data)
                if self._left < 0:
                    self.spent.set()
                    return
                writer.write(data)
                await writer.drain()
        finally:
            upward.cancel()
            await asyncio.gather(upward, return_exceptions=True)
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def _place(method: str, target: str) -> tuple[str, int] | None:
    """The host and port of a request line; None if it is not a proxy request."""
    if method != "CONNECT":
        if not target.startswith("http://"):
            return None
        target = urlsplit(target).netloc
        host, port = _split(target, "80")
    else:
        host, port = _split(target, "")
    if not host or "@" in host or not _PORT.fullmatch(port) or not 0 < int(port) < 65_536:
        return None
    return host, int(port)


def _split(authority: str, usual: str) -> tuple[str, str]:
    """Host without brackets, and port."""
    if authority.startswith("["):
        host, _, rest = authority[1:].partition("]")
        return host, rest.removeprefix(":") or usual
    host, _, port = authority.partition(":")
    return host, port or usual


def _line(method: str, target: str, route: Route) -> bytes:
    """The request line for the site, or for the operator's proxy with its authorization."""
    if is_forwarded(route, "http"):
        line = f"{method} {target} HTTP/1.1\r\n"
        if authorization := Proxy.of(route.proxy).authorization:
            line += f"Proxy-Authorization: {authorization}\r\n"
    else:
        parts = urlsplit(target)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        line = f"{method} {path} HTTP/1.1\r\n"
    return line.encode("latin-1")


async def _pump(reader: asyncio.StreamReader, site: httpcore.AsyncNetworkStream) -> None:
    while data := await reader.read(_PIECE):
        await site.write(data)


async def _answer(writer: asyncio.StreamWriter, status: str) -> None:
    writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
    await writer.drain()
