"""Messages after acceptance: context, edits, deletions, moves to another thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.messages import Message, Provenance, Thread
from bot.core.reader import documents_in
from bot.storage.audit import Actor, named, note
from bot.storage.database import Transactions
from bot.storage.files import remove_files
from bot.storage.history import forget_names
from bot.storage.records import UNFINISHED, as_answer
from bot.storage.removal import pages_attached, remove_pages
from bot.storage.retrying import awaited, repeated
from bot.storage.rows import insert, keep_thread, message_row, thread_of, update_fenced
from bot.storage.spending import DaySpent, Payer, count_question
from bot.storage.subjects import asks_again
from bot.storage.tables import (
    citations,
    corrections,
    messages,
    run_pages,
    runs,
    steps,
    threads,
    watches,
)

ANSWERS_KNOWN = 500  # answers of a channel that one of Footnote's posts may be, the latest ones


class Conversations(Transactions):
    """Every method is one transaction, retried as ``again`` describes. Failures are raised as
    ``StorageUnavailable``."""

    # ------------------------------------------------------------ asking about them

    @repeated
    async def takes_part(self, thread: Thread) -> bool:
        """Return True if a question was ever accepted in this thread."""
        query = sa.select(sa.select(runs.c.id).where(runs.c.thread_key == thread.key).exists())
        async with self.database.read() as db:
            return bool(await db.scalar(query))

    @repeated
    async def knows(self, platform: str, event_id: str) -> bool:
        """Return True if the message is stored, even if its text was deleted."""
        query = sa.select(sa.select(messages.c.id).where(_is_event(platform, event_id)).exists())
        async with self.database.read() as db:
            return bool(await db.scalar(query))

    @repeated
    async def run_of(self, platform: str, event_id: str) -> str | None:
        """The id of the run that a message began."""
        query = sa.select(runs.c.id).join(messages).where(_is_event(platform, event_id))
        async with self.database.read() as db:
            found: str | None = await db.scalar(query)
        return found

    @repeated
    async def unfinished_in(self, thread: Thread) -> list[str]:
        """The ids of the thread's runs that have not ended, oldest first."""
        query = (
            sa.select(runs.c.id)
            .where(runs.c.thread_key == thread.key, runs.c.state.in_(UNFINISHED))
            .order_by(runs.c.message_id)
        )
        async with self.database.read() as db:
            return list((await db.scalars(query)).all())

    @repeated
    async def unfinished_of(
        self, author_id: str, platform: str, workspace: str, channel: str
    ) -> list[str]:
        """The ids of someone's unfinished runs in the threads of a channel, oldest first."""
        query = (
            sa.select(runs.c.id)
            .join(messages, runs.c.message_id == messages.c.id)
            .join(threads, runs.c.thread_key == threads.c.key)
            .where(
                runs.c.state.in_(UNFINISHED),
                messages.c.author_id == author_id,
                threads.c.platform == platform,
                threads.c.workspace == workspace,
                threads.c.channel == channel,
            )
            .order_by(runs.c.message_id)
        )
        async with self.database.read() as db:
            return list((await db.scalars(query)).all())

    @repeated
    async def ahead_of(self, run_id: str) -> int:
        """The number of unfinished runs in the thread that precede this one."""
        async with self.database.read() as db:
            return int(await db.scalar(_ahead(), {"its_id": run_id}) or 0)

    @awaited
    async def history_is_read(self, thread: Thread) -> bool:
        """Return True if the messages before Footnote joined have been read from the platform."""
        query = sa.select(threads.c.history_read).where(threads.c.key == thread.key)
        async with self.database.read() as db:
            return bool(await db.scalar(query))

    # ------------------------------------------------------------ changing them

    @repeated
    async def hear(self, said: Sequence[Message], now: datetime) -> None:
        """Store messages that are not questions, as context for later questions."""
        async with self.database.urgent_write() as db:
            await _keep_heard(db, said, now)

    @awaited
    async def keep_history(self, thread: Thread, said: Sequence[Message], now: datetime) -> None:
        """Store the messages of a thread from before Footnote joined, and mark them as read."""
        async with self.database.write() as db:
            await _keep_heard(db, said, now)
            await db.execute(
                sa.update(threads).where(threads.c.key == thread.key).values(history_read=True)
            )

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
        async with self.database.read() as db:
            rows = (await db.execute(query)).all()
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
    ) -> tuple[str, Thread] | None:
        """Store the new text of an edited message and restart its run, even one that has ended.

        The process that is working on the run loses it; its posts stay recorded, so that the new
        answer replaces them. Returns None when the text has not changed or the message began no
        run. The edit counts as another question of the day; ``permit`` as in ``Store.accept``.
        """
        async with self.database.urgent_write() as db:
            row = await _find(db, platform, event_id)
            if row is None or row.text == text or row.removed:
                return None
            await db.execute(
                sa.update(messages)
                .where(messages.c.id == row.message_id)
                .values(text=text, links=list(links), made_from=[])
            )
            if row.run_id is None:
                return None
            await _begin_again(db, row, now, owner, lease, removed=False)
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
                await remove_files(db, row.message_id)
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
            runs.c.answer,
            runs.c.attempt,
            runs.c.removed,
            threads.c.platform,
            threads.c.workspace,
            threads.c.channel,
            threads.c.thread,
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
) -> None:
    await db.execute(sa.delete(corrections).where(corrections.c.run_id == row.run_id))
    # A deleted question leaves no trace; an edited one may reuse what was found for it.
    for table in (citations, run_pages, steps) if removed else (citations, run_pages):
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
