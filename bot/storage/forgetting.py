"""Forgetting a thread, a person or a workspace: everything about it is deleted, in small batches.

A request is stored first, so that work can resume after a crash. Only what existed at the time of
the request is deleted: messages that somebody sends later are stored again.

After a restored backup, what was forgotten since must be forgotten again: it is found in the audit
log exported before the restore, whose pseudonyms are compared with those of all people in the
database.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from itertools import product
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.messages import CONSOLE
from bot.storage.audit_log import (
    PSEUDONYM,
    ROWS_AT_ONCE,
    key_of_pseudonyms,
    named,
    note,
    pseudonym,
    pseudonym_by,
)
from bot.storage.console import forget_names_by
from bot.storage.conversations import asks_again
from bot.storage.database import Database, Transactions
from bot.storage.removal import (
    NOTHING_REMOVED,
    Batches,
    Removed,
    count,
    hanging_on,
    pages_attached,
    pages_read,
    pages_used,
    remove_empty_threads,
    remove_messages,
    remove_pages,
    tidy,
)
from bot.storage.standing_questions import forget_watches_by
from bot.storage.store import is_free
from bot.storage.tables import (
    UNFINISHED,
    asked_runs,
    audit,
    channel_rules,
    citations,
    facts,
    feedback,
    forgettings,
    insert,
    messages,
    run_pages,
    runs,
    shares,
    sign_ins,
    spending,
    steps,
    threads,
    watches,
)

SubjectKind = Literal["thread", "person", "workspace"]


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject to forget. ``name`` is a thread's key, or the platform's id."""

    kind: SubjectKind
    platform: str
    name: str


MESSAGES = messages.join(threads)  # each with its thread


def about(subject: Subject) -> sa.ColumnElement[bool]:
    """The condition that a message belongs to the subject."""
    if subject.kind == "thread":
        return messages.c.thread_key == subject.name
    if subject.kind == "person":
        return sa.and_(messages.c.author_id == subject.name, threads.c.platform == subject.platform)
    return sa.and_(*in_workspace(threads, subject.platform, subject.name))


def in_workspace(
    table: sa.Table, platform: str, workspace: str
) -> tuple[sa.ColumnElement[bool], ...]:
    """The conditions for rows that belong to a workspace."""
    return table.c.platform == platform, table.c.workspace == workspace


def spent_by(subject: Subject) -> sa.ColumnElement[bool]:
    """A person's own sums, or all sums of a workspace, including those of its people."""
    if subject.kind == "person":
        return sa.and_(
            spending.c.platform == subject.platform,
            spending.c.scope == "user",
            spending.c.name == subject.name,
        )
    return sa.and_(*in_workspace(spending, subject.platform, subject.name))


async def verdicts_of(db: AsyncConnection, subject: Subject) -> Sequence[str]:
    """The runs of other people on which a person gave a verdict."""
    query = (
        sa.select(feedback.c.run_id)
        .select_from(asked_runs)
        .join(feedback, feedback.c.run_id == runs.c.id)
        .where(
            feedback.c.author_id == subject.name,
            threads.c.platform == subject.platform,
            messages.c.author_id != subject.name,
        )
    )
    return (await db.scalars(query)).all()


async def with_repeats(db: AsyncConnection, ids: Collection[int]) -> Sequence[Any]:
    """The messages with these ids, each with its run, and the messages that repeat their questions
    (see ``Reception.dig_deeper``), since those contain the same text."""
    own = sa.select(messages.c.id, messages.c.thread_key, runs.c.id.label("run_id")).join_from(
        messages, runs, isouter=True
    )
    begun = (
        sa.select(runs.c.id, runs.c.thread_key, threads.c.platform)
        .join(threads, runs.c.thread_key == threads.c.key)
        .where(runs.c.message_id.in_(ids))
    )
    rows = (await db.execute(own.where(messages.c.id.in_(ids)))).all()
    found: dict[int, Any] = {row.id: row for row in rows}
    for run in (await db.execute(begun)).all():
        repeats = own.where(
            messages.c.thread_key == run.thread_key, asks_again(run.platform, run.id)
        )
        for row in (await db.execute(repeats)).all():
            found.setdefault(row.id, row)
    return list(found.values())


