"""Daily spending by person, channel and workspace.

Days are in UTC for everybody. Money is counted in whole micro-USD (millionths of a US dollar), so
that sums are exact. Every finished model call is added once, in the transaction that stores its
step (``storage.journal``), and stays counted whatever happens to its run. A person's sum covers all
workspaces of a platform: ids of people are the platform's, and asking in two places should not
double a budget.

The budget of model calls in progress is reserved in the database, for all processes to see. A
reservation belongs to one attempt at a run and counts while that attempt holds the run. Once the
run has ended, was claimed again, or its lease has expired because its process died, the reservation
no longer counts, and the next call to begin deletes it. The actual cost of a call is added to the
day's spending (``storage.journal``) before its reservation ends, so it is always in one of the two.

With its first call, a run also reserves budget for its answer, as much as its most expensive call
so far may cost. Later runs may not use it, so that the first ones are answered in full, instead of
all being cut short. Only reservations of older runs count, or two runs could wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import UTC, date, datetime
from functools import cache
from typing import Any, Literal, get_args

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.messages import Message
from bot.storage.database import Transactions, awaited, repeated
from bot.storage.tables import WORKING, insert, insert_for, messages, reservations, runs, spending

Scope = Literal["workspace", "channel", "user"]
SCOPES: tuple[Scope, ...] = get_args(Scope)


@dataclass(frozen=True, slots=True)
class Payer:
    """The accounts that are charged, by the platform's ids."""

    platform: str
    workspace: str
    channel: str
    user: str

    @classmethod
    def of(cls, message: Message) -> Payer:
        """The author of a message and the place where they wrote it."""
        thread = message.thread
        return cls(thread.platform, thread.workspace, thread.channel, message.author.id)

    def name(self, scope: Scope) -> str:
        """The payer's id in a scope."""
        return {"workspace": self.workspace, "channel": self.channel, "user": self.user}[scope]

    def account(self, scope: Scope) -> tuple[str, ...]:
        """The columns that identify the payer's account in a scope."""
        if scope == "user":
            return self.platform, scope, self.user
        return self.platform, scope, self.name(scope), self.workspace


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount spent. ``unpriced_calls`` are calls to models without a known price, whose cost is
    not in ``micro_usd``. ``input_tokens`` are those at full price, and cache writes.
    ``uploaded_bytes`` are those of files that Footnote stores."""

    micro_usd: int = 0
    questions: int = 0
    model_calls: int = 0
    unpriced_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    uploaded_bytes: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: Amount) -> Amount:
        return Amount(*(a - b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def tokens(self) -> int:
        """Tokens of all kinds."""
        return self.input_tokens + self.output_tokens + self.cached_tokens

    @property
    def usd(self) -> float:
        return self.micro_usd / 1_000_000


NOTHING = Amount()
COUNTS = tuple(field.name for field in fields(Amount))
SUMS = tuple(sa.func.sum(spending.c[name]).label(name) for name in COUNTS)


@dataclass(frozen=True, slots=True)
class DaySpent:
    """The amounts that a payer's three accounts spent on a day."""

    workspace: Amount = NOTHING
    channel: Amount = NOTHING
    user: Amount = NOTHING

    def of(self, scope: Scope) -> Amount:
        return {"workspace": self.workspace, "channel": self.channel, "user": self.user}[scope]


@dataclass(frozen=True, slots=True)
class Line:
    """One account over some days. ``name`` is the platform's id; ``known_as`` is a person's last
    known name, or "" if they never asked."""

    platform: str
    workspace: str
    scope: Scope
    name: str
    known_as: str
    today: Amount
    month: Amount


