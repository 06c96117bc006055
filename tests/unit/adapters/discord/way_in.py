"""A real discord.py client against the fake Discord, with the real reception behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from adapters.discord.client import FootnoteClient, api_of, library_log
from adapters.discord.platform import DiscordPlatform
from adapters.discord.settings import DiscordSettings
from bot.core.egress import Egress
from bot.core.errors import StorageUnavailable
from bot.core.messages import EVERYWHERE, Depth, Message, Sources, Style
from bot.core.posting import PostState, RunRef
from bot.operation.app import App, open_app
from bot.operation.configuration import load_settings
from bot.service.reception import AcceptedQuestion, Address, Handled, Ignored, Reception
from bot.storage.store import NO_FILES, RunRecord, open_store
from bot.storage.workspaces import Workspaces
from tests.fakes import sqlite
from tests.fakes.discord_acts import post
from tests.fakes.discord_server import Channel, FakeDiscord, Guild, User
from tests.fakes.discord_server import Message as FakeMessage
from tests.fakes.library import a_shelf
from tests.fakes.poster import Remembered, RememberingPoster

HOW_TALL = "How tall is the tower?"


def settings_of(discord: FakeDiscord, folder: Path, **settings: Any) -> DiscordSettings:
    """The settings with which Footnote connects to ``discord``."""
    given = {"discord_token": discord.token, "discord_api_url": discord.url, "data_dir": folder}
    return cast(DiscordSettings, load_settings(**(given | settings)))


@dataclass(frozen=True)
class Room:
    """A server with a channel and two people."""

    discord: FakeDiscord
    guild: Guild
    general: Channel
    ada: User
    bob: User


class HastyClient(FootnoteClient):
    """Does not wait the five seconds that Discord wants between two new sessions."""

    guilds_seconds = 0.05

    async def before_identify_hook(
        self, shard_id: int | None, *, initial: bool = False
    ) -> None: ...


class TroubledReception(Reception):
    """Takes nothing in unless ``held`` is set, and cannot store the next ``failures`` times."""

    failures = 0

    @cached_property
    def held(self) -> asyncio.Event:
        held = asyncio.Event()
        held.set()
        return held

    async def receive(
        self,
        message: Message,
        address: Address,
        *,
        depth: Depth = "auto",
        style: Style = "auto",
        sources: Sources = EVERYWHERE,
        post_state: PostState | None = None,
        files: Mapping[str, bytes] = NO_FILES,
        repeats_ours: bool = False,
        context: Sequence[Message] = (),
        means: Sequence[str] = (),
    ) -> AcceptedQuestion | Handled | Ignored:
        await self.held.wait()
        if self.failures:
            self.failures -= 1
            raise StorageUnavailable("The database is locked: try again.")
        return await super().receive(
            message,
            address,
            depth=depth,
            style=style,
            sources=sources,
            post_state=post_state,
            files=files,
            repeats_ours=repeats_ours,
            context=context,
            means=means,
        )


@dataclass
class SlowPoster(RememberingPoster):
    """Lets no run begin before ``go_on`` is set."""

    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def open(self, run: RunRef, saved: PostState | None) -> Remembered:
        reply = await super().open(run, saved)
        await self.go_on.wait()
        return reply


@dataclass
class Running:
    """Footnote at work on a fake Discord; its answers only go into ``poster``."""

    discord: FakeDiscord
    client: FootnoteClient
    platform: DiscordPlatform
    reception: TroubledReception
    app: App
    poster: RememberingPoster
    workspaces: Workspaces
    listening: asyncio.Task[None] = field(init=False)
    ready: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def questions(self) -> list[str]:
        return [reply.run.message.text for reply in self.poster.replies]

    async def until(self, condition: Callable[[], object]) -> None:
        await self.discord.until(condition)

    async def asked(self, count: int = 1) -> list[Remembered]:
        """Wait until so many questions were taken in and answered."""
        await self.until(
            lambda: sum(bool(r.finished or r.failed) for r in self.poster.replies) >= count
        )
        for reply in [reply for reply in self.poster.replies if reply.finished or reply.failed]:
            while (await self.run_record(reply)).state in ("accepted", "running"):
                await asyncio.sleep(0.005)
        return self.poster.replies

    async def stop_requested(self, reply: Remembered) -> None:
        while not (await self.run_record(reply)).stop_requested:
            await asyncio.sleep(0.005)

    async def barrier(self, user: User, channel: Channel) -> None:
        """Wait until everything that was said in a channel before was taken in."""
        said = self.discord.people.say(user, channel, "Barrier?", mentions_bot=True)
        await self.until(
            lambda: any(
                reply.run.message.event_id == said.id and reply.finished
                for reply in self.poster.replies
            )
        )

    def post_as_bot(
        self, channel: Channel, text: str, replies_to: FakeMessage | None = None
    ) -> FakeMessage:
        """Post a message as a poster would."""
        world = self.discord.world
        with world.lock:
            return post(world, channel, world.bot, text, replies_to=replies_to)

    async def run_record(self, reply: Remembered) -> RunRecord:
        record = await self.app.store.run(reply.run.id)
        assert record is not None
        return record


@asynccontextmanager
async def running(
    discord: FakeDiscord, folder: Path, poster: RememberingPoster | None = None, **settings: Any
) -> AsyncIterator[Running]:
    """Footnote connected to ``discord``, its store in ``folder``."""
    chosen = settings_of(discord, folder, reasoner="closest", **settings)
    poster = poster or RememberingPoster()
    posters = {"discord": poster}
    store = await open_store(sqlite.migrated(folder))
    workspaces = Workspaces(store.database)
    library_log(discord.token)
    with api_of(chosen):
        client = HastyClient(None, Egress.of(chosen), chosen.discord_strangers)
        platform = DiscordPlatform(client, discord.token, workspaces)
        async with open_app(
            chosen, posters, search=a_shelf("Tower is 330 m tall."), store=store
        ) as app:
            reception = TroubledReception(
                chosen, store, app.service, app.dispatcher, {"discord": poster}
            )
            here = Running(discord, client, platform, reception, app, poster, workspaces)
            listening = asyncio.create_task(platform.run(reception, here.ready.set))
            here.listening = listening
            waiting = asyncio.create_task(here.ready.wait())
            try:
                await asyncio.wait({listening, waiting}, return_when=asyncio.FIRST_COMPLETED)
                if listening.done():
                    listening.result()
                yield here
            finally:
                waiting.cancel()
                listening.cancel()
                await asyncio.gather(listening, return_exceptions=True)
                await reception.aclose()
                await platform.aclose()


async def a_thread(here: Running, room: Room) -> Channel:
    """A thread in which Ada asked Footnote something."""
    thread = here.discord.people.start_thread(room.ada, room.general, "Towers")
    here.discord.people.say(room.ada, thread, HOW_TALL, mentions_bot=True)
    await here.asked()
    return thread
