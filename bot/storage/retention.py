"""Pruning: deletes rows that are older than their retention period, oldest first, in batches.

Rows are looked up outside of write transactions, so that no writer waits for the search, and
deleted by id in short ones. Rows of unfinished runs are never touched.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import sqlalchemy as sa

from bot.core.settings import Settings
from bot.storage.audit import Actor, audit, note
from bot.storage.database import Database
from bot.storage.found_words import tidy
from bot.storage.records import UNFINISHED
from bot.storage.removal import (
    NOTHING_REMOVED,
    Batches,
    Removed,
    free,
    hanging_on,
    remove_messages,
    remove_pages,
)
from bot.storage.tables import (
    UtcDateTime,
    citations,
    messages,
    pages,
    run_pages,
    runs,
    spending,
    steps,
)

PAGE_TTL = 86_400.0  # seconds that a stored page counts as fresh
SPENDING = timedelta(days=400)  # for which the spending of people and places is kept
PICKED = 500  # rows per query


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


class Retention:
    """Failures are raised as ``StorageUnavailable``; what was deleted before stays deleted."""

    def __init__(self, database: Database, keep: Keep) -> None:
        self._database = database
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
        await tidy(self._database)
        return removed

    async def _prune_audit(self, before: date) -> Removed:
        """Delete rows from before a day, after adding the row that the triggers require for it."""
        moment = datetime.combine(before, time.min, UTC)
        removed, is_noted = NOTHING_REMOVED, False
        async for batches, some in self._picked(audit, audit.c.at, moment, sa.true()):
            if not is_noted:
                is_noted = True
                async with self._database.write() as db:
                    us = Actor("footnote", "", "")
                    await note(db, "pruned", "audit", before.isoformat(), by=us)
            async with batches.batch() as db:
                gone = await db.execute(sa.delete(audit).where(audit.c.id.in_(some)))
            removed += Removed(audit=gone.rowcount)
        return removed

    async def _prune_spending(self, before: date) -> Removed:
        """Delete the spending of earlier days, one day at a time."""
        removed, batches = NOTHING_REMOVED, Batches(self._database)
        oldest = sa.select(sa.func.min(spending.c.day))
        while True:
            async with self._database.read() as db:
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
            async with self._database.read() as db:
                begun = sa.select(runs.c.id).where(runs.c.message_id.in_(some))
                removed += await hanging_on(db, (await db.scalars(begun)).all())
            async with batches.batch() as db:
                removed += await remove_messages(db, some, unneeded)
        return removed

    async def _prune_pages(self, before: datetime) -> Removed:
        """Delete pages that no answer cites, with their numbers in runs that have ended."""
        async with self._database.read() as db:
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
        batches = Batches(self._database)
        moment, id = datetime.min.replace(tzinfo=UTC), 0
        while True:
            since = sa.tuple_(sa.literal(moment, UtcDateTime()), sa.literal(id, sa.Integer()))
            query = (
                sa.select(table.c.id, age.label("age"))
                .where(age < before, sa.tuple_(age, table.c.id) > since, condition)
                .order_by(age, table.c.id)
                .limit(PICKED)
            )
            async with self._database.read() as db:
                rows = (await db.execute(query)).all()
            if not rows:
                return
            moment, id = rows[-1].age, rows[-1].id
            for some in batches.of([row.id for row in rows]):
                yield batches, some
