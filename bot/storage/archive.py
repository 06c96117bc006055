"""Everything stored about conversations and runs: listing them, finding them by name, reading them.

``bot.research.trace.trace`` interprets the journal of a run.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.errors import Invalid
from bot.core.messages import (
    OWN_WORDS,
    Answer,
    Attachment,
    Author,
    Provenance,
    RunOptions,
    Telling,
    Thread,
    people_only,
)
from bot.storage.database import Transactions
from bot.storage.store import RunRecord, Store
from bot.storage.tables import (
    UtcDateTime,
    answer_of,
    as_options,
    asked_of,
    citations,
    feedback,
    messages,
    pages,
    run_pages,
    runs,
    steps,
    thread_of,
    threads,
)
from bot.storage.workspaces import Verdict

PORTION = 500  # messages per query when looking for the latest threads
COMPARED = 10_000  # threads whose names are compared to suggest the nearest one


@dataclass(frozen=True, slots=True)
class ThreadEntry:
    """A thread in a list. ``begins`` is the text of its first message."""

    thread: Thread
    messages: int
    questions: int
    begins: str
    last_at: datetime


@dataclass(frozen=True, slots=True)
class DoneStep:
    """A finished step of a run, without its result."""

    kind: str
    title: str
    seconds: float
    at: datetime


@dataclass(frozen=True, slots=True)
class Held:
    """The research for one message. ``ended_at`` is None while it is unfinished."""

    id: str
    state: str
    options: RunOptions
    accepted_at: datetime
    ended_at: datetime | None
    answer: Answer | None
    steps: tuple[DoneStep, ...]
    feedback: Mapping[str, Verdict]


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A stored message, with its research if it was a question; its text is empty if deleted."""

    author: Author
    text: str
    at: datetime
    links: tuple[str, ...]
    attachments: tuple[Attachment, ...]
    run: Held | None
    made_from: Provenance = OWN_WORDS


@dataclass(frozen=True, slots=True)
class Conversation:
    """A whole thread, in chronological order."""

    thread: Thread
    began_at: datetime
    said: tuple[StoredMessage, ...]