PICKED = 50  # messages processed at once, each with its run
COUNTED = 500  # pages whose uses are counted in one query


@dataclass(frozen=True, slots=True)
class Request:
    """A request to forget a subject, up to the message ``until`` (the id of its row)."""

    subject: Subject
    until: int
    at: datetime


class Forgetting(Transactions):
    """Failures are raised as ``StorageUnavailable``; what was deleted before stays deleted."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._of_steps, self._of_messages = Batches(database), Batches(database)
        self._of_threads = Batches(database)

    # ------------------------------------------------------------ requests

    async def ask(
        self, subject: Subject, now: datetime, asked_at: datetime | None = None
    ) -> Request:
        """Store a request; an existing one is extended to the messages since.

        ``asked_at`` is for a request that was made at that time and is missing from a restored
        database: it covers the messages until then.
        """
        newest = sa.select(sa.func.max(messages.c.id))
        if asked_at is not None:
            newest = newest.where(messages.c.at <= asked_at)
        async with self.database.urgent_write() as db:
            until = int(await db.scalar(newest) or 0)
            row = {"until": until, "at": asked_at or now}
            await db.execute(
                insert(db, forgettings)
                .values(**asdict(subject), **row)
                .on_conflict_do_update(index_elements=["kind", "platform", "name"], set_=row)
            )
            await note(db, "forgot", subject.kind, await object_of(db, subject), at=now)
        return Request(subject, until, asked_at or now)

    async def pending_requests(self) -> list[Request]:
        """The requests that are not yet completely fulfilled, oldest first."""
        rows = await self._rows(sa.select(forgettings).order_by(forgettings.c.at))
        return [
            Request(Subject(row.kind, row.platform, row.name), row.until, row.at) for row in rows
        ]

    async def delete_request(self, request: Request) -> None:
        """Delete a fulfilled request; a later one for the same subject stays."""
        async with self.database.write() as db:
            await db.execute(
                sa.delete(forgettings).where(
                    *(
                        forgettings.c[name] == value
                        for name, value in asdict(request.subject).items()
                    ),
                    forgettings.c.until <= request.until,
                )
            )

    # ------------------------------------------------------------ looking

    async def unfinished(self, subject: Subject) -> list[str]:
        """The ids of the subject's unfinished runs, oldest first."""
        return [row.id for row in await self._unfinished(subject)]

    async def worked_on(self, subject: Subject, now: datetime) -> list[str]:
        """The unfinished runs that a live process has claimed."""
        return [row.id for row in await self._unfinished(subject) if not is_free(row, now)]

    async def _unfinished(self, subject: Subject) -> Sequence[Any]:
        query = (
            sa.select(runs.c.id, runs.c.owner, runs.c.lease_until)
            .select_from(MESSAGES.join(runs, runs.c.message_id == messages.c.id))
            .where(about(subject), runs.c.state.in_(UNFINISHED))
            .order_by(runs.c.message_id)
        )
        async with self.database.read() as db:
            return (await db.execute(query)).all()

    async def count(self, subject: Subject, spent_before: date) -> Removed:
        """Count what ``remove`` and ``remove_spending`` would delete now."""
        removed, seen = NOTHING_REMOVED, set[int]()
        in_threads: Counter[str] = Counter()
        uses: Counter[int] = Counter()
        async with self.database.long_read() as db:
            async for picked in self._picked(subject, None):
                every = [row for row in await with_repeats(db, picked) if row.id not in seen]
                ids = [row.id for row in every]
                run_ids = [row.run_id for row in every if row.run_id is not None]
                seen.update(ids)
                in_threads.update(row.thread_key for row in every)
                of_runs = steps.c.run_id.in_(run_ids)
                removed += Removed(messages=len(ids)) + await hanging_on(db, run_ids)
                uses.update(await pages_used(db, run_ids))
                for page in [*await pages_read(db, of_runs), *await pages_attached(db, ids)]:
                    uses.setdefault(page, 0)
            removed += Removed(pages=await _used_no_more(db, uses))
            removed += await self._count_place(db, subject, spent_before)
            removed += Removed(pseudonyms=await count(db, audit, *_naming(subject)))
            if subject.kind == "person":
                removed += Removed(threads=await _emptied(db, in_threads))
        return removed

    async def _count_place(
        self, db: AsyncConnection, subject: Subject, spent_before: date
    ) -> Removed:
        platform, name = subject.platform, subject.name
        if subject.kind == "thread":
            return Removed(threads=await count(db, threads, threads.c.key == name))
        sums = spent_by(subject), spending.c.day < spent_before
        spent = Removed(spending=await count(db, spending, *sums))
        if subject.kind == "person":
            return spent + Removed(feedback=len(await verdicts_of(db, subject)))
        return spent + Removed(
            threads=await count(db, threads, *in_workspace(threads, platform, name)),
            rules=await count(db, channel_rules, *in_workspace(channel_rules, platform, name)),
            facts=await count(db, facts, *in_workspace(facts, platform, name)),
        )

    # ------------------------------------------------------------ removing

    async def remove(self, request: Request) -> Removed:
        """Delete everything about the subject except its spending (``remove_spending``).

        Unfinished runs are fenced off: a process that is working on one cannot write any more.
        """
        subject = request.subject
        removed = NOTHING_REMOVED
        async for picked in self._picked(subject, request.until):
            async with self.database.read() as db:
                every = await with_repeats(db, picked)
            run_ids = [row.run_id for row in every if row.run_id is not None]
            await self._fence(run_ids)
            removed += await self._remove_steps(run_ids)
            for some in self._of_messages.of(every):
                removed += await self._remove_messages(some)
        if subject.kind == "person":
            removed += await self._remove_verdicts(subject)
            if subject.platform == CONSOLE:
                async with self.database.write() as db:
                    gone = sa.delete(sign_ins).where(sign_ins.c.person == subject.name)
                    await db.execute(gone)
        else:
            removed += await self._remove_place(subject)
        named = await pseudonymize(self.database, subject, request.at)
        removed += Removed(pseudonyms=named)
        await tidy(self.database)
        return removed

    async def remove_spending(self, subject: Subject, before: date) -> Removed:
        """Delete the spending of a person or a workspace before a day (UTC)."""
        if subject.kind == "thread":
            return NOTHING_REMOVED
        async with self.database.write() as db:
            gone = await db.execute(
                sa.delete(spending).where(spent_by(subject), spending.c.day < before)
            )
        return Removed(spending=gone.rowcount)

    async def _fence(self, run_ids: Sequence[str]) -> None:
        async with self.database.write() as db:
            await db.execute(
                sa.update(runs)
                .where(runs.c.id.in_(run_ids), runs.c.state.in_(UNFINISHED))
                .values(
                    state="stopped",
                    attempt=runs.c.attempt + 1,
                    ended_at=datetime.now(UTC),
                    owner=None,
                    lease_until=None,
                )
            )

    async def _remove_steps(self, run_ids: Sequence[str]) -> Removed:
        """Delete the steps of runs, each batch with the pages that only those steps have read."""
        query = sa.select(steps.c.id).where(steps.c.run_id.in_(run_ids)).order_by(steps.c.id)
        ids = await self._scalars(query)
        removed = NOTHING_REMOVED
        for some in self._of_steps.of(ids):
            async with self.database.read() as db:
                read = await pages_read(db, steps.c.id.in_(some))
            async with self._of_steps.batch() as db:
                gone = await db.execute(sa.delete(steps).where(steps.c.id.in_(some)))
                removed += Removed(steps=gone.rowcount) + await remove_pages(db, read)
        return removed

    async def _remove_messages(self, rows: Sequence[Any]) -> Removed:
        """Delete messages and their runs, with the pages that only those have used."""
        ids = [row.id for row in rows]
        run_ids = [row.run_id for row in rows if row.run_id is not None]
        async with self.database.read() as db:
            hanging = await hanging_on(db, run_ids)
            used = await pages_used(db, run_ids)
            used += await pages_attached(db, ids)
            used += await pages_read(db, steps.c.run_id.in_(run_ids))
        async with self._of_messages.batch() as db:
            removed = hanging + await remove_messages(db, ids)
            return removed + await remove_pages(db, used)

    async def _remove_verdicts(self, subject: Subject) -> Removed:
        """Delete a person's feedback, their names and links for conversations, and their own name
        from the channel rules that they set."""
        async with self.database.write() as db:
            run_ids = await verdicts_of(db, subject)
            gone = await db.execute(
                sa.delete(feedback).where(
                    feedback.c.author_id == subject.name, feedback.c.run_id.in_(run_ids)
                )
            )
            await db.execute(
                sa.update(channel_rules)
                .where(
                    channel_rules.c.platform == subject.platform,
                    channel_rules.c.author_id == subject.name,
                )
                .values(author_id="")
            )
            await forget_names_by(db, subject.platform, subject.name)
            await forget_watches_by(db, subject.platform, subject.name)
        return Removed(feedback=gone.rowcount)

    async def _remove_place(self, subject: Subject) -> Removed:
        """Delete what remains of a thread or a workspace after its messages."""
        if subject.kind == "thread":
            async with self.database.write() as db:
                return await remove_empty_threads(db, [subject.name])
        where = subject.platform, subject.name
        query = sa.select(threads.c.key).where(*in_workspace(threads, *where))
        keys = await self._scalars(query)
        removed = NOTHING_REMOVED
        for some in self._of_threads.of(keys):
            async with self._of_threads.batch() as db:
                removed += await remove_empty_threads(db, some)
        async with self.database.write() as db:
            of_rules = sa.delete(channel_rules).where(*in_workspace(channel_rules, *where))
            of_facts = sa.delete(facts).where(*in_workspace(facts, *where))
            return removed + Removed(
                rules=(await db.execute(of_rules)).rowcount,
                facts=(await db.execute(of_facts)).rowcount,
            )

    async def _picked(self, subject: Subject, until: int | None) -> AsyncIterator[list[int]]:
        """The ids of the subject's messages up to ``until``, in batches; ascending per thread."""
        if subject.kind == "workspace":
            query = sa.select(threads.c.key).where(
                *in_workspace(threads, subject.platform, subject.name)
            )
            keys = await self._scalars(query)
            for key in keys:
                async for ids in self._picked(Subject("thread", subject.platform, key), until):
                    yield ids
            return
        last = 0
        while True:
            query = (
                sa.select(messages.c.id)
                .select_from(MESSAGES)
                .where(about(subject), messages.c.id > last)
                .order_by(messages.c.id)
                .limit(PICKED)
            )
            if until is not None:
                query = query.where(messages.c.id <= until)
            async with self.database.read() as db:
                ids = list((await db.scalars(query)).all())
            if not ids:
                return
            last = ids[-1]
            yield ids


