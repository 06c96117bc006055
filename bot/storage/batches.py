"""Long work on the database in transactions so short that nobody else has to wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from time import monotonic
from typing import TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.storage.database import Database

T = TypeVar("T")

# What one batch may take. SQLite has one writer, so others wait that long; on PostgreSQL nobody
# waits, and a commit alone may take some milliseconds.
GOAL_SECONDS = {"sqlite": 0.003, "postgresql": 0.1}
# Rows of a batch. The least is what takes less than that anywhere: a machine that is busy with
# other things would otherwise have us end with a row at a time, and never be done.
FIRST, LEAST, MOST = 8, 4, 200


class Batches:
    """Cuts work on rows of one kind into batches, and learns from each how many the next may have.

    ``goal`` is how many seconds one may take.
    """

    def __init__(self, database: Database) -> None:
        self.goal = GOAL_SECONDS[database.dialect]
        self._database = database
        self._size = self._had = FIRST

    def of(self, rows: Sequence[T]) -> Iterator[Sequence[T]]:
        """The rows in pieces, each as large as the batches before it allow."""
        done = 0
        while done < len(rows):
            piece = rows[done : done + self._size]
            done += len(piece)
            self._had = len(piece)
            yield piece

    @asynccontextmanager
    async def batch(self) -> AsyncIterator[AsyncConnection]:
        """One transaction, on the latest piece; after it the others have as long for theirs."""
        async with self._database.write() as db:
            started = monotonic()
            yield db
        seconds = monotonic() - started
        if seconds > self.goal:
            self._size = max(LEAST, self._size // 2)
        elif seconds < self.goal / 3 and self._had >= self._size:
            self._size = min(MOST, self._size * 2)
        await asyncio.sleep(seconds)
