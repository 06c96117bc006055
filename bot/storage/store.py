"""Runs: what was accepted, which process works on it, and the result."""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.messages import (
    Answer,
    Attachment,
    Author,
    Entry,
    Message,
    Provenance,
    RunOptions,
    Transcript,
    Wording,
)
from bot.core.reader import conversations_in, documents_in, is_conversation
from bot.pages.page import Page
from bot.storage.audit_log import Actor, named, note
from bot.storage.conversations import NewQuestion, keep_question
from bot.storage.database import Transactions, awaited, open_database, repeated
from bot.storage.postgres import Connecting
from bot.storage.spending import Amount, DaySpent, Payer, add_spent
from bot.storage.tables import (
    CHECK_STATES,
    THREAD,
    UNFINISHED,
    WORKING,
    answer_of,
    as_answer,
    as_options,
    asked_runs,
    citation_rows,
    citations,
    messages,
    pad_ids,
    page_of,
    pages,
    runs,
    show_numbers,
    steps,
    thread_of,
    threads,
    understood,
    update_fenced,
)


def new_owner() -> str:
    """A name for this process: ``place/pid/token``. The token detects a reused pid."""
    return f"{_machine()}/{os.getpid()}/{secrets.token_hex(4)}"


def is_dead(owner: str) -> bool:
    """True only if the owner's process has certainly ended.

    A process in another place cannot be checked; there the lease decides.
    """
    place, pid, _ = owner.rsplit("/", 2)
    if place != _machine():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it exists, under another user
        pass
    return _is_zombie(int(pid))


def _is_zombie(pid: int) -> bool:
    """True if the process has ended but its parent has not waited for it, on systems with /proc.
    proc(5): the state is the third field of /proc/PID/stat, after a name with any characters."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[:1] in (["Z"], ["X"])


@cache
def _machine() -> str:
    """An id for the scope in which pids are unique. The host name alone does not suffice, because
    containers and machines may share it.

    On Linux: this boot of the kernel (random(4), /proc/sys/kernel/random/boot_id) and the pid
    namespace (pid_namespaces(7)); elsewhere: the machine's network address.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{socket.gethostname()}+{boot}+{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        from uuid import getnode

        return f"{socket.gethostname()}+{getnode():x}"


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run as stored. ``answer`` is set once it has been written, even before it is posted."""

    id: str
    message: Message
    options: RunOptions
    state: str
    accepted_at: datetime
    attempt: int
    stop_requested: bool
    removed: bool
    post_state: dict[str, Any] | None
    answer: Answer | None

    @property
    def asked(self) -> Wording:
        """The question as its message has it."""
        return Wording(self.message.text, self.message.made_from)

    @property
    def question(self) -> Wording:
        """The question as it was understood, else as it was asked."""
        return understood(self.asked, self.answer)


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a run in progress that other processes may change."""

    attempt: int
    stop_requested: bool


_OF_RECORD = (
    *runs.c,
    *THREAD,
    messages.c.event_key,
    messages.c.author_id,
    messages.c.author_name,
    messages.c.text,
    messages.c.links,
    messages.c.attachments,
    messages.c.locale,
    messages.c.at,
    messages.c.made_from,
)


# Statements that every question needs are built once: building takes as long as sending. Their
# states are parameters: with literals PostgreSQL would read all runs in a state, even in a backlog.


@cache
def run_query() -> sa.Select[Any]:
    """Runs with all columns that ``record_of`` needs."""
    return sa.select(*_OF_RECORD).select_from(asked_runs)


@cache
def one_run() -> sa.Select[Any]:
    """``run_query`` of the run ``its_id``."""
    return run_query().where(runs.c.id == sa.bindparam("its_id"))


@cache
def _locked_run() -> sa.Select[Any]:
    return one_run().with_for_update(of=runs)


@cache
def _begun() -> sa.Update:
    """Give the run ``its_id`` a new state, attempt, owner and lease."""
    return (
        sa.update(runs)
        .where(runs.c.id == sa.bindparam("its_id"))
        .values(
            state=sa.bindparam("new_state"),
            attempt=sa.bindparam("new_attempt"),
            owner=sa.bindparam("by"),
            lease_until=sa.bindparam("until"),
        )
    )


@cache
def earlier_in_thread() -> sa.Select[Any]:
    """The id of the oldest unfinished run before the unfinished run ``its_id`` in its thread."""
    this = runs.alias("this")
    return (
        sa.select(runs.c.id)
        .join(this, this.c.thread_key == runs.c.thread_key)
        .where(
            this.c.id == sa.bindparam("its_id"),
            this.c.state.in_(UNFINISHED),
            runs.c.message_id < this.c.message_id,
            runs.c.state.in_(UNFINISHED),
        )
        .order_by(runs.c.message_id)
        .limit(1)
    )


