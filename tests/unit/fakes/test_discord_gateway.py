"""The fake's gateway keeps to the protocol: close codes, resume, silence, what a shard is told."""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from tests.fakes.discord_server import Channel, FakeDiscord, User

Json = dict[str, Any]
ALL_PUBLIC = 1 << 0 | 1 << 9 | 1 << 10 | 1 << 12 | 1 << 15


class Wire:
    """A client by hand, from the raw WebSocket."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, fake: FakeDiscord) -> None:
        self.socket = socket
        self.fake = fake
        self.inflate = zlib.decompressobj()
        self.seq = 0

    async def hear(self) -> Json:
        """The next frame; a close is ``{"closed": code}``."""
        frame = await self.socket.receive(timeout=60)
        if frame.type is aiohttp.WSMsgType.BINARY:
            told: Json = json.loads(self.inflate.decompress(frame.data))
        elif frame.type is aiohttp.WSMsgType.TEXT:
            told = json.loads(frame.data)
        else:
            return {"closed": self.socket.close_code}
        self.seq = told.get("s") or self.seq
        return told

    async def say(self, op: int, data: Any) -> None:
        await self.socket.send_json({"op": op, "d": data})

    async def identify(self, **changes: Any) -> None:
        told = {"token": self.fake.token, "properties": {}, "intents": ALL_PUBLIC}
        await self.say(2, told | changes)

    async def resume(self, session: str, seq: int) -> None:
        await self.say(6, {"token": self.fake.token, "session_id": session, "seq": seq})


@pytest.fixture
async def fake() -> AsyncIterator[FakeDiscord]:
    with FakeDiscord() as made:
        yield made


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as made:
        yield made


async def connect(client: aiohttp.ClientSession, fake: FakeDiscord, query: str = "") -> Wire:
    """Connected, and past HELLO."""
    socket = await client.ws_connect(f"{fake.gateway.url}/?v=10&encoding=json{query}")
    wire = Wire(socket, fake)
    assert (await wire.hear())["op"] == 10
    return wire


async def greeted(client: aiohttp.ClientSession, fake: FakeDiscord) -> tuple[Wire, Json]:
    wire = await connect(client, fake)
    await wire.identify()
    return wire, (await wire.hear())["d"]


def people(fake: FakeDiscord) -> tuple[Channel, User]:
    guild = fake.guild("Reading room")
    return fake.text(guild, "general"), fake.member(guild, "Ada")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"token": "wrong"}, 4004),
        ({"intents": ALL_PUBLIC | 1 << 1}, 4014),
        ({"intents": ALL_PUBLIC | 1 << 8}, 4014),
        ({"intents": 1 << 30}, 4013),
        ({"intents": None}, 4013),
        ({"shard": [2, 2]}, 4010),
    ],
)
async def test_a_wrong_identification_is_closed(
    fake: FakeDiscord, client: aiohttp.ClientSession, changes: Json, code: int
) -> None:
    wire = await connect(client, fake)
    await wire.identify(**changes)
    assert await wire.hear() == {"closed": code}


async def test_resuming_replays_exactly_what_came_after(
    fake: FakeDiscord, client: aiohttp.ClientSession
) -> None:
    wire, ready = await greeted(client, fake)
    general, ada = people(fake)
    before = fake.people.say(ada, general, "before")
    heard = [(await wire.hear())["t"] for _ in range(3)]
    assert heard == ["GUILD_CREATE", "CHANNEL_CREATE", "MESSAGE_CREATE"]
    fake.gateway.drop()
    assert "closed" in await wire.hear()
    fake.people.edit(before, "changed")
    fake.people.say(ada, general, "after")

    again = await connect(client, fake)
    await again.resume(ready["session_id"], wire.seq)
    replayed = [await again.hear() for _ in range(3)]
    assert [event["t"] for event in replayed] == ["MESSAGE_UPDATE", "MESSAGE_CREATE", "RESUMED"]
    assert [event["s"] for event in replayed] == [wire.seq + n for n in (1, 2, 3)]


async def test_a_client_without_heartbeats_is_closed(
    fake: FakeDiscord, client: aiohttp.ClientSession
) -> None:
    fake.gateway.heartbeat_interval = 40
    wire = await connect(client, fake)
    assert await wire.hear() == {"closed": 4009}
