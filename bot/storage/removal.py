"""Taking rows away, with all that hangs on them and nothing that others need.

Each function works within the transaction it is given, on rows it finds itself or is given the ids
of, and says what it took. On PostgreSQL rows that somebody works on at that moment are left alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import astuple, dataclass, fields
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.storage.journal import page_read
from bot.storage.tables import citations, feedback, messages, pages, run_pages, runs, steps, threads


@dataclass(frozen=True, slots=True)
class Removed:
    """How many rows of each kind were, or would be, taken away. ``spending`` are sums of a day."""

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

    def __add__(self, other: Removed) -> Removed:
        return Removed(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __bool__(self) -> bool:
        return any(astuple(self))


NOTHING_REMOVED = Removed()
KINDS = tuple(field.name for field in fields(Removed))


async def count(db: AsyncConnection, table: sa.Table, *where: sa.ColumnElement[bool]) -> int:
    return int(await db.scalar(sa.select(sa.func.count()).select_from(table).where(*where)) or 0)


async def free(db: AsyncConnection, column: sa.Column[Any], ids: Collection[Any]) -> list[Any]:
    """Those of the rows with these ids that nobody else holds; they are ours until the end."""
    query = sa.select(column).where(column.in_(ids)).with_for_update(skip_locked=True)
    return list((await db.scalars(query)).all())


async def remove_steps(db: AsyncConnection, ids: Collection[int]) -> Removed:
    """Steps; the pages they read stay."""
    gone = await db.execute(sa.delete(steps).where(steps.c.id.in_(ids)))
    return Removed(steps=gone.rowcount)


async def remove_messages(db: AsyncConnection, ids: Collection[int]) -> Removed:
    """Messages, their runs and all that is part of these, and the threads that are then empty."""
    of_messages = sa.select(runs.c.id).where(runs.c.message_id.in_(ids))
    run_ids = (await db.scalars(of_messages)).all()
    hanging = Removed(
        runs=len(run_ids),
        steps=await count(db, steps, steps.c.run_id.in_(run_ids)),
        feedback=await count(db, feedback, feedback.c.run_id.in_(run_ids)),
    )
    gone = sa.delete(messages).where(messages.c.id.in_(ids)).returning(messages.c.thread_key)
    left = (await db.scalars(gone)).all()
    emptied = await remove_empty_threads(db, set(left))
    return hanging + emptied + Removed(messages=len(left))


async def remove_empty_threads(db: AsyncConnection, keys: Iterable[str]) -> Removed:
    """Those of the threads in which nothing was said; one that somebody adds to just now stays."""
    removed = 0
    for key in sorted(keys):
        if db.dialect.name == "postgresql":
            lock = sa.func.pg_try_advisory_xact_lock(sa.func.hashtextextended(key, 0))
            if not await db.scalar(sa.select(lock)):
                continue
        empty = sa.delete(threads).where(
            threads.c.key == key,
            ~sa.select(messages.c.id).where(messages.c.thread_key == key).exists(),
            ~sa.select(runs.c.id).where(runs.c.thread_key == key).exists(),
        )
        removed += (await db.execute(empty)).rowcount
    return Removed(threads=removed)


async def remove_pages(db: AsyncConnection, ids: Collection[int]) -> Removed:
    """Those of the pages that no citation rests on and no run has numbered."""
    ours = await free(db, pages.c.id, ids)
    # A statement of its own: it sees what was committed before we held the pages.
    gone = await db.execute(sa.delete(pages).where(pages.c.id.in_(ours), ~is_used()))
    return Removed(pages=gone.rowcount)


def is_used() -> sa.ColumnElement[bool]:
    """Whether any run has numbered or cited the page."""
    return sa.or_(
        *(
            sa.select(table.c.run_id).where(table.c.page_id == pages.c.id).exists()
            for table in (citations, run_pages)
        )
    )


async def pages_used(db: AsyncConnection, run_ids: Collection[str]) -> list[tuple[str, int]]:
    """Every use that these runs make of a page, as run and page: numbered, cited."""
    uses: list[tuple[str, int]] = []
    for table in (citations, run_pages):
        query = sa.select(table.c.run_id, table.c.page_id).where(table.c.run_id.in_(run_ids))
        uses += [(row.run_id, row.page_id) for row in (await db.execute(query)).all()]
    return uses


async def pages_read(db: AsyncConnection, where: sa.ColumnElement[bool]) -> set[int]:
    """The ids of the pages that these steps read and that are still there."""
    query = sa.select(steps.c.kind, steps.c.result).where(where, steps.c.kind == "read")
    rows = (await db.execute(query)).all()
    copies = {page for row in rows if (page := page_read(row.kind, row.result)) is not None}
    if not copies:
        return set()
    stored = sa.select(pages.c.id).where(sa.tuple_(pages.c.url, pages.c.hash).in_(copies))
    return set((await db.scalars(stored)).all())


async def pages_attached(db: AsyncConnection, message_ids: Collection[int]) -> set[int]:
    """The ids of the pages that were files of these messages."""
    query = sa.select(messages.c.attachments).where(messages.c.id.in_(message_ids))
    urls = {file["url"] for files in (await db.scalars(query)).all() for file in files}
    if not urls:
        return set()
    return set((await db.scalars(sa.select(pages.c.id).where(pages.c.url.in_(urls)))).all())
