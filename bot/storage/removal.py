"""Deleting rows together with everything that depends on them, but nothing that others need.

The functions work within the transaction that they are given and return what they deleted. On
PostgreSQL, rows that another transaction has locked are left alone. ``Retention`` deletes rows that
are older than their retention period, oldest first, in batches: rows are looked up outside of write
transactions, so that no writer waits for the search, and deleted by id in short ones. Rows of
unfinished runs are never touched.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import astuple, dataclass
from datetime import UTC, date, datetime, time, timedelta
from operator import add
from time import monotonic
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.settings import Settings
from bot.storage.audit_log import Actor, note
from bot.storage.database import Database, Transactions
from bot.storage.journal import page_read
from bot.storage.tables import (
    UNFINISHED,
    UtcDateTime,
    audit,
    citations,
    feedback,
    messages,
    pages,
    run_pages,
    runs,
    spending,
    steps,
    threads,
)


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
        return Removed(*map(add, astuple(self), astuple(other)))

    def __bool__(self) -> bool:
        return any(astuple(self))


NOTHING_REMOVED = Removed()


async def count(db: AsyncConnection, table: sa.Table, *where: sa.ColumnElement[bool]) -> int:
    return int(await db.scalar(sa.select(sa.func.count()).select_from(table).where(*where)) or 0)


async def free(db: AsyncConnection, column: sa.Column[Any], ids: Sequence[Any]) -> Sequence[Any]:
    """Lock those of the rows that no other transaction has locked, until this one ends.

    Later statements see everything that others committed before these rows were locked. SQLite has
    only one writer, this transaction, and no such locks.
    """
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
    """Delete those of the threads that have no messages, and so no runs; one that is just getting
    one stays."""
    if db.dialect.name == "postgresql":
        keys = [key for key in keys if await db.scalar(sa.select(_alone_with(key)))]
    empty = sa.delete(threads).where(
        threads.c.key.in_(keys),
        ~sa.select(messages.c.id).where(messages.c.thread_key == threads.c.key).exists(),
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
    stored = sa.select(pages.c.id).where(sa.tuple_(pages.c.url, pages.c.hash).in_(copies))
    return list((await db.scalars(stored)).all())


async def pages_attached(db: AsyncConnection, message_ids: Collection[int]) -> list[int]:
    """The ids of the pages that were read from files of these messages."""
    query = sa.select(messages.c.attachments).where(messages.c.id.in_(message_ids))
    urls = {file["url"] for files in (await db.scalars(query)).all() for file in files}
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


PAGE_TTL = 86_400.0  # seconds that a stored page counts as fresh
SPENDING = timedelta(days=400)  # for which the spending of people and places is kept
ROWS_PICKED = 500  # rows per query


@dataclass(frozen=True, slots=True)
class Keep:
    """The retention period of each kind of row; None means forever. ``page_ttl`` is the maximum age
    at which a run may reuse a stored page."""

    pages: timedelta | None = None
    steps: timedelta | None = None
    messages: timedelta | None = None
    spending: timedelta | None = None
    audit: timedelta | None = None
    page_ttl: timedelta = timedelta()

    @classmethod
    def of(cls, settings: Settings) -> Keep:
        """Read them from the settings."""

        def days(number: int | None) -> timedelta | None:
            return None if number is None else timedelta(days=number)

        return cls(
            days(settings.keep_steps_days),
            days(settings.keep_steps_days),
            days(settings.keep_messages_days),
            SPENDING,
            days(settings.audit_days),
            timedelta(seconds=PAGE_TTL),
        )


class Retention(Transactions):
    """Failures are raised as ``StorageUnavailable``; what was deleted before stays deleted."""

    def __init__(self, database: Database, keep: Keep) -> None:
        super().__init__(database)
        self._keep = keep

    async def prune(self, now: datetime) -> Removed:
        """Delete everything that is too old at ``now``; returns the counts.

        Steps go first, then messages with their runs, then pages, which may be unused only then.
        """
        removed = NOTHING_REMOVED
        ages = [age for age in (self._keep.steps, self._keep.messages) if age is not None]
        if ages:
            # Also the steps of messages that are pruned next: their runs are then quick to delete.
            removed += await self._prune_steps(now - min(ages))
        if self._keep.messages is not None:
            removed += await self._prune_messages(now - self._keep.messages)
        if self._keep.pages is not None:
            removed += await self._prune_pages(now - self._keep.pages)
        if self._keep.spending is not None:
            removed += await self._prune_spending((now - self._keep.spending).date())
        if self._keep.audit is not None:
            removed += await self._prune_audit((now - self._keep.audit).date())
        await tidy(self.database)
        return removed

    async def _prune_audit(self, before: date) -> Removed:
        """Delete rows from before a day, after adding the row that the triggers require for it."""
        moment = datetime.combine(before, time.min, UTC)
        removed, is_noted = NOTHING_REMOVED, False
        async for batches, some in self._picked(audit, audit.c.at, moment, sa.true()):
            if not is_noted:
                is_noted = True
                async with self.database.write() as db:
                    us = Actor("footnote", "", "")
                    await note(db, "pruned", "audit", before.isoformat(), by=us)
            async with batches.batch() as db:
                gone = await db.execute(sa.delete(audit).where(audit.c.id.in_(some)))
            removed += Removed(audit=gone.rowcount)
        return removed

    async def _prune_spending(self, before: date) -> Removed:
        """Delete the spending of earlier days, one day at a time."""
        removed, batches = NOTHING_REMOVED, Batches(self.database)
        oldest = sa.select(sa.func.min(spending.c.day))
        while True:
            async with self.database.read() as db:
                day = await db.scalar(oldest)
            if day is None or day >= before:
                return removed
            async with batches.batch() as db:
                gone = await db.execute(sa.delete(spending).where(spending.c.day == day))
            removed += Removed(spending=gone.rowcount)

    async def _prune_steps(self, before: datetime) -> Removed:
        """Delete the steps of runs that ended before; not of edited runs that were restarted."""
        ended = sa.select(runs.c.id).where(runs.c.id == steps.c.run_id, runs.c.ended_at < before)
        removed = NOTHING_REMOVED
        async for batches, some in self._picked(steps, steps.c.at, before, ended.exists()):
            async with batches.batch() as db:
                gone = await db.execute(
                    sa.delete(steps).where(steps.c.id.in_(some), ended.exists())
                )
            removed += Removed(steps=gone.rowcount)
        return removed

    async def _prune_messages(self, before: datetime) -> Removed:
        """Delete messages whose run, if any, ended before; the pages that it read stay."""
        of_message = runs.c.message_id == messages.c.id
        lately = sa.or_(runs.c.ended_at.is_(None), runs.c.ended_at >= before)
        unneeded = ~sa.select(runs.c.id).where(of_message, lately).exists()
        removed = NOTHING_REMOVED
        async for batches, some in self._picked(messages, messages.c.at, before, unneeded):
            async with self.database.read() as db:
                begun = sa.select(runs.c.id).where(runs.c.message_id.in_(some))
                removed += await hanging_on(db, (await db.scalars(begun)).all())
            async with batches.batch() as db:
                removed += await remove_messages(db, some, unneeded)
        return removed

    async def _prune_pages(self, before: datetime) -> Removed:
        """Delete pages that no answer cites, with their numbers in runs that have ended."""
        async with self.database.read() as db:
            # With count(), or PostgreSQL would go through all runs from the oldest on.
            oldest, _ = (
                await db.execute(
                    sa.select(sa.func.min(runs.c.accepted_at), sa.func.count()).where(
                        runs.c.state.in_(UNFINISHED)
                    )
                )
            ).one()
        if oldest is not None:
            # The oldest run may depend on pages that it read from the store or from the memory of
            # its process; each of the two returns pages up to ``page_ttl`` old.
            before = min(before, oldest - 2 * self._keep.page_ttl)

        cited = sa.select(citations.c.run_id).where(citations.c.page_id == pages.c.id)
        needed = (
            sa.select(run_pages.c.run_id)
            .join(runs, runs.c.id == run_pages.c.run_id)
            .where(run_pages.c.page_id == pages.c.id, runs.c.ended_at.is_(None))
        )
        unneeded = sa.and_(~cited.exists(), ~needed.exists())
        removed = NOTHING_REMOVED
        async for batches, some in self._picked(pages, pages.c.fetched_at, before, unneeded):
            async with batches.batch() as db:
                ours = await free(db, pages.c.id, some)
                gone = sa.select(pages.c.id).where(pages.c.id.in_(ours), unneeded)
                await db.execute(sa.delete(run_pages).where(run_pages.c.page_id.in_(gone)))
                removed += await remove_pages(db, ours)
        return removed

    async def _picked(
        self,
        table: sa.Table,
        age: sa.Column[Any],
        before: datetime,
        condition: sa.ColumnElement[bool],
    ) -> AsyncIterator[tuple[Batches, Sequence[int]]]:
        """The ids of rows older than ``before`` that meet a condition, oldest first, in pieces for
        the batches that are returned with them.

        Each query begins where the last one ended, so that rows that stay are passed only once.
        """
        batches = Batches(self.database)
        moment, id = datetime.min.replace(tzinfo=UTC), 0
        while True:
            since = sa.tuple_(sa.literal(moment, UtcDateTime()), sa.literal(id, sa.Integer()))
            query = (
                sa.select(table.c.id, age.label("age"))
                .where(age < before, sa.tuple_(age, table.c.id) > since, condition)
                .order_by(age, table.c.id)
                .limit(ROWS_PICKED)
            )
            rows = await self._rows(query)
            if not rows:
                return
            moment, id = rows[-1].age, rows[-1].id
            for some in batches.of([row.id for row in rows]):
                yield batches, some


async def tidy(database: Database) -> None:
    """Rewrite SQLite's word index without deleted entries, which FTS5 otherwise only marks
    (https://www.sqlite.org/fts5.html#the_optimize_command)."""
    if database.dialect == "sqlite":
        async with database.write() as db:
            await db.execute(
                sa.text("INSERT INTO found_words_index(found_words_index) VALUES ('optimize')")
            )
