"""Commands, entries of message menus, and presses of buttons.

Each is acknowledged within the three seconds that Discord allows, and then passed on to the
reception.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import aiohttp
import discord
from discord import app_commands
from discord.app_commands import Choice, Command, ContextMenu, Group, locale_str

from adapters.discord.buttons import (
    dynamic_item,
    form_of_question,
    form_of_reasons,
    parse_form,
    rows_of_link,
)
from adapters.discord.client import FootnoteClient
from adapters.discord.format import Look, details
from adapters.discord.limits import CHOICE_NAME, CHOICES, INPUT, TEXT
from adapters.discord.listener import patiently, with_paste
from adapters.discord.messages import PLATFORM, DiscordInteraction, parse_interaction
from adapters.discord.rest import FAILURES, Code
from bot.core.errors import (
    Denied,
    FootnoteError,
    Invalid,
    StorageUnavailable,
    invalid,
    sentence_for,
)
from bot.core.lines import shortened
from bot.core.logs import get_logger
from bot.core.messages import Depth, Message, Style, clean_question
from bot.core.texts import DEFAULT, Texts, texts_for
from bot.search.registry import provider_names, searches_conversations
from bot.service import access
from bot.service.access import check_access
from bot.service.buttons import ASK_WHY, Feedback, OnRun, Press, carry_out, forget_me
from bot.service.reception import AcceptedQuestion, Handled, Reception
from bot.service.standing_service import (
    DAILY,
    VERBS,
    do_by_words,
    schedule_named,
    watch_confirmation,
    watch_lines,
)

VALUE_CHARACTERS = 1_000

NOBODY = discord.AllowedMentions.none()

FootnoteInteraction = discord.Interaction[FootnoteClient]

log = get_logger()


# ---------------------------------------------------------------- responding


@asynccontextmanager
async def guarded(interaction: FootnoteInteraction) -> AsyncIterator[Texts]:
    """Report errors to the person who acted, by a private sentence."""
    texts = texts_for(str(interaction.locale))
    try:
        with interaction.client.at_work():
            yield texts
    except (Denied, Invalid, StorageUnavailable) as error:
        await tell(interaction, sentence_for(error, texts))
    except FAILURES as error:
        log.warning("interaction not answered", interaction=interaction.id, error=str(error))
    except Exception as error:
        log.error("interaction broke", error=repr(error))
        log.debug("interaction broke here", exc_info=True)
        await tell(interaction, texts("command-broke"))


async def acknowledged(
    interaction: FootnoteInteraction,
    *,
    thinking: bool = False,
    ephemeral: bool = False,
    form: discord.ui.Modal | None = None,
) -> bool:
    """Defer the response, or open ``form``. Return True even if it is unknown whether that arrived.

    Return False if Discord has given up the interaction, which it shows to the person who acted. A
    ``thinking`` deferral is shown, to everyone unless it is ``ephemeral``; any other leaves the
    message of a pressed button unchanged.
    """
    try:
        if form is not None:
            form.stop()  # so that discord.py does not keep it: see ``Presses.on_interaction``
            await interaction.response.send_modal(form)
        else:
            await interaction.response.defer(thinking=thinking, ephemeral=ephemeral)
    except discord.HTTPException as error:
        if error.code == Code.UNKNOWN_INTERACTION:
            log.warning("interaction came too late", interaction=interaction.id)
            return False
        if error.code != Code.ALREADY_ACKNOWLEDGED:
            log.warning("interaction not deferred", error=str(error))
    except (aiohttp.ClientError, OSError) as error:
        log.warning("interaction not deferred", error=repr(error))
    return True


async def _acted(
    interaction: FootnoteInteraction,
    typed: str = "",
    target: discord.Message | None = None,
    files: Iterable[discord.Attachment] = (),
) -> DiscordInteraction:
    """Parse an interaction, with the standing of the person who acted."""
    acted = parse_interaction(interaction, typed, target, files)
    author = await interaction.client.with_standing(acted.author, acted.place)
    return replace(acted, author=author)


async def tell(interaction: FootnoteInteraction, sentence: str) -> None:
    """Send a sentence to the person who acted, privately unless the deferral was public. It pings
    no one, even if it repeats typed text."""
    view = Look(sentence[:TEXT]).layout()
    try:
        if not interaction.response.is_done():
            try:
                await interaction.response.send_message(
                    view=view, ephemeral=True, allowed_mentions=NOBODY
                )
            except discord.HTTPException as error:
                if error.code != Code.ALREADY_ACKNOWLEDGED:
                    raise  # otherwise a deferral arrived although its request failed
            else:
                return
        if _is_thinking(interaction):
            await interaction.edit_original_response(view=view, allowed_mentions=NOBODY)
        else:
            await interaction.followup.send(view=view, ephemeral=True, allowed_mentions=NOBODY)
    except FAILURES as error:
        log.warning("not told", interaction=interaction.id, error=str(error))


def _is_thinking(interaction: FootnoteInteraction) -> bool:
    deferred = discord.InteractionResponseType.deferred_channel_message
    told = interaction.response.type
    return told is deferred or (told is None and interaction.message is None)


# ---------------------------------------------------------------- presses


class Presses:
    """Passes presses of buttons and menus, and forms, on to the reception, and shows the outcome to
    the presser only. Their id holds what they need, so they work after a restart."""

    def __init__(self, client: FootnoteClient, reception: Reception) -> None:
        self._client = client
        self._reception = reception
        self._questions = Questions(reception)

    def install(self) -> None:
        self._client.add_dynamic_items(dynamic_item(self.pressed))
        self._client.listen([self.on_interaction])

    async def on_interaction(self, interaction: FootnoteInteraction) -> None:
        """Take a form, which discord.py itself would know only until a restart."""
        if interaction.type is not discord.InteractionType.modal_submit:
            return
        sent: Any = interaction.data
        form = parse_form(sent)
        if isinstance(form, Feedback):
            await self.pressed(interaction, form)
        elif form is not None:
            state = interaction._state
            files = [discord.Attachment(data=raw, state=state) for raw in form.files]
            await self._questions.ask(interaction, form.text, form.depth, files)

    async def pressed(self, interaction: FootnoteInteraction, press: Press) -> None:
        async with guarded(interaction) as texts:
            acted = await _acted(interaction)
            if isinstance(press, OnRun) and press.deed == "details":
                await self._show(interaction, press.run, acted, texts)
                return
            # The message stays unchanged; only the presser sees what follows.
            is_press = interaction.type is discord.InteractionType.component
            asks_why = is_press and isinstance(press, Feedback) and press.verdict == "bad"
            form = form_of_reasons(press.run, texts) if asks_why else None
            if not await acknowledged(interaction, form=form):
                return
            told = await patiently(
                lambda: carry_out(
                    self._reception,
                    press,
                    acted.author,
                    locale=acted.locale,
                    audience=acted.place.audience,
                )
            )
            if told == ASK_WHY:  # the form has asked
                told = None if asks_why else "feedback-thanks"
            if told is not None:
                await tell(interaction, texts(told))

    async def _show(
        self, interaction: FootnoteInteraction, run: str, acted: DiscordInteraction, texts: Texts
    ) -> None:
        if not await acknowledged(interaction, thinking=True, ephemeral=True):
            return
        place = acted.place
        answer, page = await patiently(
            lambda: self._reception.details(
                run, PLATFORM, place.channel, acted.author, audience=place.audience
            )
        )
        *others, last = details(answer, texts, page=page)
        views = [*(look.layout() for look in others), last.layout(rows_of_link(texts, page))]
        await interaction.edit_original_response(view=views[0], allowed_mentions=NOBODY)
        for view in views[1:]:
            await interaction.followup.send(view=view, allowed_mentions=NOBODY, ephemeral=True)


# ---------------------------------------------------------------- questions


class Questions:
    """Passes the questions of commands on to the reception."""

    def __init__(self, reception: Reception) -> None:
        self._reception = reception

    async def ask(
        self,
        interaction: FootnoteInteraction,
        question: str,
        depth: Depth,
        files: Sequence[discord.Attachment] = (),
    ) -> None:
        """Ask a new question, whose answer begins with the interaction's response; without one,
        open a form for it."""
        async with guarded(interaction) as texts:
            acted = await _acted(interaction, question, files=files)
            if not question and not files:
                check_access(self._reception.settings, acted.message)
                await acknowledged(interaction, form=form_of_question(depth, texts))
            elif await self._deferred(interaction, acted):
                await self._receive(interaction, acted, depth)

    async def watch(self, interaction: FootnoteInteraction, question: str, every: str) -> None:
        """Ask and watch a question; the schedule is shown only to the asker."""
        async with guarded(interaction) as texts:
            acted = await _acted(interaction, question)
            schedule = schedule_named(every)
            if not await self._deferred(interaction, acted):
                return
            run = await self._receive(interaction, acted)
            if run is None:
                return
            watch = await patiently(
                lambda: self._reception.watch(
                    run,
                    acted.author,
                    schedule,
                    locale=acted.locale,
                    audience=acted.place.audience,
                )
            )
            # Not in place of "thinking", which the question will replace.
            told = watch_confirmation(watch, texts)
            await interaction.followup.send(
                view=Look(told).layout(), ephemeral=True, allowed_mentions=NOBODY
            )

    async def research(
        self, interaction: FootnoteInteraction, target: discord.Message, style: Style
    ) -> None:
        """Research a message or check its facts; the answer goes into its thread.

        In a place that the bot is not a member of, the answer is the interaction's response.
        """
        async with guarded(interaction) as texts:
            acted = await _acted(interaction, target=target)
            if not await self._deferred(interaction, acted, ephemeral=acted.is_installed):
                return
            if acted.target is not None and acted.target.paste:
                whole = await with_paste(interaction.client, acted.target)
                acted = replace(acted, target=whole, text=whole.question)
            begun = await self._receive(interaction, acted, style=style)
            if begun and acted.is_installed and acted.target is not None:
                await tell(interaction, texts("command-accepted", question=acted.target.url))

    async def _deferred(
        self, interaction: FootnoteInteraction, acted: DiscordInteraction, ephemeral: bool = False
    ) -> bool:
        """Make the quick checks before the deferral, so that only the asker sees a refusal."""
        check_access(self._reception.settings, acted.message)
        clean_question(acted.text)
        return await acknowledged(interaction, thinking=True, ephemeral=ephemeral)

    async def _receive(
        self,
        interaction: FootnoteInteraction,
        acted: DiscordInteraction,
        depth: Depth = "auto",
        style: Style = "auto",
    ) -> str | None:
        """Pass a question on to the reception; return its run, if one began."""
        message, state, target = acted.message, acted.post_state, acted.target
        if target is not None and acted.is_installed:
            message = replace(message, thread=acted.place.thread(target.id))
            state = {"message": target.id}
        may_search = searches_conversations(self._reception.settings) and acted.is_installed
        outcome = await patiently(
            lambda: self._reception.receive(
                replace(message, conversations=may_search),
                "footnote",
                depth=depth,
                style=style,
                post_state=state,
                repeats_ours=target is not None and target.is_ours,
            )
        )
        if isinstance(outcome, Handled):
            await tell(interaction, _stopping(outcome.stopped, texts_for(acted.locale)))
        return outcome.run_id if isinstance(outcome, AcceptedQuestion) else None


def _stopping(count: int, texts: Texts) -> str:
    return texts("stopping-count", count=count) if count else texts("nothing-running")


# ---------------------------------------------------------------- commands


class Commands:
    """Builds the commands, and keeps them registered with Discord."""

    def __init__(self, client: FootnoteClient, reception: Reception) -> None:
        self._client = client
        self._questions = Questions(reception)
        self._reception = reception
        self._syncing: asyncio.Task[None] | None = None

    async def install(self) -> None:
        tree = self._client.tree
        for command in (
            self._ask(),
            self._stop(),
            self._menu("shortcut-name", "auto"),
            self._menu("shortcut-check-name", "check"),
            self._rules(),
            self._forget_me(),
            self._watch(),
        ):
            tree.add_command(command, override=True)
        tree.error(_on_error)
        await tree.set_translator(CatalogTranslator())

    def sync_soon(self) -> None:
        if self._syncing is None or self._syncing.done():
            self._syncing = asyncio.create_task(self.sync())

    async def aclose(self) -> None:
        if self._syncing is not None:
            self._syncing.cancel()
            await asyncio.gather(self._syncing, return_exceptions=True)

    async def sync(self) -> None:
        """Register the commands with Discord, which another program with the same token may have
        replaced. One request does it, and leaves commands that are the same as they are:
        https://docs.discord.com/developers/interactions/application-commands#bulk-overwrite-global-application-commands
        """
        try:
            await self._client.tree.sync()
        except FAILURES as error:
            log.warning("commands not registered", error=str(error))

    # ------------------------------------------------------------ the commands

    def _ask(self) -> Command[Any, ..., Any]:
        @app_commands.command(name=_texts("ask-name"), description=_texts("ask-description"))
        @app_commands.describe(
            question=_texts("ask-question-or-form"),
            depth=_texts("ask-depth"),
            file=_texts("ask-file"),
        )
        @app_commands.choices(
            depth=[Choice(name=_texts(f"depth-{depth}"), value=depth) for depth in access.DEPTHS]
        )
        async def ask(
            interaction: FootnoteInteraction,
            question: app_commands.Range[str, 1, INPUT] = "",
            depth: Choice[str] | None = None,
            file: discord.Attachment | None = None,
        ) -> None:
            wanted: Depth = depth.value if depth is not None else "auto"  # type: ignore[assignment]
            files = [file] if file is not None else []
            await self._questions.ask(interaction, question, wanted, files)

        return ask

    def _stop(self) -> Command[Any, ..., Any]:
        @app_commands.command(name=_texts("stop-name"), description=_texts("stop-description"))
        async def stop(interaction: FootnoteInteraction) -> None:
            async def stopped(message: Message, texts: Texts) -> str:
                check_access(self._reception.settings, message)
                return _stopping(await self._reception.stop(message.thread), texts)

            await _privately(interaction, stopped)

        return stop

    def _menu(self, name: str, style: Style) -> ContextMenu:
        """Return an entry of a message's menu, which researches the message or checks its facts."""

        async def research(interaction: FootnoteInteraction, message: discord.Message) -> None:
            await self._questions.research(interaction, message, style)

        return ContextMenu(name=_texts(name), callback=research)

    def _watch(self) -> Command[Any, ..., Any]:
        @app_commands.command(name=_texts("watch-name"), description=_texts("watch-description"))
        @app_commands.describe(
            question=_texts("watch-question"),
            every=_texts("watch-every"),
            action=_texts("watch-action"),
            id=_texts("watch-id"),
        )
        @app_commands.choices(
            action=[Choice(name=_texts(f"watch-{verb}"), value=verb) for verb in VERBS[1:]]
        )
        async def watch(
            interaction: FootnoteInteraction,
            question: app_commands.Range[str, 1, INPUT] | None = None,
            every: app_commands.Range[str, 1, 100] = DAILY,
            action: Choice[str] | None = None,
            id: app_commands.Range[str, 1, 20] | None = None,
        ) -> None:
            if question is not None:
                await self._questions.watch(interaction, question, every)
                return

            async def done(message: Message, texts: Texts) -> str:
                words = f"{action.value} {id}" if action is not None and id else ""
                reach = await self._reception.reach_in(message)
                told = await do_by_words(self._reception.standing, message, words, reach, texts)
                if told is None:
                    raise invalid("watch-unknown", id=id or "")
                return told

            await _privately(interaction, done)

        @watch.autocomplete("id")
        async def suggested(interaction: FootnoteInteraction, typed: str) -> list[Choice[str]]:
            try:
                return await self._watched(interaction, typed)
            except FootnoteError as error:
                log.warning("no ids suggested", error=str(error))
                return []

        return watch

    async def _watched(self, interaction: FootnoteInteraction, typed: str) -> list[Choice[str]]:
        """Return the ids of a person's standing questions whose line contains ``typed``."""
        message = (await _acted(interaction)).message
        reach = await self._reception.reach_in(message)
        watches = await self._reception.standing.of_person((PLATFORM, message.author.id))
        lines = watch_lines(watches, reach, texts_for(str(interaction.locale)))
        return [
            Choice(name=shortened(line, CHOICE_NAME), value=watch.id)
            for watch, line in zip(watches, lines, strict=True)
            if typed.lower() in line.lower()
        ][:CHOICES]

    def _forget_me(self) -> Command[Any, ..., Any]:
        yes = Choice(name=_texts("forget-yes"), value="yes")

        @app_commands.command(name=_texts("forget-name"), description=_texts("forget-description"))
        @app_commands.describe(confirm=_texts("forget-confirm"))
        @app_commands.choices(confirm=[yes])
        async def forget(
            interaction: FootnoteInteraction, confirm: Choice[str] | None = None
        ) -> None:
            async def forgotten(message: Message, texts: Texts) -> str:
                word = confirm.value if confirm is not None else ""
                command = f"/{texts('forget-name')} confirm:yes"
                return await forget_me(self._reception, message, word, command, texts)

            await _privately(interaction, forgotten)

        return forget

    def _rules(self) -> Group:
        group = Group(
            name="footnote",
            description=_texts("rules-description"),
            default_permissions=discord.Permissions(manage_guild=True),
            # What is not set here is inherited from the tree.
            allowed_contexts=app_commands.AppCommandContext(
                guild=True, dm_channel=False, private_channel=False
            ),
            allowed_installs=app_commands.AppInstallationType(guild=True, user=False),
        )

        @group.command(name="show", description=_texts("rules-show-description"))
        async def show(interaction: FootnoteInteraction) -> None:
            async def shown(message: Message, texts: Texts) -> str:
                here = await self._reception.rules.of(message.thread)
                searched = await self._reception.searched_here(message, texts)
                lines = [
                    texts("rules-line", key=key, value=value)
                    for key, value in access.rule_values(here)
                ]
                body = "\n".join([f"**{texts('rules-title')}**", *lines])
                return "\n".join([body if lines else texts("rules-none"), *searched])

            await _privately(interaction, shown)

        @group.command(name="set", description=_texts("rules-set-description"))
        @app_commands.describe(key=_texts("rules-key"), value=_texts("rules-value"))
        @app_commands.choices(key=[Choice(name=key, value=key) for key in access.KEYS])
        async def set_rule(
            interaction: FootnoteInteraction,
            key: Choice[str],
            value: app_commands.Range[str, 1, VALUE_CHARACTERS],
        ) -> None:
            async def changed(message: Message, texts: Texts) -> str:
                here = await self._reception.rules.of(message.thread)
                new = access.with_rule(
                    here, key.value, value, provider_names(self._reception.settings)
                )
                await self._reception.rules.set(message, new)
                return texts("rules-set", key=key.value, value=value)

            await _privately(interaction, changed)

        @group.command(name="reset", description=_texts("rules-reset-description"))
        async def reset(interaction: FootnoteInteraction) -> None:
            async def emptied(message: Message, texts: Texts) -> str:
                await self._reception.rules.set(message, None)
                return texts("rules-reset")

            await _privately(interaction, emptied)

        return group


