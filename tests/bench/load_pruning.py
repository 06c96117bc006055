"""Retention at work beside everything else: what it takes away, and how long it holds it up."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.pool import ConnectionPoolEntry

from bot.storage.database import open_database
from bot.storage.removal import NOTHING_REMOVED, Removed
from bot.storage.retention import Keep, Retention

AGE = timedelta(days=30)


@dataclass
class Pruned:
    """``transactions`` are the seconds that each held a connection, its commit included."""

    removed: Removed = NOTHING_REMOVED
    seconds: float = 0.0
    transactions: list[float] = field(default_factory=list)


@contextmanager
def pruning(url: str) -> Iterator[Pruned]:
    """Prune all that is older than ``AGE`` while the block runs, and to the end."""
    found = Pruned()
    thread = threading.Thread(target=lambda: asyncio.run(_prune(url, found)))
    thread.start()
    yield found
    thread.join()


async def _prune(url: str, found: Pruned) -> None:
    def begun(connection: sa.Connection) -> None:
        connection.info["begun"] = time.perf_counter()

    def committed(connection: sa.Connection) -> None:  # is about to be
        connection.info["commits"] = connection.get_execution_options().get("isolation_level")

    def put_back(_: object, record: ConnectionPoolEntry) -> None:
        if record.info.pop("commits", "nothing") is None:
            found.transactions.append(time.perf_counter() - record.info["begun"])

    listeners: Sequence[tuple[Any, str, Any]] = (
        (sa.Engine, "begin", begun),
        (sa.Engine, "commit", committed),
        (sa.Pool, "checkin", put_back),
    )
    database = await open_database(url)
    for listener in listeners:
        sa.event.listen(*listener)
    try:
        began = time.perf_counter()
        found.removed = await Retention(database, Keep(AGE, AGE, AGE)).prune(datetime.now(UTC))
        found.seconds = time.perf_counter() - began
    finally:
        for listener in listeners:
            sa.event.remove(*listener)
        await database.close()
