"""A reading room on a fake Discord, and Footnote connected to it when a test opens it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.discord_server import FakeDiscord
from tests.unit.adapters.discord.way_in import Room, Running, SlowPoster, running

Open = Callable[..., AbstractAsyncContextManager[Running]]


@pytest.fixture
def room() -> Iterator[Room]:
    with FakeDiscord() as discord:
        guild = discord.guild("Reading room")
        general = discord.text(guild, "general")
        ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
        yield Room(discord, guild, general, ada, bob)


@pytest.fixture
def open_footnote(room: Room, tmp_path: Path) -> Open:
    """Footnote connected to the room; settings as keywords."""

    def open_it(**settings: Any) -> AbstractAsyncContextManager[Running]:
        return running(room.discord, tmp_path, **settings)

    return open_it


@pytest.fixture
async def here(open_footnote: Open) -> AsyncIterator[Running]:
    async with open_footnote() as footnote:
        yield footnote


@pytest.fixture
def slow_poster() -> SlowPoster:
    return SlowPoster()
