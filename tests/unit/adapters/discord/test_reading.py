"""The roles of people who ask in direct messages, asked of Discord by REST."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path
from typing import cast

import pytest

from adapters.discord import conversations as module
from adapters.discord.client import FootnoteClient, api_of, library_log
from adapters.discord.conversations import Servers
from adapters.discord.rest import RestClient
from adapters.discord.settings import DiscordSettings
from bot.core.errors import PlatformUnavailable
from bot.operation.configuration import load_settings
from tests.unit.adapters.discord.conftest import Room


@pytest.fixture
async def wire(room: Room, tmp_path: Path) -> AsyncIterator[RestClient]:
    """A client that is logged in, and has no gateway: as in a worker."""
    settings = load_settings(
        discord_token=room.discord.token, discord_api_url=room.discord.url, data_dir=tmp_path
    )
    with ExitStack() as stack:
        stack.enter_context(library_log(room.discord.token))
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
