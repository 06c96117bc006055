"""Rows as several tables' readers and writers need them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import RunLost
from bot.messages import Message, Thread
from bot.pages.page import Page
from bot.storage.tables import runs, threads


def insert(db: AsyncConnection, table: sa.Table) -> Any:
    """An insert that knows ON CONFLICT, in the dialect of the connection."""
    return insert_for(db.dialect.name, table)


def insert_for(dialect: str, table: sa.Table) -> Any:
    """The same for a statement that is made before there is a connection."""
    # Each dialect takes some hundredths of a second to import, and few processes need both.
    if dialect == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table)
    from sqlalchemy.dialects import sqlite

    return sqlite.insert(table)


def evened(ids: Collection[str]) -> list[str]:
    """The ids, the last one repeated until a power of two of them is there: however many are asked
    for, few different statements do it, and those are prepared and known."""
    wanted = list(ids)
    return wanted + wanted[-1:] * ((1 << (len(wanted) - 1).bit_length()) - len(wanted))


async def update_fenced(db: AsyncConnection, run_id: str, attempt: int, **values: Any) -> None:
    """Change a run's row under its current attempt only; raises ``RunLost`` otherwise."""
    result = await db.execute(
        sa.update(runs).where(runs.c.id == run_id, runs.c.attempt == attempt).values(**values)
    )
    if result.rowcount != 1:
        raise RunLost(f"Run {run_id} has been taken over by a later attempt.")


async def alone_in(db: AsyncConnection, thread: Thread) -> None:
    """Let nobody else add to a thread until the transaction ends.

    Messages then have the order in which they were accepted, and one event makes one run. SQLite
    has one writer anyway.
    """
    if db.dialect.name == "postgresql":
        key = sa.func.hashtextextended(thread.key, 0)
        await db.execute(sa.select(sa.func.pg_advisory_xact_lock(key)))


async def keep_thread(db: AsyncConnection, thread: Thread, now: datetime) -> None:
    """Store a thread, unless it is known."""
    await db.execute(
        insert(db, threads)
        .values(key=thread.key, **asdict(thread), created_at=now)
        .on_conflict_do_nothing()
    )


def message_row(message: Message) -> dict[str, Any]:
    """A message as the columns of its table."""
    return {
        "thread_key": message.thread.key,
        "event_key": f"{message.thread.platform}:{message.event_id}",
        "author_id": message.author.id,
        "author_name": message.author.name,
        "text": message.text,
        "links": list(message.links),
        "attachments": [asdict(attachment) for attachment in message.attachments],
        "locale": message.locale,
        "at": message.at,
    }


def page_of(row: Any) -> Page:
    return Page(
        url=row.url,
        title=row.title,
        text=row.text,
        fetched_at=row.fetched_at,
        hash=row.hash,
        via=row.via,
    )