async def _used_no_more(db: AsyncConnection, uses: Counter[int]) -> int:
    """Count the pages that have no uses other than these (page → number of uses)."""
    gone = 0
    every = list(uses)
    for start in range(0, len(every), COUNTED):
        some = every[start : start + COUNTED]
        total: Counter[int] = Counter()
        for table in (citations, run_pages):
            query = (
                sa.select(table.c.page_id, sa.func.count().label("uses"))
                .where(table.c.page_id.in_(some))
                .group_by(table.c.page_id)
            )
            total.update({row.page_id: row.uses for row in (await db.execute(query)).all()})
        gone += sum(total[page] == uses[page] for page in some)
    return gone


async def _emptied(db: AsyncConnection, in_threads: Counter[str]) -> int:
    """Count the threads that have no messages other than these (thread → number)."""
    emptied = 0
    for key, number in in_threads.items():
        emptied += await count(db, messages, messages.c.thread_key == key) == number
    return emptied


Forgotten = tuple[str, str]  # kind and object, as in the log
# The columns that hold ids of people.
NAMES = (
    messages.c.author_id,
    feedback.c.author_id,
    spending.c.name,
    sign_ins.c.person,
    audit.c.person,
    shares.c.author_id,
    threads.c.titled_by,
    channel_rules.c.author_id,
    watches.c.author_id,
)


