"""Commands for stored data: list and export threads, prune old rows, delete, check, back up."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer
from pydantic import TypeAdapter
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from bot.command import this_user
from bot.conversing.forgetting import Forgetter, Maintenance, day_after
from bot.errors import Invalid
from bot.messages import TERMINAL
from bot.rendering.conversation import as_markdown
from bot.rendering.documents import printed_json
from bot.rendering.lines import one_line, shortened
from bot.settings import Settings
from bot.storage import migrate
from bot.storage.archive import Archive, Conversation, ThreadEntry
from bot.storage.audit import Actor, Audit, act_as, named
from bot.storage.connecting import Connecting
from bot.storage.database import Database, existing_database
from bot.storage.integrity import findings
from bot.storage.removal import Removed
from bot.storage.retention import Keep, Retention
from bot.storage.store import Store, open_store
from bot.storage.subjects import Subject

BEGINNING = 60  # characters of a thread's first message

TITLES = {
    "threads": "threads",
    "messages": "messages",
    "runs": "runs with their answers",
    "steps": "steps",
    "pages": "pages that nothing else rests on",
    "feedback": "verdicts on answers",
    "spending": "daily sums of spending",
    "rules": "channel rules",
    "facts": "facts about the workspace",
    "installations": "installations",
    "audit": "rows of the audit log",
    "pseudonyms": "rows of the audit log in which a pseudonym takes the person's place",
}


@asynccontextmanager
async def open_records(settings: Settings) -> AsyncIterator[Store]:
    """Open the store for the block. Raises ``StorageUnavailable``."""
    act_as(_this_person())
    store = await open_store(settings.database, connecting=Connecting.of(settings))
    try:
        yield store
    finally:
        await store.close()


def forgetter_of(store: Store) -> Forgetter:
    """Return a forgetter for a process that does not work on runs; those that do find in the store
    which runs to stop."""
    return Forgetter(store.database, store.request_stop)


async def to_forget(store: Store, subject: Subject) -> Removed:
    """Count the rows that ``forgotten`` would delete, including today's sums."""
    return await forgetter_of(store).count(subject, day_after(datetime.now(UTC).date()))


async def forget(store: Store, subject: Subject) -> Removed:
    """Delete a subject's data."""
    return await forgetter_of(store).forget(subject, day_after(datetime.now(UTC).date()))


async def prune(settings: Settings) -> Removed:
    """Prune once, as ``footnote serve`` does every hour."""
    async with open_records(settings) as store:
        retention = Retention(store.database, Keep.of(settings))
        return await Maintenance(retention, forgetter_of(store)).once()


async def export_thread(settings: Settings, name: str, form: str) -> str:
    """Export a thread as "markdown" or "json". Raises ``Invalid`` if there is none of that name."""
    async with open_records(settings) as store:
        archive = Archive(store.database)
        conversation = await archive.conversation(await archive.find(name))
        key = named(conversation.thread.key)
        await Audit(store.database).note("exported", "conversation", key)
    return as_json(conversation) if form == "json" else as_markdown(conversation)


async def list_threads(settings: Settings, platform: str | None, limit: int) -> list[ThreadEntry]:
    """Return the latest threads."""
    async with open_records(settings) as store:
        return await Archive(store.database).threads(platform, limit)


async def check_integrity(settings: Settings) -> int:
    """Print the ``integrity.findings`` about the database; return the number of problems.

    Raises ``StorageUnavailable``.
    """
    database = existing_database(settings.database, Connecting.of(settings))
    problems = 0
    try:
        async for finding in findings(database):
            typer.echo(f"{finding.what}: {finding.problem or f'{finding.looked_at:,} sound'}")
            problems += bool(finding.problem)
    finally:
        await database.close()
    return problems


async def backed_up(settings: Settings, target: Path) -> int:
    """Copy an SQLite database while others write to it; return the size of the copy in bytes.

    The copy replaces an older one atomically, and only its owner may read it. Raises ``Invalid``
    for another kind of database, and ``StorageUnavailable``.
    """
    database = existing_database(settings.database, Connecting.of(settings))
    try:
        if database.dialect != "sqlite":
            raise Invalid(
                "PostgreSQL has its own tools for backups: pg_dump, or point-in-time recovery. "
                "The handbook's page on storage has the commands."
            )
        if not target.parent.is_dir():
            raise Invalid(f"{target.parent} is not a folder: make it, or name another place.")
        partial = target.with_name(f".{target.name}.partial")
        try:
            partial.unlink(missing_ok=True)
            partial.touch(mode=0o600)
            await _note_backup(database)
            async with database.long_read() as connection:
                await connection.exec_driver_sql("VACUUM INTO ?", (str(partial),))
            size = partial.stat().st_size
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise Invalid(f"{target} cannot be written: {error.strerror}.") from None
    finally:
        await database.close()
    return size


async def _note_backup(database: Database) -> None:
    """Add a row to the audit log, unless the database is too old to have one."""
    async with database.read() as connection:
        lacking = await connection.run_sync(migrate.missing)
    if not lacking:
        await Audit(database).note("exported", "database", by=_this_person())


def _this_person() -> Actor:
    return Actor(TERMINAL, "local", this_user())


# ---------------------------------------------------------------- looks


def show(what: RenderableType) -> None:
    """Print to standard output."""
    Console(soft_wrap=True).print(what)


def removed_table(removed: Removed, title: str) -> RenderableType:
    """Return a table with the numbers of rows that were, or would be, deleted."""
    table = Table(box=None, show_header=False)
    table.add_column("", justify="right")
    table.add_column("")
    for kind, number in asdict(removed).items():
        if number:
            table.add_row(f"{number:,}", TITLES[kind])
    return Group(Text(title, style="bold"), table)


def threads_lines(found: list[ThreadEntry]) -> RenderableType:
    """Format the threads, each with its key for exporting or deleting it."""
    if not found:
        return Text("Nothing was asked yet.")
    lines: list[RenderableType] = []
    for one in found:
        last = f"{one.last_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        counts = f"{one.questions:,} of {one.messages:,} messages asked"
        begins = shortened(one_line(one.begins), BEGINNING)
        lines += [Text(one.thread.key, style="bold"), Text(f"    {last} · {counts} · {begins}")]
    return Group(*lines)


def threads_json(found: list[ThreadEntry]) -> str:
    """Return threads in the documented form of ``footnote threads --json``."""
    rows = [
        {
            "key": one.thread.key,
            **asdict(one.thread),
            "messages": one.messages,
            "questions": one.questions,
            "begins": one.begins,
            "last_at": one.last_at.astimezone(UTC).isoformat(),
        }
        for one in found
    ]
    return printed_json(rows)


_conversation = TypeAdapter(Conversation)


def as_json(conversation: Conversation) -> str:
    """Return a conversation in the documented form of ``footnote export --format json``; times are
    in UTC."""
    thread = conversation.thread
    document: dict[str, Any] = {
        "key": thread.key,
        **_conversation.dump_python(conversation, mode="json"),
    }
    return printed_json(document)
