"""An HTTP connection that is closed when the client neither reads nor writes.

Outgoing data waits in memory (64 kB, after which uvicorn pauses the writer) and in the kernel. A
client that reads nothing for ``patience`` seconds is disconnected, so that an event stream no one
reads, or a stalled page load, does not hold memory for ever. Browsers reconnect by themselves; an
event stream resumes at ``Last-Event-ID``.

uvicorn waits for ever for the rest of a request (its time limit covers only the pause between two).
Therefore a client is disconnected if it does not complete its head in ``head`` seconds, sends
nothing of a body for ``patience`` seconds, or does not complete the body in ``body`` seconds. With
``most`` connections open, a new one replaces the one that has been sending its head longest.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
from dataclasses import dataclass, field
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from bot.core.logs import get_logger

MOST_CONNECTIONS = 1_000
SPARE = 100  # extra connections while all others are busy: health checks must not fail
OTHER_FILES = 300  # open besides client connections: database, peers, documents
UNSENT_BYTES = 131_072

log = get_logger()


def _most_connections() -> int:
    """Return as many connections as the limit on open files allows."""
    if sys.platform == "win32":
        return MOST_CONNECTIONS
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(100, min(MOST_CONNECTIONS, soft - SPARE - OTHER_FILES))


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on clients, times in seconds; see the module docstring."""

    patience: float = 30.0
    head: float = 10.0
    body: float = 300.0
    most: int = field(default_factory=_most_connections)


class HttpConnection(H11Protocol):
    """uvicorn's connection, with these limits; ``waiting`` holds an endpoint's connections that
    have not sent a whole head, oldest first."""

    def __init__(
        self, *args: Any, limits: Limits, waiting: dict[HttpConnection, None], **how: Any
    ) -> None:
        super().__init__(*args, **how)
        self._limits = limits
        self._waiting = waiting
        self._patience = limits.patience
        self._giving_up: asyncio.TimerHandle | None = None
        self._head_or_body: asyncio.TimerHandle | None = None  # for all of it
        self._more: asyncio.TimerHandle | None = None  # for the next piece of a body
        self._awaited: object = None  # the h11 state that the first timer is for

    # ------------------------------------------------------------ what the client sends

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        beyond = len(self.connections) - self._limits.most
        if beyond > 0 and (oldest := next(iter(self._waiting), None)) is not None:
            oldest.cut_off("makes room for another")
        elif beyond > SPARE:
            self.cut_off("there is no room for another")
        self._await_more()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._await_more()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._await_more()

    def _await_more(self) -> None:
        """Set the timers for the data that must come next."""
        state = self.conn.their_state
        if state is not self._awaited:
            self._awaited = state
            self._cancel(self._head_or_body)
            self._head_or_body = None
            self._waiting.pop(self, None)
            if state is h11.IDLE:
                self._waiting[self] = None
                self._head_or_body = self._later(self._limits.head, "sends no whole request")
            elif state is h11.SEND_BODY:
                self._head_or_body = self._later(self._limits.body, "sends no whole body")
        self._cancel(self._more)
        self._more = None
        if state is h11.SEND_BODY:
            self._more = self._later(self._patience, "sends no more of a body")

    def _later(self, seconds: float, why: str) -> asyncio.TimerHandle:
        return self.loop.call_later(seconds, self._late, why)

    def _late(self, why: str) -> None:
        if self.flow.read_paused:  # Footnote itself has paused reading
            self._more = self._later(self._patience, why)
        else:
            self.cut_off(why)

    def cut_off(self, why: str) -> None:
        """End the connection at once."""
        log.debug("cut off a client", why=why, client=self.client[0] if self.client else "")
        self._waiting.pop(self, None)
        self.transport.abort()

    @staticmethod
    def _cancel(timer: asyncio.TimerHandle | None) -> None:
        if timer is not None:
            timer.cancel()

    # ------------------------------------------------------------ what the client reads

    def pause_writing(self) -> None:
        super().pause_writing()
        self._giving_up = self.loop.call_later(self._patience, self._give_up)

    def resume_writing(self) -> None:
        self._keep()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._keep()
        self._cancel(self._head_or_body)
        self._cancel(self._more)
        self._waiting.pop(self, None)
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
        # Without lingering: the kernel drops unsent data and resets the connection.
        self.transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        self.transport.abort()


def bound(listener: socket.socket, patience: float) -> None:
    """Limit how much the kernel buffers for each of a listener's connections, and for how long,
    where the system supports it.

    The kernel then drops connections whose client vanished, such as a sleeping laptop, after twice
    ``patience`` seconds instead of a quarter of an hour (RFC 5482). It also stops buffering
    megabytes ahead, which a slow client would receive long out of date
    (https://www.man7.org/linux/man-pages/man7/tcp.7.html).
    """
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        milliseconds = round(2_000 * patience)  # after our own limit, which logs the reason
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)