@dataclass(frozen=True, slots=True)
class MissingForgettings:
    """What must be forgotten again, each with the time at which it was last forgotten: subjects,
    and single messages by platform and event id. ``foreign`` counts people whose pseudonyms were
    made with another database's key."""

    subjects: Mapping[Subject, datetime]
    messages: tuple[tuple[str, str], ...]
    foreign: int


async def missing_forgettings(
    database: Database, told: Mapping[Forgotten, datetime]
) -> MissingForgettings:
    """The forgettings of an exported log that this database has no record of, as far as it still
    contains the subject. Raises ``StorageUnavailable``."""
    unknown = {what: at for what, at in told.items() if not await _is_known(database, what, at)}
    async with database.write() as db:
        key = await key_of_pseudonyms(db)
    ours = pseudonym_by(key, "", "").rpartition(":")[0] + ":"
    people = {object: at for (kind, object), at in unknown.items() if kind == "person"}
    foreign = sum(not object.partition(":")[2].startswith(ours) for object in people)
    subjects: dict[Subject, datetime] = {}
    for platform, column in product({object.partition(":")[0] for object in people}, NAMES):
        async for name in _values(database, column):
            at = people.get(f"{platform}:{pseudonym_by(key, platform, name)}")
            if at is not None:
                subjects[Subject("person", platform, name)] = at
    async for thread in _values(database, threads.c.key):
        at = unknown.get(("thread", named(thread)))
        if at is not None:
            subjects[Subject("thread", thread.partition(":")[0], thread)] = at
    single: list[tuple[str, str]] = []
    for (kind, object), at in unknown.items():
        platform, _, name = object.partition(":")
        if kind == "workspace":
            subjects[Subject("workspace", platform, name)] = at
        elif kind == "message":
            single.append((platform, name))
    return MissingForgettings(subjects, tuple(single), foreign)