class Spending(Transactions):
    """Failures are raised as ``StorageUnavailable``."""

    async def day(self, payer: Payer, day: date) -> DaySpent:
        """The amounts that the payer's accounts spent on a day."""
        async with self.database.read() as db:
            return await day_spent(db, payer, day)

    async def lines(self, since: date, today: date) -> list[Line]:
        """All accounts with spending or questions since a day, by scope, most expensive first."""
        sums = (*_sums(spending.c.day == today, "today_"), *_sums(sa.true(), "month_"))
        account = (spending.c.platform, spending.c.workspace, spending.c.scope, spending.c.name)
        query = sa.select(*account, *sums).where(spending.c.day >= since).group_by(*account)
        async with self.database.read() as db:
            rows = (await db.execute(query)).all()
            named = {
                (row.platform, row.name): row.known_as for row in await db.execute(_names(since))
            }
        found = [
            Line(
                platform=row.platform,
                workspace=row.workspace,
                scope=row.scope,
                name=row.name,
                known_as=named.get((row.platform, row.name), "") if row.scope == "user" else "",
                today=amount_of(row, "today_"),
                month=amount_of(row, "month_"),
            )
            for row in rows
        ]
        return sorted(
            found,
            key=lambda line: (
                SCOPES.index(line.scope),
                -line.month.micro_usd,
                -line.month.questions,
                line.platform,
                line.name,
            ),
        )


