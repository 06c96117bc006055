"""The bench's side of the wire: the server's process, and browsers that look at it."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench.programs import REPOSITORY

CLIENTS_PER_ADDRESS = 100  # each address of this machine is a client of its own
TOLD_AT = re.compile(rb"t(\d{10,})(?=\D)")


@dataclass
class Server:
    """The console in a process of its own; see ``streams_server``."""

    process: subprocess.Popen[str]
    port: int

    async def do(self, name: str, *arguments: Any) -> Any:
        return await asyncio.to_thread(self._do, name, arguments)

    def _do(self, name: str, arguments: Sequence[Any]) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([name, *arguments]) + "\n")
        self.process.stdin.flush()
        return None if name == "end" else json.loads(self.process.stdout.readline())


@asynccontextmanager
async def a_server(folder: Path, url: str = "", patience: float = 30.0) -> AsyncIterator[Server]:
    """Start one; ``url`` is its database, else a SQLite file in the folder."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.streams_server", str(folder), url, str(patience)],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = await asyncio.to_thread(process.stdout.readline)
        yield Server(process, json.loads(line))
    finally:
        process.kill()
        process.communicate()


@dataclass(eq=False)
class Browser(asyncio.Protocol):
    """Follows a path; ``delays`` are the milliseconds that each event was under way."""

    port: int
    path: str
    delays: list[float] = field(default_factory=list)
    received: int = 0
    last_id: str = ""
    began: asyncio.Event = field(default_factory=asyncio.Event)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    told: asyncio.Event = field(default_factory=asyncio.Event)
    _rest: bytes = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        host = f"Host: 127.0.0.1:{self.port}"
        self.transport.write(f"GET {self.path} HTTP/1.1\r\n{host}\r\n\r\n".encode())

    def data_received(self, data: bytes) -> None:
        now = time.monotonic_ns()
        self.received += len(data)
        self.began.set()
        *events, self._rest = (self._rest + data).split(b"\n\n")
        for event in events:
            moments = [int(found) for found in TOLD_AT.findall(event)]
            if moments:
                self.delays.append((now - max(moments)) / 1e6)
                self.told.set()
            if b"id: " in event:
                self.last_id = event.partition(b"id: ")[2].partition(b"\n")[0].decode()

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()

    def leave(self) -> None:
        self.transport.abort()


async def opened(server: Server, paths: Sequence[str]) -> list[Browser]:
    """So many browsers, each of which was told something."""
    loop = asyncio.get_running_loop()
    browsers = []
    for number, path in enumerate(paths):
        browser = Browser(server.port, path)
        address = f"127.0.{number // CLIENTS_PER_ADDRESS}.1"
        await loop.create_connection(
            lambda browser=browser: browser,  # type: ignore[misc]
            sock=await _connected(server.port, address),
        )
        browsers.append(browser)
    async with asyncio.timeout(60):
        await asyncio.gather(*(browser.began.wait() for browser in browsers))
    return browsers


async def left(server: Server, browsers: Sequence[Browser]) -> None:
    """Leave, and wait until the server has noticed."""
    for browser in browsers:
        browser.leave()
    async with asyncio.timeout(30):
        while (await server.do("used"))["streams"]:
            await asyncio.sleep(0.05)


async def a_slow_reader(server: Server, path: str) -> socket.socket:
    """Asks for a stream and reads nothing of it."""
    mine = await _connected(server.port, "127.0.0.1", receive=8_192)
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n"
    await asyncio.get_running_loop().sock_sendall(mine, request.encode())
    return mine


async def _connected(port: int, address: str, receive: int = 0) -> socket.socket:
    mine = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if receive:
        mine.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    mine.setblocking(False)
    mine.bind((address, 0))
    await asyncio.get_running_loop().sock_connect(mine, ("127.0.0.1", port))
    return mine
