"""Servers on loopback: an ASGI app in a thread of its own, and the end of an aiohttp app."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from aiohttp import web


def free_port() -> int:
    """A port of 127.0.0.1 that is free now, for a program that opens it itself."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class _Server(uvicorn.Server):
    """Signals when it listens, ends when it is told and not at its next look, a tenth of a second
    later, and leaves no connection open."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._loop, self._told = asyncio.get_running_loop(), asyncio.Event()
        self.listening.set()

    async def main_loop(self) -> None:
        await self.on_tick(0)  # the headers of every response
        await self._told.wait()

    def end(self) -> None:
        """From another thread: begin to shut down."""
        self._loop.call_soon_threadsafe(self._told.set)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Give requests the graceful timeout; abort what is still open then.

        A connection that is not closed would be reported, when it is collected, in whatever
        test runs then.
        """
        await stop_accepting(sockets or [])
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        until = self._loop.time() + float(self.config.timeout_graceful_shutdown or 0)
        while self.server_state.connections or self.server_state.tasks:
            if self._loop.time() > until:
                break
            await asyncio.sleep(0.005)
        for task in self.server_state.tasks:
            task.cancel()
        for connection in list(self.server_state.connections):
            if connection.transport is not None:
                connection.transport.abort()
        await asyncio.sleep(0)


async def end(runner: web.AppRunner, listener: socket.socket) -> None:
    """End an aiohttp server, and abort what it leaves open: clients that do not read."""
    await stop_accepting([listener])
    assert runner.server is not None
    connections = runner.server.connections
    await runner.cleanup()
    for connection in connections:
        if connection.transport is not None:
            connection.transport.abort()
    await asyncio.sleep(0)


async def stop_accepting(listeners: list[socket.socket]) -> None:
    """Let asyncio finish what it is accepting: closing a server in between loses the socket."""
    for listener in listeners:
        asyncio.get_running_loop().remove_reader(listener)
    for _ in range(3):  # turns of the loop: accepted, its transport made, its protocol told
        await asyncio.sleep(0)


@contextmanager
def serve(app: Any, host: str = "127.0.0.1") -> Iterator[str]:
    """Serve ``app`` until the block ends; yields its base URL, ``http://127.0.0.1:PORT``."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio switches Nagle's algorithm off for what it accepts.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, 0))
    config = uvicorn.Config(
        app, log_level="error", lifespan="off", timeout_graceful_shutdown=1, access_log=False
    )
    server = _Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    if not server.listening.wait(60):
        raise RuntimeError("the loopback server did not start")
    shown = f"[{host}]" if ":" in host else host
    try:
        yield f"http://{shown}:{listener.getsockname()[1]}"
    finally:
        server.end()
        thread.join(20)
        listener.close()
