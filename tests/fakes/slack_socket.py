"""Socket Mode: hello, envelopes, acknowledgements, disconnects.

https://docs.slack.dev/apis/events-api/using-socket-mode
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from tests.fakes.slack_delivery import EVENT, INTERACTION, Attempt, Delivery
from tests.fakes.slack_workspace import APP_ID, Json

MOST_CONNECTIONS = 10


@dataclass(eq=False)
class Link:
    """One open connection. ``waiting``: envelopes sent over it and not acknowledged."""

    number: int
    socket: web.WebSocketResponse
    transport: asyncio.WriteTransport | None
    draining: bool = False
    sent: int = 0
    waiting: dict[str, asyncio.Future[None]] = field(default_factory=dict)


class SocketMode:
    """The server side of Socket Mode; everything here runs on the server's loop."""

    def __init__(self, ack_seconds: float, changed: Callable[[], None]) -> None:
        self.ack_seconds = ack_seconds
        self._changed = changed  # called at each connection and acknowledgement
        self.links: list[Link] = []
        self.connected = 0  # number of connections ever made
        self.strange: list[str] = []  # messages of the app that Slack would not understand
        self._tickets: set[str] = set()
        self._sent: dict[str, tuple[Delivery, Attempt]] = {}
        self._turn = 0
        self._anyone = asyncio.Event()

    def open(self, base: str) -> str:
        """Return the URL for the response of apps.connections.open."""
        ticket = secrets.token_hex(12)
        self._tickets.add(ticket)
        return f"{base.replace('http', 'ws', 1)}/link/?ticket={ticket}&app_id={APP_ID}"

    async def serve(self, request: web.Request) -> web.StreamResponse:
        if request.query.get("ticket") not in self._tickets:
            return web.Response(status=403)
        if len(self.links) >= MOST_CONNECTIONS:
            return web.Response(status=429)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.connected += 1
        link = Link(self.connected, socket, request.transport)
        self.links.append(link)
        try:
            await socket.send_json(self._hello())
            self._anyone.set()
            self._changed()
            async for message in socket:
                if message.type == WSMsgType.TEXT:
                    self._read(message.data)
        finally:
            self._forget(link)
        return socket

    def _hello(self) -> Json:
        return {
            "type": "hello",
            "num_connections": len(self.links),
            "debug_info": {
                "host": "applink-1",
                "build_number": 1,
                "approximate_connection_time": 18060,
            },
            "connection_info": {"app_id": APP_ID},
        }

    def _forget(self, link: Link) -> None:
        if link in self.links:
            self.links.remove(link)
        if not self.ready():
            self._anyone.clear()
        self._changed()
        for future in link.waiting.values():
            if not future.done():
                future.set_exception(ConnectionError("closed before the acknowledgement"))

    def _read(self, data: str) -> None:
        try:
            ack = json.loads(data)
        except json.JSONDecodeError:
            ack = None
        known = self._sent.get(ack.get("envelope_id", "")) if isinstance(ack, dict) else None
        if known is None:
            self.strange.append(data)
            return
        delivery, attempt = known
        payload = ack.get("payload")
        if payload and not accepts_payload(delivery):
            self.strange.append(data)
        if attempt.acked is None:
            delivery.note_ack(attempt, payload)
            self._changed()
        for link in self.links:
            future = link.waiting.pop(ack["envelope_id"], None)
            if future is not None and not future.done():
                future.set_result(None)

    def ready(self) -> list[Link]:
        return [link for link in self.links if not link.draining and not link.socket.closed]

    async def carry(self, delivery: Delivery, number: int, reason: str) -> Attempt:
        """Send to exactly one connection, in turn; wait for one if there is none."""
        while not self.ready():
            self._anyone.clear()
            await self._anyone.wait()
        links = self.ready()
        self._turn += 1
        link = links[self._turn % len(links)]
        envelope = secrets.token_hex(16)
        attempt = Attempt(number, time.perf_counter(), envelope)
        delivery.attempts.append(attempt)
        self._sent[envelope] = (delivery, attempt)
        link.waiting[envelope] = asyncio.get_running_loop().create_future()
        link.sent += 1
        try:
            await link.socket.send_str(json.dumps(_envelope(delivery, envelope, number, reason)))
            await asyncio.wait_for(link.waiting[envelope], self.ack_seconds)
        except TimeoutError:
            attempt.failure = "timeout"
        except (ConnectionError, RuntimeError):
            attempt.failure = "connection_failed"
        finally:
            link.waiting.pop(envelope, None)
        return attempt

    async def disconnect(self, reason: str, grace: float, which: int | None = None) -> None:
        """Ask clients to disconnect; a ``warning`` leaves the connections open, others close them
        after ``grace``."""
        told = [link for link in self.links if which in (None, link.number)]
        for link in told:
            link.draining = reason != "warning"
            debug = {"host": "applink-1"}
            await link.socket.send_json(
                {"type": "disconnect", "reason": reason, "debug_info": debug}
            )
        if reason != "warning":
            await asyncio.sleep(grace)
            for link in told:
                await link.socket.close()

    def cut(self) -> None:
        """Cut every connection without a close frame, as a broken network does."""
        for link in list(self.links):
            link.draining = True
            if link.transport is not None:
                link.transport.abort()


def accepts_payload(delivery: Delivery) -> bool:
    if delivery.kind == INTERACTION:
        return bool(delivery.payload["type"] in ("view_submission", "block_suggestion"))
    return delivery.kind != EVENT


def _envelope(delivery: Delivery, envelope: str, number: int, reason: str) -> Json:
    frame: dict[str, Any] = {
        "envelope_id": envelope,
        "payload": delivery.payload,
        "type": delivery.kind,
        "accepts_response_payload": accepts_payload(delivery),
    }
    if delivery.kind == EVENT:
        frame |= {"retry_attempt": number, "retry_reason": reason}
    return frame
