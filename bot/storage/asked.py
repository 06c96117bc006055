"""Lists of questions for operators and authors of documents: unanswered questions, readers'
feedback, the places in which people ask, and the documents that answers quote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from bot.core.messages import Telling, people_only
from bot.core.reader import SCHEME
from bot.storage.database import Transactions
from bot.storage.overview import Place, Scope, of_scope
from bot.storage.rows import asked_of
from bot.storage.tables import citations, feedback, messages, pages, runs, threads
from bot.text.terms import keywords

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
            sa.select(
                runs.c.id,
                runs.c.state,
                runs.c.accepted_at,
                messages.c.text,
                messages.c.made_from,
                threads.c.platform,
                threads.c.workspace,
                threads.c.channel,
            )
            .join_from(runs, messages, runs.c.message_id == messages.c.id)
            .join(threads, runs.c.thread_key == threads.c.key)
            .where(runs.c.state.in_(UNANSWERED), messages.c.text != "")
            .order_by(runs.c.accepted_at.desc(), runs.c.id)
            .limit(LISTED)
        )
        async with self.database.read() as db:
            rows = (await db.execute(of_scope(query, scope))).all()
        alike: dict[frozenset[str], list[sa.Row[tuple[object, ...]]]] = {}
        for row in rows:
            alike.setdefault(frozenset(keywords(row.text)), []).append(row)
        found = [
            Unanswered(
                row.id,
                Place(row.platform, row.workspace, row.channel),
                told(asked_of(row)),
                row.state,
                row.accepted_at,
                len(same),
            )
            for same in alike.values()
            for row in same[:1]
        ]
        return sorted(found, key=lambda one: -one.times)

    async def feedback(self, scope: Scope, told: Telling = people_only) -> list[ReaderFeedback]:
        """Readers' opinions, the latest first; helpful ones have no reason or words."""
        query = (
            sa.select(
                feedback,
                messages.c.text,
                messages.c.made_from,
                threads.c.platform,
                threads.c.workspace,
                threads.c.channel,
            )
            .join_from(feedback, runs, feedback.c.run_id == runs.c.id)
            .join(messages, runs.c.message_id == messages.c.id)
            .join(threads, runs.c.thread_key == threads.c.key)
            .where(messages.c.text != "")
            .order_by(feedback.c.at.desc(), feedback.c.run_id)
            .limit(LISTED)
        )
        async with self.database.read() as db:
            rows = (await db.execute(of_scope(query, scope))).all()
        return [
            ReaderFeedback(
                row.run_id,
                Place(row.platform, row.workspace, row.channel),
                told(asked_of(row)),
                row.verdict,
                row.reason,
                row.words,
                row.at,
            )
            for row in rows
        ]

    async def by_place(self, scope: Scope) -> list[PlaceCounts]:
        """The places in which people asked questions, those with the most questions first."""
        place = (threads.c.platform, threads.c.workspace, threads.c.channel)
        query = sa.select(*place, runs.c.state, sa.func.count().label("counted"))
        query = query.join_from(runs, threads).group_by(*place, runs.c.state)
        async with self.database.read() as db:
            rows = (await db.execute(of_scope(query, scope))).all()
        found: dict[Place, dict[str, int]] = {}
        for row in rows:
            its_place = Place(row.platform, row.workspace, row.channel)
            found.setdefault(its_place, {})[row.state] = row.counted
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
        async with self.database.read() as db:
            return [(row.run_id, row.url) for row in await db.execute(of_scope(query, scope))]