@cache
def claiming() -> sa.Update:
    """Begin a new attempt at the run ``its_id`` for ``by`` until ``until``, and return its record,
    if it is unfinished, next in its thread and, by its row, free at the time ``at``.

    For PostgreSQL, where it takes one round trip; SQLite cannot return columns of other tables.
    """
    earlier = runs.alias("earlier")
    is_first = ~sa.exists().where(
        earlier.c.thread_key == runs.c.thread_key,
        earlier.c.message_id < runs.c.message_id,
        earlier.c.state.in_(UNFINISHED),
    )
    owner = sa.bindparam("by", type_=runs.c.owner.type)
    return (
        sa.update(runs)
        .where(
            runs.c.id == sa.bindparam("its_id"),
            messages.c.id == runs.c.message_id,
            threads.c.key == runs.c.thread_key,
            runs.c.state.in_(UNFINISHED),
            sa.or_(
                runs.c.owner.is_(None),
                runs.c.owner == owner,
                runs.c.lease_until <= sa.bindparam("at"),
            ),
            sa.or_(runs.c.stop_requested, is_first),
        )
        .values(
            state=sa.case(
                (
                    runs.c.state.in_([sa.literal_column(f"'{state}'") for state in CHECK_STATES]),
                    "looking",
                ),
                else_="running",
            ),
            attempt=runs.c.attempt + 1,
            owner=owner,
            lease_until=sa.bindparam("until", type_=runs.c.lease_until.type),
        )
        .returning(*_OF_RECORD)
    )


def record_of(row: Any) -> RunRecord:
    """Convert a row of ``run_query``."""
    message = Message(
        event_id=row.event_key.removeprefix(f"{row.platform}:"),
        thread=thread_of(row),
        author=Author(row.author_id, row.author_name),
        text=row.text,
        at=row.at,
        links=tuple(row.links),
        attachments=tuple(Attachment(**a) for a in row.attachments),
        locale=row.locale,
        made_from=Provenance.of(row.made_from),
    )
    return RunRecord(
        id=row.id,
        message=message,
        options=as_options.validate_python(row.options),
        state=CHECK_STATES.get(row.state, row.state),
        accepted_at=row.accepted_at,
        attempt=row.attempt,
        stop_requested=row.stop_requested,
        removed=row.removed,
        post_state=row.post_state,
        answer=answer_of(row.answer),
    )


def is_free(row: Any, now: datetime) -> bool:
    """Return True if a run has no owner, an expired lease, or an owner that has ended."""
    return row.owner is None or row.lease_until <= now or is_dead(row.owner)


NO_FILES: Mapping[str, bytes] = {}
# Above all ids: of a message that is not stored.
_NO_ID: sa.ColumnElement[int] = sa.literal_column(str(2**63 - 1))
TRANSCRIPT_MESSAGES = 60  # of a thread: a follow-up may refer to any of its answers


