"""Who may read what, and messages of other channels that the asker may read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from adapters.discord import conversations as module
from adapters.discord.client import FootnoteClient, api_of, library_log
from adapters.discord.conversations import READING, DiscordConversations, Servers
from adapters.discord.format import written_in
from adapters.discord.messages import DiscordMessage
from adapters.discord.rest import DiscordRefused, RestClient
from adapters.discord.settings import DiscordSettings
from bot.core.errors import PlatformUnavailable
from bot.core.messages import Author, RunOptions, Thread
from bot.core.posting import PostState, RunRef
from bot.core.reader import Reader
from bot.operation.configuration import load_settings
from bot.search.provider import Query
from tests.unit.adapters.discord.way_in import Room
from tests.unit.samples import a_message

GUILD, ALL, BOARD, ADA = "1", "11", "12", "21"
REFUSED = DiscordRefused(403, 50013, "Missing Permissions")
AWAY = PlatformUnavailable("Discord is away.")


class Server:
    """A server of two channels, of which not everybody may read one: what it is asked, and what it
    fails at."""

    user_id = "9"

    def __init__(self, *failing: tuple[str, Exception]) -> None:
        self._failing = dict(failing)
        self.sent: list[str] = []

    async def request(self, method: str, path: str, **given: Any) -> Any:
        what = path.rpartition("/")[2]
        if what == "search":
            what = f"search of {given['query']['channel_id'][0]}"
        if what in self._failing:
            raise self._failing[what]
        match what:
            case "{guild_id}":
                return {"owner_id": "99", "roles": [{"id": GUILD, "permissions": str(READING)}]}
            case "channels" if "guild_id" in given:
                shut = [{"id": GUILD, "type": 0, "allow": "0", "deny": str(READING)}]
                shut.append({"id": ADA, "type": 1, "allow": str(READING), "deny": "0"})
                named = [{"id": ALL, "type": 0, "name": "ops"}]
                return [*named, {"id": BOARD, "type": 0, "permission_overwrites": shut}]
            case "{user_id}":
                return {"roles": []}
            case "channels":
                return {"id": "31"}
            case "messages":
                self.sent.append(written_in(given["json"]["components"]))
                return {"id": "41", **given["json"]}
            case _:
                where = given["query"]["channel_id"][0]
                author = {"id": "22", "username": "ben"}
                said = {"id": f"5{where}", "channel_id": where, "type": 0, "author": author}
                return {"messages": [[{**said, "content": "The launch is in May."}]]}

    def parsed(self, raw: dict[str, str], server: str) -> DiscordMessage:
        at, author = datetime.now(UTC), Author("22", "Ben")
        text = raw["content"]
        return DiscordMessage(raw["id"], raw["channel_id"], author, text, text, at, server=server)


async def nothing(given: PostState | Thread) -> None:
    """Nothing of this is kept."""


@pytest.mark.parametrize(
    ("failing", "told"),
    [
        ((), 1),
        ((("{user_id}", AWAY),), 0),
        (((f"search of {BOARD}", REFUSED),), 0),
        (((f"search of {BOARD}", AWAY),), 0),
        ((("messages", REFUSED),), 0),
    ],
)
async def test_what_was_found_stands_whatever_becomes_of_the_offer(
    failing: tuple[tuple[str, Exception], ...], told: int
) -> None:
    server: Any = Server(*failing)
    message = a_message("When is the launch?", Thread("discord", GUILD, ALL, "61"))
    message = replace(message, author=replace(message.author, id=ADA))
    run = RunRef("r1", message, RunOptions(), nothing, nothing)
    talk = DiscordConversations(server, Servers(server), run, Reader("channel"))
    for _ in range(2):  # once a question
        found = await talk.search(Query("launch", 5))
        assert [hit.url.rpartition("/")[2] for hit in found] == [f"5{ALL}"]
    await talk.answer_posted()
    assert len(server.sent) == told


# ---------------------------------------------------------------- roles


@pytest.fixture
async def wire(room: Room, tmp_path: Path) -> AsyncIterator[RestClient]:
    """A client that is logged in, and has no gateway: as in a worker."""
    settings = load_settings(
        discord_token=room.discord.token, discord_api_url=room.discord.url, data_dir=tmp_path
    )
    with ExitStack() as stack:
        library_log(room.discord.token)
        stack.enter_context(api_of(cast(DiscordSettings, settings)))
        client = FootnoteClient()
        await client.log_in(room.discord.token)
        yield RestClient(client)
        await client.close()


def asked(room: Room, path: str) -> int:
    return len(room.discord.requests("GET", path))


async def test_only_roles_that_are_asked_for_and_held_are_told(
    room: Room, wire: RestClient
) -> None:
    held, other, unasked = (room.discord.role(room.guild, name) for name in ("hr", "it", "all"))
    cat = room.discord.member(room.guild, "Cat", held, unasked)
    roles = Servers(wire)
    assert await roles.roles_held(cat.id, [held.id, other.id]) == {held.id}
    assert await roles.roles_held(room.ada.id, [held.id, other.id]) == frozenset()


async def test_roles_are_found_in_every_server_of_the_bot(room: Room, wire: RestClient) -> None:
    elsewhere = room.discord.guild("Annexe")
    here, there = room.discord.role(room.guild, "hr"), room.discord.role(elsewhere, "hr")
    cat = room.discord.member(room.guild, "Cat", here)
    room.discord.join(elsewhere, cat, there)
    assert await Servers(wire).roles_held(cat.id, [here.id, there.id]) == {here.id, there.id}


async def test_only_servers_that_have_such_a_role_are_asked_for_the_person(
    room: Room, wire: RestClient
) -> None:
    elsewhere = room.discord.guild("Annexe")
    role = room.discord.role(room.guild, "hr")
    cat = room.discord.member(room.guild, "Cat", role)
    await Servers(wire).roles_held(cat.id, [role.id])
    assert asked(room, f"/guilds/{room.guild.id}/members/{cat.id}") == 1
    assert asked(room, f"/guilds/{elsewhere.id}/members/{cat.id}") == 0


async def test_a_person_is_asked_for_once_a_minute(
    room: Room, wire: RestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    role = room.discord.role(room.guild, "hr")
    cat = room.discord.member(room.guild, "Cat", role)
    path = f"/guilds/{room.guild.id}/members/{cat.id}"
    roles = Servers(wire)
    for _ in range(3):
        assert await roles.roles_held(cat.id, [role.id]) == {role.id}
    assert asked(room, path) == 1
    room.guild.members[cat.id].roles.clear()  # the role is taken away
    monkeypatch.setattr(module, "MEMBERS_SECONDS", 0.0)
    assert await Servers(wire).roles_held(cat.id, [role.id]) == frozenset()
    assert asked(room, path) == 2


async def test_somebody_who_is_no_member_any_more_has_no_roles(
    room: Room, wire: RestClient
) -> None:
    role = room.discord.role(room.guild, "hr")
    stranger = room.discord.user("Stranger")
    assert await Servers(wire).roles_held(stranger.id, [role.id]) == frozenset()


async def test_what_cannot_be_asked_now_is_no_answer(room: Room, wire: RestClient) -> None:
    role = room.discord.role(room.guild, "hr")
    cat = room.discord.member(room.guild, "Cat", role)
    room.discord.down("reset")
    roles = Servers(wire)
    with pytest.raises(PlatformUnavailable):
        await roles.roles_held(cat.id, [role.id])
    room.discord.up()
    assert await roles.roles_held(cat.id, [role.id]) == {role.id}  # nothing wrong was remembered
