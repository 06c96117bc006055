"""Making vectors while a process does something else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.search.embedding.choice import open_embedder
from bot.search.vector_filling import keep_filling
from bot.settings import Settings

THREADS = 1  # of a model in this process: questions are being answered meanwhile


@asynccontextmanager
async def vectors_being_made(settings: Settings) -> AsyncIterator[None]:
    """Within the block, documents that have no vectors yet get them, where there is an embedder."""
    if not settings.has_embedder or not settings.docs:
        yield
        return
    async with open_embedder(settings, THREADS) as embedder:
        assert embedder is not None  # noqa: S101 - the settings have one
        task = asyncio.create_task(keep_filling(settings.index_path, settings.docs, embedder))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
