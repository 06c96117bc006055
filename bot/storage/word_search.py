"""Questions, answers and corrections, found by their words: FTS5 on SQLite, lexemes on PostgreSQL.

Words are indexed as terms of ``text.terms``, like the documents: stems, and bigrams of Chinese,
Japanese and Korean. Single characters of those languages are indexed too, so that one character
can be searched. A database trigger deletes the words of a run that changes; ``index`` adds them
again. A correction belongs to the run of its message, and is found by place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.errors import RunLost
from bot.core.lines import one_line, shortened
from bot.core.messages import OWN_WORDS, Answer, Author, Provenance, Thread, Wording
from bot.core.reader import Reach
from bot.storage.audit_log import Actor, named, note
from bot.storage.database import Database, Transactions, awaited, repeated
from bot.storage.store import RunRecord, record_of, run_query
from bot.storage.tables import (
    OURS,
    THREAD,
    UNFINISHED,
    answer_of,
    asked_of,
    asked_runs,
    corrections,
    fact,
    feedback,
    found_words,
    insert,
    keep_fact,
    messages,
    runs,
    thread_of,
    threads,
)
from bot.text.sentences import sentences
from bot.text.terms import STOP_WORDS, has_cjk, keywords, terms

INDEXED_AT_ONCE = 50  # runs whose words are added in one transaction
MOST_TERMS = 20_000  # of one run; PostgreSQL allows one megabyte of them
MOST_ASKED = 24  # terms of a search; further ones are ignored
FEWEST_ASKED = 2  # content words by which an earlier answer is found
MOST_ANSWERS = 12  # earlier answers that a search finds
# Runs that ended this long before the latest one are not checked again. The margin covers clock
# differences and answers that change after their end.
OVERLAP = timedelta(hours=2)
KEPT_EVERY = timedelta(hours=1)
_UNTIL = (OURS, "", "words indexed until")


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run that contains all the words: in its question alone, or together with its answer."""

    run: str
    thread_key: str
    in_question: bool


def terms_of(text: str) -> list[str]:
    """The distinct terms under which a text is indexed."""
    kept = dict.fromkeys(terms(text))
    if has_cjk(text):
        kept |= dict.fromkeys(one for term in [*kept] if has_cjk(term) for one in term)
    return [*kept][:MOST_TERMS]


