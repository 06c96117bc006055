"""Consistency checks of a database: its files, its schema, and answers against their pages.

For ``footnote db check``, after a crash of the machine or a restored backup. Only reads.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.reader import is_conversation
from bot.storage import migrate
from bot.storage.database import Database
from bot.storage.tables import citations, pages, run_pages, runs

AT_ONCE = 200  # pages whose text is read at once
NAMED = 3  # runs or pages named in a finding
ENDED = ("answered", "partial", "not_found", "failed", "stopped")


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    ``problem`` is a sentence that ends with the remedy, or "" if there is none; ``looked_at``
    counts rows."""

    what: str
    looked_at: int
    problem: str = ""


async def findings(database: Database) -> AsyncIterator[Finding]:
    """Check the storage, the schema, then the rows. Later checks are skipped when an earlier
    failure makes them meaningless.

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
    restore = "Restore a backup; `footnote db check` then checks it."
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
    results = (await connection.exec_driver_sql(f"PRAGMA integrity_check({NAMED})")).scalars().all()
    if results != ["ok"]:
        return Finding("file", len(results), f"SQLite says: {'; '.join(results)}. {restore}")
    orphans = (await connection.exec_driver_sql("PRAGMA foreign_key_check")).all()
    if orphans:
        tables = ", ".join(sorted({str(row[0]) for row in orphans}))
        orphaned = f"{len(orphans)} rows of {tables} belong to rows that no longer exist"
        return Finding("file", len(orphans), f"{orphaned}. {restore}")
    return Finding("file", 1)


async def _quotes(connection: AsyncConnection) -> Finding:
    """Check that each quote appears verbatim in its page."""
    length = citations.c.end - citations.c.start
    there = sa.func.substr(pages.c.text, citations.c.start + 1, length)
    joined = citations.join(pages, pages.c.id == citations.c.page_id)
    count = await connection.scalar(sa.select(sa.func.count()).select_from(citations))
    altered = sa.select(citations.c.run_id).select_from(joined).where(there != citations.c.quote)
    found = (await connection.scalars(altered)).all()
    return Finding("quotes", count or 0, _about(found, "quotes do not occur in their pages"))


async def _numbers(connection: AsyncConnection) -> Finding:
    """Check that each citation has a footnote number of its run. Copies of one address share a
    number, so the quoted page may be a different copy from the one that got the number."""
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
    """Check each page's text against its digest, except conversations, which are kept in part."""
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
            f"{len(altered)} pages differ from the text that was stored: {named}. Restore a backup."
        )
    return Finding("pages", count, problem)


async def _ends(connection: AsyncConnection) -> Finding:
    """Check that each run that has ended has an end time."""
    count = await connection.scalar(sa.select(sa.func.count()).select_from(runs))
    open_ended = sa.select(runs.c.id).where(runs.c.state.in_(ENDED), runs.c.ended_at.is_(None))
    found = (await connection.scalars(open_ended)).all()
    return Finding("runs", count or 0, _about(found, "runs have ended, but have no end time"))


def _about(found: Sequence[str], problem: str) -> str:
    """A sentence about rows of some runs, or ""."""
    if not found:
        return ""
    named = ", ".join(dict.fromkeys(found[:NAMED]))
    return f"{len(found)} {problem} (run {named}). Restore a backup, or forget their threads."
