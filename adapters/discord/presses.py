"""Pressed buttons. They carry their run in their id, so they work after any restart."""

from __future__ import annotations

from typing import Any

import discord
import structlog

from adapters.discord.buttons import Action, Deeper, Feedback, FollowUp, Stop, dynamic_item
from adapters.discord.client import FootnoteClient
from adapters.discord.incoming import author_of
from adapters.discord.interactions import guarded, tell
from adapters.discord.listener import patiently
from bot.conversing.reception import Asked, Reception
from bot.errors import Invalid
from bot.rendering.texts import texts_for

log = structlog.get_logger(__name__)


class Presses:
    """Takes presses to the reception; whoever pressed is told the outcome alone."""

    def __init__(self, client: FootnoteClient, reception: Reception) -> None:
        self._client = client
        self._reception = reception

    def install(self) -> None:
        self._client.add_dynamic_items(dynamic_item(self.pressed))

    async def pressed(self, interaction: discord.Interaction[Any], action: Action) -> None:
        texts = texts_for(str(interaction.locale))
        async with guarded(interaction):
            # The message stays as it is; what follows is for the presser alone.
            await interaction.response.defer()
            match action:
                case Feedback(run, verdict):
                    author = author_of(interaction.user)
                    if not await patiently(lambda: self._reception.feedback(run, author, verdict)):
                        raise Invalid(texts("question-gone"))
                    await tell(interaction, texts("feedback-thanks"))
                case Stop(run):
                    going = await self._reception.stop_run(run)
                    if not going:
                        await tell(interaction, texts("nothing-running"))
                case Deeper() | FollowUp():
                    asked = await patiently(lambda: self._ask(interaction, action))
                    if not asked.new:
                        await tell(interaction, texts("asked-already"))

    async def _ask(self, interaction: discord.Interaction[Any], action: Deeper | FollowUp) -> Asked:
        direct = interaction.guild_id is None
        permissions = None if direct else interaction.permissions
        author = author_of(interaction.user, permissions)
        locale = str(interaction.locale)
        if isinstance(action, Deeper):
            return await self._reception.dig_deeper(
                action.run, author, locale=locale, direct=direct
            )
        return await self._reception.follow_up(
            action.run, action.number, author, locale=locale, direct=direct
        )
