"""Reserved budget for model calls in progress, stored in the database for all processes to see.

A reservation belongs to one attempt at a run and counts while that attempt holds the run. Once the
run has ended, was claimed again, or its lease has expired because its process died, the reservation
no longer counts, and the next call to begin deletes it. The actual cost of a call is added to the
day's spending (``storage.journal``) before its reservation ends, so it is always in one of the two.

With its first call, a run also reserves budget for its answer, as much as its most expensive call
so far may cost. Later runs may not use it, so that the first ones are answered in full, instead of
all being cut short. Only reservations of older runs count, or two runs could wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.storage.database import Transactions
from bot.storage.records import WORKING
from bot.storage.retrying import awaited, repeated
from bot.storage.rows import insert
from bot.storage.spending import Amount, DaySpent, Payer, Scope, account_rows
from bot.storage.tables import reservations, runs


@dataclass(frozen=True, slots=True)
class Holder:
    """The attempt that makes a call, when its question was accepted, and who pays for it."""

    run_id: str
    attempt: int
    accepted_at: datetime
    payer: Payer


Permit = Callable[[DaySpent, DaySpent], bool]
"""Decides whether a call may begin, from what its payer's accounts have spent today and what is
reserved for other calls; raises to refuse it for the whole day."""

Kind = Literal["gathering", "answer", "after"]
"""The purpose of a call: work before the answer, the answer itself, or work after it."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """The maximum cost of a call. ``scopes`` are those with a limit; the caller chooses ``id``, so
    that a transaction can be retried after its connection broke."""

    id: str
    holder: Holder
    kind: Kind
    scopes: Collection[Scope]
    micro_usd: int


class Reservations(Transactions):
    """Failures are raised as ``StorageUnavailable``."""

    @awaited
    async def begin(self, call: Reservation, now: datetime, permit: Permit) -> bool:
        """Reserve the cost of a call if ``permit`` allows it; returns whether it did.

        Raises the exceptions of ``permit``.
        """
        holder = call.holder
        answer = f"answer {holder.run_id} {holder.attempt}"
        async with self.database.write() as db:
            await _alone(db, [holder.payer.account(scope) for scope in call.scopes])
            await db.execute(sa.delete(reservations).where(~_holds(now)))
            spent, aside = await _looked_up(db, call, now)
            if not permit(spent, aside):
                return False
            await _put_aside(db, call.id, holder, call.micro_usd, is_answer=False)
            if call.kind == "gathering":
                await _put_aside(db, answer, holder, call.micro_usd, is_answer=True)
            else:  # the answer is being written or done
                await db.execute(sa.delete(reservations).where(reservations.c.id == answer))
        return True

    @repeated
    async def end(self, id: str) -> None:
        """Delete a reservation, after its call has ended and its cost is stored."""
        async with self.database.write_at_once() as db:
            await db.execute(sa.delete(reservations).where(reservations.c.id == id))


async def _put_aside(
    db: AsyncConnection, id: str, holder: Holder, micro_usd: int, *, is_answer: bool
) -> None:
    """Reserve an amount, or raise the reservation to it."""
    payer = holder.payer
    added = insert(db, reservations).values(
        id=id,
        run_id=holder.run_id,
        attempt=holder.attempt,
        platform=payer.platform,
        workspace=payer.workspace,
        channel=payer.channel,
        person=payer.user,
        micro_usd=micro_usd,
        is_answer=is_answer,
    )
    less = reservations.c.micro_usd < added.excluded.micro_usd
    await db.execute(
        added.on_conflict_do_update(
            index_elements=["id"], set_={"micro_usd": added.excluded.micro_usd}, where=less
        )
    )


def _holds(now: datetime) -> sa.ColumnElement[bool]:
    """True if a reservation's attempt still holds its run."""
    return sa.exists().where(
        runs.c.id == reservations.c.run_id,
        runs.c.attempt == reservations.c.attempt,
        runs.c.state.in_(WORKING),
        runs.c.lease_until > now,
    )


async def _alone(db: AsyncConnection, accounts: Collection[tuple[str, ...]]) -> None:
    """Keep other calls on the same accounts from beginning until this transaction ends. SQLite has
    only one writer anyway."""
    if db.dialect.name == "postgresql":
        # Always in this order, so that two transactions cannot deadlock.
        for account in sorted(accounts):
            key = sa.func.hashtextextended("\x1f".join(("budget", *account)), 0)
            await db.execute(sa.select(sa.func.pg_advisory_xact_lock(key)))


async def _looked_up(
    db: AsyncConnection, call: Reservation, now: datetime
) -> tuple[DaySpent, DaySpent]:
    """The amounts that the payer's accounts have spent today, and those reserved for other calls.

    Both come from one statement: between two, a call could be stored and its reservation end.
    """
    holder, scopes = call.holder, call.scopes
    payer, at = holder.payer, holder.accepted_at
    is_older = sa.or_(
        runs.c.accepted_at < at, sa.and_(runs.c.accepted_at == at, runs.c.id < holder.run_id)
    )
    put_aside = [
        sa.select(
            sa.literal("aside").label("what"),
            sa.literal(scope).label("scope"),
            sa.func.coalesce(sa.func.sum(reservations.c.micro_usd), 0).label("micro_usd"),
        )
        .join_from(reservations, runs)
        .where(
            _is_on(payer, scope),
            reservations.c.id != call.id,
            sa.or_(~reservations.c.is_answer, is_older),
        )
        for scope in scopes
    ]
    day = now.astimezone(UTC).date()
    query = sa.union_all(*account_rows(payer, scopes, day), *put_aside)
    found: dict[str, dict[str, Amount]] = {"spent": {}, "aside": {}}
    for row in (await db.execute(query)).all():
        found[row.what][row.scope] = Amount(micro_usd=int(row.micro_usd))
    return DaySpent(**found["spent"]), DaySpent(**found["aside"])


def _is_on(payer: Payer, scope: Scope) -> sa.ColumnElement[bool]:
    """True if a reservation is on the payer's account in a scope."""
    columns: dict[Scope, sa.ColumnElement[Any]] = {
        "user": reservations.c.person,
        "channel": reservations.c.channel,
        "workspace": reservations.c.workspace,
    }
    in_workspace = reservations.c.workspace == payer.workspace
    return sa.and_(
        reservations.c.platform == payer.platform,
        columns[scope] == payer.name(scope),
        sa.true() if scope == "user" else in_workspace,
    )
