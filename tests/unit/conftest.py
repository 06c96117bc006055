"""A service with its surroundings, all of it fake but the store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.core.messages import Message, RunOptions
from bot.operation.configuration import load_settings
from bot.reasoning.evidence import Action, Read, Search
from bot.reasoning.reasoner import Reasoner
from bot.service.research_service import ResearchService
from bot.storage.store import Store, open_store
from tests.fakes import sqlite
from tests.fakes.library import Shelf, a_library, a_shelf
from tests.fakes.poster import Remembered, RememberingPoster
from tests.fakes.reasoner import Scripted

TEXTS = ("Tower is 330 m tall.", "Bridge is long.")
TURNS: list[list[Action]] = [[Search(("tower",))], [Read((1,))]]
LEASE = timedelta(seconds=30)


@dataclass
class World:
    """A service with its surroundings; ``answer`` works the run of a message once."""

    store: Store
    shelf: Shelf
    poster: RememberingPoster
    service: ResearchService

    async def accept(self, message: Message, options: RunOptions = RunOptions()) -> str:  # noqa: B008
        run_id, _ = await self.service.accept(message, options)
        return run_id

    async def work(self, run_id: str, stop: asyncio.Event | None = None) -> Remembered:
        run = await self.store.claim(run_id, "h/1/x", datetime.now(UTC) + 2 * LEASE, LEASE)
        assert run is not None
        try:
            await self.service.answer(run, stop or asyncio.Event())
        finally:
            await self.store.release(run_id, run.attempt)
        return self.poster.replies[-1]

    async def state(self, run_id: str) -> str:
        run = await self.store.run(run_id)
        assert run is not None
        return run.state


OpenWorld = Callable[..., Awaitable[World]]


@pytest.fixture
async def open_world(tmp_path: Path) -> AsyncIterator[OpenWorld]:
    store = await open_store(sqlite.migrated(tmp_path))

    async def open_world(
        reasoner: Reasoner, fallback: Reasoner | None = None, **settings: object
    ) -> World:
        shelf, poster = a_shelf(*TEXTS), RememberingPoster()
        service = ResearchService(
            load_settings().model_copy(update=settings),
            store,
            a_library(shelf),
            reasoner=lambda calls: reasoner,
            fallback=lambda calls: fallback or Scripted(TURNS, name="fallback"),
            price=lambda reply: 0.0,
            posters={"terminal": poster},
        )
        return World(store, shelf, poster, service)

    yield open_world
    await store.close()
