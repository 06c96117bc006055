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


async def test_a_session_is_greeted_with_unavailable_guilds_and_then_with_each(
    fake: FakeDiscord, client: aiohttp.ClientSession
) -> None:
    people(fake)
    wire = await connect(client, fake, "&compress=zlib-stream")
    await wire.say(1, None)
    assert (await wire.hear())["op"] == 11
    await wire.identify()
    ready, guild = await wire.hear(), await wire.hear()
    assert (ready["t"], ready["s"], guild["t"], guild["s"]) == ("READY", 1, "GUILD_CREATE", 2)
    assert ready["d"]["guilds"] == [{"id": guild["d"]["id"], "unavailable": True}]
    assert ready["d"]["resume_gateway_url"] == fake.gateway.url
    assert [channel["name"] for channel in guild["d"]["channels"]] == ["general"]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"token": "wrong"}, 4004),
        ({"intents": ALL_PUBLIC | 1 << 1}, 4014),
        ({"intents": ALL_PUBLIC | 1 << 8}, 4014),
        ({"intents": 1 << 30}, 4013),
        ({"intents": None}, 4013),
        ({"shard": [2, 2]}, 4010),
        ({"properties": None}, 4002),
    ],
)
async def test_a_wrong_identification_is_closed(
    fake: FakeDiscord, client: aiohttp.ClientSession, changes: Json, code: int
) -> None:
    wire = await connect(client, fake)
    await wire.identify(**changes)
    assert await wire.hear() == {"closed": code}


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ('{"op": 8, "d": {}}', 4003),
        ("[]", 4002),
        ("nonsense", 4002),
        ('{"op": 6, "d": {"token": "wrong", "session_id": "1", "seq": 1}}', 4004),
    ],
)
async def test_a_wrong_first_frame_is_closed(
    fake: FakeDiscord, client: aiohttp.ClientSession, frame: str, code: int
) -> None:
    wire = await connect(client, fake)
    await wire.socket.send_str(frame)
    assert await wire.hear() == {"closed": code}


async def test_identifying_twice_or_an_unknown_opcode_is_closed(
    fake: FakeDiscord, client: aiohttp.ClientSession
) -> None:
    for op, code in ((2, 4005), (31, 4001)):
        wire, _ = await greeted(client, fake)
        await wire.say(op, {})
        assert await wire.hear() == {"closed": code}


async def test_too_many_frames_are_closed(fake: FakeDiscord, client: aiohttp.ClientSession) -> None:
    wire, _ = await greeted(client, fake)
    for _ in range(120):
        await wire.say(1, None)
    heard = [await wire.hear() for _ in range(120)]
    assert heard[-1] == {"closed": 4008}


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


async def test_a_replayed_event_is_as_it_was_when_it_happened(
    fake: FakeDiscord, client: aiohttp.ClientSession
) -> None:
    wire, ready = await greeted(client, fake)
    general, ada = people(fake)
    fake.gateway.drop()
    said = fake.people.say(ada, general, "first")
    fake.people.react(ada, said, "👍")
    fake.people.edit(said, "second")
    again = await connect(client, fake)
    await again.resume(ready["session_id"], wire.seq)
    events = [await again.hear() for _ in range(6)]
    told = [event["d"]["content"] for event in events if event["t"].startswith("MESSAGE_")
            and "content" in event["d"]]  # fmt: skip
    assert told == ["first", "second"]
    assert "reactions" not in events[2]["d"]


@pytest.mark.parametrize("goodbye", [1000, 1001])
async def test_a_session_ends_with_a_goodbye_and_not_with_another_close(
    fake: FakeDiscord, client: aiohttp.ClientSession, goodbye: int
) -> None:
    for code, resumed in ((4000, "RESUMED"), (goodbye, None)):
        wire, ready = await greeted(client, fake)
        await wire.socket.close(code=code)
        await fake.until(lambda: not fake.gateway.connected)
        again = await connect(client, fake)
        await again.resume(ready["session_id"], wire.seq)
        told = await again.hear()
        assert (told["t"] if resumed else (told["op"], told["d"])) == (resumed or (9, False))
        await again.socket.close()


async def test_a_number_from_the_future_is_closed(
    fake: FakeDiscord, client: aiohttp.ClientSession
) -> None:
    _, ready = await greeted(client, fake)
    again = await connect(client, fake)
    await again.resume(ready["session_id"], 99)
    assert await again.hear() == {"closed": 4007}


async def test_a_client_without_heartbeats_is_closed(
    fake: FakeDiscord, client: aiohttp.ClientSession
) -> None:
    fake.gateway.heartbeat_interval = 40
    wire = await connect(client, fake)
    assert await wire.hear() == {"closed": 4009}


async def test_nothing_connects_in_a_black_out_and_all_does_after_it(
    fake: FakeDiscord, client: aiohttp.ClientSession
) -> None:
    wire, ready = await greeted(client, fake)
    fake.black_out()
    assert "closed" in await wire.hear()
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await connect(client, fake)
    async with client.get(f"{fake.url}/gateway") as answer:
        assert (answer.status, answer.content_type) == (502, "text/html")
    fake.up()
    again = await connect(client, fake)
    await again.resume(ready["session_id"], wire.seq)
    assert (await again.hear())["t"] == "RESUMED"


@pytest.mark.parametrize(("intent", "told"), [(1 << 9, False), (1 << 12, True)])
async def test_an_ephemeral_message_is_told_as_if_it_were_direct(
    fake: FakeDiscord, client: aiohttp.ClientSession, intent: int, told: bool
) -> None:
    general, ada = people(fake)
    wire = await connect(client, fake)
    await wire.identify(intents=intent)
    await wire.hear()
    headers = {"Authorization": f"Bot {fake.token}"}
    commands = f"{fake.url}/applications/{fake.app.id}/commands"
    ask = {"name": "ask", "description": "Ask"}
    async with client.put(commands, json=[ask], headers=headers) as answer:
        assert answer.status == 200
    asked = fake.people.slash(ada, general, "ask")
    assert (await wire.hear())["t"] == "INTERACTION_CREATE"
    callback = f"{fake.url}/interactions/{asked.id}/{asked.token}/callback"
    secret = {"type": 4, "data": {"content": "psst", "flags": 64}}
    async with client.post(callback, json=secret) as answer:
        assert answer.status == 204
    await wire.say(1, None)
    heard = await wire.hear()
    assert (heard.get("t") == "MESSAGE_CREATE") is told
    assert not told or "guild_id" not in heard["d"]


async def test_private_messages_and_interactions_go_to_the_first_shard(
    fake: FakeDiscord, client: aiohttp.ClientSession
) -> None:
    general, ada = people(fake)
    wires = [await connect(client, fake) for _ in range(2)]
    for index, wire in enumerate(wires):
        await wire.identify(shard=[index, 2])
        assert (await wire.hear())["d"]["shard"] == [index, 2]
    fake.people.say(ada, fake.direct(ada), "psst")
    fake.people.say(ada, general, "all")
    assert general.guild is not None
    home = int(general.guild.id) >> 22 & 1
    heard: list[list[str]] = [[], []]
    for index, count in ((home, 2), (0, 1)):
        heard[index] += [(await wires[index].hear())["t"] for _ in range(count)]
    assert sorted(heard[0] + heard[1]) == ["GUILD_CREATE", "MESSAGE_CREATE", "MESSAGE_CREATE"]