class Store(Transactions):
    """Every method is one transaction, retried as ``repeated`` and ``awaited`` say. Failures are
    raised as ``StorageUnavailable``."""

    async def close(self) -> None:
        await self.database.close()

    # ------------------------------------------------------------ accepting

    @repeated
    async def accept(
        self,
        run_id: str,
        message: Message,
        options: RunOptions,
        now: datetime,
        *,
        owner: str | None = None,
        lease: timedelta = timedelta(),
        post_state: dict[str, Any] | None = None,
        permit: Callable[[DaySpent], None] | None = None,
        files: Mapping[str, bytes] = NO_FILES,
        together: Callable[[AsyncConnection], Awaitable[None]] | None = None,
    ) -> tuple[str, bool]:
        """Store the message and create its run, unless its event is already known.

        With an ``owner``, only that owner may claim the run until the lease expires. Returns the
        run's id (the earlier one for a redelivery) and whether it is new. ``permit`` receives
        what has been spent today (by UTC date), including this question, and raises to refuse it.
        ``files`` holds the bodies of the attachments to store with it, by URL. ``together`` runs
        in the same transaction; if it raises, nothing is stored.
        """
        asked = NewQuestion(
            run_id, message, options, now, owner, lease, post_state, permit, files, together
        )

        async def keep(db: AsyncConnection) -> str:
            return await keep_question(db, asked)

        if asked.is_one_statement:
            kept = await self.database.transact_at_once(keep)
        else:
            kept = await self.database.transact(keep, urgent=True)
        return kept, kept == run_id  # also true if an earlier try of this call stored it

    # ------------------------------------------------------------ reading

    @repeated
    async def run(self, run_id: str) -> RunRecord | None:
        row = await self._row(one_run(), {"its_id": run_id})
        return None if row is None else record_of(row)

    @repeated
    async def run_of_event(self, platform: str, event_id: str) -> RunRecord | None:
        """The run of the message with this platform event id."""
        query = run_query().where(messages.c.event_key == f"{platform}:{event_id}")
        row = await self._row(query)
        return None if row is None else record_of(row)

    @repeated
    async def unfinished(
        self, now: datetime, platforms: Collection[str] | None = None
    ) -> list[RunRecord]:
        """Unclaimed runs, oldest first: accepted, or abandoned by an owner that has ended."""
        query = run_query().where(runs.c.state.in_(UNFINISHED)).order_by(messages.c.id)
        if platforms is not None:
            query = query.where(threads.c.platform.in_(platforms))
        rows = await self._rows(query)
        return [record_of(row) for row in rows if is_free(row, now)]

    @repeated
    async def earlier_unfinished(self, run_id: str) -> str | None:
        """The oldest unfinished run that precedes this unfinished one in its thread, or None."""
        return await self._scalar(earlier_in_thread(), {"its_id": run_id})

    @repeated
    async def may_claim(self, run_id: str, owner: str, now: datetime) -> bool:
        """Return True if a run is unfinished and no other live process owns it."""
        row = await self._unfinished_one(run_id)
        return row is not None and (row.owner == owner or is_free(row, now))

    @repeated
    async def is_held(self, run_id: str, now: datetime) -> bool:
        """Return True if a live process owns an unfinished run, as far as can be known."""
        row = await self._unfinished_one(run_id)
        return row is not None and not is_free(row, now)

    async def _unfinished_one(self, run_id: str) -> Any:
        query = sa.select(runs.c.owner, runs.c.lease_until).where(
            runs.c.id == run_id, runs.c.state.in_(UNFINISHED)
        )
        async with self.database.read() as db:
            return (await db.execute(query)).one_or_none()

    @awaited
    async def transcript(self, message: Message) -> Transcript:
        """The messages before this one (stored or not) in its thread, interleaved with Footnote's
        answers."""
        thread = message.thread
        event = f"{thread.platform}:{message.event_id}"
        its = {"its_thread": thread.key, "its_event": event, "its_at": message.at}
        rows = await self._rows(_earlier_messages(), its)
        entries: list[Entry] = []
        for name, text, attachments, made_from, answer in reversed(rows):
            files = tuple(Attachment(**file) for file in attachments)
            source = Provenance.of(made_from)
            entries.append(Entry("person", name, text, files=files, made_from=source))
            if answer is not None:
                entries.append(_entry(as_answer.validate_python(answer)))
        return Transcript(tuple(entries))

    @repeated
    async def thread_names(self, platform: str) -> list[str]:
        """The names of the platform's conversations."""
        query = sa.select(threads.c.thread).where(threads.c.platform == platform)
        return await self._scalars(query)

    @awaited
    async def recent_page(self, url: str, since: datetime) -> Page | None:
        """The newest copy of a page, if it was fetched after ``since`` from the site itself."""
        query = (
            sa.select(pages)
            .where(pages.c.url == url, pages.c.fetched_at >= since, pages.c.via == "")
            .order_by(pages.c.fetched_at.desc())
            .limit(1)
        )
        row = await self._row(query)
        return None if row is None else page_of(row)

    # ------------------------------------------------------------ working on a run

    @repeated
    async def claim(
        self, run_id: str, owner: str, now: datetime, lease: timedelta
    ) -> RunRecord | None:
        """Begin a new attempt.

        Returns None when the run has ended, another process is working on it, or an earlier run
        of its thread is unfinished, because a follow-up depends on the answer before it. A run
        with a stop request does not wait for earlier ones.
        """
        its = {"its_id": run_id}
        if self.database.dialect == "postgresql":
            values = {**its, "by": owner, "at": now, "until": now + lease}
            async with self.database.write_at_once() as db:
                row = (await db.execute(claiming(), values)).one_or_none()
            if row is not None:
                return record_of(row)

        async def begin(db: AsyncConnection) -> RunRecord | None:
            row = (await db.execute(_locked_run(), its)).one_or_none()
            if row is None or row.state not in UNFINISHED:
                return None
            if row.owner != owner and not is_free(row, now):
                return None
            if not row.stop_requested and await db.scalar(earlier_in_thread(), its) is not None:
                return None
            state = "looking" if row.state in CHECK_STATES else "running"
            attempt = row.attempt + 1
            new = {"new_state": state, "by": owner, "until": now + lease}
            await db.execute(_begun(), {**its, **new, "new_attempt": attempt})
            return replace(record_of(row), state="running", attempt=attempt)

        return await self.database.transact(begin)

    @repeated
    async def renew(
        self, owner: str, run_ids: Collection[str], until: datetime
    ) -> set[tuple[str, int]]:
        """Extend the leases of those runs that belong to this owner; returns their ids and
        attempts."""
        async with self.database.urgent_write() as db:
            ours = runs.c.owner == owner, runs.c.id.in_(pad_ids(run_ids))
            kept = await db.execute(
                sa.update(runs)
                .where(*ours, runs.c.state.in_(WORKING))
                .values(lease_until=until)
                .returning(runs.c.id, runs.c.attempt)
            )
            return {(row.id, row.attempt) for row in kept}

    @repeated
    async def standing(self, run_ids: Collection[str]) -> dict[str, Standing]:
        """The state of runs in progress; deleted runs are left out."""
        query = sa.select(runs.c.id, runs.c.attempt, runs.c.stop_requested)
        async with self.database.read() as db:
            rows = await db.execute(query.where(runs.c.id.in_(pad_ids(run_ids))))
        return {row.id: Standing(row.attempt, row.stop_requested) for row in rows}

    @repeated
    async def release(self, run_id: str, attempt: int) -> None:
        """Give up an unfinished run, so that any process may claim it at once."""
        async with self.database.write() as db:
            await db.execute(
                sa.update(runs)
                .where(runs.c.id == run_id, runs.c.attempt == attempt)
                .values(owner=None, lease_until=None)
            )

    @repeated
    async def request_stop(self, run_id: str) -> None:
        """Ask the process that is working on the run to stop."""
        async with self.database.urgent_write() as db:
            await db.execute(
                sa.update(runs)
                .where(runs.c.id == run_id, runs.c.state.in_(UNFINISHED))
                .values(stop_requested=True)
            )

    @repeated
    async def withdraw_stop(self, run_id: str) -> None:
        """Cancel a stop request, because the person asks for the run again."""
        async with self.database.write() as db:
            await db.execute(
                sa.update(runs).where(runs.c.id == run_id).values(stop_requested=False)
            )

    @repeated
    async def stopped_in_waiting(self, owner: str, now: datetime) -> list[tuple[str, str]]:
        """Unclaimed runs with a stop request that this owner may claim, with their platforms."""
        query = (
            sa.select(runs.c.id, threads.c.platform)
            .join(threads, runs.c.thread_key == threads.c.key)
            .where(
                runs.c.state.in_(UNFINISHED),
                runs.c.stop_requested,
                sa.or_(runs.c.owner.is_(None), runs.c.lease_until <= now, runs.c.owner == owner),
            )
        )
        return [(row.id, row.platform) for row in await self._rows(query)]

    # ------------------------------------------------------------ ending a run

    @awaited
    async def save_post_state(self, run_id: str, attempt: int, post_state: dict[str, Any]) -> None:
        """Store what the poster needs to find its posts again. Raises ``RunLost``."""
        await self.database.transact_at_once(
            lambda db: update_fenced(db, run_id, attempt, post_state=post_state)
        )

    @awaited
    async def save_answer(
        self, run_id: str, attempt: int, answer: Answer, shown: Mapping[int, int] | None = None
    ) -> None:
        """Store the answer, its citations and the page numbers that it displays.

        ``shown`` maps a page's number in the run (``storage.journal``) to the displayed number;
        pages missing from it are numbered after those, and without ``shown`` all pages keep the
        number of the run. Raises ``RunLost``.
        """

        async def keep(db: AsyncConnection) -> None:
            await update_fenced(
                db, run_id, attempt, answer=as_answer.dump_python(answer, mode="json")
            )
            await show_numbers(db, run_id, shown or {})
            await db.execute(_uncited(), {"its_id": run_id})
            if answer.citations:
                await db.execute(
                    sa.insert(citations),
                    await citation_rows(db, run_id, answer.citations),
                )

        await self.database.transact(keep)

    @awaited
    async def ignore(self, run: RunRecord, now: datetime) -> None:
        """Delete the run of a message that was not for Footnote: the message stays as context, and
        counts as no question; what was spent stays spent. Raises ``RunLost``."""
        asker, thread = run.message.author.id, run.message.thread
        async with self.database.write() as db:
            await update_fenced(db, run.id, run.attempt)
            await db.execute(sa.delete(runs).where(runs.c.id == run.id))
            by = Actor(thread.platform, thread.workspace, asker)
            await note(db, "ignored", "run", run.id, place=named(thread.key), by=by, at=now)
            day = run.accepted_at.astimezone(UTC).date()
            await add_spent(db, Payer.of(run.message), day, Amount(questions=-1))

    @awaited
    async def end(
        self, run_id: str, attempt: int, state: str, now: datetime, *, searched_talk: bool = False
    ) -> None:
        """Mark a run as ended, after its answer was posted. With ``searched_talk``, only the quoted
        parts of conversations are kept. Raises ``RunLost``."""

        async def end(db: AsyncConnection) -> None:
            await update_fenced(
                db, run_id, attempt, state=state, ended_at=now, owner=None, lease_until=None
            )
            if searched_talk:
                await keep_only_quotes(db, run_id)

        await self.database.transact_at_once(end)


