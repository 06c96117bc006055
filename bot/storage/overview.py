"""Statistics over some days: questions and their outcomes, askers, times and cost.

The database does all counting, on SQLite and PostgreSQL alike. Questions are counted by days in the
scope's time zone, with their cost; spending is stored by days in UTC.

Beside the figures there are lists of questions for operators and authors of documents: unanswered
questions, readers' feedback, the places in which people ask, and the documents that answers quote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from bot.core.messages import Provenance, Telling, Wording, people_only
from bot.core.reader import SCHEME
from bot.storage.database import Transactions
from bot.storage.spending import SUMS, Amount, amount_of
from bot.storage.tables import (
    PLACE,
    STATE,
    UNFINISHED,
    WAITING,
    WORKING,
    asked_of,
    asked_runs,
    citations,
    feedback,
    messages,
    pages,
    runs,
    spending,
    steps,
    threads,
)
from bot.text.terms import keywords


class _seconds_between(FunctionElement[Any]):
    """The seconds from the first moment to the second, at least 0: the process in which a run ends
    may have a slower clock than the one that accepted it."""

    type = sa.Float()
    inherit_cache = True


@compiles(_seconds_between, "sqlite")
def _in_sqlite(call: Any, compiler: Any, **kw: Any) -> str:
    begin, end = (compiler.process(each, **kw) for each in call.clauses)
    return f"max(0.0, (julianday({end}) - julianday({begin})) * 86400.0)"


@compiles(_seconds_between, "postgresql")
def _in_postgresql(call: Any, compiler: Any, **kw: Any) -> str:
    begin, end = (compiler.process(each, **kw) for each in call.clauses)
    seconds = f"CAST(EXTRACT(EPOCH FROM ({end} - {begin})) AS double precision)"
    return f"CASE WHEN {end} < {begin} THEN 0.0 ELSE {seconds} END"


def duration() -> sa.ColumnElement[Any]:
    """The seconds from a run's acceptance to its end."""
    return _seconds_between(runs.c.accepted_at, runs.c.ended_at)


LATEST = 10  # questions listed
SEARCHES = 1_000  # latest searches, from which providers are judged
RECENT = 1_000  # latest questions, whose searches are evaluated
MEDIAN_OF = 20_000  # latest questions, over which the median is taken
PLACES = 300  # offered as filters


