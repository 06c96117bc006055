"""Sessions of the console by single sign-on: each one's person, secret digest and end.

The browser holds a secret; only its digest is stored, so that a copy of the database does not
allow anyone to sign in.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from cachetools import TTLCache
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.storage.audit import Deed, acting, in_console, note
from bot.storage.database import Database
from bot.storage.tables import UtcDateTime, metadata

sign_ins = sa.Table(
    "sign_ins",
    metadata,
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("person", sa.Text, nullable=False, index=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("groups", sa.JSON, nullable=False),
    # The provider's ids of the person and the session: the provider may end them.
    sa.Column("subject", sa.Text, nullable=False, index=True),
    sa.Column("provider_session", sa.Text, nullable=False),
    sa.Column("id_token", sa.Text, nullable=False),  # tells the provider whom to sign out
    sa.Column("ends_at", UtcDateTime, nullable=False, index=True),
)

KEPT = 10_000  # sessions that a process caches
KEPT_SECONDS = 5.0  # for which a session that another process has ended may still be accepted


@dataclass(frozen=True, slots=True)
class Identity:
    """A person as the identity provider describes them. ``person`` is their id in Footnote;
    ``subject`` and ``provider_session`` are the provider's ids ("" if it has no sessions)."""

    person: str
    name: str
    groups: tuple[str, ...]
    subject: str
    provider_session: str
    id_token: str


@dataclass(frozen=True, slots=True)
class SignIn:
    """A session. ``id`` identifies it but does not grant access."""

    id: str
    identity: Identity
    ends_at: datetime


class SignIns:
    """Every method is one transaction. Failures are raised as ``StorageUnavailable``."""

    def __init__(self, database: Database, lifetime: timedelta) -> None:
        self._database = database
        self._lifetime = lifetime
        self._known: TTLCache[str, SignIn] = TTLCache(KEPT, KEPT_SECONDS)
        self._ended = 0  # number of times that sessions were ended in this process

    async def begin(self, identity: Identity) -> str:
        """Begin a session and return the browser's secret; expired sessions are deleted."""
        secret, now = secrets.token_urlsafe(32), datetime.now(UTC)
        row = {
            **asdict(identity),
            "groups": list(identity.groups),
            "digest": _digest(secret),
            "ends_at": now + self._lifetime,
        }
        async with self._database.write() as db:
            await db.execute(sa.delete(sign_ins).where(sign_ins.c.ends_at <= now))
            await db.execute(sa.insert(sign_ins).values(**row))
            with acting(in_console(identity.person)):
                await note(db, "signed-in")
        return secret

    async def find(self, secret: str) -> SignIn | None:
        """The session of a browser; None if it has ended or never existed."""
        if not secret:
            return None
        digest = _digest(secret)
        found = self._known.get(digest)
        if found is None:
            ended = self._ended
            found = await self._stored(digest)
            if found is not None and ended == self._ended:
                self._known[digest] = found
        return found if found is not None and found.ends_at > datetime.now(UTC) else None

    async def _stored(self, digest: str) -> SignIn | None:
        query = sa.select(sign_ins).where(sign_ins.c.digest == digest)
        async with self._database.read() as db:
            row = (await db.execute(query)).one_or_none()
        if row is None:
            return None
        identity = Identity(
            row.person,
            row.name,
            tuple(row.groups),
            row.subject,
            row.provider_session,
            row.id_token,
        )
        return SignIn(digest, identity, row.ends_at)

    async def end(self, id: str) -> None:
        """End one session."""
        await self._end("signed-out", sign_ins.c.digest == id)

    async def end_of_person(self, person: str) -> None:
        """End all sessions of a person."""
        await self._end("signed-out", sign_ins.c.person == person)

    async def end_by_provider(self, subject: str, provider_session: str) -> None:
        """End what the provider says has ended: one of its sessions or, if it names none (""), all
        sessions of a person. At least one argument is not empty."""
        conditions = []
        if subject:
            conditions.append(sign_ins.c.subject == subject)
        if provider_session:
            conditions.append(sign_ins.c.provider_session == provider_session)
        await self._end("ended-by-provider", *conditions)

    async def _end(self, deed: Deed, *conditions: sa.ColumnElement[bool]) -> None:
        async with self._database.write() as db:
            for person in sorted(set(await end_sign_ins(db, *conditions))):
                await note(db, deed, by=in_console(person))
        self._ended += 1
        self._known.clear()


async def end_sign_ins(db: AsyncConnection, *conditions: sa.ColumnElement[bool]) -> Sequence[str]:
    """End the sessions that meet all the conditions (at least one), and return their people.
    Processes that have cached such a session accept it for up to ``KEPT_SECONDS``."""
    assert conditions  # noqa: S101 - never everybody's sessions
    gone = sa.delete(sign_ins).where(*conditions).returning(sign_ins.c.person)
    return (await db.scalars(gone)).all()


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