@cache
def _uncited() -> sa.Delete:
    """Delete the citations of the run ``its_id``."""
    return sa.delete(citations).where(citations.c.run_id == sa.bindparam("its_id"))


@cache
def _earlier_messages() -> sa.Select[Any]:
    """The newest messages of ``its_thread`` before ``its_event``, with their answers."""
    # Ordered by the platform's clock, so that history read later still comes before.
    asked = messages.alias("asked")
    its_id = sa.select(asked.c.id).where(asked.c.event_key == sa.bindparam("its_event"))
    newest = sa.func.coalesce(its_id.scalar_subquery(), _NO_ID)
    its_at = sa.bindparam("its_at", type_=messages.c.at.type)
    is_before = sa.tuple_(messages.c.at, messages.c.id) < sa.tuple_(its_at, newest)
    return (
        sa.select(messages.c.author_name, messages.c.text, messages.c.attachments)
        .add_columns(messages.c.made_from, runs.c.answer)
        .join_from(messages, runs, isouter=True)
        .where(
            messages.c.thread_key == sa.bindparam("its_thread"),
            messages.c.text != "",
            is_before,
        )
        .order_by(messages.c.at.desc(), messages.c.id.desc())
        .limit(TRANSCRIPT_MESSAGES)
    )


async def open_store(
    url: str,
    *,
    connecting: Connecting = Connecting(),  # noqa: B008  (frozen)
) -> Store:
    """Open the store at a SQLAlchemy URL. Raises ``StorageUnavailable`` or ``InvalidSetting``."""
    return Store(await open_database(url, connecting=connecting))


