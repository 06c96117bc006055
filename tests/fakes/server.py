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
    """Signals when it listens, and leaves no connection open when it ends."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shut down, and abort what uvicorn leaves open after its graceful timeout.

        A connection that is not closed would be reported, when it is collected, in whatever
        test runs then.
        """
        await stop_accepting(sockets or [])
        await super().shutdown(sockets)
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
        server.should_exit = True
        thread.join(20)
        listener.close()
