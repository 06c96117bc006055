"""A network between a program and its peers that can be broken: TCP relays on loopback.

    with Network() as network:
        link = network.to("127.0.0.1", 8123)
        ... the program connects to link.port ...
        link.cut()      # every connection is reset, in the middle of whatever it carries
        link.stall()    # nothing moves any more; connections stay, and new ones are taken
        link.close()    # as if nobody listened there: connections are reset, new ones refused
        link.heal()

A relay that is closed looks to the program just as a peer that was killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from tests.fakes.server import stop_accepting

T = TypeVar("T")
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

HOST = "127.0.0.1"
CHUNK = 64 * 1024
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER of no seconds: close() resets


class Link:
    """One way from the program to a peer; made by ``Network``. Methods are for any thread."""

    def __init__(self, network: Network, connect: Callable[[], Awaitable[Streams]]) -> None:
        self._network = network
        self._connect = connect
        self._socket = _bound(0)
        self.port: int = self._socket.getsockname()[1]
        self.connections = 0  # ever
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._flowing = asyncio.Event()
        self._over = False
        self._serving: set[asyncio.Task[Any]] = set()

    def cut(self) -> None:
        """Reset all connections; new ones are fine."""
        self._network.run(self._cut())

    def stall(self) -> None:
        """Let nothing through, in either direction, until ``heal``."""
        self._network.run(self._stall())

    def close(self) -> None:
        """Reset all connections and refuse new ones, until ``heal``."""
        self._network.run(self._close())

    def heal(self) -> None:
        """Everything goes through."""
        self._network.run(self._heal())

    # ------------------------------------------------------------ on the network's loop

    async def _cut(self) -> None:
        for writer in list(self._open):
            _reset(writer)

    async def _stall(self) -> None:
        self._flowing.clear()

    async def _close(self) -> None:
        if self._server is not None:
            await stop_accepting([self._socket])
            self._server.close()  # of what it accepted nothing is closed by that
            self._server = None
            self._socket = _bound(self.port)  # nobody else gets it; bound only, it refuses
        await self._cut()

    async def _heal(self) -> None:
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, sock=self._socket)
        self._flowing.set()

    async def _end(self) -> None:
        await self._close()
        self._socket.close()
        self._over = True
        self._flowing.set()
        await asyncio.gather(*self._serving)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._open.add(writer)
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        others: list[asyncio.StreamWriter] = []
        try:
            await self._pass()
            peer_reader, peer_writer = await self._connect()
            others.append(peer_writer)
            self._open.add(peer_writer)
            await self._carry((reader, writer), (peer_reader, peer_writer))
        except OSError:
            pass  # one side is gone: so is the other
        finally:
            for one in (writer, *others):
                self._open.discard(one)
                _reset(one)

    async def _carry(self, program: Streams, peer: Streams) -> None:
        """Let each hear the other, until both have said all."""
        await asyncio.gather(self._relay(program[0], peer[1]), self._relay(peer[0], program[1]))

    async def _relay(self, source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
        while chunk := await source.read(CHUNK):
            await self._pass()
            to.write(chunk)
            await to.drain()
        await self._pass()
        with contextlib.suppress(OSError):
            to.write_eof()

    async def _pass(self) -> None:
        await self._flowing.wait()
        if self._over:
            raise ConnectionAbortedError


L = TypeVar("L", bound=Link)


class Network:
    """The relays' thread with its event loop; use as a context manager."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="network", daemon=True)
        self._links: list[Link] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(20)
        self._loop.close()

    def to(self, host: str, port: int) -> Link:
        """A way to a TCP port; open at once."""
        return self._made(lambda: asyncio.open_connection(host, port))

    def to_socket(self, path: Path) -> Link:
        """A way to a Unix socket; open at once."""
        return self._made(lambda: asyncio.open_unix_connection(path))

    def _made(self, connect: Callable[[], Awaitable[Streams]]) -> Link:
        return self.opened(Link(self, connect))

    def opened(self, link: L) -> L:
        """A link of another kind, from now on."""
        self._links.append(link)
        link.heal()
        return link

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something on the loop, from another thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    async def _end(self) -> None:
        for link in self._links:
            await link._end()


def _bound(port: int) -> socket.socket:
    # With the protocol named, asyncio switches Nagle's algorithm off for what it accepts.
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((HOST, port))
    return made


def _reset(writer: asyncio.StreamWriter) -> None:
    """End a connection at once: with a reset where it is TCP and still open."""
    made = writer.get_extra_info("socket")
    if made is not None and made.family == socket.AF_INET and not writer.is_closing():
        with contextlib.suppress(OSError):
            made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
    writer.transport.abort()
