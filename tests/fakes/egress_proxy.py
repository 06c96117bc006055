"""An HTTP proxy on loopback, honest or lying, that records its requests.

    async with egress_proxy("honest", site.port) as proxy:
        ... a program with HTTPS_PROXY=proxy.url ...
    assert proxy.asked == ["CONNECT 93.184.215.14:443"]

For any host it leads to one port of this machine, as a small internet would. Its false answers are
in ``LIES``.
"""

from __future__ import annotations

import asyncio
import contextlib
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

HOST = "127.0.0.1"
PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi"

LIES = {
    "page instead of a tunnel": PAGE,
    "no HTTP": b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n\r\n",
    "another protocol's version": b"HTTP/9.9 200 OK\r\n\r\n",
    "headers without end": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20_000,
    "a status that is none": b"HTTP/1.1 2000 OK\r\n\r\n",
    "hangs up": b"",
}
"""Answers to CONNECT, after which the connection is closed."""


@dataclass
class EgressProxy:
    """``manner`` is "honest", "silent" (it never answers), "page in the tunnel", a status, or one
    of ``LIES``. With ``password`` it wants ``me`` and that."""

    manner: str
    site: int
    password: str = ""
    port: int = 0
    asked: list[str] = field(default_factory=list)  # "CONNECT host:port", "GET http://…"
    _open: set[asyncio.StreamWriter] = field(default_factory=set)
    _serving: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def url_with_password(self) -> str:
        return f"http://me:{self.password}@{HOST}:{self.port}"

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        self._open.add(writer)
        try:
            await self._serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass  # the other side is gone
        finally:
            self._open.discard(writer)
            writer.transport.abort()

    async def end(self) -> None:
        while self._serving:
            for writer in self._open:
                writer.transport.abort()
            await asyncio.wait(self._serving, timeout=0.1)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        line, _, fields = head.decode("latin-1").partition("\r\n")
        method, target, _ = line.split(" ")
        self.asked.append(f"{method} {target}")
        secret = b64encode(f"me:{self.password}".encode()).decode()
        if self.password and f"authorization: basic {secret}".lower() not in fields.lower():
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        elif self.manner == "silent":
            await reader.read()
        elif self.manner.isdigit():
            writer.write(f"HTTP/1.1 {self.manner} No\r\nContent-Length: 0\r\n\r\n".encode())
        elif self.manner in LIES:
            writer.write(LIES[self.manner])
        elif self.manner == "page in the tunnel":
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            await reader.read(1)
            writer.write(PAGE)
        else:
            await self._lead(method, target, fields, reader, writer)
        await writer.drain()

    async def _lead(
        self,
        method: str,
        target: str,
        fields: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        from_site, to_site = await asyncio.open_connection(HOST, self.site)
        self._open.add(to_site)
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            parts = urlsplit(target)
            kept = [each for each in fields.split("\r\n") if not each.lower().startswith("proxy-")]
            path = f"{parts.path or '/'}?{parts.query}"
            if "\nupgrade: websocket" not in fields.lower():
                kept.insert(0, "Connection: close")
            request = [f"{method} {path} HTTP/1.1", *kept]
            to_site.write("\r\n".join(request).encode("latin-1"))
        upward = asyncio.ensure_future(_pump(reader, to_site))
        try:
            await _pump(from_site, writer)
        finally:
            upward.cancel()
            await asyncio.gather(upward, return_exceptions=True)
            self._open.discard(to_site)
            to_site.transport.abort()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
    with contextlib.suppress(OSError):
        writer.write_eof()


@asynccontextmanager
async def egress_proxy(
    manner: str = "honest", site: int = 0, password: str = ""
) -> AsyncIterator[EgressProxy]:
    proxy = EgressProxy(manner, site, password)
    server = await asyncio.start_server(proxy.converse, HOST, 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.end()
