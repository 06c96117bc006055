"""Deleting rows together with everything that depends on them, but nothing that others need.

Each function works within the transaction it is given and returns what it deleted. On PostgreSQL,
rows that another transaction has locked are left alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import astuple, dataclass
from time import monotonic
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.storage.database import Database
from bot.storage.journal import page_read
from bot.storage.tables import citations, feedback, messages, pages, run_pages, runs, steps, threads


@dataclass(frozen=True, slots=True)
class Removed:
    """Counts of rows that were, or would be, deleted. ``spending`` counts daily sums, ``audit``
    rows of the audit log, and ``pseudonyms`` rows that stay, with a pseudonym for the person."""

    threads: int = 0
    messages: int = 0
    runs: int = 0
    steps: int = 0
    pages: int = 0
    feedback: int = 0
    spending: int = 0
    rules: int = 0
    facts: int = 0
    installations: int = 0
    audit: int = 0
    pseudonyms: int = 0

    def __add__(self, other: Removed) -> Removed:
        return Removed(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __bool__(self) -> bool:
        return any(astuple(self))


NOTHING_REMOVED = Removed()


async def count(db: AsyncConnection, table: sa.Table, *where: sa.ColumnElement[bool]) -> int:
    return int(await db.scalar(sa.select(sa.func.count()).select_from(table).where(*where)) or 0)


async def free(db: AsyncConnection, column: sa.Column[Any], ids: Sequence[Any]) -> Sequence[Any]:
    """Lock those of the rows that no other transaction has locked, until this one ends.

    Later statements see everything that others committed before these rows were locked.
    """
    if db.dialect.name != "postgresql":
        return ids  # there is only one writer: this transaction
    query = sa.select(column).where(column.in_(ids)).with_for_update(skip_locked=True)
    return (await db.scalars(query)).all()


async def hanging_on(db: AsyncConnection, run_ids: Sequence[str]) -> Removed:
    """Count the runs and the rows that are deleted with them."""
    return Removed(
        runs=len(run_ids),
        steps=await count(db, steps, steps.c.run_id.in_(run_ids)),
        feedback=await count(db, feedback, feedback.c.run_id.in_(run_ids)),
    )


async def remove_messages(
    db: AsyncConnection, ids: Sequence[int], *conditions: sa.ColumnElement[bool]
) -> Removed:
    """Delete messages that meet the conditions, their dependent rows, and threads left empty.

    Runs, steps and feedback are deleted by foreign keys and not counted (see ``hanging_on``).
    """
    ours = await free(db, messages.c.id, ids)
    gone = sa.delete(messages).where(messages.c.id.in_(ours), *conditions)
    left = (await db.scalars(gone.returning(messages.c.thread_key))).all()
    return Removed(messages=len(left)) + await remove_empty_threads(db, sorted(set(left)))


async def remove_empty_threads(db: AsyncConnection, keys: Sequence[str]) -> Removed:
    """Delete those of the threads that have no messages; one that is just getting one stays."""
    if db.dialect.name == "postgresql":
        keys = [key for key in keys if await db.scalar(sa.select(_alone_with(key)))]
    if not keys:
        return Removed()
    empty = sa.delete(threads).where(
        threads.c.key.in_(keys),
        ~sa.select(messages.c.id).where(messages.c.thread_key == threads.c.key).exists(),
        ~sa.select(runs.c.id).where(runs.c.thread_key == threads.c.key).exists(),
    )
    return Removed(threads=(await db.execute(empty)).rowcount)


def _alone_with(key: str) -> sa.ColumnElement[bool]:
    """Try to take the lock of ``accepting``; false when another transaction holds it."""
    return sa.func.pg_try_advisory_xact_lock(sa.func.hashtextextended(key, 0))


async def remove_pages(db: AsyncConnection, ids: Collection[int]) -> Removed:
    """Delete those of the pages that no citation uses and no run has numbered."""
    if not ids:
        return Removed()
    ours = await free(db, pages.c.id, sorted(set(ids)))
    gone = await db.execute(sa.delete(pages).where(pages.c.id.in_(ours), ~is_used()))
    return Removed(pages=gone.rowcount)


def is_used() -> sa.ColumnElement[bool]:
    """The condition that some run has numbered or cited the page."""
    return sa.or_(
        *(
            sa.select(table.c.run_id).where(table.c.page_id == pages.c.id).exists()
            for table in (citations, run_pages)
        )
    )


async def pages_used(db: AsyncConnection, run_ids: Collection[str]) -> list[int]:
    """The ids of the pages that these runs have numbered or cited, once per use."""
    uses: list[int] = []
    for table in (citations, run_pages):
        query = sa.select(table.c.page_id).where(table.c.run_id.in_(run_ids))
        uses += (await db.scalars(query)).all()
    return uses


async def pages_read(db: AsyncConnection, where: sa.ColumnElement[bool]) -> list[int]:
    """The ids of the stored pages that these steps have read."""
    query = sa.select(steps.c.kind, steps.c.result).where(where, steps.c.kind == "read")
    rows = (await db.execute(query)).all()
    copies = {page for row in rows if (page := page_read(row.kind, row.result)) is not None}
    if not copies:
        return []
    stored = sa.select(pages.c.id).where(sa.tuple_(pages.c.url, pages.c.hash).in_(copies))
    return list((await db.scalars(stored)).all())


async def pages_attached(db: AsyncConnection, message_ids: Collection[int]) -> list[int]:
    """The ids of the pages that were read from files of these messages."""
    query = sa.select(messages.c.attachments).where(messages.c.id.in_(message_ids))
    urls = {file["url"] for files in (await db.scalars(query)).all() for file in files}
    if not urls:
        return []
    return list((await db.scalars(sa.select(pages.c.id).where(pages.c.url.in_(urls)))).all())


T = TypeVar("T")

# Target duration of one batch. On SQLite other writers wait that long; on PostgreSQL they do not
# wait, and a commit alone may take some milliseconds.
GOAL_SECONDS = {"sqlite": 0.003, "postgresql": 0.1}
# Rows per batch. The minimum is fast enough on any machine; without one, a busy machine would
# shrink batches to single rows and never finish.
FIRST, LEAST, MOST = 8, 4, 200


class Batches:
    """Divides work on rows of one kind into batches, whose size adapts to how long they take.

    ``goal`` is the target duration of a batch in seconds.
    """

    def __init__(self, database: Database) -> None:
        self.goal = GOAL_SECONDS[database.dialect]
        self._database = database
        self._size = self._had = FIRST

    def of(self, rows: Sequence[T]) -> Iterator[Sequence[T]]:
        """Split the rows into pieces of the current batch size."""
        done = 0
        while done < len(rows):
            piece = rows[done : done + self._size]
            done += len(piece)
            self._had = len(piece)
            yield piece

    @asynccontextmanager
    async def batch(self) -> AsyncIterator[AsyncConnection]:
        """One transaction for the latest piece; afterwards, others get as much time to write."""
        async with self._database.write() as db:
            started = monotonic()
            yield db
        seconds = monotonic() - started
        if seconds > self.goal:
            self._size = max(LEAST, self._size // 2)
        elif seconds < self.goal / 3 and self._had >= self._size:
            self._size = min(MOST, self._size * 2)
        await asyncio.sleep(seconds)
