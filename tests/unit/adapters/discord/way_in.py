"""A real discord.py client against the fake Discord, with the real reception behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adapters.discord.client import FootnoteClient, api_of, library_log
from adapters.discord.platform import DiscordPlatform
from bot.app import App, open_app
from bot.conversing.reception import Reception
from bot.errors import StorageUnavailable
from bot.settings import Settings, load_settings
from bot.storage.store import RunRecord, open_store
from bot.storage.workspaces import Workspaces
from tests.fakes.discord_server import FakeDiscord
from tests.fakes.library import a_shelf
from tests.fakes.poster import Remembered, RememberingPoster


class HastyClient(FootnoteClient):
    """Does not wait the five seconds that Discord wants between two new sessions."""

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None: ...


@dataclass
class Running:
    """Footnote at work on a fake Discord; its answers only go into ``poster``."""

    discord: FakeDiscord
    client: FootnoteClient
    platform: DiscordPlatform
    reception: Reception
    app: App
    poster: RememberingPoster
    workspaces: Workspaces
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
        return self.poster.replies

    async def quiet(self) -> None:
        """Wait until everything that Discord told was handled."""
        guild = next(iter(self.discord.world.guilds.values()))
        channel = next(iter(self.discord.world.channels_of(guild)))
        before = len(self.discord.requests("POST", "/typing"))
        del before, channel

    async def run_record(self, reply: Remembered) -> RunRecord:
        record = await self.app.store.run(reply.run.id)
        assert record is not None
        return record


@asynccontextmanager
async def running(
    discord: FakeDiscord, folder: Path, poster: RememberingPoster | None = None, **settings: Any
) -> AsyncIterator[Running]:
    """Footnote connected to ``discord``, its store in ``folder``."""
    chosen: Settings = load_settings(
        discord_token=discord.token,
        discord_api_url=discord.url,
        data_dir=folder,
        reasoner="extractive",
        **settings,
    )
    poster = poster or RememberingPoster()
    store = await open_store(chosen.database)
    workspaces = Workspaces(store.database)
    with library_log(), api_of(chosen):
        client = HastyClient()
        platform = DiscordPlatform(client, discord.token, workspaces)
        async with open_app(
            chosen, {"discord": poster}, search=a_shelf("Tower is 330 m tall."), store=store
        ) as app:
            reception = Reception(chosen, store, app.service, app.dispatcher, {"discord": poster})
            here = Running(discord, client, platform, reception, app, poster, workspaces)
            listening = asyncio.create_task(platform.run(reception, here.ready.set))
            waiting = asyncio.create_task(here.ready.wait())
            try:
                await asyncio.wait({listening, waiting}, return_when=asyncio.FIRST_COMPLETED)
                if listening.done():
                    listening.result()
                yield here
            finally:
                waiting.cancel()
                listening.cancel()
                with suppress(asyncio.CancelledError):
                    await listening
                await reception.aclose()
                await platform.aclose()


__all__ = ["Running", "StorageUnavailable", "running"]
