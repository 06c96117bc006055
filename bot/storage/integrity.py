"""Checks that a database is whole: its files, its schema, and that answers rest on their pages.

For ``footnote db check``, after a crash of the machine or a restored backup. It only reads.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.rights.reader import is_conversation
from bot.storage import migrate
from bot.storage.database import Database
from bot.storage.tables import citations, pages, run_pages, runs

AT_ONCE = 200  # pages whose text is read at a time
NAMED = 3  # runs or pages that a finding names
ENDED = ("answered", "partial", "not_found", "failed", "stopped")


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    ``problem`` is a sentence that ends with the way out, or "" where all is well; ``looked_at``
    counts rows."""

    what: str
    looked_at: int
    problem: str = ""


async def findings(database: Database) -> AsyncIterator[Finding]:
    """Check the storage, the schema, then the rows. Later checks are left out where an earlier one
    makes them meaningless.

    Raises ``StorageUnavailable`` if the database cannot be read.
    """
    async with database.long_read() as connection:
        storage = await _storage(connection)
        yield storage
        lacking = await connection.run_sync(migrate.missing)
        problem = f"The database {lacking}." if lacking else ""
        yield Finding("schema", 1, problem)
        if lacking or storage.problem:
            return
        checks: tuple[Callable[[AsyncConnection], Awaitable[Finding]], ...] = (
            _quotes,
            _numbers,
            _texts,
            _ends,
        )
        for check in checks:
            yield await check(connection)


async def _storage(connection: AsyncConnection) -> Finding:
    """The database's own checks of its files and indexes."""
    restore = "Restore a backup; `footnote db check` tells whether it is whole."
    if connection.dialect.name == "postgresql":
        indexes = (
            await connection.scalars(
                sa.text(
                    "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid"
                    " AND indrelid IN (SELECT oid FROM pg_class WHERE relnamespace ="
                    " current_schema()::regnamespace)"
                )
            )
        ).all()
        named = ", ".join(indexes)
        problem = f"These indexes are not valid: {named}. Run `REINDEX INDEX` on each."
        return Finding("indexes", len(indexes), problem if indexes else "")
    told = (await connection.exec_driver_sql(f"PRAGMA integrity_check({NAMED})")).scalars().all()
    if told != ["ok"]:
        return Finding("file", len(told), f"SQLite says: {'; '.join(told)}. {restore}")
    orphans = (await connection.exec_driver_sql("PRAGMA foreign_key_check")).all()
    if orphans:
        tables = ", ".join(sorted({str(row[0]) for row in orphans}))
        told_of = f"{len(orphans)} rows of {tables} belong to rows that are gone"
        return Finding("file", len(orphans), f"{told_of}. {restore}")
    return Finding("file", 1)


async def _quotes(connection: AsyncConnection) -> Finding:
    """Each quote stands verbatim in the page it is from."""
    length = citations.c.end - citations.c.start
    there = sa.func.substr(pages.c.text, citations.c.start + 1, length)
    joined = citations.join(pages, pages.c.id == citations.c.page_id)
    count = await connection.scalar(sa.select(sa.func.count()).select_from(citations))
    altered = sa.select(citations.c.run_id).select_from(joined).where(there != citations.c.quote)
    found = (await connection.scalars(altered)).all()
    return Finding("quotes", count or 0, _about(found, "quotes do not stand in their pages"))


async def _numbers(connection: AsyncConnection) -> Finding:
    """Each citation has a footnote number that its run has given. Copies of one address share it,
    so the page that is quoted may be another one than that which the number was given to."""
    given = sa.func.coalesce(run_pages.c.shown, run_pages.c.number)
    joined = citations.outerjoin(
        run_pages,
        sa.and_(run_pages.c.run_id == citations.c.run_id, given == citations.c.number),
    )
    count = await connection.scalar(sa.select(sa.func.count()).select_from(run_pages))
    strange = sa.select(citations.c.run_id).select_from(joined).where(run_pages.c.page_id.is_(None))
    found = (await connection.scalars(strange)).all()
    return Finding("footnote numbers", count or 0, _about(found, "citations have no footnote"))


async def _texts(connection: AsyncConnection) -> Finding:
    """Each page has the text that its digest was made of; of conversations only quotes are kept."""
    count, last, altered = 0, 0, list[str]()
    columns = (pages.c.id, pages.c.url, pages.c.hash, pages.c.text)
    while True:
        query = sa.select(*columns).where(pages.c.id > last).order_by(pages.c.id).limit(AT_ONCE)
        rows = (await connection.execute(query)).all()
        if not rows:
            break
        for number, url, digest, text in rows:
            count, last = count + 1, number
            if is_conversation(url):
                continue
            if hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() != digest:
                altered.append(url)
    problem = ""
    if altered:
        named = ", ".join(altered[:NAMED])
        problem = (
            f"{len(altered)} pages have not the text that was stored: {named}. Restore a backup."
        )
    return Finding("pages", count, problem)


async def _ends(connection: AsyncConnection) -> Finding:
    """Each run that has ended says when."""
    count = await connection.scalar(sa.select(sa.func.count()).select_from(runs))
    open_ended = sa.select(runs.c.id).where(runs.c.state.in_(ENDED), runs.c.ended_at.is_(None))
    found = (await connection.scalars(open_ended)).all()
    return Finding("runs", count or 0, _about(found, "runs have ended, but not at any time"))


def _about(found: Sequence[str], told: str) -> str:
    """A sentence on rows of some runs, or ""."""
    if not found:
        return ""
    named = ", ".join(dict.fromkeys(found[:NAMED]))
    return f"{len(found)} {told} (run {named}). Restore a backup, or forget their threads."
