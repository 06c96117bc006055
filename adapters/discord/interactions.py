"""Handles interactions, after acknowledging them within the three seconds that Discord allows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import aiohttp
import discord

from adapters.discord.buttons import dynamic_item, view_of_link, view_of_reasons
from adapters.discord.client import FootnoteClient
from adapters.discord.format import Look, details
from adapters.discord.incoming import PLATFORM, Place, author_of, place_of
from adapters.discord.limits import CONTENT
from adapters.discord.listener import patiently
from adapters.discord.wire import FAILURES
from bot.core.errors import Denied, Invalid, StorageUnavailable
from bot.core.logs import get_logger
from bot.core.messages import Attachment, Author, Depth, Message, Style, clean_question
from bot.core.posting import PostState
from bot.core.texts import Texts, invalid, sentence_for, texts_for
from bot.pages.urls import links_in
from bot.search.registry import searches_conversations
from bot.service.access import check_access
from bot.service.buttons import ASK_WHY, Details, Press, carry_out
from bot.service.reception import AcceptedQuestion, Handled, Reception
from bot.service.standing_service import schedule_named, watch_confirmation

# discord.com/developers/docs/topics/opcodes-and-status-codes#json
UNKNOWN_INTERACTION, ALREADY_ACKNOWLEDGED = 10062, 40060

NOBODY = discord.AllowedMentions.none()

FootnoteInteraction = discord.Interaction[FootnoteClient]

log = get_logger()


def arrival(
    interaction: FootnoteInteraction, text: str, attachments: tuple[Attachment, ...] = ()
) -> Message:
    """Convert an interaction to a message; in a channel its thread does not exist yet."""
    place = place_in(interaction)
    return Message(
        event_id=str(interaction.id),
        thread=place.thread(f"pending-{interaction.id}"),
        author=author_in(interaction),
        text=text,
        at=interaction.created_at,
        links=tuple(links_in(text)),
        attachments=attachments,
        locale=str(interaction.locale),
        audience=place.audience,
    )


def place_in(interaction: FootnoteInteraction) -> Place:
    """Return the place of an interaction. Raises ``Invalid`` for an unknown kind of channel."""
    if interaction.channel is None:  # of a kind that discord.py does not know yet
        raise invalid("place-unknown")
    if interaction.guild_id is None:
        is_member = interaction.context.dm_channel  # with the bot, not with other people
    else:
        is_guild = interaction.client.get_guild(interaction.guild_id) is not None
        is_member = is_guild or interaction.is_guild_integration()
    return place_of(interaction.channel, interaction.guild_id, is_member=is_member)


def author_in(interaction: FootnoteInteraction) -> Author:
    """Return the person who acted."""
    is_in_server = interaction.guild_id is not None
    return author_of(interaction.user, interaction.permissions if is_in_server else None)


@asynccontextmanager
async def guarded(interaction: FootnoteInteraction) -> AsyncIterator[None]:
    """Report errors to the person who acted, by a private sentence."""
    try:
        with interaction.client.at_work():
            yield
    except (Denied, Invalid, StorageUnavailable) as error:
        await tell(interaction, sentence_for(error, texts_for(str(interaction.locale))))
    except FAILURES as error:
        log.warning("interaction not answered", interaction=interaction.id, error=str(error))
    except Exception as error:
        log.error("interaction broke", error=repr(error))
        log.debug("interaction broke here", exc_info=True)
        texts = texts_for(str(interaction.locale))
        await tell(interaction, texts("command-broke"))


async def acknowledged(
    interaction: FootnoteInteraction, *, thinking: bool = False, ephemeral: bool = False
) -> bool:
    """Defer the response. Return True even if it is unknown whether the deferral arrived.

    Return False if Discord has given up the interaction, which it shows to the person who acted. A
    ``thinking`` deferral is shown, to everyone unless it is ``ephemeral``; any other leaves the
    message of a pressed button unchanged.
    """
    try:
        await interaction.response.defer(thinking=thinking, ephemeral=ephemeral)
    except discord.HTTPException as error:
        if error.code == UNKNOWN_INTERACTION:
            log.warning("interaction came too late", interaction=interaction.id)
            return False
        if error.code != ALREADY_ACKNOWLEDGED:
            log.warning("interaction not deferred", error=str(error))
    except (aiohttp.ClientError, OSError) as error:
        log.warning("interaction not deferred", error=repr(error))
    return True


async def tell(
    interaction: FootnoteInteraction, sentence: str, view: discord.ui.View | None = None
) -> None:
    """Send a sentence to the person who acted, privately unless the deferral was public. It pings
    no one, even if it repeats typed text. ``view`` is shown below it."""
    sentence = sentence[:CONTENT]
    try:
        if not await _responded(interaction, sentence, view):
            await _follow(interaction, sentence, view)
    except FAILURES as error:
        log.warning("not told", interaction=interaction.id, error=str(error))


async def _responded(
    interaction: FootnoteInteraction, sentence: str, view: discord.ui.View | None
) -> bool:
    """Send the sentence as the response; return False if there is a response already."""
    if interaction.response.is_done():
        return False
    try:
        await interaction.response.send_message(
            sentence,
            ephemeral=True,
            allowed_mentions=NOBODY,
            view=discord.utils.MISSING if view is None else view,
        )
    except discord.InteractionResponded:
        return False
    except discord.HTTPException as error:
        if error.code != ALREADY_ACKNOWLEDGED:
            raise
        return False  # a deferral arrived although its request failed
    return True


async def _follow(
    interaction: FootnoteInteraction, sentence: str, view: discord.ui.View | None
) -> None:
    """Send the sentence in place of a deferred command's "thinking", in place of a question that
    only the presser sees, or as a message of its own."""
    if _is_thinking(interaction) or _is_private(interaction):
        await interaction.edit_original_response(
            content=sentence, view=view, allowed_mentions=NOBODY
        )
    else:
        await interaction.followup.send(
            sentence,
            ephemeral=True,
            allowed_mentions=NOBODY,
            view=discord.utils.MISSING if view is None else view,
        )


def _is_private(interaction: FootnoteInteraction) -> bool:
    """Return True if only the presser sees the message with the pressed control."""
    return interaction.message is not None and interaction.message.flags.ephemeral


def _is_thinking(interaction: FootnoteInteraction) -> bool:
    deferred = discord.InteractionResponseType.deferred_channel_message
    command = interaction.type is discord.InteractionType.application_command
    told = interaction.response.type
    return told is deferred or (told is None and command)


async def show(
    interaction: FootnoteInteraction, looks: Sequence[Look], view: discord.ui.View | None
) -> None:
    """Send messages privately to the person who acted, after a ``thinking`` and ``ephemeral``
    deferral; ``view`` is below the first one."""
    for number, look in enumerate(looks):
        shown: dict[str, Any] = {"embeds": list(look.embeds), "allowed_mentions": NOBODY}
        if view is not None and number == 0:
            shown["view"] = view
        if number == 0 and _is_thinking(interaction):
            await interaction.edit_original_response(content=look.content or None, **shown)
        else:
            await interaction.followup.send(look.content, ephemeral=True, **shown)


class Asking:
    """Passes the questions of commands on to the reception."""

    def __init__(self, reception: Reception) -> None:
        self._reception = reception

    async def ask(self, interaction: FootnoteInteraction, message: Message, depth: Depth) -> None:
        """Ask a new question, whose answer begins with the interaction's response."""
        async with guarded(interaction):
            self._check(message)
            if not await acknowledged(interaction, thinking=True, ephemeral=False):
                return
            await self._receive(interaction, message, depth, post_state_of(interaction))

    async def watch(self, interaction: FootnoteInteraction, message: Message, every: str) -> None:
        """Ask and watch a question; the schedule is shown only to the asker."""
        async with guarded(interaction):
            self._check(message)
            schedule = schedule_named(every)
            if not await acknowledged(interaction, thinking=True, ephemeral=False):
                return
            state = post_state_of(interaction)
            run = await self._receive(interaction, message, "auto", state)
            if run is not None:
                watch = await patiently(
                    lambda: self._reception.watch(
                        run,
                        message.author,
                        schedule,
                        locale=message.locale,
                        audience=message.audience,
                    )
                )
                # Not in place of "thinking", which the question will replace.
                told = watch_confirmation(watch, texts_for(message.locale))
                try:
                    await interaction.followup.send(told, ephemeral=True, allowed_mentions=NOBODY)
                except FAILURES as error:
                    log.warning("not told", interaction=interaction.id, error=str(error))

    async def research(
        self,
        interaction: FootnoteInteraction,
        message: Message,
        target: discord.Message,
        style: Style = "auto",
    ) -> None:
        """Research a message or check its facts; the answer goes into its thread.

        In a place that the bot is not a member of, the answer is the interaction's response.
        """
        ours = target.author == interaction.client.user
        async with guarded(interaction):
            self._check(message)
            if not interaction.is_guild_integration():
                if await acknowledged(interaction, thinking=True, ephemeral=False):
                    state = post_state_of(interaction)
                    await self._receive(
                        interaction, message, "auto", state, style, repeats_ours=ours
                    )
                return
            if not await acknowledged(interaction, thinking=True, ephemeral=True):
                return
            message = replace(message, thread=place_in(interaction).thread(str(target.id)))
            state = {"message": str(target.id)}
            if await self._receive(interaction, message, "auto", state, style, repeats_ours=ours):
                texts = texts_for(message.locale)
                await tell(interaction, texts("command-accepted", question=target.jump_url))

    def _check(self, message: Message) -> None:
        """Make the quick checks before the deferral, so that only the asker sees a refusal."""
        check_access(self._reception.settings, message)
        clean_question(message.text)

    async def _receive(
        self,
        interaction: FootnoteInteraction,
        message: Message,
        depth: Depth,
        state: PostState,
        style: Style = "auto",
        *,
        repeats_ours: bool = False,
    ) -> str | None:
        """Pass a question on to the reception; return its run, if one began."""
        may_search = searches_conversations(self._reception.settings)
        present = may_search and interaction.is_guild_integration()
        asked = replace(message, conversations=present)
        outcome = await patiently(
            lambda: self._reception.receive(
                asked,
                "footnote",
                depth=depth,
                style=style,
                post_state=state,
                repeats_ours=repeats_ours,
            )
        )
        if isinstance(outcome, Handled):
            texts = texts_for(message.locale)
            stopped = outcome.stopped
            await tell(
                interaction,
                texts("stopping-count", count=stopped) if stopped else texts("nothing-running"),
            )
        return outcome.run_id if isinstance(outcome, AcceptedQuestion) else None


