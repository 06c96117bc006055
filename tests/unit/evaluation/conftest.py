from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from bot.core.messages import RunOptions
from bot.evaluation.evaluation import Asker, SilentPoster
from bot.operation.app import App
from bot.operation.configuration import load_settings
from bot.service.dispatch.dispatcher import LocalDispatcher
from bot.service.research_service import ResearchService
from bot.storage.store import open_store
from tests.fakes import sqlite
from tests.fakes.library import a_library, a_shelf
from tests.fakes.reasoner import Scripted

OpenAsker = Callable[..., Awaitable[Asker]]


@pytest.fixture
async def open_asker(tmp_path: Path) -> AsyncIterator[OpenAsker]:
    """Opens askers on one store: ``open_asker(reasoner, **settings)``. Only the reasoner acts."""
    async with AsyncExitStack() as stack:

        async def make(
            reasoner: Any = None, options: RunOptions | None = None, **overrides: Any
        ) -> Asker:
            store = await open_store(sqlite.migrated(tmp_path))
            stack.push_async_callback(store.close)
            poster = SilentPoster()
            settings = load_settings(**overrides)
            service = ResearchService(
                settings,
                store,
                a_library(a_shelf("Tower is 330 m tall.", "Bridge is long.")),
                reasoner=lambda calls: reasoner or Scripted(),
                fallback=lambda calls: Scripted(name="closest"),
                price=lambda reply: 0.0,
                posters={"eval": poster},
            )
            dispatcher = LocalDispatcher(store, service, 8)
            await stack.enter_async_context(dispatcher)
            app = App(settings, store, service, dispatcher)
            return Asker(app, poster, options or RunOptions())

        yield make
