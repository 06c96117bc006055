"""An HTTP connection that is given up when nobody reads what is sent over it.

What is sent waits in memory (64 kB, after which uvicorn pauses whoever writes) and in the kernel.
A reader that takes nothing for ``patience`` seconds is cut off, so that an event stream which is
never read, or a page that is loaded through a hole in the network, holds nothing for ever. A
browser comes again by itself, an event stream goes on at ``Last-Event-ID``.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from bot.logs import get_logger

PATIENCE_SECONDS = 30.0
UNSENT_BYTES = 131_072

log = get_logger()


class HttpConnection(H11Protocol):
    """uvicorn's connection, with that patience."""

    def __init__(self, *args: Any, patience: float = PATIENCE_SECONDS, **how: Any) -> None:
        super().__init__(*args, **how)
        self._patience = patience
        self._giving_up: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._giving_up = self.loop.call_later(self._patience, self._give_up)

    def resume_writing(self) -> None:
        self._keep()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._keep()
        super().connection_lost(exc)

    def _keep(self) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None

    def _give_up(self) -> None:
        log.info(
            "cut off a client that reads nothing",
            client=self.client[0] if self.client else "",
            path=self.scope["path"] if self.scope else "",
            after_seconds=self._patience,
        )
        # Without lingering: what is on its way to nobody is dropped, and the other end is told.
        self.transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        self.transport.abort()


def bound(listener: socket.socket, patience: float) -> None:
    """What the kernel holds for each of a listener's connections, and for how long, where it can be
    told.

    It gives up the ones whose other end has gone without a word, such as a laptop that sleeps,
    after twice ``patience`` seconds instead of a quarter of an hour (RFC 5482), and takes no
    megabytes ahead of what it can send, which a slow reader would get as news of long ago
    (https://www.man7.org/linux/man-pages/man7/tcp.7.html).
    """
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        milliseconds = round(2_000 * patience)  # later than ours, which tells why
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)
