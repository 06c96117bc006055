"""Messages: accepting a question, context, files, edits, deletions, moves to another thread.

A question's thread, message, run, count and audit row are stored together. PostgreSQL does this in
one statement, which is one round trip and one commit; SQLite, where a statement changes only one
table, does it in a transaction of several statements.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.errors import StorageUnavailable
from bot.core.messages import Attachment, Message, Provenance, RunOptions, Thread
from bot.core.reader import documents_in
from bot.storage.audit_log import Actor, deed_row, named, note
from bot.storage.console import forget_names
from bot.storage.database import Transactions, awaited, repeated
from bot.storage.journal import BEFORE
from bot.storage.removal import pages_attached, remove_pages
from bot.storage.spending import (
    Amount,
    DaySpent,
    Payer,
    add_spent,
    adding,
    count_question,
    day_spent,
    given_amount,
)
from bot.storage.tables import (
    THREAD,
    UNFINISHED,
    as_answer,
    as_options,
    asked_runs,
    audit,
    citations,
    corrections,
    files,
    insert,
    insert_for,
    keep_thread,
    message_row,
    messages,
    run_pages,
    runs,
    spending,
    steps,
    thread_of,
    thread_row,
    threads,
    update_fenced,
    watches,
)


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

    @property
    def event_key(self) -> str:
        return f"{self.message.thread.platform}:{self.message.event_id}"

    @property
    def day(self) -> date:
        return self.at.astimezone(UTC).date()

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
        earlier: str | None = await db.scalar(_run_of_event(), {"its_key": asked.event_key})
        if earlier is None:
            raise StorageUnavailable("The message was removed meanwhile.", kind="contended")
        return earlier
    if asked.together is not None:
        await asked.together(db)
    for url, body in asked.files.items():
        await db.execute(sa.insert(files).values(message_id=message_id, url=url, body=body))
    uploaded = Amount(uploaded_bytes=sum(map(len, asked.files.values())))
    await add_spent(db, asked.payer, asked.day, uploaded)
    if asked.permit is not None:
        asked.permit(await day_spent(db, asked.payer, asked.day))
    return asked.run_id


@cache
def _run_of_event() -> sa.Select[Any]:
    """The run of the message ``its_key``."""
    return (
        sa.select(runs.c.id).join(messages).where(messages.c.event_key == sa.bindparam("its_key"))
    )


# ---------------------------------------------------------------- SQLite


async def _keep_in_turn(db: AsyncConnection, asked: NewQuestion) -> int | None:
    """Store the rows; returns the id of the message, or None if it already has a run."""
    if await db.scalar(_run_of_event(), {"its_key": asked.event_key}) is not None:
        return None
    await add_spent(db, asked.payer, asked.day, Amount(questions=1))
    await keep_thread(db, asked.message.thread, asked.at)
    row = message_row(asked.message)
    message_id: int | None = await db.scalar(_keeping_message(tuple(row)), row)
    await db.execute(sa.insert(runs), {"message_id": message_id, **asked.run_row()})
    await db.execute(sa.insert(audit), asked.audit_row())
    return message_id


@cache
def _keeping_message(names: Sequence[str]) -> Any:
    """Store a message with these columns; returns its id."""
    kept = insert_for("sqlite", messages)
    # A message that was stored as context only (a thread's history) becomes a question.
    row = {name: kept.excluded[name] for name in names}
    return kept.on_conflict_do_update(index_elements=["event_key"], set_=row).returning(
        messages.c.id
    )


# ---------------------------------------------------------------- PostgreSQL


async def _keep_at_once(db: AsyncConnection, asked: NewQuestion) -> int | None:
    """Like ``_keep_in_turn``."""
    rows = {
        threads.name: thread_row(asked.message.thread, asked.at),
        messages.name: message_row(asked.message),
        runs.name: asked.run_row(),
        audit.name: asked.audit_row(),
    }
    values = {f"{table}_{name}": value for table in rows for name, value in rows[table].items()}
    values |= given_amount(asked.payer, asked.day, Amount(questions=1))
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


@dataclass(frozen=True, slots=True)
class FileUse:
    """The files that are stored, with their bytes, and the bytes that people sent on a day: all
    together, and the most of one person."""

    files: int
    stored: int
    today: int
    most: int


class Files(Transactions):
    """Failures are raised as ``StorageUnavailable``."""

    @awaited
    async def use(self, day: date) -> FileUse:
        """The use of the disk by files, and by those of a day (UTC), deleted ones included."""
        sizes = sa.select(sa.func.count(), sa.func.sum(sa.func.length(files.c.body)))
        sent = (
            sa.select(sa.func.sum(spending.c.uploaded_bytes).label("bytes"))
            .where(spending.c.day == day, spending.c.scope == "user")
            .group_by(spending.c.platform, spending.c.name)
            .subquery()
        )
        sums = sa.select(sa.func.sum(sent.c.bytes), sa.func.max(sent.c.bytes))
        async with self.database.read() as db:
            count, stored = (await db.execute(sizes)).one()
            today, most = (await db.execute(sums)).one()
        return FileUse(count, int(stored or 0), int(today or 0), int(most or 0))

    @awaited
    async def body(self, url: str) -> bytes | None:
        """The content of a file; None if it was deleted."""
        return await self._scalar(sa.select(files.c.body).where(files.c.url == url))

    @repeated
    async def of_thread(self, thread: Thread) -> Sequence[Attachment]:
        """The stored files of a thread, in the order in which they were sent."""
        query = (
            sa.select(messages.c.attachments, files.c.url)
            .join(files, files.c.message_id == messages.c.id)
            .join(runs, runs.c.message_id == messages.c.id)
            .where(messages.c.thread_key == thread.key, runs.c.removed.is_(False))
            .order_by(files.c.id)
        )
        rows = await self._rows(query)
        sent = [Attachment(**file) for row in rows for file in row.attachments]
        of = {file.url: file for file in sent if not file.again}
        return [of[row.url] for row in rows if row.url in of]


ANSWERS_KNOWN = 500  # answers of a channel that one of Footnote's posts may be, the latest ones


class Conversations(Transactions):
    """Every method is one transaction, retried as ``repeated`` and ``awaited`` say. Failures are
    raised as ``StorageUnavailable``."""

    # ------------------------------------------------------------ asking about them

    @repeated
    async def takes_part(self, thread: Thread) -> bool:
        """Return True if a question was ever accepted in this thread."""
        query = sa.select(sa.select(runs.c.id).where(runs.c.thread_key == thread.key).exists())
        return bool(await self._scalar(query))

    @repeated
    async def knows(self, platform: str, event_id: str) -> bool:
        """Return True if the message is stored, even if its text was deleted."""
        query = sa.select(sa.select(messages.c.id).where(_is_event(platform, event_id)).exists())
        return bool(await self._scalar(query))

    @repeated
    async def is_heard(self, platform: str, event_id: str) -> bool:
        """Return True if the message is stored as context only."""
        query = sa.select(messages.c.id).join(runs, isouter=True)
        query = query.where(_is_event(platform, event_id), runs.c.id.is_(None))
        return bool(await self._scalar(sa.select(query.exists())))

    @repeated
    async def run_of(self, platform: str, event_id: str) -> str | None:
        """The id of the run that a message began."""
        query = sa.select(runs.c.id).join(messages).where(_is_event(platform, event_id))
        return await self._scalar(query)

    @repeated
    async def unfinished_in(self, thread: Thread) -> list[str]:
        """The ids of the thread's runs that have not ended, oldest first."""
        query = (
            sa.select(runs.c.id)
            .where(runs.c.thread_key == thread.key, runs.c.state.in_(UNFINISHED))
            .order_by(runs.c.message_id)
        )
        return await self._scalars(query)

    @repeated
    async def unfinished_of(
        self, author_id: str, platform: str, workspace: str, channel: str
    ) -> list[str]:
        """The ids of someone's unfinished runs in the threads of a channel, oldest first."""
        query = (
            sa.select(runs.c.id)
            .select_from(asked_runs)
            .where(
                runs.c.state.in_(UNFINISHED),
                messages.c.author_id == author_id,
                threads.c.platform == platform,
                threads.c.workspace == workspace,
                threads.c.channel == channel,
            )
            .order_by(runs.c.message_id)
        )
        return await self._scalars(query)

    @repeated
    async def ahead_of(self, run_id: str) -> int:
        """The number of unfinished runs in the thread that precede this one."""
        return int(await self._scalar(_ahead(), {"its_id": run_id}) or 0)

    @awaited
    async def history_is_read(self, thread: Thread) -> bool:
        """Return True if the messages before Footnote joined have been read from the platform."""
        query = sa.select(threads.c.history_read).where(threads.c.key == thread.key)
        return bool(await self._scalar(query))

    # ------------------------------------------------------------ changing them

    @repeated
    async def hear(self, said: Sequence[Message], now: datetime) -> None:
        """Store messages that are not questions, as context for later questions."""
        async with self.database.urgent_write() as db:
            await _keep_heard(db, said, now)

    @awaited
    async def keep_history(self, thread: Thread, said: Sequence[Message], now: datetime) -> None:
        """Store the messages of a thread from before Footnote joined, and mark them as read."""
        read = sa.update(threads).where(threads.c.key == thread.key).values(history_read=True)

        async def keep(db: AsyncConnection) -> None:
            await _keep_heard(db, said, now)
            await db.execute(read)

        await self.database.transact(keep)

    @repeated
    async def answers_rest_on(self, thread: Thread) -> Provenance:
        """The documents of Footnote's answers in a thread; in its channel if it has none there."""
        query = (
            sa.select(runs.c.thread_key, runs.c.answer)
            .join(threads, runs.c.thread_key == threads.c.key)
            .where(
                threads.c.platform == thread.platform,
                threads.c.workspace == thread.workspace,
                threads.c.channel == thread.channel,
                runs.c.answer.is_not(None),
            )
            .order_by(runs.c.accepted_at.desc())
            .limit(ANSWERS_KNOWN)
        )
        rows = await self._rows(query)
        inside = [row for row in rows if row.thread_key == thread.key] or rows
        answers = [as_answer.validate_python(row.answer) for row in inside]
        return Provenance.of(*(documents_in(answer.rests_on) for answer in answers))

    @repeated
    async def edit(
        self,
        platform: str,
        event_id: str,
        text: str,
        links: Sequence[str],
        now: datetime,
        *,
        owner: str | None,
        lease: timedelta,
        permit: Callable[[DaySpent], None] | None = None,
        addressed: bool = False,
        regenerate: bool = False,
    ) -> tuple[str, Thread] | None:
        """Store the new text of an edited message and restart its run, even one that has ended.
        With ``regenerate``, the same text is answered again; only a run that failed reuses what it
        had finished (see ``journal.BEFORE``).

        The process that is working on the run loses it; its posts stay recorded, so that the new
        answer replaces them. Returns None when the text has not changed or the message began no
        run. The edit counts as another question of the day; ``permit`` as in ``Store.accept``. With
        ``addressed``, the message is not ``unaddressed`` any more, which is a change until its run
        has ended.
        """
        async with self.database.urgent_write() as db:
            row = await _find(db, platform, event_id)
            if row is None or row.removed:
                return None
            is_waiting = row.run_id is not None and row.state in UNFINISHED
            is_new = is_waiting and addressed and row.options.get("unaddressed")
            if row.text == text and not (is_new or regenerate):
                return None
            if row.text != text:
                await db.execute(
                    sa.update(messages)
                    .where(messages.c.id == row.message_id)
                    .values(text=text, links=list(links), made_from=[])
                )
            if row.run_id is None:
                return None
            if is_retry := regenerate and row.state == "failed":
                its_steps = sa.update(steps).where(steps.c.run_id == row.run_id)
                await db.execute(its_steps.values(attempt=BEFORE))
            afresh = regenerate and not is_retry
            await _begin_again(db, row, now, owner, lease, removed=False, regenerate=afresh)
            if addressed and row.options.get("unaddressed"):
                options = row.options | {"unaddressed": False}
                its_run = sa.update(runs).where(runs.c.id == row.run_id)
                await db.execute(its_run.values(options=options))
            # Last, in the same order as when steps are recorded, to avoid a deadlock.
            payer = Payer(row.platform, row.workspace, row.channel, row.author_id)
            await count_question(db, payer, now.astimezone(UTC).date(), permit)
            asker = Actor(row.platform, row.workspace, row.author_id)
            place = named(thread_of(row).key)
            await note(db, "edited", "run", row.run_id, place=place, by=asker, at=now)
        return row.run_id, thread_of(row)

    @repeated
    async def remove(
        self,
        platform: str,
        event_id: str,
        now: datetime,
        *,
        owner: str | None,
        lease: timedelta,
    ) -> list[tuple[str, Thread]]:
        """Delete the text, files and answer of a deleted message, and restart its run so that it
        removes the reply; the same for runs that asked the same question again.

        Returns the restarted runs; none if the message began no run or was deleted before. Pages
        read from its files are deleted unless a remaining answer uses them.
        """
        begun: list[tuple[str, Thread]] = []
        attached: list[int] = []
        async with self.database.urgent_write() as db:
            found = [await _find(db, platform, event_id)]
            while found:
                row = found.pop()
                if row is None or row.removed:
                    continue
                place, whose = named(thread_of(row).key), Actor(row.platform, row.workspace, "")
                await note(db, "forgot", "message", row.event_key, place=place, by=whose, at=now)
                attached += await pages_attached(db, [row.message_id])
                await db.execute(sa.delete(files).where(files.c.message_id == row.message_id))
                await db.execute(
                    sa.update(messages)
                    .where(messages.c.id == row.message_id)
                    .values(text="", links=[], attachments=[])
                )
                if row.run_id is None:
                    continue
                await db.execute(sa.delete(watches).where(watches.c.run_id == row.run_id))
                await _begin_again(db, row, now, owner, lease, removed=True)
                begun.append((row.run_id, thread_of(row)))
                for again in await _asked_again(db, thread_of(row), row.run_id):
                    found.append(await _find(db, platform, again))
            await remove_pages(db, attached)
            await forget_names(db, {thread.key for _, thread in begun})
        return begun

    @repeated
    async def add_files(
        self,
        message: Message,
        now: datetime,
        *,
        owner: str | None,
        lease: timedelta,
    ) -> tuple[str, Thread] | None:
        """Add files of a question that arrived only in a later event, and restart its run.
        Returns None, without a restart, if the run has an answer or already had the files."""
        async with self.database.urgent_write() as db:
            row = await _find(db, message.thread.platform, message.event_id)
            if row is None or row.removed or row.run_id is None or row.state not in UNFINISHED:
                return None
            files = message_row(message)["attachments"]
            if row.attachments == files or row.answer is not None:
                return None
            await db.execute(
                sa.update(messages).where(messages.c.id == row.message_id).values(attachments=files)
            )
            await _begin_again(db, row, now, owner, lease, removed=False)
        return row.run_id, thread_of(row)

    @awaited
    async def move(self, run_id: str, attempt: int, thread: Thread, now: datetime) -> None:
        """Move a run to the thread that was created for it. Raises ``RunLost``."""
        async with self.database.write() as db:
            await keep_thread(db, thread, now)
            await update_fenced(db, run_id, attempt, thread_key=thread.key)
            of_run = sa.select(runs.c.message_id).where(runs.c.id == run_id).scalar_subquery()
            await db.execute(
                sa.update(messages).where(messages.c.id == of_run).values(thread_key=thread.key)
            )
            # The thread was created for this question: it has no history.
            await db.execute(
                sa.update(threads).where(threads.c.key == thread.key).values(history_read=True)
            )


