"""Storage of corrections: each belongs to the run of its message, and is found by place."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from bot.core.errors import RunLost
from bot.core.lines import one_line, shortened
from bot.core.messages import OWN_WORDS, Author, Provenance, Thread
from bot.core.reader import Reach
from bot.storage.audit import Actor, named, note
from bot.storage.database import Transactions
from bot.storage.found_words import terms_of
from bot.storage.retrying import awaited, repeated
from bot.storage.rows import thread_of
from bot.storage.tables import corrections, messages, runs, threads
from bot.text.sentences import sentences

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
            .add_columns(
                threads.c.platform, threads.c.workspace, threads.c.channel, threads.c.thread
            )
            .select_from(_joined())
            .where(~corrections.c.removed, *where)
            .order_by(corrections.c.kept_at.desc(), corrections.c.run_id)
            .limit(most)
        )
        async with self.database.read() as db:
            return [_correction(row) for row in (await db.execute(query)).all()]


def _joined() -> sa.Join:
    return (
        sa.join(corrections, runs, corrections.c.run_id == runs.c.id)
        .join(messages, runs.c.message_id == messages.c.id)
        .join(threads, runs.c.thread_key == threads.c.key)
    )


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
