"""Sessions of the console by single sign-on: each one's person, secret digest and end.

The browser holds a secret; only its digest is stored, so that a copy of the database does not
allow anyone to sign in.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from bot.storage.audit import acting, in_console, note
from bot.storage.database import Database
from bot.storage.tables import UtcDateTime, metadata

sign_ins = sa.Table(
    "sign_ins",
    metadata,
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("person", sa.Text, nullable=False, index=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("groups", sa.JSON, nullable=False),
    sa.Column("id_token", sa.Text, nullable=False),  # tells the provider whom to sign out
    sa.Column("ends_at", UtcDateTime, nullable=False, index=True),
)


@dataclass(frozen=True, slots=True)
class Identity:
    """A person as the identity provider describes them. ``person`` is their id in Footnote;
    ``session`` identifies a session but does not grant access."""

    person: str
    name: str
    groups: tuple[str, ...]
    id_token: str
    session: str = ""


class SignIns:
    """Every method is one transaction. Failures are raised as ``StorageUnavailable``."""

    def __init__(self, database: Database, lifetime: timedelta) -> None:
        self._database = database
        self._lifetime = lifetime

    async def begin(self, identity: Identity) -> str:
        """Begin a session and return the browser's secret; expired sessions are deleted."""
        secret, now = secrets.token_urlsafe(32), datetime.now(UTC)
        row = {**asdict(identity), "digest": _digest(secret), "ends_at": now + self._lifetime}
        del row["session"]
        async with self._database.write() as db:
            await db.execute(sa.delete(sign_ins).where(sign_ins.c.ends_at <= now))
            await db.execute(sa.insert(sign_ins).values(**row))
            with acting(in_console(identity.person)):
                await note(db, "signed-in")
        return secret

    async def find(self, secret: str) -> Identity | None:
        """The person of a browser's session; None if it has ended or never existed."""
        if not secret:
            return None
        now, digest = datetime.now(UTC), _digest(secret)
        query = sa.select(sign_ins).where(sign_ins.c.digest == digest, sign_ins.c.ends_at > now)
        async with self._database.read() as db:
            row = (await db.execute(query)).one_or_none()
        if row is None:
            return None
        return Identity(row.person, row.name, tuple(row.groups), row.id_token, digest)

    async def end(self, session: str, *, everywhere: bool = False) -> None:
        """End one session, or all sessions of its person."""
        this = sign_ins.c.digest == session
        if everywhere:
            person = sa.select(sign_ins.c.person).where(this).scalar_subquery()
            this = sign_ins.c.person == person
        async with self._database.write() as db:
            gone = sa.delete(sign_ins).where(this).returning(sign_ins.c.person)
            for person in set(await db.scalars(gone)):
                await note(db, "signed-out", by=in_console(person))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
