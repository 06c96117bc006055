"""Conversions between rows and values that several modules share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.errors import RunLost
from bot.core.messages import Citation, Message, Provenance, Thread, Wording
from bot.pages.page import Page
from bot.storage.tables import facts, pages, run_pages, runs, threads


def insert(db: AsyncConnection, table: sa.Table) -> Any:
    """An insert that supports ON CONFLICT, in the connection's dialect."""
    return insert_for(db.dialect.name, table)


def insert_for(dialect: str, table: sa.Table) -> Any:
    """Like ``insert``, for a statement that is built before there is a connection."""
    # Each dialect takes some hundredths of a second to import, and few processes need both.
    if dialect == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table)
    from sqlalchemy.dialects import sqlite

    return sqlite.insert(table)


def pad_ids(ids: Collection[str]) -> list[str]:
    """Pad the ids to a power of two by repeating the last one, so that only a few different
    statements have to be compiled and prepared."""
    wanted = list(ids)
    return wanted + wanted[-1:] * ((1 << (len(wanted) - 1).bit_length()) - len(wanted))


async def update_fenced(db: AsyncConnection, run_id: str, attempt: int, **values: Any) -> None:
    """Change a run's row if ``attempt`` is still its current one; without values, only lock it.
    Raises ``RunLost`` otherwise."""
    new_values = {f"new_{name}": value for name, value in values.items()}
    statement = _fenced(tuple(values))
    result = await db.execute(statement, {"its_id": run_id, "its_attempt": attempt, **new_values})
    if result.rowcount != 1:
        raise RunLost(f"Run {run_id} has been taken over by a later attempt.")


@cache
def _fenced(names: Sequence[str]) -> sa.Update:
    """The statement of ``update_fenced`` for these columns."""
    attempt = sa.bindparam("its_attempt", type_=runs.c.attempt.type)
    new = {name: sa.bindparam(f"new_{name}", type_=runs.c[name].type) for name in names}
    return (
        sa.update(runs)
        .where(runs.c.id == sa.bindparam("its_id"), runs.c.attempt == attempt)
        .values(new or {"attempt": attempt})
    )


async def keep_thread(db: AsyncConnection, thread: Thread, now: datetime) -> None:
    """Store a thread, unless it is already stored."""
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
        "made_from": list(message.made_from),
    }


def asked_of(row: Any) -> Wording:
    """The text of a row that has ``text`` and ``made_from`` of a message."""
    return Wording(row.text, Provenance.of(row.made_from))


def thread_of(row: Any) -> Thread:
    return Thread(row.platform, row.workspace, row.channel, row.thread)


def page_of(row: Any) -> Page:
    return Page(row.url, row.title, row.text, row.fetched_at, row.hash, row.via)


async def keep_fact(
    db: AsyncConnection, platform: str, workspace: str, name: str, value: Any
) -> None:
    """Store a fact about a workspace, replacing an earlier one of the same name."""
    key = {"platform": platform, "workspace": workspace, "name": name}
    row = {"value": value, "at": datetime.now(UTC)}
    await db.execute(
        insert(db, facts)
        .values(**key, **row)
        .on_conflict_do_update(index_elements=[*key], set_=row)
    )


async def fact(db: AsyncConnection, platform: str, workspace: str, name: str) -> Any:
    """The value of a fact about a workspace, or None."""
    of_workspace = facts.c.platform == platform, facts.c.workspace == workspace
    return await db.scalar(sa.select(facts.c.value).where(*of_workspace, facts.c.name == name))


async def show_numbers(db: AsyncConnection, run_id: str, shown: Mapping[int, int]) -> None:
    """Store the footnote numbers that readers see; pages without one are numbered after them."""
    numbers = (await db.scalars(_numbers(), {"its_id": run_id})).all()
    following = max((*shown.values(), *(() if shown else numbers)), default=0)
    rows = []
    for number in sorted(numbers):
        its = shown.get(number) if shown else number
        if its is None:
            its = following = following + 1
        rows.append({"its_number": number, "its_shown": its})
    if rows:
        of_run = run_pages.c.run_id == run_id
        statement = sa.update(run_pages).where(
            of_run, run_pages.c.number == sa.bindparam("its_number")
        )
        await db.execute(statement.values(shown=sa.bindparam("its_shown")), rows)


@cache
def _numbers() -> sa.Select[Any]:
    return sa.select(run_pages.c.number).where(run_pages.c.run_id == sa.bindparam("its_id"))


async def citation_rows(
    db: AsyncConnection, run_id: str, cited: Sequence[Citation]
) -> list[dict[str, Any]]:
    """The rows of an answer's citations, in their order."""
    numbered = sa.select(run_pages.c.shown, run_pages.c.page_id).where(run_pages.c.run_id == run_id)
    page_ids = {row.shown: row.page_id for row in (await db.execute(numbered)).all()}
    # The quoted copy of the page, which may differ from the copy that got the number.
    quoted = sa.select(pages.c.id, pages.c.url, pages.c.hash).where(
        sa.tuple_(pages.c.url, pages.c.hash).in_({(c.url, c.page_hash) for c in cited})
    )
    copies = {(row.url, row.hash): row.id for row in (await db.execute(quoted)).all()}
    return [
        {
            "run_id": run_id,
            "position": position,
            "number": citation.number,
            "page_id": copies.get((citation.url, citation.page_hash)) or page_ids[citation.number],
            "start": citation.start,
            "end": citation.end,
            "quote": citation.quote,
        }
        for position, citation in enumerate(cited)
    ]
