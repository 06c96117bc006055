"""The record of a crash campaign: its runs, looks, steps and jobs as the store has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.rows import class_row, namedtuple_row

from bot.storage.standing_questions import CHECK_MARK
from tests.fakes.mortal_postgres import MortalPostgres
from tests.scenario.paid import Kept


@dataclass(frozen=True, slots=True)
class Row:
    """A run as the store has it in the end."""

    id: str
    event_key: str
    message_id: int
    state: str
    attempt: int
    stopped: bool
    removed: bool
    posts: frozenset[str]
    answer: Mapping[str, Any] | None
    accepted_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class Record:
    """Everything the store kept, and the steps of looks that it did not keep.

    ``looks`` are those at standing questions that are under way or were told, in order, by the run
    that each question began with; ``due`` counts the looks not begun yet.
    """

    runs: Mapping[str, Row]  # by event key
    looks: Mapping[str, Sequence[Row]]
    steps: Sequence[Kept]
    jobs: int
    due: int


def read_record(postgres: MortalPostgres) -> Record:
    with postgres.connect() as db:
        rows = db.cursor(row_factory=namedtuple_row).execute(_RUNS).fetchall()
        runs = {row.event_key: row for row in map(_row, rows)}
        looks: dict[str, list[Row]] = {}
        for key in [key for key in runs if CHECK_MARK in key]:
            origin = key.partition(CHECK_MARK)[0].partition(":")[2]
            looks.setdefault(origin, []).append(runs.pop(key))
        steps = db.cursor(row_factory=class_row(Kept)).execute(_STEPS).fetchall()
        jobs, due = (db.execute(f"SELECT count(*) FROM {one}").fetchall()[0][0] for one in _LEFT)
    return Record(runs, looks, steps, jobs, due)


_RUNS = """
    SELECT runs.id, event_key, message_id, state, attempt, stop_requested, removed, post_state,
        answer, accepted_at, ended_at
    FROM runs JOIN messages ON messages.id = runs.message_id ORDER BY message_id
"""
_STEPS = """
    SELECT run_id AS run, key, kind, at, result FROM steps
    WHERE run_id NOT IN (SELECT run FROM campaign_steps)
    UNION ALL SELECT run, key, kind, at, result FROM campaign_steps ORDER BY at
"""
_LEFT = ("procrastinate_jobs", "watches WHERE state = 'watching' AND due_at <= now()")


def _row(row: Any) -> Row:
    posts = (row.post_state or {}).get("posts", ())
    ids = frozenset(post["ts"] if isinstance(post, dict) else str(post) for post in posts)
    if row.event_key.startswith("web:"):
        ids = frozenset([row.id])  # a reply is part of its run there
    return Row(
        row.id,
        row.event_key,
        row.message_id,
        row.state,
        row.attempt,
        row.stop_requested,
        row.removed,
        ids,
        row.answer,
        row.accepted_at,
        row.ended_at,
    )
