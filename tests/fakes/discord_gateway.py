"""The gateway: sessions over WebSocket, which can be resumed.

docs.discord.com/developers/events/gateway. Events are numbered per session and stored, so RESUME
replays exactly those after the number that the client sends.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import IntEnum

from aiohttp import WSMsgType, web

from tests.fakes.discord_shapes import (
    guild_create_json,
    own_user_json,
)
from tests.fakes.discord_state import Guild, Json, World

MESSAGE_CONTENT = 1 << 15
GUILDS, GUILD_MEMBERS, GUILD_PRESENCES = 1 << 0, 1 << 1, 1 << 8
# Bits 0-16, 20, 21, 24, 25 have a meaning.
KNOWN_INTENTS = (1 << 17) - 1 | 0b11 << 20 | 0b11 << 24


class Op(IntEnum):
    """docs.discord.com/developers/topics/opcodes-and-status-codes#gateway"""

    DISPATCH = 0
    HEARTBEAT = 1
    IDENTIFY = 2
    RESUME = 6
    RECONNECT = 7
    INVALID_SESSION = 9
    HELLO = 10
    HEARTBEAT_ACK = 11


class _Refused(Exception):
    """The connection is to be closed with ``code``."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


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
        event = {"op": Op.DISPATCH, "t": name, "s": len(self.events) + 1, "d": data}
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


class Gateway:
    """All sessions of the bot. Public methods may be called from any thread."""

    def __init__(self, world: World, url: str, changed: Callable[[], None]) -> None:
        self.world = world
        self.url = url
        self.heartbeat_interval = 41_250  # milliseconds
        self.sessions: dict[str, Session] = {}
        self.connections: list[Connection] = []
        self.identified: list[Json] = []
        self.resumes: list[Json] = []
        self.refusing = False
        self.shards = 1
        self._changed = changed
        world.emit = self.emit

    def emit(
        self, name: str, build: Callable[[bool], Json], *, needs: int, guild: Guild | None
    ) -> None:
        """Number an event for every session with its intent, even if it is disconnected."""
        with self.world.lock:
            for session in self.sessions.values():
                if session.takes(needs, guild):
                    session.add(name, build(session.sees_content))
        self._changed()

    def emit_to_app(self, name: str, data: Json, guild: Guild | None) -> bool:
        """Send an event that needs no intent (interactions); return False without a session."""
        taken = False
        with self.world.lock:
            for session in self.sessions.values():
                if session.takes(0, guild):
                    session.add(name, data)
                    taken = True
        self._changed()
        return taken

    # Controls for tests

    @property
    def connected(self) -> int:
        """The number of sessions that are connected now."""
        with self.world.lock:
            return sum(session.connection is not None for session in self.sessions.values())

    def drop(self) -> None:
        """Cut every connection without a close frame; sessions remain and collect events."""
        for connection in self._detach():
            connection.cut()

    def close(self, code: int) -> None:
        """Close every connection with ``code``; sessions remain."""
        for connection in self._detach():
            connection.close(code)

    def ask_to_reconnect(self) -> None:
        """Send opcode 7 on every connection."""
        with self.world.lock:
            for connection in self.connections:
                connection.send({"op": Op.RECONNECT, "d": None})

    def invalidate(self) -> None:
        """Send opcode 9 on every connection, and end the sessions."""
        with self.world.lock:
            for connection in self.connections:
                connection.send({"op": Op.INVALID_SESSION, "d": False})
            self.sessions.clear()

    def forget_sessions(self) -> None:
        """Respond to the next RESUME with INVALID_SESSION."""
        with self.world.lock:
            self.sessions.clear()

    def refuse_connections(self, refusing: bool = True) -> None:
        """While ``refusing``, respond to new WebSockets with 503."""
        self.refusing = refusing

    def _detach(self) -> list[Connection]:
        with self.world.lock:
            for session in self.sessions.values():
                session.connection = None
            return list(self.connections)

    # The wire

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if self.refusing:
            return web.Response(status=503, text="upstream connect error")
        compress = request.query.get("compress", "")
        socket = web.WebSocketResponse(max_msg_size=4096, heartbeat=None)
        await socket.prepare(request)
        connection = Connection(socket, compress)
        connection.request = request
        with self.world.lock:
            self.connections.append(connection)
        writer = asyncio.create_task(connection.write())
        try:
            await self._converse(connection)
        except _Refused as refused:
            connection.close(refused.code, refused.reason)
            await writer
        finally:
            with self.world.lock:
                self.connections.remove(connection)
                for session in self.sessions.values():
                    if session.connection is connection:
                        session.connection = None
            writer.cancel()
            self._changed()
        return socket

    async def _converse(self, connection: Connection) -> None:
        connection.send({"op": Op.HELLO, "d": {"heartbeat_interval": self.heartbeat_interval}})
        while True:
            patience = self.heartbeat_interval / 1000 * 2
            try:
                frame = await connection.socket.receive(timeout=patience)
            except TimeoutError:
                raise _Refused(4009, "Session timed out") from None
            if frame.type is WSMsgType.CLOSE and frame.data in (1000, 1001):
                self._end_sessions_of(connection)  # a normal close ends the sessions
            if frame.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                return
            payload = json.loads(frame.data)
            match payload["op"]:
                case Op.HEARTBEAT:
                    connection.send({"op": Op.HEARTBEAT_ACK})
                case Op.IDENTIFY:
                    self._identify(connection, payload["d"])
                case Op.RESUME:
                    self._resume(connection, payload["d"])
            self._changed()

    def _end_sessions_of(self, connection: Connection) -> None:
        with self.world.lock:
            for session in [s for s in self.sessions.values() if s.connection is connection]:
                del self.sessions[session.id]

    def _identify(self, connection: Connection, data: Json) -> None:
        self.identified.append(data)
        app = self.world.app
        if data.get("token") != app.token:
            raise _Refused(4004, "Authentication failed.")
        intents = data.get("intents")
        if not isinstance(intents, int) or intents & ~KNOWN_INTENTS:
            raise _Refused(4013, "Invalid intent(s).")
        switched_on = (
            GUILD_MEMBERS * app.members_intent
            | GUILD_PRESENCES * app.presence_intent
            | MESSAGE_CONTENT * app.content_intent
        )
        privileged = GUILD_MEMBERS | GUILD_PRESENCES | MESSAGE_CONTENT
        if intents & privileged & ~switched_on:
            raise _Refused(4014, "Disallowed intent(s).")
        shard = data.get("shard", [0, 1])
        if not (isinstance(shard, list) and len(shard) == 2 and 0 <= shard[0] < shard[1]):
            raise _Refused(4010, "Invalid shard.")
        with self.world.lock:
            session = Session(self.world.new_id(), intents, (shard[0], shard[1]))
            for old in [s for s in self.sessions.values() if s.shard == session.shard]:
                if old.connection is None:
                    del self.sessions[old.id]
            session.connection = connection
            self.sessions[session.id] = session
            self._greet(session)

    def _greet(self, session: Session) -> None:
        """Send READY with unavailable guilds, then each guild."""
        world = self.world
        guilds = [g for g in world.guilds.values() if g.installed and session.takes(0, g)]
        session.add(
            "READY",
            {
                "v": 10,
                "user": own_user_json(world.bot),
                "guilds": [{"id": guild.id, "unavailable": True} for guild in guilds],
                "session_id": session.id,
                "session_type": "normal",
                "resume_gateway_url": self.url,
                "shard": list(session.shard),
                "application": {"id": world.app.id, "flags": world.app.flags},
                "private_channels": [],
                "relationships": [],
                "presences": [],
                "guild_join_requests": [],
                "geo_ordered_rtc_regions": [],
                "user_settings": {},
                "user_settings_proto": "",
                "auth": {},
            },
        )
        everyone = bool(session.intents & GUILD_MEMBERS)
        if session.intents & GUILDS:
            for guild in guilds:
                session.add("GUILD_CREATE", guild_create_json(guild, world, all_members=everyone))

    def _resume(self, connection: Connection, data: Json) -> None:
        self.resumes.append(data)
        if data.get("token") != self.world.app.token:
            raise _Refused(4004, "Authentication failed.")
        with self.world.lock:
            session = self.sessions.get(str(data.get("session_id")))
            if session is None:
                connection.send({"op": Op.INVALID_SESSION, "d": False})
                return
            if session.connection is not None:
                session.connection.close(4000)
            for event in session.events[data["seq"] :]:
                connection.send_text(event)
            session.connection = connection
            session.resumed += 1
            session.add("RESUMED", {"_trace": []})
