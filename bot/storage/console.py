"""The console's conversations (listing, naming, pinning, sharing) and sessions by single sign-on.

The browser holds a session's secret; only its digest is stored, so that a copy of the database does
not allow anyone to sign in.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.messages import Telling, Thread, people_only
from bot.storage.audit_log import acting, in_console, named, note
from bot.storage.database import Database, Transactions
from bot.storage.tables import (
    asked_of,
    insert,
    messages,
    shares,
    sign_ins,
    thread_of,
    threads,
)

PLATFORM, WORKSPACE = "web", "console"
UNSEEN = "watch-"  # prefix of the hidden threads in which standing questions are checked
TOKEN_BYTES = 16  # of a link: too many to guess


@dataclass(frozen=True, slots=True)
class ListedConversation:
    """A conversation. ``begins`` is its first question that was not deleted, as it may be told;
    ``title`` is the name that somebody gave it, or "". ``place`` orders conversations: the latest
    has the highest."""

    thread: Thread
    begins: str
    title: str
    pinned: bool
    questions: int
    last_at: datetime
    place: int

    @property
    def name(self) -> str:
        """The name that a person gave it, or its first question."""
        return self.title or self.begins


class History(Transactions):
    """Every method is one transaction. Failures are raised as ``StorageUnavailable``."""

    # ------------------------------------------------------------ listing

    async def latest(
        self,
        channel: str | None,
        limit: int,
        *,
        before: int | None = None,
        told: Telling = people_only,
    ) -> list[ListedConversation]:
        """Conversations with at least one question left, the latest first; of one channel or of
        all (None), only those whose ``place`` is below ``before``. Pinned ones are left out."""
        place = (
            sa.select(sa.func.max(messages.c.id))
            .where(messages.c.thread_key == threads.c.key)
            .scalar_subquery()
        )
        query = sa.select(threads.c.key, place.label("place"))
        listed = query.where(*_in_console(channel), sa.not_(threads.c.pinned)).subquery()
        found: list[ListedConversation] = []
        async with self.database.read() as db:
            while len(found) < limit:
                chosen = sa.select(listed).order_by(listed.c.place.desc()).limit(limit)
                if before is not None:
                    chosen = chosen.where(listed.c.place < before)
                rows = (await db.execute(chosen)).all()
                found += await _kept(db, {row.key: row.place for row in rows}, told)
                if len(rows) < limit:
                    break
                before = rows[-1].place  # some may have been empty
        return found[:limit]

    async def pinned(
        self, channel: str | None, told: Telling = people_only
    ) -> list[ListedConversation]:
        """The pinned conversations, the latest first."""
        query = sa.select(threads.c.key, threads.c.platform, threads.c.channel)
        async with self.database.read() as db:
            # Only this condition, so that the index of the few pinned threads is used.
            rows = (await db.execute(query.where(threads.c.pinned))).all()
            keys = [
                row.key
                for row in rows
                if row.platform == PLATFORM and channel in (None, row.channel)
            ]
            return await _kept(db, await _places(db, keys), told)

    async def of(
        self, keys: Collection[str], told: Telling = people_only
    ) -> list[ListedConversation]:
        """The conversations with these keys, the latest first."""
        async with self.database.read() as db:
            return await _kept(db, await _places(db, keys), told)

    async def called(self, words: Sequence[str], channel: str | None, limit: int) -> list[str]:
        """The keys of conversations whose given names contain all the words."""
        query = sa.select(threads.c.key).where(
            *_in_console(channel),
            threads.c.title != "",
            *(sa.func.lower(threads.c.title).contains(each, autoescape=True) for each in words),
        )
        return await self._scalars(query.limit(limit))

    # ------------------------------------------------------------ keeping

    async def rename(self, thread: Thread, title: str, author_id: str) -> None:
        """Give a conversation a name; "" restores its first question as the name."""
        await self._change(thread, title=title, titled_by=author_id if title else "")

    async def pin(self, thread: Thread, pinned: bool) -> None:
        await self._change(thread, pinned=pinned)

    async def _change(self, thread: Thread, **values: Any) -> None:
        async with self.database.urgent_write() as db:
            await db.execute(sa.update(threads).where(threads.c.key == thread.key).values(**values))

    # ------------------------------------------------------------ sharing

    async def share(self, thread: Thread, author_id: str) -> str:
        """The token of the conversation's link, created if there is none."""
        made = secrets.token_urlsafe(TOKEN_BYTES)
        async with self.database.urgent_write() as db:
            kept = await db.execute(
                insert(db, shares)
                .values(
                    token=made, thread_key=thread.key, author_id=author_id, at=datetime.now(UTC)
                )
                .on_conflict_do_nothing(index_elements=["thread_key"])
            )
            if kept.rowcount:
                by = in_console(author_id)
                await note(db, "shared", "conversation", named(thread.key), by=by)
            query = sa.select(shares.c.token).where(shares.c.thread_key == thread.key)
            return str(await db.scalar(query))

    async def unshare(self, thread: Thread) -> None:
        """Disable the conversation's link; sharing again creates a different one."""
        async with self.database.urgent_write() as db:
            gone = await db.execute(sa.delete(shares).where(shares.c.thread_key == thread.key))
            if gone.rowcount:
                await note(db, "unshared", "conversation", named(thread.key))

    async def token_of(self, thread: Thread) -> str:
        """The token of the conversation's link, or ""."""
        query = sa.select(shares.c.token).where(shares.c.thread_key == thread.key)
        return str(await self._scalar(query) or "")

    async def shared(self, token: str) -> Thread | None:
        """The conversation to which a link leads."""
        query = sa.select(threads).join(shares).where(shares.c.token == token)
        row = await self._row(query)
        return None if row is None else thread_of(row)