async def _is_known(database: Database, what: Forgotten, at: datetime) -> bool:
    """True if this database has forgotten it at that time or later."""
    kind, object = what
    known = sa.select(audit.c.id).where(
        audit.c.deed == "forgot", audit.c.at >= at, audit.c.kind == kind, audit.c.object == object
    )
    async with database.read() as db:
        return bool(await db.scalar(sa.select(known.exists())))


async def _values(database: Database, column: sa.Column[str]) -> AsyncIterator[str]:
    """The distinct values of a column, read in batches."""
    last = ""
    while True:
        query = (
            sa.select(column).where(column > last).distinct().order_by(column).limit(ROWS_AT_ONCE)
        )
        async with database.read() as db:
            values = (await db.scalars(query)).all()
        if not values:
            return
        for value in values:
            yield value
        last = values[-1]


async def object_of(db: AsyncConnection, subject: Subject) -> str:
    """The name of a subject to forget, as the log shows it."""
    platform, name = subject.platform, subject.name
    if subject.kind == "thread":
        return named(name)
    if subject.kind == "person":
        name = await pseudonym(db, platform, name)
    return f"{platform}:{name}"


def _naming(subject: Subject) -> Sequence[sa.ColumnElement[bool]]:
    """The conditions for rows that name a person, or people of a workspace; a thread has none."""
    if subject.kind == "thread":
        return (sa.false(),)
    column = audit.c.person if subject.kind == "person" else audit.c.workspace
    return (
        audit.c.platform == subject.platform,
        column == subject.name,
        audit.c.person != "",
        sa.not_(audit.c.person.startswith(PSEUDONYM)),
    )


async def pseudonymize(database: Database, subject: Subject, until: datetime) -> int:
    """Replace a person, or everybody in a workspace, by pseudonyms in the rows up to a moment, and
    clear their addresses; return how many rows were changed."""
    changed = 0
    query = (
        sa.select(audit.c.id, audit.c.person)
        .where(*_naming(subject), audit.c.at <= until)
        .limit(ROWS_AT_ONCE)
    )
    while True:
        async with database.read() as db:
            rows = (await db.execute(query)).all()
        if not rows:
            return changed
        changed += len(rows)
        async with database.write() as db:
            key = await key_of_pseudonyms(db)
            for person in {row.person for row in rows}:
                ids = [row.id for row in rows if row.person == person]
                gone = pseudonym_by(key, subject.platform, person)
                await db.execute(
                    sa.update(audit).where(audit.c.id.in_(ids)).values(person=gone, address="")
                )