def post_state_of(interaction: FootnoteInteraction) -> PostState:
    """Return the state with which the poster can use the interaction's response for 15 minutes."""
    return {
        "interaction": {
            "id": str(interaction.id),
            "token": interaction.token,
            "application_id": str(interaction.application_id),
        }
    }


class Pressing:
    """Passes presses of buttons and menus on to the reception, and shows the outcome to the presser
    only.

    Their id holds their run, so they work after a restart.
    """

    def __init__(self, client: FootnoteClient, reception: Reception) -> None:
        self._client = client
        self._reception = reception

    def install(self) -> None:
        self._client.add_dynamic_items(dynamic_item(self.pressed))

    async def pressed(self, interaction: discord.Interaction[Any], press: Press) -> None:
        locale = str(interaction.locale)
        async with guarded(interaction):
            place, author = place_in(interaction), author_in(interaction)
            if isinstance(press, Details):
                await self._show(interaction, press.run, place, author, texts_for(locale))
                return
            # The message stays unchanged; only the presser sees what follows.
            if not await acknowledged(interaction):
                return
            told = await patiently(
                lambda: carry_out(
                    self._reception, press, author, locale=locale, audience=place.audience
                )
            )
            if told is None:
                return
            texts = texts_for(locale)
            why = view_of_reasons(press.run, texts) if told == ASK_WHY else None
            await tell(interaction, texts(told), why)

    async def _show(
        self,
        interaction: discord.Interaction[Any],
        run: str,
        place: Place,
        author: Author,
        texts: Texts,
    ) -> None:
        """Show the details of an answer to the presser only."""
        if not await acknowledged(interaction, thinking=True, ephemeral=True):
            return
        answer, page = await patiently(
            lambda: self._reception.details(
                run, PLATFORM, place.channel, author, audience=place.audience
            )
        )
        may_embed = interaction.app_permissions.embed_links
        looks = details(answer, texts, embeds=may_embed, page=page)
        await show(interaction, looks, view_of_link(texts, page))
