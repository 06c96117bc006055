"""The commands /ask, /watch, /stop, /forget-me and /footnote, and the entries of message menus."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from typing import Any

import discord
from discord import app_commands
from discord.app_commands import Choice, Command, ContextMenu, Group, locale_str

from adapters.discord.client import FootnoteClient
from adapters.discord.incoming import PLATFORM, attachments_of, text_of, text_of_option
from adapters.discord.interactions import Asking, acknowledged, arrival, guarded, tell
from adapters.discord.wire import FAILURES
from bot.core.errors import StorageUnavailable
from bot.core.logs import get_logger
from bot.core.messages import Depth, Message, Style
from bot.core.texts import Texts, invalid, texts_for
from bot.search.registry import provider_names
from bot.service import access
from bot.service.access import check_access
from bot.service.buttons import forget_me
from bot.service.reception import Reception
from bot.service.standing_service import DAILY, VERBS, do_by_words
from bot.storage.workspaces import Workspaces

QUESTION_CHARACTERS = 4_000  # the length of Discord's longest kind of message
VALUE_CHARACTERS = 1_000
FACT = "commands"

_TRANSLATED = {discord.Locale.chinese: "zh-Hans", discord.Locale.taiwan_chinese: "zh-Hant"}

log = get_logger()


class Commands:
    """Builds the commands, and keeps them registered with Discord."""

    def __init__(
        self, client: FootnoteClient, reception: Reception, workspaces: Workspaces
    ) -> None:
        self._client = client
        self._asking = Asking(reception)
        self._reception = reception
        self._workspaces = workspaces
        self._translator = CatalogTranslator()
        self._syncing: asyncio.Task[None] | None = None

    async def install(self) -> None:
        """Start handling the commands."""
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
        await tree.set_translator(self._translator)

    def sync_soon(self) -> None:
        """Run ``sync`` in the background."""
        if self._syncing is None or self._syncing.done():
            self._syncing = asyncio.create_task(self.sync())

    async def aclose(self) -> None:
        if self._syncing is not None:
            self._syncing.cancel()
            await asyncio.gather(self._syncing, return_exceptions=True)

    async def sync(self) -> None:
        """Register the commands with Discord, if they have changed since the last time."""
        tree, application = self._client.tree, str(self._client.application_id)
        payload = [
            await command.get_translated_payload(tree, self._translator)
            for command in tree.get_commands()
        ]
        told = hashlib.sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest()
        try:
            if (await self._workspaces.facts(PLATFORM, application)).get(FACT) == told:
                return
            await tree.sync()
            await self._workspaces.remember(PLATFORM, application, FACT, told)
        except (*FAILURES, StorageUnavailable) as error:
            log.warning("commands not registered", error=str(error))

    # ------------------------------------------------------------ the commands

    def _ask(self) -> Command[Any, ..., Any]:
        @app_commands.command(name=_texts("ask-name"), description=_texts("ask-description"))
        @app_commands.describe(question=_texts("ask-question"), depth=_texts("ask-depth"))
        @app_commands.choices(
            depth=[Choice(name=_texts(f"depth-{depth}"), value=depth) for depth in access.DEPTHS]
        )
        async def ask(
            interaction: discord.Interaction[FootnoteClient],
            question: app_commands.Range[str, 1, QUESTION_CHARACTERS],
            depth: Choice[str] | None = None,
        ) -> None:
            me = interaction.application_id
            text = text_of_option(question, interaction.guild, me)
            message = arrival(interaction, text)
            wanted: Depth = depth.value if depth is not None else "auto"  # type: ignore[assignment]
            await self._asking.ask(interaction, message, wanted)

        return ask

    def _stop(self) -> Command[Any, ..., Any]:
        @app_commands.command(name=_texts("stop-name"), description=_texts("stop-description"))
        async def stop(interaction: discord.Interaction[FootnoteClient]) -> None:
            async def stopped(message: Message, texts: Texts) -> str:
                check_access(self._reception.settings, message)
                count = await self._reception.stop(message.thread)
                return texts("stopping-count", count=count) if count else texts("nothing-running")

            await _privately(interaction, stopped)

        return stop

    def _menu(self, name: str, style: Style) -> ContextMenu:
        """Return an entry of a message's menu, which researches the message or checks its facts."""

        async def research(
            interaction: discord.Interaction[FootnoteClient], message: discord.Message
        ) -> None:
            text = text_of(message, interaction.application_id)
            await self._asking.research(
                interaction, arrival(interaction, text, attachments_of(message)), message, style
            )

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
            interaction: discord.Interaction[FootnoteClient],
            question: app_commands.Range[str, 1, QUESTION_CHARACTERS] | None = None,
            every: app_commands.Range[str, 1, 100] = DAILY,
            action: Choice[str] | None = None,
            id: app_commands.Range[str, 1, 20] | None = None,
        ) -> None:
            if question is not None:
                text = text_of_option(question, interaction.guild, interaction.application_id)
                await self._asking.watch(interaction, arrival(interaction, text), every)
                return

            async def done(message: Message, texts: Texts) -> str:
                words = f"{action.value} {id}" if action is not None and id else ""
                reach = await self._reception.reach_in(message)
                told = await do_by_words(self._reception.standing, message, words, reach, texts)
                if told is None:
                    raise invalid("watch-unknown", id=id or "")
                return told

            await _privately(interaction, done)

        return watch

    def _forget_me(self) -> Command[Any, ..., Any]:
        yes = Choice(name=_texts("forget-yes"), value="yes")

        @app_commands.command(name=_texts("forget-name"), description=_texts("forget-description"))
        @app_commands.describe(confirm=_texts("forget-confirm"))
        @app_commands.choices(confirm=[yes])
        async def forget(
            interaction: discord.Interaction[FootnoteClient], confirm: Choice[str] | None = None
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
        async def show(interaction: discord.Interaction[FootnoteClient]) -> None:
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
            interaction: discord.Interaction[FootnoteClient],
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
        async def reset(interaction: discord.Interaction[FootnoteClient]) -> None:
            async def emptied(message: Message, texts: Texts) -> str:
                await self._reception.rules.set(message, None)
                return texts("rules-reset")

            await _privately(interaction, emptied)

        return group


async def _privately(
    interaction: discord.Interaction[FootnoteClient],
    work: Callable[[Message, Texts], Awaitable[str]],
) -> None:
    """Send the person who acted, privately, what ``work`` returns, or why it failed."""
    async with guarded(interaction):
        if await acknowledged(interaction, thinking=True, ephemeral=True):
            texts = texts_for(str(interaction.locale))
            await tell(interaction, await work(arrival(interaction, ""), texts))


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
        catalog, id = _TRANSLATED.get(locale), string.extras.get("id")
        return texts_for(catalog)(id) if catalog and id else None


async def _on_error(
    interaction: discord.Interaction[FootnoteClient], error: app_commands.AppCommandError
) -> None:
    """Handle a command that this version no longer has, or that raised an error."""
    log.error(
        "command broke", command=interaction.data and interaction.data.get("name"), error=str(error)
    )
    log.debug("command broke here", exc_info=error)
    texts = texts_for(str(interaction.locale))
    async with guarded(interaction):
        if not interaction.response.is_done():
            await interaction.response.send_message(texts("command-broke"), ephemeral=True)
        else:
            await interaction.followup.send(texts("command-broke"), ephemeral=True)
