"""An HTTP connection that is given up when nobody reads what is sent over it.

What is sent waits in memory (64 kB, after which uvicorn pauses whoever writes) and in the kernel.
A reader that takes nothing for ``patience`` seconds is cut off, so that an event stream which is
never read, or a page that is loaded through a hole in the network, holds nothing for ever. A
browser comes again by itself, an event stream goes on at ``Last-Event-ID``.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import structlog
from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE_SECONDS = 30.0

log = structlog.get_logger(__name__)


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
        self.transport.abort()


def expect_answers(listener: socket.socket, seconds: float = PATIENCE_SECONDS) -> None:
    """Let the kernel give up connections whose other end has gone without a word, such as a laptop
    that sleeps, after so many seconds instead of a quarter of an hour (RFC 5482; Linux)."""
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(seconds * 1000))