@dataclass(frozen=True, slots=True)
class Scope:
    """The selection of an overview; empty fields do not restrict it. ``first`` and ``last`` are
    days in ``zone``, both inclusive."""

    first: date
    last: date
    platform: str = ""
    workspace: str = ""
    channel: str = ""
    zone: tzinfo = UTC

    @property
    def days(self) -> tuple[date, ...]:
        length = (self.last - self.first).days + 1
        return tuple(self.first + timedelta(days=n) for n in range(max(0, length)))

    @property
    def since(self) -> datetime:
        return self.begin(self.first)

    @property
    def until(self) -> datetime:
        """The end of the period, exclusive."""
        return self.begin(self.last + timedelta(days=1))

    def begin(self, day: date) -> datetime:
        """Return the moment at which a day begins."""
        return datetime(day.year, day.month, day.day, tzinfo=self.zone).astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Day:
    """Questions accepted on a day by outcome, their cost in US dollars, and what was spent on the
    day of UTC."""

    day: date
    states: Mapping[str, int]
    usd: float
    spent: Amount


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question. ``seconds`` is from acceptance to posting; it and ``usd`` are None until then."""

    run: str
    platform: str
    text: str
    state: str
    accepted_at: datetime
    seconds: float | None
    usd: float | None


@dataclass(frozen=True, slots=True)
class StoredSearch:
    """A search as its step stores it: JSON of a ``research.outcomes.SearchOutcome``."""

    result: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Queue:
    """The current workload, regardless of scope. ``oldest`` is when the first of the waiting
    questions was accepted."""

    waiting: int
    running: int
    oldest: datetime | None


@dataclass(frozen=True, slots=True)
class Place:
    """A channel in which questions were asked."""

    platform: str
    workspace: str
    channel: str


@dataclass(frozen=True, slots=True)
class Overview:
    """See the module docstring. ``people`` counts the askers. ``median`` is in seconds, over
    questions that ended with a result; None without any. ``verdicts`` counts the readers'
    verdicts."""

    days: tuple[Day, ...]
    people: int
    median: float | None
    verdicts: Mapping[str, int]
    latest: tuple[QuestionRow, ...]
    searches: tuple[StoredSearch, ...]
    queue: Queue

    @property
    def states(self) -> Mapping[str, int]:
        """All questions by outcome."""
        found = Counter[str]()
        for day in self.days:
            found.update(day.states)
        return found

    @property
    def spent(self) -> Amount:
        return sum((day.spent for day in self.days), Amount())


class Overviews(Transactions):
    """Failures are raised as ``StorageUnavailable``."""

    async def look(self, scope: Scope, told: Telling = people_only) -> Overview:
        """The overview of a scope, from one database connection, with questions as they may be
        ``told``."""
        async with self.database.read() as db:
            asked = await _asked(db, scope)
            spent = await _spent(db, scope)
            return Overview(
                tuple(
                    Day(day, *asked.get(day, ({}, 0.0)), spent.get(day, Amount()))
                    for day in scope.days
                ),
                await _people(db, scope),
                await _median(db, scope),
                await _verdicts(db, scope),
                await _latest(db, scope, told),
                await _searches(db, scope),
                await queue_of(db),
            )

    async def places(self) -> tuple[Place, ...]:
        """The places in which questions were asked, by name."""
        query = sa.select(*PLACE).distinct().order_by(*PLACE).limit(PLACES)
        return tuple(Place(*row) for row in await self._rows(query))


# ---------------------------------------------------------------- queries


def of_scope(query: sa.Select[Any], scope: Scope) -> sa.Select[Any]:
    """Restrict a query to runs in the scope; it must have joined runs with their threads."""
    named = (
        (threads.c.platform, scope.platform),
        (threads.c.workspace, scope.workspace),
        (threads.c.channel, scope.channel),
    )
    return query.where(
        runs.c.accepted_at >= scope.since,
        runs.c.accepted_at < scope.until,
        *(column == name for column, name in named if name),
    )


async def _asked(db: AsyncConnection, scope: Scope) -> dict[date, tuple[dict[str, int], float]]:
    """The questions of each day by outcome, and their cost."""
    ends = [*map(scope.begin, scope.days[1:]), scope.until]
    number = sa.case(*((runs.c.accepted_at < end, number) for number, end in enumerate(ends)))
    usd = runs.c.answer["usage"]["usd"].as_float().label("usd")
    every = sa.select(number.label("number"), STATE, usd).join_from(runs, threads)
    dated = of_scope(every, scope).subquery()
    sums = sa.func.count().label("counted"), sa.func.sum(dated.c.usd).label("usd")
    query = sa.select(dated.c.number, dated.c.state, *sums).group_by(dated.c.number, dated.c.state)
    found: dict[date, tuple[dict[str, int], float]] = {}
    for row in (await db.execute(query)).all():
        day = scope.days[row.number]
        states, before = found.get(day, ({}, 0.0))
        found[day] = {**states, row.state: row.counted}, before + (row.usd or 0.0)
    return found


async def _spent(db: AsyncConnection, scope: Scope) -> dict[date, Amount]:
    """Spending by channel or workspace, which stays stored when runs are forgotten."""
    query = (
        sa.select(spending.c.day, *SUMS)
        .where(
            spending.c.day >= scope.first,
            spending.c.day <= scope.last,
            spending.c.scope == ("channel" if scope.channel else "workspace"),
        )
        .group_by(spending.c.day)
    )
    named = {"platform": scope.platform, "workspace": scope.workspace, "name": scope.channel}
    query = query.where(*(spending.c[column] == name for column, name in named.items() if name))
    rows = (await db.execute(query)).all()
    return {row.day: amount_of(row) for row in rows}


async def _people(db: AsyncConnection, scope: Scope) -> int:
    # Looked up by run: PostgreSQL would read all messages for a join.
    author = sa.select(messages.c.author_id).where(messages.c.id == runs.c.message_id)
    asker = sa.select(threads.c.platform, author.scalar_subquery().label("author"))
    asked = of_scope(asker.join_from(runs, threads).distinct(), scope).subquery()
    counted = sa.select(sa.func.count()).select_from(asked)
    return await db.scalar(counted) or 0


async def _median(db: AsyncConnection, scope: Scope) -> float | None:
    recent = (
        of_scope(sa.select(duration().label("seconds")).join_from(runs, threads), scope)
        .where(runs.c.state.in_(("answered", "partial", "not_found")))
        .order_by(runs.c.accepted_at.desc())
        .limit(MEDIAN_OF)
        .subquery()
    )
    ended = sa.select(
        recent.c.seconds,
        sa.func.row_number().over(order_by=recent.c.seconds).label("place"),
        sa.func.count().over().label("counted"),
    ).subquery()
    # The middle one, or the mean of the middle two.
    middle = sa.select(sa.func.avg(ended.c.seconds)).where(
        2 * ended.c.place >= ended.c.counted, 2 * ended.c.place <= ended.c.counted + 2
    )
    found = await db.scalar(middle)
    return None if found is None else float(found)


async def _verdicts(db: AsyncConnection, scope: Scope) -> dict[str, int]:
    query = (
        sa.select(feedback.c.verdict, sa.func.count().label("counted"))
        .join(runs, feedback.c.run_id == runs.c.id)
        .join(threads, runs.c.thread_key == threads.c.key)
        .group_by(feedback.c.verdict)
    )
    return {row.verdict: row.counted for row in (await db.execute(of_scope(query, scope))).all()}


async def _latest(db: AsyncConnection, scope: Scope, told: Telling) -> tuple[QuestionRow, ...]:
    query = (
        sa.select(
            runs.c.id,
            threads.c.platform,
            messages.c.text,
            messages.c.made_from,
            STATE,
            runs.c.accepted_at,
            duration(),
            runs.c.answer["usage"]["usd"].as_float(),
        )
        .select_from(asked_runs)
        .order_by(runs.c.accepted_at.desc(), runs.c.id)
        .limit(LATEST)
    )
    rows = (await db.execute(of_scope(query, scope))).all()
    return tuple(
        QuestionRow(id, platform, told(Wording(text, Provenance.of(made_from))), *more)
        for id, platform, text, made_from, *more in rows
    )


async def _searches(db: AsyncConnection, scope: Scope) -> tuple[StoredSearch, ...]:
    recent = (
        of_scope(sa.select(runs.c.id).join_from(runs, threads), scope)
        .order_by(runs.c.accepted_at.desc())
        .limit(RECENT)
        .subquery()
    )
    latest = steps.c.at.desc(), steps.c.id.desc()
    ids = sa.select(steps.c.id).join_from(recent, steps, steps.c.run_id == recent.c.id)
    ids = ids.where(steps.c.kind == "search", steps.c.title != "")
    ids = ids.order_by(*latest).limit(SEARCHES)  # sorted without their results, which are large
    query = sa.select(steps.c.result, steps.c.at).where(steps.c.id.in_(ids)).order_by(*latest)
    return tuple(StoredSearch(*row) for row in (await db.execute(query)).all())


async def queue_of(db: AsyncConnection) -> Queue:
    """Count the waiting and running questions."""
    query = (
        sa.select(
            runs.c.state,
            sa.func.count().label("counted"),
            sa.func.min(runs.c.accepted_at).label("oldest"),
        )
        .where(runs.c.state.in_(UNFINISHED))
        .group_by(runs.c.state)
    )
    found = (await db.execute(query)).all()
    waiting = [row for row in found if row.state in WAITING]
    return Queue(
        sum(row.counted for row in waiting),
        sum(row.counted for row in found if row.state in WORKING),
        min((row.oldest for row in waiting), default=None),
    )


def of_days(last: date, count: int, zone: tzinfo = UTC, /, **named: str) -> Scope:
    """The scope of the last ``count`` days in a zone, up to and including ``last``."""
    return Scope(last - timedelta(days=max(1, count) - 1), last, zone=zone, **named)


LISTED = 500  # entries per list, the latest ones
PLACES_LISTED = 50
UNANSWERED = ("not_found", "partial")
ANSWERED = ("answered", "partial")
# Must be exactly the condition of the index ``ix_pages_documents``; others do not use it.
_IS_DOCUMENT = sa.literal_column(f"substr(pages.url, 1, {len(SCHEME)}) = '{SCHEME}'", sa.Boolean)


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A question that was not answered, or only partly. ``times`` counts how often it was asked in
    much the same words; ``run`` is the latest of those."""

    run: str
    place: Place
    text: str
    state: str
    at: datetime
    times: int