class Archive(Transactions):
    """Failures are raised as ``StorageUnavailable``."""

    async def threads(self, limit: int) -> list[ThreadEntry]:
        """Threads with messages, the latest first."""
        async with self.database.read() as db:
            latest = await _latest(db, limit)
            sums = (
                sa.select(
                    messages.c.thread_key,
                    sa.func.count().label("messages"),
                    sa.func.count(runs.c.id).label("questions"),
                    sa.func.min(messages.c.id).label("first"),
                )
                .join_from(messages, runs, isouter=True)
                .where(messages.c.thread_key.in_(latest))
                .group_by(messages.c.thread_key)
                .subquery()
            )
            query = (
                sa.select(threads, sums, messages.c.text)
                .join_from(sums, threads, sums.c.thread_key == threads.c.key)
                .join(messages, messages.c.id == sums.c.first)
            )
            rows = (await db.execute(query)).all()
        found = [
            ThreadEntry(thread_of(row), row.messages, row.questions, row.text, latest[row.key])
            for row in rows
        ]
        return sorted(found, key=lambda one: (-one.last_at.timestamp(), one.thread.key))

    async def answers(
        self, platform: str, channel: str | None, limit: int, told: Telling = people_only
    ) -> list[tuple[str, str, datetime]]:
        """The runs with an answer in a channel, or in all (None), the latest first: their ids,
        their questions as they may be ``told``, and when those were asked."""
        query = (
            sa.select(runs.c.id, messages.c.text, messages.c.made_from, messages.c.at)
            .join_from(messages, runs)
            .join(threads, threads.c.key == messages.c.thread_key)
            .where(
                threads.c.platform == platform, messages.c.text != "", runs.c.answer.is_not(None)
            )
            .order_by(messages.c.id.desc())
            .limit(limit)
        )
        if channel is not None:
            query = query.where(threads.c.channel == channel)
        rows = await self._rows(query)
        return [(row.id, told(asked_of(row)), row.at) for row in rows]

    async def find(self, name: str) -> Thread:
        """The thread with this key, or the only one whose last part is this name.

        Raises ``Invalid``, which suggests the nearest name or lists the keys that match.
        """
        query = sa.select(threads).where(sa.or_(threads.c.key == name, threads.c.thread == name))
        async with self.database.read() as db:
            found = [thread_of(row) for row in (await db.execute(query.limit(5))).all()]
            exact = [thread for thread in found if thread.key == name]
            if len(exact or found) == 1:
                return (exact or found)[0]
            if found:
                keys = ", ".join(sorted(thread.key for thread in found))
                raise Invalid(f"Several threads are called {name}: name one of {keys}.")
            near = await _nearest(db, name)
        meant = f" Did you mean {near}?" if near else ""
        raise Invalid(f"There is no thread {name}.{meant} `footnote threads` lists them.")

    async def conversation(self, thread: Thread) -> Conversation:
        """All messages of a thread; raises ``Invalid`` when it does not exist any more."""
        of_messages = (
            sa.select(messages, runs)
            .join_from(messages, runs, isouter=True)
            .where(messages.c.thread_key == thread.key)
            .order_by(messages.c.at, messages.c.id)
            .set_label_style(sa.LABEL_STYLE_TABLENAME_PLUS_COL)
        )
        of_thread = sa.select(runs.c.id).where(runs.c.thread_key == thread.key)
        of_steps = (
            sa.select(steps.c.run_id, steps.c.kind, steps.c.title, steps.c.seconds, steps.c.at)
            .where(steps.c.run_id.in_(of_thread))
            .order_by(steps.c.id)
        )
        of_feedback = sa.select(feedback).where(feedback.c.run_id.in_(of_thread))
        async with self.database.read() as db:
            began_at = await db.scalar(
                sa.select(threads.c.created_at).where(threads.c.key == thread.key)
            )
            rows = (await db.execute(of_messages)).all()
            steps_done = (await db.execute(of_steps)).all()
            verdicts = (await db.execute(of_feedback)).all()
        if began_at is None:
            raise Invalid(f"The thread {thread.key} is gone. `footnote threads` lists them.")
        return Conversation(
            thread,
            began_at,
            tuple(
                StoredMessage(
                    Author(row.messages_author_id, row.messages_author_name),
                    row.messages_text,
                    row.messages_at,
                    tuple(row.messages_links),
                    tuple(Attachment(**file) for file in row.messages_attachments),
                    None if row.runs_id is None else _held(row, steps_done, verdicts),
                    Provenance.of(row.messages_made_from),
                )
                for row in rows
            ),
        )


async def _latest(db: AsyncConnection, limit: int) -> dict[str, datetime]:
    """The keys of the threads with the latest messages, and the times of those. Messages are read
    backwards in batches, so that only a few are read."""
    query = sa.select(messages.c.thread_key, messages.c.at, messages.c.id)
    query = query.order_by(messages.c.at.desc(), messages.c.id.desc()).limit(PORTION)
    found: dict[str, datetime] = {}
    rows = (await db.execute(query)).all()
    while rows:
        for row in rows:
            if len(found) == limit and row.thread_key not in found:
                return found
            found.setdefault(row.thread_key, row.at)
        before = sa.tuple_(
            sa.literal(rows[-1].at, UtcDateTime()), sa.literal(rows[-1].id, sa.Integer())
        )
        later = query.where(sa.tuple_(messages.c.at, messages.c.id) < before)
        rows = (await db.execute(later)).all()
    return found


def _held(row: Any, done: Sequence[Any], verdicts: Sequence[Any]) -> Held:
    return Held(
        id=row.runs_id,
        state=row.runs_state,
        options=as_options.validate_python(row.runs_options),
        accepted_at=row.runs_accepted_at,
        ended_at=row.runs_ended_at,
        answer=answer_of(row.runs_answer),
        steps=tuple(
            DoneStep(step.kind, step.title, step.seconds, step.at)
            for step in done
            if step.run_id == row.runs_id
        ),
        feedback={one.author_id: one.verdict for one in verdicts if one.run_id == row.runs_id},
    )


async def _nearest(db: AsyncConnection, name: str) -> str | None:
    newest = sa.select(threads.c.key, threads.c.thread).order_by(threads.c.created_at.desc())
    rows = (await db.execute(newest.limit(COMPARED))).all()
    known = {word: row.key for row in rows for word in (row.thread, row.key)}
    near = difflib.get_close_matches(name, known, n=1)
    return known[near[0]] if near else None


