"""Slash commands given in Discord, and what answers them."""

from __future__ import annotations

from typing import Any

from tests.fakes.discord_server import Interaction
from tests.unit.adapters.discord.way_in import Room, Running

HOW_TALL = "How tall is the tower?"


async def registered(here: Running) -> dict[str, dict[str, Any]]:
    await here.until(lambda: here.discord.registered())
    return {command["name"]: command for command in here.discord.registered()}


async def ask(here: Running, room: Room, question: str = HOW_TALL, **options: Any) -> Interaction:
    await registered(here)
    options = {"question": question, **options}
    return room.discord.people.slash(room.ada, room.general, "ask", options)


async def answer_of(here: Running, asked: Interaction) -> str:
    """The text that answers the interaction, once there is one."""
    await here.until(lambda: asked.replies and not asked.replies[-1].flags & 1 << 7)
    return asked.replies[-1].text