@dataclass(frozen=True, slots=True)
class ReaderFeedback:
    """A reader's opinion of an answer."""

    run: str
    place: Place
    question: str
    verdict: str
    reason: str
    words: str
    at: datetime


@dataclass(frozen=True, slots=True)
class PlaceCounts:
    """The number of questions of a place by outcome."""

    place: Place
    states: Mapping[str, int]

    @property
    def asked(self) -> int:
        return sum(self.states.values())


class AskedQuestions(Transactions):
    """Failures are raised as ``StorageUnavailable``."""

    async def unanswered(self, scope: Scope, told: Telling = people_only) -> list[Unanswered]:
        """Unanswered questions as they may be ``told``, the most frequent first, then latest."""
        query = (
            sa.select(*PLACE, runs.c.id, runs.c.state, runs.c.accepted_at)
            .add_columns(messages.c.text, messages.c.made_from)
            .select_from(asked_runs)
            .where(runs.c.state.in_(UNANSWERED), messages.c.text != "")
            .order_by(runs.c.accepted_at.desc(), runs.c.id)
            .limit(LISTED)
        )
        rows = await self._rows(of_scope(query, scope))
        alike: dict[frozenset[str], list[Any]] = {}
        for row in rows:
            alike.setdefault(frozenset(keywords(row.text)), []).append(row)
        found = []
        for same in alike.values():
            row = same[0]
            text, at = told(asked_of(row)), row.accepted_at
            found.append(Unanswered(row.id, Place(*row[:3]), text, row.state, at, len(same)))
        return sorted(found, key=lambda one: -one.times)

    async def feedback(self, scope: Scope, told: Telling = people_only) -> list[ReaderFeedback]:
        """Readers' opinions, the latest first; helpful ones have no reason or words."""
        query = (
            sa.select(*PLACE, feedback, messages.c.text, messages.c.made_from)
            .select_from(asked_runs)
            .join(feedback, feedback.c.run_id == runs.c.id)
            .where(messages.c.text != "")
            .order_by(feedback.c.at.desc(), feedback.c.run_id)
            .limit(LISTED)
        )
        rows = await self._rows(of_scope(query, scope))
        return [
            ReaderFeedback(
                *(row.run_id, Place(*row[:3]), told(asked_of(row))),
                *(row.verdict, row.reason, row.words, row.at),
            )
            for row in rows
        ]

    async def by_place(self, scope: Scope) -> list[PlaceCounts]:
        """The places in which people asked questions, those with the most questions first."""
        query = sa.select(*PLACE, runs.c.state, sa.func.count().label("counted"))
        query = query.join_from(runs, threads).group_by(*PLACE, runs.c.state)
        rows = await self._rows(of_scope(query, scope))
        found: dict[Place, dict[str, int]] = {}
        for row in rows:
            found.setdefault(Place(*row[:3]), {})[row.state] = row.counted
        listed = [PlaceCounts(place, states) for place, states in found.items()]
        return sorted(listed, key=lambda one: -one.asked)[:PLACES_LISTED]

    async def quoted(self, scope: Scope) -> list[tuple[str, str]]:
        """The documents that answers quote, as distinct pairs of a run and an address."""
        query = (
            sa.select(citations.c.run_id, pages.c.url)
            .distinct()
            .join_from(citations, pages, citations.c.page_id == pages.c.id)
            .join(runs, citations.c.run_id == runs.c.id)
            .join(threads, runs.c.thread_key == threads.c.key)
            .where(runs.c.state.in_(ANSWERED), _IS_DOCUMENT)
        )
        return [(row.run_id, row.url) for row in await self._rows(of_scope(query, scope))]
