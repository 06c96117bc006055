"""The audit log: who asked, read, shared, changed rules, exported, forgot or signed in, and when.

Rows are only added. Database triggers refuse changes, except replacing a forgotten person by a
pseudonym, and refuse to delete rows younger than the retention period. No row contains text that
somebody wrote.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Literal, TypedDict, Unpack, get_args

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.errors import Denied, StorageUnavailable
from bot.core.logs import get_logger
from bot.core.messages import CONSOLE, Message
from bot.storage.database import Transactions
from bot.storage.tables import audit, audit_key, insert, messages, runs

Deed = Literal[
    "asked",
    "ignored",
    "edited",
    "read",
    "shared",
    "unshared",
    "watched",
    "unwatched",
    "corrected",
    "retracted",
    "ruled",
    "kept",
    "dropped",
    "exported",
    "forgot",
    "signed-in",
    "signed-out",
    "pruned",
]
DEEDS: tuple[Deed, ...] = get_args(Deed)
AuditOutcome = Literal["done", "refused"]

PSEUDONYM = "forgotten:"  # prefix of every pseudonym
ROWS_AT_ONCE = 500  # rows read or changed at once
LONGEST_NAME = 300  # characters of a name that a visitor supplied

log = get_logger()


@dataclass(frozen=True, slots=True)
class Actor:
    """The person behind a deed, by the platform's ids; "" for unknown parts."""

    platform: str
    workspace: str
    person: str
    address: str = ""

    @classmethod
    def of(cls, message: Message) -> Actor:
        """The author of a message."""
        return cls(message.thread.platform, message.thread.workspace, message.author.id)


NOBODY = Actor("", "", "")
_acting: ContextVar[Actor | None] = ContextVar("acting", default=None)


def act_as(actor: Actor) -> None:
    """Make somebody the actor of everything this task does from now on."""
    _acting.set(actor)


@contextmanager
def acting(actor: Actor) -> Iterator[None]:
    """Like ``act_as``, but only within the block."""
    token = _acting.set(actor)
    try:
        yield
    finally:
        _acting.reset(token)


def in_console(person: str, address: str = "") -> Actor:
    """Somebody in the console; without an address, the one of this task's actor is used."""
    now = _acting.get()
    return Actor(CONSOLE, "console", person, address or (now.address if now else ""))


def _doer(by: Actor) -> Actor:
    """The person for whom this task acts, or ``by`` if there is none."""
    now = _acting.get()
    return now if now is not None and (now.person or not by.person) else by


def named(key: str) -> str:
    """A conversation's name in the log: its key, but for the console without the channel, which is
    the person's id there."""
    platform, workspace, _, thread = key.split(":")
    return f"{platform}:{workspace}:{thread}" if platform == CONSOLE else key


class Circumstances(TypedDict, total=False):
    """Optional details of a deed. ``by`` is the actor, unless this task acts for somebody else."""

    place: str
    outcome: AuditOutcome
    by: Actor
    at: datetime


async def note(
    db: AsyncConnection,
    deed: Deed,
    kind: str = "",
    object: str = "",
    **details: Unpack[Circumstances],
) -> None:
    """Add a row within the transaction that does the deed."""
    await db.execute(sa.insert(audit), deed_row(deed, kind, object, **details))


