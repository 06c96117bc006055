"""Pressed buttons and menus. They carry their run in their id, so they work after any restart."""

from __future__ import annotations

from typing import Any

import discord

from adapters.discord.buttons import dynamic_item, view_of_link
from adapters.discord.client import FootnoteClient
from adapters.discord.details import details
from adapters.discord.incoming import PLATFORM, author_of
from adapters.discord.interactions import acknowledged, guarded, place_in, show, tell
from adapters.discord.listener import patiently
from bot.conversing.buttons import Details, Press, carry_out
from bot.conversing.reception import Reception
from bot.messages import Author
from bot.rendering.texts import Texts, texts_for


class Pressing:
    """Takes presses to the reception; only the person who pressed is told the outcome."""

    def __init__(self, client: FootnoteClient, reception: Reception) -> None:
        self._client = client
        self._reception = reception

    def install(self) -> None:
        self._client.add_dynamic_items(dynamic_item(self.pressed))

    async def pressed(self, interaction: discord.Interaction[Any], press: Press) -> None:
        direct, locale = interaction.guild_id is None, str(interaction.locale)
        author = author_of(interaction.user, None if direct else interaction.permissions)
        async with guarded(interaction):
            if isinstance(press, Details):
                await self._show(interaction, press.run, author, texts_for(locale))
                return
            # The message stays as it is; what follows is for the presser alone.
            if not await acknowledged(interaction):
                return
            told = await patiently(
                lambda: carry_out(self._reception, press, author, locale=locale, direct=direct)
            )
            if told is not None:
                await tell(interaction, texts_for(locale)(told))

    async def _show(
        self, interaction: discord.Interaction[Any], run: str, author: Author, texts: Texts
    ) -> None:
        """Show the details of an answer to the presser alone."""
        if not await acknowledged(interaction, thinking=True, ephemeral=True):
            return
        channel = place_in(interaction).channel
        direct = interaction.guild_id is None
        answer, page = await patiently(
            lambda: self._reception.details(run, PLATFORM, channel, author, direct=direct)
        )
        may_embed = interaction.app_permissions.embed_links
        looks = details(answer, texts, embeds=may_embed, page=page)
        await show(interaction, looks, view_of_link(texts, page))