def _names(since: date) -> sa.Select[Any]:
    """The last known names of people who spent something since a day. Each is looked up once; in
    the query of the sums it would be looked up for each of their days."""
    people = (
        sa.select(spending.c.platform, spending.c.name)
        .where(spending.c.scope == "user", spending.c.day >= since)
        .distinct()
        .subquery()
    )
    theirs = messages.c.event_key.startswith(people.c.platform + ":")
    last = (
        sa.select(messages.c.author_name)
        .where(
            messages.c.author_id == people.c.name,
            # Nearly always true. PostgreSQL assumes that of a CASE, but assumes that a LIKE is
            # rarely true, and would read everything that the person ever wrote.
            sa.case((theirs, sa.true()), else_=sa.false()),
        )
        .order_by(messages.c.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    return sa.select(people, sa.func.coalesce(last, "").label("known_as"))


async def add_spent(db: AsyncConnection, payer: Payer, day: date, amount: Amount) -> None:
    """Add to the payer's three accounts, in the transaction of ``db``."""
    if amount == NOTHING:
        return
    await db.execute(adding(db.dialect.name), given_amount(payer, day, amount))


def given_amount(payer: Payer, day: date, amount: Amount) -> dict[str, object]:
    """The parameters of ``adding``, prefixed with ``its_``: the columns, and the scopes as values
    of ``name``. The scope "workspace" and the column of that name share a parameter."""
    values: dict[str, object] = {
        "platform": payer.platform,
        "day": day,
        "workspace": payer.workspace,
        **{name: getattr(amount, name) for name in COUNTS},
        **{scope: payer.name(scope) for scope in SCOPES},
    }
    return {f"its_{name}": value for name, value in values.items()}


@cache
def adding(dialect: str, counts: Sequence[str] = COUNTS, per: sa.FromClause | None = None) -> Any:
    """A statement that adds counts to three accounts at once, if ``per`` has a row (it has at most
    one); without ``per``, always."""

    def parameter(column: str, name: str = "") -> sa.Label[Any]:
        return sa.bindparam(f"its_{name or column}", type_=spending.c[column].type).label(column)

    # Always in this order, so that two transactions cannot deadlock on each other's rows. Without
    # a WHERE, SQLite would take the ON of ON CONFLICT for a join condition.
    rows = [
        sa.select(
            parameter("platform"),
            sa.literal_column(f"'{scope}'").label("scope"),
            parameter("name", scope),
            parameter("day"),
            parameter("workspace"),
            *map(parameter, counts),
        ).where(sa.literal_column("1") == sa.literal_column("1"))
        for scope in SCOPES
    ]
    if per is not None:
        rows = [row.select_from(per) for row in rows]
    columns = ("platform", "scope", "name", "day", "workspace", *counts)
    added = insert_for(dialect, spending).from_select(columns, sa.union_all(*rows))
    return added.on_conflict_do_update(
        index_elements=[column.name for column in spending.primary_key],
        set_={name: spending.c[name] + added.excluded[name] for name in counts},
    )


async def count_question(
    db: AsyncConnection, payer: Payer, day: date, permit: Callable[[DaySpent], None] | None
) -> None:
    """Count a question; ``permit`` receives the amounts spent, including this question, and raises
    to refuse it."""
    # Added first: a simultaneous question waits here, and then sees this one.
    await add_spent(db, payer, day, Amount(questions=1))
    if permit is not None:
        permit(await day_spent(db, payer, day))


async def day_spent(db: AsyncConnection, payer: Payer, day: date) -> DaySpent:
    """The amounts that the payer's accounts spent on a day, read in the transaction of ``db``."""
    accounts = [
        sa.select(sa.literal(scope).label("scope"), *_sums(sa.true(), "day_")).where(
            *_is_on(payer, scope, day)
        )
        for scope in SCOPES  # three look-ups by key; a single OR would read the whole platform
    ]
    rows = (await db.execute(sa.union_all(*accounts))).all()
    return DaySpent(**{row.scope: amount_of(row, "day_") for row in rows})


def account_rows(payer: Payer, scopes: Collection[Scope], day: date) -> list[sa.Select[Any]]:
    """Queries for the money that the payer's accounts spent on a day, one per scope."""
    return [
        sa.select(
            sa.literal("spent").label("what"),
            sa.literal(scope).label("scope"),
            sa.func.coalesce(sa.func.sum(spending.c.micro_usd), 0).label("micro_usd"),
        ).where(*_is_on(payer, scope, day))
        for scope in scopes
    ]


def _is_on(payer: Payer, scope: Scope, day: date) -> Sequence[sa.ColumnElement[bool]]:
    """The conditions for a row of the payer's account in a scope on a day."""
    in_workspace = spending.c.workspace == payer.workspace
    return (
        spending.c.platform == payer.platform,
        spending.c.scope == scope,
        spending.c.name == payer.name(scope),
        spending.c.day == day,
        sa.true() if scope == "user" else in_workspace,
    )


async def workspace_spent(
    db: AsyncConnection, platform: str, workspace: str, since: date
) -> Amount:
    """The amount that a workspace has spent since a day, inclusive."""
    query = sa.select(*_sums(sa.true(), "since_")).where(
        spending.c.platform == platform,
        spending.c.scope == "workspace",
        spending.c.name == workspace,
        spending.c.day >= since,
        spending.c.workspace == workspace,
    )
    return amount_of((await db.execute(query)).one(), "since_")


def _sums(where: sa.ColumnElement[bool], prefix: str) -> Sequence[sa.ColumnElement[Any]]:
    return [
        sa.func.coalesce(sa.func.sum(sa.case((where, spending.c[name]), else_=0)), 0).label(
            prefix + name
        )
        for name in COUNTS
    ]


def amount_of(row: Any, prefix: str = "") -> Amount:
    """The amount in a row whose columns are named like the counts, with a prefix."""
    return Amount(*(int(getattr(row, prefix + name)) for name in COUNTS))


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

CallKind = Literal["gathering", "answer"]
"""The purpose of a call: work before the answer, or the answer and what follows it."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """The maximum cost of a call. ``scopes`` are those with a limit; the caller chooses ``id``, so
    that a transaction can be retried after its connection broke."""

    id: str
    holder: Holder
    kind: CallKind
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
            await _lock_accounts(db, [holder.payer.account(scope) for scope in call.scopes])
            await db.execute(sa.delete(reservations).where(~_holds(now)))
            spent, aside = await _looked_up(db, call, now)
            if not permit(spent, aside):
                return False
            await _put_aside(db, call.id, holder, call.micro_usd, is_answer=False)
            if call.kind == "gathering":
                await _put_aside(db, answer, holder, call.micro_usd, is_answer=True)
            else:
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


async def _lock_accounts(db: AsyncConnection, accounts: Collection[tuple[str, ...]]) -> None:
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
            _is_reserved_on(payer, scope),
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


def _is_reserved_on(payer: Payer, scope: Scope) -> sa.ColumnElement[bool]:
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
