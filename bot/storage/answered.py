"""Full-text search for answered questions: FTS5 on SQLite, lexemes on PostgreSQL.

The index holds the terms of the standalone question, plus one term that is shared by all questions
of its workspace with the same number of terms. Everything else is checked at search time: an
answer that has since been deleted, edited or marked not helpful is not found.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import sqlalchemy as sa

from bot.messages import Thread
from bot.storage.database import Transactions
from bot.storage.records import RunRecord, record_of, run_query
from bot.storage.retrying import awaited
from bot.storage.rows import insert
from bot.storage.tables import answered, corrections, feedback, messages, runs, threads

MOST_FOUND = 12  # answers that a search returns, the latest ones
LOOKED_AT = 200  # questions with the same terms that a search checks, the latest ones


class AnsweredQuestions(Transactions):
    """Failures are raised as ``StorageUnavailable``."""

    @awaited
    async def keep(
        self, run_id: str, terms: Sequence[str], thread: Thread, origin: str = ""
    ) -> None:
        """Index the question of a run by its ``terms``. With ``origin``, record instead that the
        run reused the answer of the run ``origin``, and do not index it."""
        indexed = "" if origin else " ".join((*terms, kin_of(terms, thread)))
        row = {"terms": indexed, "origin_id": origin}
        async with self.database.write() as db:
            await db.execute(
                insert(db, answered)
                .values(run_id=run_id, **row)
                .on_conflict_do_update(index_elements=["run_id"], set_=row)
            )

    @awaited
    async def find(self, terms: Sequence[str], near: Thread) -> list[RunRecord]:
        """The runs in the workspace of ``near`` whose questions have these terms and whose answers
        may be reused as far as the store knows: first those of its thread, then of its channel,
        the latest first."""
        if not terms:
            return []
        query = (
            run_query()
            .join(answered, answered.c.run_id == runs.c.id)
            .where(
                answered.c.id.in_(self._with([*terms, kin_of(terms, near)])),
                answered.c.origin_id == "",
                threads.c.platform == near.platform,
                threads.c.workspace == near.workspace,
                runs.c.state == "answered",
                sa.not_(runs.c.removed),
                messages.c.text != "",
                sa.not_(_disliked()),
                sa.not_(_corrected()),
            )
            .order_by(
                (threads.c.key == near.key).desc(),
                (threads.c.channel == near.channel).desc(),
                runs.c.message_id.desc(),
            )
            .limit(MOST_FOUND)
        )
        async with self.database.read() as db:
            return [record_of(row) for row in (await db.execute(query)).all()]

    def _with(self, terms: Sequence[str]) -> sa.Select[tuple[int]] | sa.TextClause:
        """The latest rows that contain all terms. Terms are letters and digits: no escaping."""
        if self.database.dialect == "postgresql":
            wanted = " & ".join(f"'{term}'" for term in terms)
            vector = sa.func.array_to_tsvector(sa.func.string_to_array(answered.c.terms, " "))
            has_all = vector.op("@@")(sa.cast(wanted, sa.Text).op("::")(sa.text("tsquery")))
            return (
                sa.select(answered.c.id)
                .where(has_all)
                .order_by(answered.c.id.desc())
                .limit(LOOKED_AT)
            )
        return sa.text(
            "SELECT rowid FROM answered_index WHERE answered_index MATCH :wanted "
            "ORDER BY rowid DESC LIMIT :most"
        ).bindparams(wanted=" AND ".join(f'"{term}"' for term in terms), most=LOOKED_AT)


def _disliked() -> sa.ColumnElement[bool]:
    """True if anyone marked the answer, or a reuse of it, as not helpful."""
    uses, is_it = _uses()
    return (
        sa.select(feedback.c.run_id)
        .join(uses, uses.c.run_id == feedback.c.run_id)
        .where(feedback.c.verdict == "bad", is_it)
        .exists()
    )


def _corrected() -> sa.ColumnElement[bool]:
    """True if anyone has since made a correction in the thread of the answer, or in a thread where
    it was reused."""
    uses, is_it = _uses()
    its, later = runs.alias("its"), runs.alias("later")
    return (
        sa.select(corrections.c.run_id)
        .join_from(uses, its, its.c.id == uses.c.run_id)
        .join(
            later,
            sa.and_(later.c.thread_key == its.c.thread_key, later.c.message_id > its.c.message_id),
        )
        .join(corrections, corrections.c.run_id == later.c.id)
        .where(sa.not_(corrections.c.removed), is_it)
        .exists()
    )


def _uses() -> tuple[sa.FromClause, sa.ColumnElement[bool]]:
    """The runs that gave or reused an answer, and the condition that it is the one found."""
    uses = answered.alias()
    return uses, sa.or_(uses.c.run_id == answered.c.run_id, uses.c.origin_id == answered.c.run_id)


def kin_of(terms: Sequence[str], thread: Thread) -> str:
    """The term shared by all questions of a workspace with the same number of terms, since only
    those can be the same question."""
    place = f"{thread.platform}:{thread.workspace}:{len(terms)}"
    return "w" + hashlib.sha256(place.encode()).hexdigest()[:20]
