"""Everything stored about one run: its row, its journal, its pages, its feedback.

``bot.research.trace.trace`` interprets it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from bot.storage.records import RunRecord
from bot.storage.store import Store
from bot.storage.tables import citations, feedback, pages, run_pages, runs, steps
from bot.storage.workspaces import Verdict


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


class Traces:
    """Failures are raised as ``StorageUnavailable``."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._database = store.database

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
        async with self._database.read() as db:
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
        async with self._database.read() as db:
            rows = (await db.execute(_numbered(run_id, pages.c.text, number))).all()
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
