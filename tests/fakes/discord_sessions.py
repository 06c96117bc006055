"""Sessions of the gateway and the connections that carry them."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from aiohttp import web

from tests.fakes.discord_state import Guild, Json

DISPATCH = 0
MESSAGE_CONTENT = 1 << 15


@dataclass(eq=False)
class Session:
    """One shard's session, which outlives its connections until it is invalidated."""

    id: str
    intents: int
    shard: tuple[int, int]
    events: list[str] = field(default_factory=list)  # as JSON, numbered from 1
    connection: Connection | None = None
    resumed: int = 0

    @property
    def sees_content(self) -> bool:
        return bool(self.intents & MESSAGE_CONTENT)

    def takes(self, needs: int, guild: Guild | None) -> bool:
        index, count = self.shard
        mine = (int(guild.id) >> 22) % count == index if guild else index == 0
        return mine and (not needs or bool(self.intents & needs))

    def add(self, name: str, data: Json) -> None:
        event = {"op": DISPATCH, "t": name, "s": len(self.events) + 1, "d": data}
        self.events.append(json.dumps(event))
        if self.connection is not None:
            self.connection.send_text(self.events[-1])


class Connection:
    """One WebSocket, which sends frames in order through a queue, compressed if requested."""

    def __init__(self, socket: web.WebSocketResponse, compress: str) -> None:
        self.socket = socket
        self.loop = asyncio.get_running_loop()
        self.queue: asyncio.Queue[str | tuple[int, str]] = asyncio.Queue()
        self.request: web.Request
        self._pack = _packer(compress)

    def send(self, frame: Json) -> None:
        self.send_text(json.dumps(frame))

    def send_text(self, frame: str) -> None:
        """Send a frame; call it from any thread."""
        self.loop.call_soon_threadsafe(self.queue.put_nowait, frame)

    def close(self, code: int, reason: str = "") -> None:
        """Close after the queued frames; call it from any thread."""
        self.loop.call_soon_threadsafe(self.queue.put_nowait, (code, reason))

    def cut(self) -> None:
        """Cut the connection without a close frame; call it from any thread."""
        self.loop.call_soon_threadsafe(self._abort)

    def _abort(self) -> None:
        if self.request.transport is not None:
            self.request.transport.abort()

    async def write(self) -> None:
        while True:
            frame = await self.queue.get()
            if isinstance(frame, tuple):
                await self.socket.close(code=frame[0], message=frame[1].encode())
                return
            try:
                await self._pack(self.socket, frame)
            except ConnectionError:
                return


def _packer(compress: str) -> Callable[[web.WebSocketResponse, str], Awaitable[None]]:
    if compress == "zlib-stream":
        deflate = zlib.compressobj()

        async def zlibbed(socket: web.WebSocketResponse, text: str) -> None:
            packed = deflate.compress(text.encode()) + deflate.flush(zlib.Z_SYNC_FLUSH)
            await socket.send_bytes(packed)

        return zlibbed

    async def plain(socket: web.WebSocketResponse, text: str) -> None:
        await socket.send_str(text)

    return plain