@cache
def _ahead() -> sa.Select[Any]:
    this = runs.alias("this")
    return (
        sa.select(sa.func.count())
        .select_from(runs)
        .join(this, this.c.thread_key == runs.c.thread_key)
        .where(
            this.c.id == sa.bindparam("its_id"),
            runs.c.message_id < this.c.message_id,
            runs.c.state.in_(UNFINISHED),
        )
    )


def _is_event(platform: str, event_id: str) -> sa.ColumnElement[bool]:
    return messages.c.event_key == f"{platform}:{event_id}"


async def _asked_again(db: AsyncConnection, thread: Thread, run_id: str) -> Sequence[str]:
    """The event ids of repetitions of a run's question (see ``Reception``)."""
    # Also by thread: under most collations PostgreSQL has no index for a prefix.
    keys = sa.select(messages.c.event_key).where(
        messages.c.thread_key == thread.key, asks_again(thread.platform, run_id)
    )
    return [key.removeprefix(f"{thread.platform}:") for key in (await db.scalars(keys)).all()]


async def _find(db: AsyncConnection, platform: str, event_id: str) -> Any:
    query = (
        sa.select(
            messages.c.id.label("message_id"),
            messages.c.event_key,
            messages.c.text,
            messages.c.attachments,
            messages.c.author_id,
            runs.c.id.label("run_id"),
            runs.c.state,
            runs.c.options,
            runs.c.answer,
            runs.c.attempt,
            runs.c.removed,
            *THREAD,
        )
        .join_from(messages, runs, isouter=True)
        .join(threads, messages.c.thread_key == threads.c.key)
        .where(_is_event(platform, event_id))
    )
    return (await db.execute(query)).one_or_none()