@dataclass(frozen=True, slots=True)
class KeptStep:
    """A finished step; ``result`` is JSON text, ``at`` is when it ended, and ``attempt`` is the
    attempt at the run that did it."""

    key: str
    kind: str
    title: str
    result: str
    attempt: int
    seconds: float
    at: datetime


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A copy of a page that has a footnote number in a run, with its length in characters.

    ``text`` is None unless requested.
    """

    number: int
    url: str
    title: str
    hash: str
    fetched_at: datetime
    characters: int
    text: str | None = None


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run and everything that belongs to it.

    ``ended_at`` is None until it has ended. ``steps`` are in the order in which they ended; there
    are none after pruning. ``pages`` are ordered by number; quoted ones include their text.
    ``feedback`` has one verdict for each person.
    """

    record: RunRecord
    ended_at: datetime | None
    steps: tuple[KeptStep, ...]
    pages: tuple[KeptPage, ...]
    feedback: Mapping[str, Verdict]


class Traces(Transactions):
    """Failures are raised as ``StorageUnavailable``."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.database)
        self._store = store

    async def run(self, run_id: str) -> KeptRun | None:
        """The run with this id, ended or not; None if it does not exist."""
        done = (
            sa.select(
                steps.c.key,
                steps.c.kind,
                steps.c.title,
                steps.c.result,
                steps.c.attempt,
                steps.c.seconds,
                steps.c.at,
            )
            .where(steps.c.run_id == run_id)
            .order_by(steps.c.at, steps.c.id)
        )
        quoted = sa.select(citations.c.page_id).where(citations.c.run_id == run_id)
        text = sa.case((pages.c.id.in_(quoted), pages.c.text), else_=sa.null())
        judged = sa.select(feedback.c.author_id, feedback.c.verdict).where(
            feedback.c.run_id == run_id
        )
        record = await self._store.run(run_id)
        if record is None:
            return None
        async with self.database.read() as db:
            ended_at = await db.scalar(sa.select(runs.c.ended_at).where(runs.c.id == run_id))
            kept = (await db.execute(done)).all()
            numbered = (await db.execute(_numbered(run_id, text))).all()
            verdicts = (await db.execute(judged)).all()
        return KeptRun(
            record,
            ended_at,
            tuple(KeptStep(*step) for step in kept),
            tuple(_page(page) for page in numbered),
            {one.author_id: one.verdict for one in verdicts},
        )

    async def page(self, run_id: str, number: int, page_hash: str = "") -> KeptPage | None:
        """The page with this footnote number in a run, with its text: the copy with this hash, or
        by default the one that got the number; None if the run has no such page."""
        rows = await self._rows(_numbered(run_id, pages.c.text, number))
        found = [_page(row) for row in rows if page_hash in ("", row.hash)]
        return found[0] if found else None


def _numbered(
    run_id: str, text: sa.ColumnElement[Any], number: int | None = None
) -> sa.Select[Any]:
    """Copies of pages with their numbers: those that got a number, and those quoted under it."""
    shown = sa.func.coalesce(run_pages.c.shown, run_pages.c.number).label("number")
    assigned = sa.select(shown, run_pages.c.page_id, sa.literal(0).label("later")).where(
        run_pages.c.run_id == run_id
    )
    cited = sa.select(citations.c.number, citations.c.page_id, sa.literal(1)).where(
        citations.c.run_id == run_id
    )
    copies = sa.union_all(assigned, cited).subquery()
    found = (
        sa.select(
            copies.c.number,
            pages.c.id,
            pages.c.url,
            pages.c.title,
            pages.c.hash,
            pages.c.fetched_at,
            sa.func.length(pages.c.text).label("characters"),
            text.label("text"),
        )
        .join_from(copies, pages, copies.c.page_id == pages.c.id)
        .group_by(copies.c.number, pages.c.id)
        .order_by(copies.c.number, sa.func.min(copies.c.later), pages.c.id)
    )
    return found if number is None else found.where(copies.c.number == number)


def _page(row: Any) -> KeptPage:
    return KeptPage(
        row.number, row.url, row.title, row.hash, row.fetched_at, row.characters, row.text
    )