async def _privately(
    interaction: FootnoteInteraction,
    work: Callable[[Message, Texts], Awaitable[str]],
) -> None:
    """Send the person who acted, privately, what ``work`` returns, or why it failed."""
    async with guarded(interaction) as texts:
        if await acknowledged(interaction, thinking=True, ephemeral=True):
            acted = await _acted(interaction)
            await tell(interaction, await work(acted.message, texts))


def _texts(id: str) -> locale_str:
    return locale_str(texts_for("en")(id), id=id)


class CatalogTranslator(app_commands.Translator):
    """Translates the texts of the commands, from the catalogs."""

    async def translate(
        self,
        string: locale_str,
        locale: discord.Locale,
        context: app_commands.TranslationContextTypes,
    ) -> str | None:
        texts, id = texts_for(str(locale)), string.extras.get("id")
        return texts(id) if id and texts.locale != DEFAULT and texts.has(id) else None


async def _on_error(interaction: FootnoteInteraction, error: app_commands.AppCommandError) -> None:
    """Handle a command that this version no longer has, or that raised an error."""
    log.error(
        "command broke", command=interaction.data and interaction.data.get("name"), error=str(error)
    )
    log.debug("command broke here", exc_info=error)
    await tell(interaction, texts_for(str(interaction.locale))("command-broke"))
