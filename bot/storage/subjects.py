"""Subjects to forget: a thread, a person or a workspace, and the rows that belong to each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.storage.tables import feedback, messages, runs, spending, threads

Kind = Literal["thread", "person", "workspace"]


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject to forget. ``name`` is a thread's key, or the platform's id."""

    kind: Kind
    platform: str
    name: str


def key_of(subject: Subject) -> dict[str, str]:
    """The columns that identify a subject."""
    return {"kind": subject.kind, "platform": subject.platform, "name": subject.name}


def in_their_threads() -> sa.Join:
    """Messages, each with its thread."""
    return sa.join(messages, threads, messages.c.thread_key == threads.c.key)


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
        .join(runs, feedback.c.run_id == runs.c.id)
        .join(messages, runs.c.message_id == messages.c.id)
        .join(threads, runs.c.thread_key == threads.c.key)
        .where(
            feedback.c.author_id == subject.name,
            threads.c.platform == subject.platform,
            messages.c.author_id != subject.name,
        )
    )
    return (await db.scalars(query)).all()


def asks_again(platform: str, run_id: str) -> sa.ColumnElement[bool]:
    """The condition that a message repeats a run's question: by "Dig deeper", or because the
    question is watched."""
    return sa.or_(
        *(
            messages.c.event_key.startswith(f"{platform}:{run_id}:{how}:", autoescape=True)
            for how in ("deeper", "watch")
        )
    )


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
    found: dict[int, Any] = {}
    for row in (await db.execute(own.where(messages.c.id.in_(ids)))).all():
        found[row.id] = row
    for run in (await db.execute(begun)).all():
        repeats = own.where(
            messages.c.thread_key == run.thread_key, asks_again(run.platform, run.id)
        )
        for row in (await db.execute(repeats)).all():
            found.setdefault(row.id, row)
    return list(found.values())