async def _begin_again(
    db: AsyncConnection,
    row: Any,
    now: datetime,
    owner: str | None,
    lease: timedelta,
    *,
    removed: bool,
    regenerate: bool = False,
) -> None:
    await db.execute(sa.delete(corrections).where(corrections.c.run_id == row.run_id))
    # A deleted question leaves no trace; an edited one may reuse what was found for it.
    for table in (citations, run_pages, steps) if removed or regenerate else (citations, run_pages):
        await db.execute(sa.delete(table).where(table.c.run_id == row.run_id))
    await db.execute(
        sa.update(runs)
        .where(runs.c.id == row.run_id)
        .values(
            state="accepted",
            removed=removed,
            attempt=runs.c.attempt + 1,  # fences off the process that is working on it
            accepted_at=now,
            ended_at=None,
            stop_requested=False,
            answer=None,
            owner=owner,
            lease_until=None if owner is None else now + lease,
        )
    )


async def _keep_heard(db: AsyncConnection, said: Sequence[Message], now: datetime) -> None:
    for thread in {message.thread for message in said}:
        await keep_thread(db, thread, now)
    if said:
        await db.execute(
            insert(db, messages).on_conflict_do_nothing(), [message_row(m) for m in said]
        )


def asks_again(platform: str, run_id: str) -> sa.ColumnElement[bool]:
    """The condition that a message repeats a run's question: by "Dig deeper", or because the
    question is watched."""
    return sa.or_(
        *(
            messages.c.event_key.startswith(f"{platform}:{run_id}:{how}:", autoescape=True)
            for how in ("deeper", "watch")
        )
    )
