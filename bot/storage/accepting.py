"""Accepting a question: its thread, message, run, count and audit row are stored together.

PostgreSQL does this in one statement, which is one round trip and one commit; SQLite, where a
statement changes only one table, does it in a transaction of several statements.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.errors import StorageUnavailable
from bot.core.messages import Message, RunOptions
from bot.storage.audit import Actor, audit, deed_row, named
from bot.storage.files import keep_files
from bot.storage.records import as_options
from bot.storage.rows import insert, insert_for, keep_thread, message_row
from bot.storage.spending import (
    Amount,
    DaySpent,
    Payer,
    add_spent,
    adding,
    day_spent,
    given_amount,
)
from bot.storage.tables import messages, runs, threads


@dataclass(frozen=True, slots=True)
class NewQuestion:
    """A question to store as the run ``run_id``; ``permit``, ``files`` and ``together`` as in
    ``Store.accept``."""

    run_id: str
    message: Message
    options: RunOptions
    at: datetime
    owner: str | None
    lease: timedelta
    post_state: Mapping[str, Any] | None
    permit: Callable[[DaySpent], None] | None
    files: Mapping[str, bytes]
    together: Callable[[AsyncConnection], Awaitable[None]] | None

    @property
    def is_one_statement(self) -> bool:
        """True if one statement can store all of it, in databases that support that."""
        return self.permit is None and not self.files and self.together is None

    @property
    def payer(self) -> Payer:
        return Payer.of(self.message)

    def thread_row(self) -> dict[str, Any]:
        thread = self.message.thread
        return {"key": thread.key, **asdict(thread), "created_at": self.at}

    def run_row(self) -> dict[str, Any]:
        """The row of the run, without the message's id."""
        return {
            "id": self.run_id,
            "thread_key": self.message.thread.key,
            "state": "due" if self.options.watch else "accepted",
            "options": as_options.dump_python(self.options, mode="json"),
            "accepted_at": self.at,
            "owner": self.owner,
            "lease_until": None if self.owner is None else self.at + self.lease,
            "post_state": self.post_state,
        }

    def audit_row(self) -> dict[str, Any]:
        place, by = named(self.message.thread.key), Actor.of(self.message)
        return deed_row("asked", "run", self.run_id, place=place, by=by, at=self.at)


async def keep_question(db: AsyncConnection, asked: NewQuestion) -> str:
    """Store a question unless its message already has a run; returns the id of the message's run.

    Raises the exceptions of ``permit`` and ``together``, and ``StorageUnavailable`` if the caller
    should retry.
    """
    keep = _keep_at_once if db.dialect.name == "postgresql" else _keep_in_turn
    message_id = await keep(db, asked)
    if message_id is None:
        earlier: str | None = await db.scalar(_earlier(), {"its_key": _event_key(asked)})
        if earlier is None:
            raise StorageUnavailable("The message was removed meanwhile.", kind="contended")
        return earlier
    if asked.together is not None:
        await asked.together(db)
    await keep_files(db, message_id, asked.files)
    uploaded = Amount(uploaded_bytes=sum(map(len, asked.files.values())))
    await add_spent(db, asked.payer, _day(asked), uploaded)
    if asked.permit is not None:
        asked.permit(await day_spent(db, asked.payer, _day(asked)))
    return asked.run_id


def _event_key(asked: NewQuestion) -> str:
    return f"{asked.message.thread.platform}:{asked.message.event_id}"


def _day(asked: NewQuestion) -> Any:
    return asked.at.astimezone(UTC).date()


@cache
def _earlier() -> sa.Select[Any]:
    """The run of the message ``its_key``."""
    return (
        sa.select(runs.c.id).join(messages).where(messages.c.event_key == sa.bindparam("its_key"))
    )


# ---------------------------------------------------------------- SQLite


async def _keep_in_turn(db: AsyncConnection, asked: NewQuestion) -> int | None:
    """Store the rows; returns the id of the message, or None if it already has a run."""
    if await db.scalar(_earlier(), {"its_key": _event_key(asked)}) is not None:
        return None
    await add_spent(db, asked.payer, _day(asked), Amount(questions=1))
    await keep_thread(db, asked.message.thread, asked.at)
    row = message_row(asked.message)
    # A message that was stored as context only (a thread's history) becomes a question.
    kept = insert(db, messages).values(row).on_conflict_do_update(["event_key"], set_=row)
    message_id: int | None = await db.scalar(kept.returning(messages.c.id))
    await db.execute(sa.insert(runs).values(message_id=message_id, **asked.run_row()))
    await db.execute(sa.insert(audit).values(asked.audit_row()))
    return message_id


# ---------------------------------------------------------------- PostgreSQL


async def _keep_at_once(db: AsyncConnection, asked: NewQuestion) -> int | None:
    """Like ``_keep_in_turn``."""
    rows = {
        threads.name: asked.thread_row(),
        messages.name: message_row(asked.message),
        runs.name: asked.run_row(),
        audit.name: asked.audit_row(),
    }
    values = {f"{table}_{name}": value for table in rows for name, value in rows[table].items()}
    values |= given_amount(asked.payer, _day(asked), Amount(questions=1))
    found: int | None = await db.scalar(_keeping(*map(tuple, rows.values())), values)
    return found


@cache
def _keeping(
    of_threads: Sequence[str],
    of_messages: Sequence[str],
    of_runs: Sequence[str],
    of_audit: Sequence[str],
) -> Any:
    """The statement for these columns. Its parameters are the columns, prefixed with their table's
    name, and those of ``given_amount``.

    The lock on the thread is held until the end, so that message ids follow the order of
    acceptance, and one event creates one run. Existing rows are detected by conflicts, because a
    query in this statement would see the tables as they were before it waited for the lock. The
    statement is kept below 4,096 characters and 50 parameters: the driver does not cache the
    parsed form of longer ones.
    """
    key = sa.func.hashtextextended(
        sa.bindparam("threads_key", type_=sa.Text()), sa.literal_column("0")
    )
    lock = sa.func.pg_advisory_xact_lock(key).table_valued("held", name="lock")
    alone = sa.select(sa.literal_column("1").label("held")).select_from(lock).cte("alone")
    thread = _insert(threads, of_threads, alone).on_conflict_do_nothing().cte("thread")
    new_message = _insert(messages, of_messages, alone)
    has_run = sa.exists(sa.select(runs.c.id).where(runs.c.message_id == sa.text("messages.id")))
    message = (
        # A message that was stored as context only (a thread's history) becomes a question.
        new_message.on_conflict_do_update(
            index_elements=["event_key"],
            set_={name: new_message.excluded[name] for name in of_messages},
            where=~has_run,
        )
        .returning(messages.c.id)
        .cte("message")
    )
    run = (
        _insert(runs, of_runs, message, message_id=message.c.id)
        .on_conflict_do_nothing()
        .returning(runs.c.message_id)
        .cte("run")
    )
    spent = adding("postgresql", ("questions",), run).cte("spent")
    deed = _insert(audit, of_audit, run).cte("deed")
    return sa.select(run.c.message_id).add_cte(thread, spent, deed)


def _insert(
    table: sa.Table, names: Sequence[str], per: sa.CTE, **more: sa.ColumnElement[Any]
) -> Any:
    """An insert of one row for each row of ``per``."""
    given = [
        sa.bindparam(f"{table.name}_{name}", type_=table.c[name].type).label(name) for name in names
    ]
    rows = sa.select(*given, *more.values()).select_from(per)
    return insert_for("postgresql", table).from_select([*names, *more], rows)
