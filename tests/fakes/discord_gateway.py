"""The gateway: sessions over WebSocket, which can be resumed.

docs.discord.com/developers/events/gateway. Events are numbered per session and stored, so RESUME
replays exactly those after the number that the client sends.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import WSMsgType, web

from tests.fakes.discord_sessions import MESSAGE_CONTENT, Connection, Session
from tests.fakes.discord_shapes import (
    guild_create_json,
    own_user_json,
)
from tests.fakes.discord_state import Guild, Json, World

HEARTBEAT, IDENTIFY, PRESENCE, VOICE, RESUME = 1, 2, 3, 4, 6
RECONNECT, INVALID_SESSION, HELLO, HEARTBEAT_ACK = 7, 9, 10, 11
GUILDS, GUILD_MEMBERS, GUILD_PRESENCES = 1 << 0, 1 << 1, 1 << 8
# Bits 0-16, 20, 21, 24, 25 have a meaning.
KNOWN_INTENTS = (1 << 17) - 1 | 0b11 << 20 | 0b11 << 24
# A client may send 120 messages in 60 seconds.
MAX_SENT, SENT_WINDOW = 120, 60.0


class _Refused(Exception):
    """The connection is to be closed with ``code``."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


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
        self.received: list[Json] = []
        self.closings: list[tuple[int, str]] = []
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
                connection.send({"op": RECONNECT, "d": None})

    def invalidate(self, *, resumable: bool = False) -> None:
        """Send opcode 9 on every connection; unless ``resumable``, end the sessions."""
        with self.world.lock:
            for connection in self.connections:
                connection.send({"op": INVALID_SESSION, "d": resumable})
            if not resumable:
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
        query = request.query
        compress = query.get("compress", "")
        socket = web.WebSocketResponse(max_msg_size=4096, heartbeat=None)
        await socket.prepare(request)
        connection = Connection(socket, compress)
        connection.request = request
        with self.world.lock:
            self.connections.append(connection)
        writer = asyncio.create_task(connection.write())
        try:
            _check_query(query)
            await self._converse(connection)
        except _Refused as refused:
            self.closings.append((refused.code, refused.reason))
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
        connection.send({"op": HELLO, "d": {"heartbeat_interval": self.heartbeat_interval}})
        sent: list[float] = []
        known = False
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
            now = connection.loop.time()
            sent = [at for at in sent if at > now - SENT_WINDOW] + [now]
            if len(sent) > MAX_SENT:
                raise _Refused(4008, "You are being rate limited.")
            payload = _decoded(frame.data)
            self.received.append(payload)
            known = self._take(connection, payload, known)
            self._changed()

    def _end_sessions_of(self, connection: Connection) -> None:
        with self.world.lock:
            for session in [s for s in self.sessions.values() if s.connection is connection]:
                del self.sessions[session.id]

    def _take(self, connection: Connection, payload: Json, known: bool) -> bool:
        op, data = payload.get("op"), payload.get("d")
        if op == HEARTBEAT:
            connection.send({"op": HEARTBEAT_ACK})
        elif op == IDENTIFY:
            if known:
                raise _Refused(4005, "Already authenticated.")
            self._identify(connection, data)
            return True
        elif op == RESUME:
            if known:
                raise _Refused(4005, "Already authenticated.")
            return self._resume(connection, data)
        elif not known:
            raise _Refused(4003, "Not authenticated.")
        elif op not in (PRESENCE, VOICE):
            raise _Refused(4001, "Unknown opcode.")
        return known

    def _identify(self, connection: Connection, data: Any) -> None:
        self.identified.append(data)
        app = self.world.app
        if not isinstance(data, dict) or not isinstance(data.get("properties"), dict):
            raise _Refused(4002, "Error while decoding payload.")
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

    def _resume(self, connection: Connection, data: Any) -> bool:
        self.resumes.append(data)
        if not isinstance(data, dict):
            raise _Refused(4002, "Error while decoding payload.")
        if data.get("token") != self.world.app.token:
            raise _Refused(4004, "Authentication failed.")
        with self.world.lock:
            session = self.sessions.get(str(data.get("session_id")))
            if session is None:
                connection.send({"op": INVALID_SESSION, "d": False})
                return False
            seq = data.get("seq")
            if not isinstance(seq, int) or not 0 <= seq <= len(session.events):
                del self.sessions[session.id]
                raise _Refused(4007, "Invalid seq.")
            if session.connection is not None:
                session.connection.close(4000)
            for event in session.events[seq:]:
                connection.send_text(event)
            session.connection = connection
            session.resumed += 1
            session.add("RESUMED", {"_trace": []})
        return True


def _check_query(query: Mapping[str, str]) -> None:
    if query.get("v") not in ("9", "10"):
        raise _Refused(4012, "Invalid API version")
    packing = query.get("compress", "")
    if query.get("encoding", "json") != "json" or packing not in ("", "zlib-stream"):
        raise _Refused(4002, "Error while decoding payload")


def _decoded(data: str | bytes) -> Json:
    try:
        payload = json.loads(data)
    except ValueError:
        payload = None
    if not isinstance(payload, dict):
        raise _Refused(4002, "Error while decoding payload.")
    return payload
