"""Slack as it is served: the real SDK on a fake Slack, the real reception, a scripted reasoner."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import uvicorn
from starlette.applications import Starlette

from adapters.slack.platform import PATH, SlackPlatform, open_slack
from adapters.slack.settings import SlackSettings
from bot.core.errors import StorageUnavailable
from bot.core.messages import Message
from bot.core.posting import Poster
from bot.operation.app import open_app
from bot.operation.configuration import load_settings
from bot.search.blend import SearchResult
from bot.search.provider import ProviderKind, Query, Unread
from bot.service.reception import Reception
from bot.storage.store import Store, open_store
from bot.storage.tables import metadata
from bot.storage.workspaces import Workspaces
from tests.fakes import sqlite
from tests.fakes.library import Shelf, a_shelf
from tests.fakes.poster import RememberingPoster
from tests.fakes.slack import FakeSlack

MANIFEST = Path(__file__).parents[4] / "adapters" / "slack" / "manifest.yaml"


class Flaky(Reception):
    """Fails to keep messages as often as it is told, and is as slow as it is told."""

    failures = 0
    let_on: asyncio.Event | None = None  # what is asked for is kept once this is set

    async def _hold(self) -> None:
        if self.let_on is not None:
            await self.let_on.wait()

    def _fail(self) -> None:
        if self.failures > 0:
            self.failures -= 1
            raise StorageUnavailable("The database is locked: try again.")

    async def receive(self, *args: Any, **options: Any) -> Any:
        await self._hold()
        self._fail()
        return await super().receive(*args, **options)

    async def use_this_month(self, *args: Any, **options: Any) -> Any:
        self._fail()
        return await super().use_this_month(*args, **options)

    async def dig_deeper(self, *args: Any, **options: Any) -> Any:
        await self._hold()
        self._fail()
        return await super().dig_deeper(*args, **options)


class Stuck(Shelf):
    """A search that never ends by itself."""

    async def unread(self, *_: object) -> Unread:
        return Unread()

    def price(self, providers: tuple[str, ...] = (), kind: ProviderKind | None = None) -> float:
        return 0.0

    def can_search(self, providers: tuple[str, ...] = ()) -> frozenset[ProviderKind]:
        return frozenset()

    async def search(
        self, query: Query, providers: tuple[str, ...] = (), kind: ProviderKind | None = None
    ) -> SearchResult:
        await asyncio.Event().wait()
        raise AssertionError


@dataclass
class Served:
    """A running adapter whose answers are only remembered, and what it answered."""

    slack: FakeSlack
    platform: SlackPlatform
    reception: Flaky
    store: Store
    poster: RememberingPoster  # unless it is served with the platform's own
    running: asyncio.Task[None]

    @property
    def asked(self) -> list[Message]:
        """The messages that became questions and were opened, in that order."""
        return [reply.run.message for reply in self.poster.replies]

    async def questions(self, count: int) -> list[Message]:
        """The first ``count`` of them, waited for."""
        await self.until(lambda: len(self.asked) >= count)
        return self.asked

    async def until(self, what: Callable[[], Any], seconds: float = 60.0) -> None:
        """Wait until something of this process is true."""
        async with asyncio.timeout(seconds):
            while not what():
                await asyncio.sleep(0.005)

    async def whisper(self, user: str, channel: str, thread: str | None = None) -> str:
        """The first thing only ``user`` is shown there."""

        def heard() -> list[str]:
            there = self.slack.messages(channel, thread)
            return [one.text for one in there if one.ephemeral_to == user]

        return str((await self.slack.until(heard))[0])

    async def rows(self, table: str) -> list[Mapping[str, Any]]:
        async with self.store.database.read() as db:
            kept = (await db.execute(metadata.tables[table].select())).all()
        return [dict(row._mapping) for row in kept]

    async def states(self) -> list[str]:
        return [row["state"] for row in await self.rows("runs")]

    async def ended(self, count: int) -> list[str]:
        """The states of ``count`` runs, once none is unfinished."""
        async with asyncio.timeout(60):
            while True:
                states = await self.states()
                if len(states) == count and not {"accepted", "running"} & set(states):
                    return states
                await asyncio.sleep(0.005)


def slack_settings(slack: FakeSlack, folder: Path, **settings: Any) -> SlackSettings:
    return cast(
        SlackSettings,
        load_settings(
            **{
                "slack_bot_token": slack.bot_token,
                "slack_app_token": slack.app_token,
                "slack_api_url": slack.api_url,
                "data_dir": folder,
                "providers": "wikipedia",
                **settings,
            }
        ),
    )


@asynccontextmanager
async def served(
    slack: FakeSlack,
    folder: Path,
    *,
    search: Shelf | None = None,
    answering: Callable[[SlackPlatform, RememberingPoster], Poster] = lambda platform, poster: (
        poster
    ),
    **settings: Any,
) -> AsyncIterator[Served]:
    """Serve until the block ends; events arrive from the first line on."""
    connected = slack.sockets.connected
    configured = slack_settings(slack, folder, **settings)
    store = await open_store(sqlite.migrated(folder))
    poster = RememberingPoster()
    ready = asyncio.Event()
    shelf = search or a_shelf("Tower is 330 m tall.")
    async with AsyncExitStack() as stack:
        platform = await stack.enter_async_context(
            open_slack(configured, Workspaces(store.database))
        )
        posters = {"slack": answering(platform, poster)}
        app = await stack.enter_async_context(
            open_app(configured, posters, search=shelf, store=store)
        )
        reception = Flaky(configured, store, app.service, app.dispatcher, posters)
        running = asyncio.create_task(platform.run(reception, ready.set))
        waiting = asyncio.create_task(ready.wait())
        try:
            await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                running.result()
            if configured.slack_app_token is not None:  # the app knows sooner than Slack
                await slack.until(lambda: slack.sockets.connected > connected)
            yield Served(slack, platform, reception, store, poster, running)
        finally:
            for task in (waiting, running):
                task.cancel()
            await asyncio.gather(waiting, running, return_exceptions=True)
            await reception.aclose()


@asynccontextmanager
async def open_door(bot: Served) -> AsyncIterator[str]:
    """The routes of the adapter on a real port, as `serve` has them; yields their address."""
    config = uvicorn.Config(
        Starlette(routes=list(bot.platform.routes)), port=0, log_level="error", lifespan="off"
    )
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    serving = asyncio.create_task(server.serve())
    try:
        while not server.started:
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}{PATH}"
    finally:
        server.should_exit = True
        await serving