def _entry(answer: Answer) -> Entry:
    return Entry(
        role="footnote",
        name="Footnote",
        text=answer.text,
        question=answer.question,
        cited=tuple(sorted(answer.citations, key=lambda citation: citation.number)),
        made_from=documents_in(answer.rests_on),
        run=answer.run,
        corrects=answer.corrects,
    )


_FOUND = ("search", "read", "ready")  # kinds of steps whose results name documents

_VISIBLE = re.compile(r"\S")


async def keep_only_quotes(db: AsyncConnection, run_id: str) -> None:
    """Delete what an ended run has read of conversations and does not quote."""
    found = sa.select(steps.c.id, steps.c.kind, steps.c.result).where(
        steps.c.run_id == run_id, steps.c.kind.in_(_FOUND)
    )
    rows = [row for row in await db.execute(found) if conversations_in(row.result)]
    if not rows:
        return
    await db.execute(sa.delete(steps).where(steps.c.id.in_([row.id for row in rows])))
    read = [json.loads(row.result) for row in rows if row.kind == "read"]
    copies = [(each["url"], each["hash"]) for each in read if is_conversation(each["url"])]
    its_pages = sa.select(pages.c.id, pages.c.text).where(
        sa.tuple_(pages.c.url, pages.c.hash).in_(copies)
    )
    for page in (await db.execute(its_pages)).all() if copies else ():
        text = list(_VISIBLE.sub(" ", page.text))
        quotes = sa.select(citations.c.start, citations.c.quote)
        quoted = (await db.execute(quotes.where(citations.c.page_id == page.id))).all()
        for quote in quoted:
            text[quote.start : quote.start + len(quote.quote)] = quote.quote
        left = {"text": "".join(text)} if quoted else {"text": "".join(text), "title": ""}
        await db.execute(sa.update(pages).where(pages.c.id == page.id).values(left))