class FoundWords(Transactions):
    """The words of all runs. Failures are raised as ``StorageUnavailable``."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._until: datetime | None = None  # runs that ended earlier are indexed
        self._kept = datetime.min.replace(tzinfo=UTC)  # the stored value of ``_until``

    @awaited
    async def index(self, limit: int = INDEXED_AT_ONCE) -> int:
        """Index up to ``limit`` of the latest runs without words; returns how many. Unfinished
        runs are left for later."""
        if self._until is None:
            self._until = self._kept = await self._stored()
        known = sa.select(found_words.c.id).where(found_words.c.run_id == runs.c.id)
        query = (
            sa.select(runs.c.id, runs.c.thread_key, runs.c.attempt, runs.c.answer, messages.c.text)
            .join_from(runs, messages, runs.c.message_id == messages.c.id)
            .where(
                runs.c.ended_at >= self._until,
                runs.c.state.not_in(UNFINISHED),
                messages.c.text != "",  # "" if it was deleted
                ~known.exists(),
            )
            .order_by(runs.c.message_id.desc())
            .limit(limit)
        )

        async def ended(db: AsyncConnection) -> tuple[datetime | None, Sequence[Any]]:
            latest = await db.scalar(sa.select(sa.func.max(runs.c.ended_at)))
            return latest, (await db.execute(query)).all()

        latest, rows = await self.database.query(ended)
        if rows:
            await self._add(rows)
        if len(rows) < limit and latest is not None:
            await self._keep(min(latest, datetime.now(UTC)) - OVERLAP)
        return len(rows)

    async def _add(self, rows: Sequence[Any]) -> None:
        # In a worker thread: a long answer takes some milliseconds.
        wanted = await asyncio.to_thread(lambda: {row.id: _rows_of(row) for row in rows})
        attempts = {row.id: row.attempt for row in rows}
        still = sa.select(runs.c.id, runs.c.attempt).where(runs.c.id.in_(wanted))
        still = still.with_for_update(read=True)  # on PostgreSQL: SQLite has one writer

        async def add(db: AsyncConnection) -> None:
            now = {row.id: row.attempt for row in (await db.execute(still)).all()}
            # Runs that were edited or forgotten meanwhile have other words, or none.
            good = [row for id in wanted if now.get(id) == attempts[id] for row in wanted[id]]
            if good:
                await db.execute(insert(db, found_words).on_conflict_do_nothing(), good)

        await self.database.transact(add)

    async def _stored(self) -> datetime:
        """The time up to which all words are indexed, as any process has stored it."""
        async with self.database.read() as db:
            found = await fact(db, *_UNTIL)
        return datetime.fromisoformat(found) if found else datetime.min.replace(tzinfo=UTC)

    async def _keep(self, until: datetime) -> None:
        self._until = until
        if until < self._kept + KEPT_EVERY:
            return
        async with self.database.write_at_once() as db:
            await keep_fact(db, *_UNTIL, until.isoformat())
        self._kept = until

    async def search(self, text: str, channel: str | None, limit: int) -> list[FoundRun]:
        """The latest runs of the console that contain all words of a text, the last word as a
        prefix; of one channel, or of all (None)."""
        asked = terms(text)[:MOST_ASKED]
        if not asked:
            return []
        query = (
            sa.select(found_words.c.run_id, found_words.c.thread_key, found_words.c.part)
            .join(threads, threads.c.key == found_words.c.thread_key)
            .join(runs, runs.c.id == found_words.c.run_id)
            .where(threads.c.platform == "web", _matches(self.database.dialect))
            .order_by(runs.c.message_id.desc())
            .limit(2 * limit)
        )
        if channel is not None:
            query = query.where(threads.c.channel == channel)
        rows = await self._rows(query, _wanted(self.database.dialect, asked))
        in_questions = {row.run_id for row in rows if row.part == "question"}
        by_run = {row.run_id: row.thread_key for row in rows}
        return [FoundRun(run, key, run in in_questions) for run, key in by_run.items()][:limit]

    @awaited
    async def answered(self, text: str, near: Thread) -> list[RunRecord]:
        """The latest runs with an answer and all content words of a text, in the workspace of
        ``near`` but not in its thread, those of its channel first. Without those whose answer was
        marked not helpful, or corrected in its thread since."""
        asked = [term for term in keywords(text) if term not in STOP_WORDS]
        if len(asked) < FEWEST_ASKED:
            return []
        values = {
            **_wanted(self.database.dialect, asked[:MOST_ASKED]),
            "its_platform": near.platform,
            "its_workspace": near.workspace,
            "its_channel": near.channel,
            "its_thread": near.key,
        }
        rows = await self._rows(_answered(self.database.dialect), values)
        return [record_of(row) for row in rows]

    async def answers(self, run_ids: Collection[str]) -> dict[str, tuple[Wording, Answer | None]]:
        """The question and the answer of each run."""
        query = (
            sa.select(runs.c.id, messages.c.text, messages.c.made_from, runs.c.answer)
            .join_from(runs, messages, runs.c.message_id == messages.c.id)
            .where(runs.c.id.in_(run_ids))
        )
        rows = await self._rows(query)
        return {row.id: (asked_of(row), answer_of(row.answer)) for row in rows}


@cache
def _answered(dialect: str) -> sa.Select[Any]:
    """The query of ``FoundWords.answered``."""
    return (
        run_query()
        .join(found_words, found_words.c.run_id == runs.c.id)
        .where(
            found_words.c.part == "whole",
            _matches(dialect),
            threads.c.platform == sa.bindparam("its_platform"),
            threads.c.workspace == sa.bindparam("its_workspace"),
            threads.c.key != sa.bindparam("its_thread"),
            runs.c.state == "answered",
            sa.not_(runs.c.removed),
            messages.c.text != "",
            sa.not_(_disliked()),
            sa.not_(_corrected()),
        )
        .order_by(
            (threads.c.channel == sa.bindparam("its_channel")).desc(), runs.c.message_id.desc()
        )
        .limit(MOST_ANSWERS)
    )


def _disliked() -> sa.ColumnElement[bool]:
    """True if anyone marked the answer as not helpful."""
    its = (feedback.c.run_id == runs.c.id, feedback.c.verdict == "bad")
    return sa.select(feedback.c.run_id).where(*its).exists()


def _corrected() -> sa.ColumnElement[bool]:
    """True if anyone has since made a correction in the thread of the answer."""
    later = runs.alias("later")
    return (
        sa.select(corrections.c.run_id)
        .join(later, corrections.c.run_id == later.c.id)
        .where(
            later.c.thread_key == runs.c.thread_key,
            later.c.message_id > runs.c.message_id,
            sa.not_(corrections.c.removed),
        )
        .exists()
    )


def _rows_of(row: Any) -> list[dict[str, str]]:
    answer = answer_of(row.answer)
    parts = {"question": row.text, "whole": f"{row.text}\n{answer.text if answer else ''}"}
    return [
        {"run_id": row.id, "thread_key": row.thread_key, "part": part, "terms": " ".join(found)}
        for part, text in parts.items()
        if (found := terms_of(text)) or part == "whole"
    ]


def _matches(dialect: str) -> sa.ColumnElement[bool]:
    """The condition that a row contains all terms that ``wanted`` has."""
    if dialect == "postgresql":
        wanted = sa.cast(sa.bindparam("wanted"), sa.Text)
        vector = sa.func.array_to_tsvector(sa.func.string_to_array(found_words.c.terms, " "))
        return vector.op("@@")(wanted.op("::")(sa.text("tsquery")))
    return found_words.c.id.in_(
        sa.text("SELECT rowid FROM found_words_index WHERE found_words_index MATCH :wanted")
    )


def _wanted(dialect: str, asked: Sequence[str]) -> dict[str, str]:
    """The parameter of ``_matches``, the last term as a prefix. Terms are letters and digits: no
    escaping."""
    *whole, last = asked
    if dialect == "postgresql":
        return {"wanted": " & ".join([*(f"'{term}'" for term in whole), f"'{last}':*"])}
    return {"wanted": " AND ".join([*(f'"{term}"' for term in whole), f'"{last}"*'])}


WORDS = 4_000  # characters of a message that are stored as the text of a correction
STATEMENT, QUESTION, LINK = 600, 600, 2_000  # characters
MOST_SEARCHED = 2_000  # corrections visible to one reader that are searched, the newest ones
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction. ``id`` is the id of its run; ``text`` is what its author wrote, ``statement``
    says the same in a form that stands alone, and ``question`` is the one whose answer it corrects.
    ``made_from`` is what a model may have made these two from. ``place`` is the key of the
    workspace, channel or thread whose readers may see it. ``url`` is the address of the message and
    ``link`` a page that its author named, "" if there is none.
    """

    id: str
    thread: Thread
    author: Author
    at: datetime
    text: str
    statement: str
    question: str
    place: str
    channel_name: str = ""
    url: str = ""
    link: str = ""
    terms: frozenset[str] = frozenset()
    made_from: Provenance = OWN_WORDS

    @property
    def is_own_words(self) -> bool:
        """True if the statement consists of sentences that its author wrote."""
        said, written = one_line(self.statement), one_line(self.text)
        return all(said[each.start : each.end] in written for each in sentences(said))

    def within(self, reach: Reach) -> Correction:
        """Return what may be shown to readers with this reach: where they may not read all that a
        model has added words from, the author's own words alone."""
        if reach.covers(self.made_from):
            return self
        own = self.statement if self.is_own_words else shortened(one_line(self.text), STATEMENT)
        terms = frozenset(terms_of(self.text))
        return replace(self, statement=own, question="", terms=terms, made_from=OWN_WORDS)