def deed_row(
    deed: Deed, kind: str = "", object: str = "", **details: Unpack[Circumstances]
) -> dict[str, object]:
    """A row of the table, without the id."""
    return {
        "at": details.get("at") or datetime.now(UTC),
        **asdict(_doer(details.get("by", NOBODY))),
        "deed": deed,
        "kind": kind,
        "object": object[:LONGEST_NAME],
        "place": details.get("place", ""),
        "outcome": details.get("outcome", "done"),
    }


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the log. ``text`` is the question, for rows of questions and if requested."""

    id: int
    at: datetime
    platform: str
    workspace: str
    person: str
    address: str
    deed: str
    kind: str
    object: str
    place: str
    outcome: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """A selection of rows: since a moment, until another (exclusive), of a person (platform and
    id), of some deeds; None and empty select all. ``texts`` adds the texts of the questions."""

    since: datetime | None = None
    until: datetime | None = None
    who: tuple[str, str] | None = None
    what: Sequence[str] = ()
    texts: bool = False


class Audit(Transactions):
    """Adds rows to the log and reads it. Failures are raised as ``StorageUnavailable``, except in
    ``note``."""

    async def note(
        self, deed: Deed, kind: str = "", object: str = "", **details: Unpack[Circumstances]
    ) -> None:
        """Add a row for a deed without a transaction of its own. If the database cannot store it
        (full disk), it goes to the process's log, because reading must still work then."""
        row = deed_row(deed, kind, object, **details)
        try:
            async with self.database.write_at_once() as db:
                await db.execute(sa.insert(audit), row)
        except StorageUnavailable as error:
            values = {name: str(value) for name, value in row.items()}
            log.warning("not audited", error=error.sentence, **values)

    @asynccontextmanager
    async def refusals(self, message: Message) -> AsyncIterator[None]:
        """Add a row if a question is refused within the block."""
        try:
            yield
        except Denied:
            place = named(message.thread.key)
            await self.note("asked", place=place, outcome="refused", by=Actor.of(message))
            raise

    async def entries(self, wanted: AuditFilter) -> AsyncIterator[Entry]:
        """The rows that exist now, oldest first, read in batches."""
        conditions = await self._conditions(wanted)
        async with self.database.read() as db:
            top = int(await db.scalar(sa.select(sa.func.max(audit.c.id))) or 0)
            last = 0
            if wanted.since is not None:
                first = sa.select(sa.func.min(audit.c.id)).where(audit.c.at >= wanted.since)
                last = int(await db.scalar(first) or top + 1) - 1
        while True:
            query = (
                sa.select(audit)
                .where(audit.c.id > last, audit.c.id <= top, *conditions)
                .order_by(audit.c.id)
                .limit(ROWS_AT_ONCE)
            )
            async with self.database.read() as db:
                rows = (await db.execute(query)).all()
                asked = {row.id: row.object for row in rows if row.deed in ("asked", "edited")}
                texts = await _texts(db, list(asked.values())) if wanted.texts else {}
            for row in rows:
                yield Entry(**row._mapping, text=texts.get(asked.get(row.id, ""), ""))
            if len(rows) < ROWS_AT_ONCE:
                return
            last = rows[-1].id

    async def _conditions(self, wanted: AuditFilter) -> list[sa.ColumnElement[bool]]:
        found: list[sa.ColumnElement[bool]] = []
        if wanted.since is not None:
            found.append(audit.c.at >= wanted.since)
        if wanted.until is not None:
            found.append(audit.c.at < wanted.until)
        if wanted.what:
            found.append(audit.c.deed.in_(wanted.what))
        if wanted.who is not None:
            platform, person = wanted.who
            async with self.database.write() as db:
                names = [person, await pseudonym(db, platform, person)]
            found += [audit.c.platform == platform, audit.c.person.in_(names)]
        return found


async def _texts(db: AsyncConnection, run_ids: Sequence[str]) -> Mapping[str, str]:
    """The questions of these runs, as far as they are stored."""
    if not run_ids:
        return {}
    query = sa.select(runs.c.id, messages.c.text).join(messages, runs.c.message_id == messages.c.id)
    rows = (await db.execute(query.where(runs.c.id.in_(run_ids)))).all()
    return {row.id: row.text for row in rows}


# ---------------------------------------------------------------- forgetting


async def key_of_pseudonyms(db: AsyncConnection) -> str:
    """The key; created now if no migration has done so."""
    made = {"id": 1, "key": secrets.token_hex(32)}
    await db.execute(insert(db, audit_key).values(made).on_conflict_do_nothing())
    return str(await db.scalar(sa.select(audit_key.c.key)))


def pseudonym_by(key: str, platform: str, person: str) -> str:
    """The pseudonym of a person, the same in every copy of a database, because they share its key.

    It begins with a digest of the key, which shows whether it comes from another database.
    """
    mark = hashlib.sha256(key.encode()).hexdigest()[:8]
    digest = hmac.new(key.encode(), f"{platform}:{person}".encode(), hashlib.sha256).hexdigest()
    return f"{PSEUDONYM}{mark}:{digest[:32]}"


async def pseudonym(db: AsyncConnection, platform: str, person: str) -> str:
    """The pseudonym of a person with the key of this database."""
    return pseudonym_by(await key_of_pseudonyms(db), platform, person)