async def forget_names(db: AsyncConnection, keys: Collection[str]) -> None:
    """Delete the names and links of those conversations in which no message is left."""
    left = sa.select(messages.c.id).where(
        messages.c.thread_key == threads.c.key, messages.c.text != ""
    )
    empty = sa.select(threads.c.key).where(threads.c.key.in_(keys), ~left.exists())
    await db.execute(sa.delete(shares).where(shares.c.thread_key.in_(empty)))
    await db.execute(
        sa.update(threads)
        .where(threads.c.key.in_(keys), ~left.exists())
        .values(title="", titled_by="", pinned=False)
    )


async def forget_names_by(db: AsyncConnection, platform: str, person: str) -> None:
    """Delete the names and links that a person gave to conversations."""
    on_platform = sa.select(threads.c.key).where(threads.c.platform == platform)
    await db.execute(
        sa.delete(shares).where(shares.c.author_id == person, shares.c.thread_key.in_(on_platform))
    )
    await db.execute(
        sa.update(threads)
        .where(threads.c.platform == platform, threads.c.titled_by == person)
        .values(title="", titled_by="")
    )


def _in_console(channel: str | None) -> list[sa.ColumnElement[bool]]:
    """The conditions for threads of the console, in a channel or in any (None)."""
    conditions = [
        threads.c.platform == PLATFORM,
        threads.c.workspace == WORKSPACE,
        sa.not_(threads.c.thread.startswith(UNSEEN)),
    ]
    return conditions if channel is None else [*conditions, threads.c.channel == channel]


async def _places(db: AsyncConnection, keys: Collection[str]) -> dict[str, int]:
    query = (
        sa.select(messages.c.thread_key, sa.func.max(messages.c.id).label("place"))
        .where(messages.c.thread_key.in_(keys))
        .group_by(messages.c.thread_key)
    )
    return {row.thread_key: row.place for row in (await db.execute(query)).all()}


async def _kept(
    db: AsyncConnection, places: Mapping[str, int], told: Telling
) -> list[ListedConversation]:
    """The conversations with these keys that have a question left, the latest first."""
    left = (
        sa.select(
            messages.c.thread_key,
            sa.func.min(messages.c.id).label("first"),
            sa.func.count().label("questions"),
        )
        .where(messages.c.thread_key.in_(places), messages.c.text != "")
        .group_by(messages.c.thread_key)
        .subquery()
    )
    begin, end = messages.alias("begin"), messages.alias("end")
    query = (
        sa.select(threads, left.c.questions, begin.c.text, begin.c.made_from, end.c.at)
        .join_from(left, threads, threads.c.key == left.c.thread_key)
        .join(begin, begin.c.id == left.c.first)
        .join(end, sa.and_(end.c.thread_key == threads.c.key, end.c.id.in_(places.values())))
    )
    rows = (await db.execute(query)).all()
    found = [
        ListedConversation(
            thread_of(row),
            told(asked_of(row)),
            row.title,
            row.pinned,
            row.questions,
            row.at,
            places[row.key],
        )
        for row in rows
    ]
    return sorted(found, key=lambda one: -one.place)


@dataclass(frozen=True, slots=True)
class Identity:
    """A person as the identity provider describes them. ``person`` is their id in Footnote;
    ``session`` identifies a session but does not grant access."""

    person: str
    name: str
    groups: tuple[str, ...]
    id_token: str
    session: str = ""


class SignIns(Transactions):
    """Sessions of browsers. Failures are raised as ``StorageUnavailable``.

    ``token`` is the console's, if people sign in with that: with another one no session is found,
    and each visit begins its ``lifetime`` anew.
    """

    def __init__(self, database: Database, lifetime: timedelta, token: str = "") -> None:
        super().__init__(database)
        self._lifetime = lifetime
        self._token = token

    async def begin(self, identity: Identity) -> str:
        """Begin a session and return the browser's secret; expired sessions are deleted."""
        secret, now = secrets.token_urlsafe(32), datetime.now(UTC)
        row = {**asdict(identity), "digest": self._digest(secret), "ends_at": now + self._lifetime}
        del row["session"]
        async with self.database.write() as db:
            await db.execute(sa.delete(sign_ins).where(sign_ins.c.ends_at <= now))
            await db.execute(sa.insert(sign_ins).values(**row))
            with acting(in_console(identity.person)):
                await note(db, "signed-in")
        return secret

    async def find(self, secret: str) -> Identity | None:
        """The person of a browser's session; None if it has ended or never existed."""
        if not secret:
            return None
        now, digest = datetime.now(UTC), self._digest(secret)
        query = sa.select(sign_ins).where(sign_ins.c.digest == digest, sign_ins.c.ends_at > now)
        row = await self._row(query)
        if row is None:
            return None
        until = now + self._lifetime
        if self._token and until - row.ends_at > timedelta(days=1):
            longer = sa.update(sign_ins).where(sign_ins.c.digest == digest).values(ends_at=until)
            async with self.database.write() as db:
                await db.execute(longer)
        return Identity(row.person, row.name, tuple(row.groups), row.id_token, digest)

    async def end(self, session: str, *, everywhere: bool = False) -> None:
        """End one session, or all sessions of its person."""
        this = sign_ins.c.digest == session
        if everywhere:
            person = sa.select(sign_ins.c.person).where(this).scalar_subquery()
            this = sign_ins.c.person == person
        async with self.database.write() as db:
            gone = sa.delete(sign_ins).where(this).returning(sign_ins.c.person)
            for person in set(await db.scalars(gone)):
                await note(db, "signed-out", by=in_console(person))

    def _digest(self, secret: str) -> str:
        return hashlib.sha256(f"{secret}{self._token}".encode()).hexdigest()
