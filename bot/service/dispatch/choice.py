"""Chooses the dispatcher by the settings and the database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Literal

from bot.core.errors import InvalidSetting
from bot.core.settings import Settings
from bot.service.dispatch.attempts import Executor
from bot.service.dispatch.dispatcher import Dispatcher
from bot.service.dispatch.local import LocalDispatcher
from bot.service.dispatch.pace import LONGEST_OF_WORKER, Pace
from bot.storage.store import Store

CONCURRENCY = 256  # runs at once in one process
DRAIN_SECONDS = 10.0  # that runs in progress get when a process ends
SWEEP_SECONDS = 5.0  # between searches for runs that were left unfinished

# The runs that a process works on. alone: those submitted to it; serve: also those left unfinished
# by others; work: those that others accept; listen: none, workers do them.
Role = Literal["alone", "serve", "work", "listen"]


def is_queued(settings: Settings) -> bool:
    """Return True if runs go through PostgreSQL's queue."""
    return settings.database.startswith("postgresql")


def need_queue(settings: Settings, command: str) -> None:
    """Raise an ``InvalidSetting`` that says what ``command`` needs, unless runs are queued."""
    if not is_queued(settings):
        raise InvalidSetting(
            f"`{command}` needs PostgreSQL: set FOOTNOTE_DATABASE_URL to "
            "postgresql+psycopg://user:password@host/footnote, for every process."
        )


@asynccontextmanager
async def open_dispatcher(
    settings: Settings,
    store: Store,
    executor: Executor,
    platforms: Collection[str],
    role: Role,
    concurrency: int = CONCURRENCY,
) -> AsyncIterator[Dispatcher]:
    """Open the dispatcher for runs of ``platforms``, ``concurrency`` at once; on exit it drains.

    Raises ``InvalidSetting`` and ``StorageUnavailable``.
    """
    if role == "alone" or not is_queued(settings):
        async with LocalDispatcher(
            store,
            executor,
            concurrency,
            platforms=platforms,
            drain_seconds=0.0 if role == "alone" else DRAIN_SECONDS,
            sweep_seconds=None if role == "alone" else SWEEP_SECONDS,
        ) as local:
            yield local
        return
    from bot.service.dispatch.postgres import (
        PostgresDispatcher,  # its libraries take a while to import
    )

    async with PostgresDispatcher(
        settings.database,
        store,
        executor,
        0 if role == "listen" else concurrency,
        platforms=platforms,
        drain_seconds=DRAIN_SECONDS,
        sweep_seconds=SWEEP_SECONDS,
        pace=Pace(LONGEST_OF_WORKER) if role == "work" else None,
    ) as queue:
        yield queue
