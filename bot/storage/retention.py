"""Pruning: deletes rows older than they are to be kept, oldest first, in small batches.

Rows are looked for outside of transactions that write, so that no writer waits for the search, and
deleted by their ids in short ones. What belongs to a run that has not ended is never touched.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import sqlalchemy as sa

from bot.settings import Settings
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

PICKED = 500  # rows looked for at once


@dataclass(frozen=True, slots=True)
class Keep:
    """The time for which each kind of row is kept; None: for ever. ``page_ttl`` is how old a stored
    page may be and still be read again by a run."""

    pages: timedelta | None = None
    steps: timedelta | None = None
    messages: timedelta | None = None
    spending: timedelta | None = None
    audit: timedelta | None = None
    page_ttl: timedelta = timedelta()

    @classmethod
    def of(cls, settings: Settings) -> Keep:
        """As the settings say."""

        def days(number: int | None) -> timedelta | None:
            return None if number is None else timedelta(days=number)

        return cls(
            days(settings.keep_pages_days),
            days(settings.keep_steps_days),
            days(settings.keep_messages_days),
            days(settings.keep_spending_days),
            days(settings.audit_days),
            timedelta(seconds=settings.page_ttl),
        )


class Retention:
    """Failures leave as ``StorageUnavailable``; what was taken away by then is gone."""

    def __init__(self, database: Database, keep: Keep) -> None:
        self._database = database
        self._keep = keep

    async def prune(self, now: datetime) -> Removed:
        """Take away all that is too old at ``now``; says what that was.

        Steps first, then messages with their runs, then pages, which may be free only then.
        """
        removed = NOTHING_REMOVED
        ages = [age for age in (self._keep.steps, self._keep.messages) if age is not None]
        if ages:
            # Those of messages that go next too: a run without its steps is soon taken away.
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
        """Delete rows older than a day, after adding the row without which triggers refuse that."""
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
        """Delete the spending of earlier days, a day at a time."""
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
        """The steps of runs that ended before: not of one that was edited and restarted."""
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
        """Messages whose run, if they began one, ended before; the pages it read stay."""
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
        """Pages that no answer cites; the numbers they had in runs that have ended go along."""
        async with self._database.read() as db:
            # Counted as well, or PostgreSQL would go through all runs from the oldest on.
            oldest, _ = (
                await db.execute(
                    sa.select(sa.func.min(runs.c.accepted_at), sa.func.count()).where(
                        runs.c.state.in_(UNFINISHED)
                    )
                )
            ).one()
        if oldest is not None:
            # It may rest on what it has read: from the web, or from the store or the memory of
            # its process, in each of which a page may have become that old.
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
        the batches that come with them.

        They are looked for in portions, each of which begins after the one before it, so that rows
        which stay are passed once.
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