class Corrections(Transactions):
    """Every method is one transaction. Failures are raised as ``StorageUnavailable``."""

    @awaited
    async def keep(self, correction: Correction, attempt: int, now: datetime, most: int) -> bool:
        """Store the correction that a run's message makes, once. Returns False if its author has
        already made ``most`` within a day, or has retracted this one. Raises ``RunLost``."""
        whose = correction.author.id, correction.thread.platform
        async with self.database.write() as db:
            current = sa.select(runs.c.attempt).where(runs.c.id == correction.id)
            if await db.scalar(current) != attempt:
                raise RunLost(f"Run {correction.id} has been taken over by a later attempt.")
            known = sa.select(corrections.c.removed).where(corrections.c.run_id == correction.id)
            if (removed := await db.scalar(known)) is not None:
                return not removed
            made = (
                sa.select(sa.func.count())
                .select_from(_joined())
                .where(
                    messages.c.author_id == whose[0],
                    threads.c.platform == whose[1],
                    corrections.c.kept_at > now - DAY,
                )
            )
            if int(await db.scalar(made) or 0) >= most:
                return False
            texts = (correction.statement, correction.question, correction.text[:WORDS])
            await db.execute(
                sa.insert(corrections).values(
                    run_id=correction.id,
                    place=correction.place,
                    channel_name=correction.channel_name,
                    url=correction.url,
                    statement=correction.statement[:STATEMENT],
                    question=correction.question[:QUESTION],
                    link=correction.link if len(correction.link) <= LINK else "",
                    terms=" ".join(terms_of("\n".join(texts))),
                    made_from=list(correction.made_from),
                    kept_at=now,
                )
            )
            by = Actor(correction.thread.platform, correction.thread.workspace, whose[0])
            place = named(correction.thread.key)
            await note(db, "corrected", "run", correction.id, place=place, by=by, at=now)
        return True

    @repeated
    async def remove(self, correction: Correction, by: Actor) -> None:
        """Retract a correction: its message stays, but later runs do not find it."""
        empty = dict.fromkeys(("url", "statement", "question", "link", "terms"), "")
        empty_list: dict[str, Any] = {"made_from": []}
        async with self.database.urgent_write() as db:
            gone = await db.execute(
                sa.update(corrections)
                .where(corrections.c.run_id == correction.id, ~corrections.c.removed)
                .values(removed=True, **empty, **empty_list)
            )
            if gone.rowcount:
                place = named(correction.thread.key)
                await note(db, "retracted", "run", correction.id, place=place, by=by)

    @awaited
    async def of_places(self, places: Collection[str]) -> list[Correction]:
        """The corrections that the readers of these places may see, the newest first."""
        return await self._found(corrections.c.place.in_(places), most=MOST_SEARCHED)

    @repeated
    async def listed(self, places: Collection[str] | None = None) -> list[Correction]:
        """List the corrections made in these places, or all of them, the newest first."""
        where = () if places is None else (corrections.c.place.in_(places),)
        return await self._found(*where)

    @repeated
    async def correction(self, id: str) -> Correction | None:
        found = await self._found(corrections.c.run_id == id)
        return found[0] if found else None

    async def _found(
        self, *where: sa.ColumnElement[bool], most: int | None = None
    ) -> list[Correction]:
        query = (
            sa.select(corrections, messages.c.author_id, messages.c.author_name, messages.c.at)
            .add_columns(messages.c.text)
            .add_columns(*THREAD)
            .select_from(_joined())
            .where(~corrections.c.removed, *where)
            .order_by(corrections.c.kept_at.desc(), corrections.c.run_id)
            .limit(most)
        )
        return [_correction(row) for row in await self._rows(query)]


def _joined() -> sa.Join:
    return asked_runs.join(corrections, corrections.c.run_id == runs.c.id)


def _correction(row: Any) -> Correction:
    return Correction(
        id=row.run_id,
        thread=thread_of(row),
        author=Author(row.author_id, row.author_name),
        at=row.at,
        text=row.text[:WORDS],
        statement=row.statement,
        question=row.question,
        place=row.place,
        channel_name=row.channel_name,
        url=row.url,
        link=row.link,
        terms=frozenset(row.terms.split()),
        made_from=Provenance.of(row.made_from),
    )
