"""Finds what was forgotten after a restored backup was made, and must be forgotten again.

The input is the audit log exported before the restore. It contains pseudonyms of people, which are
compared with the pseudonyms of all people in the database.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from bot.storage.audit import PORTION, audit, key_of_pseudonyms, named, pseudonym_by
from bot.storage.database import Database
from bot.storage.sign_ins import sign_ins
from bot.storage.subjects import Subject
from bot.storage.tables import (
    channel_rules,
    feedback,
    messages,
    shares,
    spending,
    threads,
    watches,
)

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
    foreign = sum(
        kind == "person" and not object.partition(":")[2].startswith(ours)
        for kind, object in unknown
    )
    subjects: dict[Subject, datetime] = {}
    platforms = {object.partition(":")[0] for kind, object in unknown if kind == "person"}
    for column in NAMES if platforms else ():
        async for name in _values(database, column):
            for platform in platforms:
                at = unknown.get(("person", f"{platform}:{pseudonym_by(key, platform, name)}"))
                if at is not None:
                    subjects[Subject("person", platform, name)] = at
    if any(kind == "thread" for kind, _ in unknown):
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
        query = sa.select(column).where(column > last).distinct().order_by(column).limit(PORTION)
        async with database.read() as db:
            values = (await db.scalars(query)).all()
        for value in values:
            yield value
        if len(values) < PORTION:
            return
        last = values[-1]
