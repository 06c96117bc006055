"""Accounts: what is spent and what is under way, held against the limits before each model call.

Calls that run at the same time must not each take the same last cent for theirs. So a call that
begins puts aside what it will cost at most, as far as that can be told: its request as input that
is all new, and as much output as it may write. Another one begins only when the limits cover what
is spent and what is put aside; if they cover what is spent alone, it waits for the calls under way
and looks again, because they mostly cost less. A call that nothing is under way beside always
begins while the limit is not reached. So what is spent exceeds a limit by at most the last call,
however many run at once; and no call is refused for what is only put aside.

A run's account lives in its process. Those of a day are shared by all processes, and so is what is
put aside for them (``storage.reservations``): both are looked up when a call begins.

The writing of an answer is not held to the run's budget: it comes once a run, and without it all
the rest was spent for nothing. It is held to the day's: many runs at once would each add a call.
The revisions of a report are many, and held to both.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import Any, Protocol

from bot.answers import Usage
from bot.errors import StorageUnavailable
from bot.logs import get_logger
from bot.reasoning.calls import ModelReply
from bot.research.budget.budget import Budget, DayLimits
from bot.storage.journal import step_key
from bot.storage.reservations import Holder, Kind, Permit, Reservation
from bot.storage.spending import Amount, DaySpent
from bot.text.tokens import estimate

# The estimate of tokens is a rule of thumb, and models' tokenizers differ by a third.
MARGIN = 1.5
LOOK_SECONDS = 0.5  # between two looks at what calls of other processes have left

log = get_logger()

Price = Callable[[ModelReply], float | None]


@dataclass(frozen=True, slots=True)
class Aside:
    """The reserved cost of one call."""

    input_tokens: int
    output_tokens: int
    micro_usd: int


class Account:
    """One run's account. ``price`` gives the USD of a reply, or None when it is not known;
    ``worked_before`` are the seconds of earlier attempts."""

    def __init__(
        self,
        budget: Budget,
        price: Price,
        allowance: Allowance | None = None,
        worked_before: float = 0.0,
    ) -> None:
        self.budget = budget
        self._price = price
        self._allowance = allowance
        self.counted: set[str] = set()  # keys of the steps that were paid for
        self._started = monotonic() - worked_before
        self._spent = Usage()
        self._micro_usd = 0
        self._searching = 0
        self._reading = 0
        self._under_way: list[Aside] = []
        self._is_written = False  # whether the answer is, or was begun to be
        self._ended = asyncio.Event()

    @property
    def usage(self) -> Usage:
        """The usage so far, earlier attempts included."""
        return replace(self._spent, seconds=monotonic() - self._started)

    # ------------------------------------------------------------ what was spent

    def first_time(self, kind: str, inputs: Mapping[str, Any]) -> bool:
        """Return True if a step counts now: one that is asked for again is not paid for again."""
        key = step_key(kind, inputs)
        if key in self.counted:
            return False
        self.counted.add(key)
        return True

    def amount(self, reply: ModelReply) -> Amount:
        """The cost of a reply, as it is recorded for the day."""
        usd = self._price(reply)
        return Amount(
            micro_usd=round(1_000_000 * (usd or 0.0)),
            model_calls=1,
            unpriced_calls=int(usd is None),
            input_tokens=reply.input_tokens + reply.cache_write_tokens,
            output_tokens=reply.output_tokens,
            cached_tokens=reply.cache_read_tokens,
        )

    def pay(self, amount: Amount) -> None:
        """Count a model call."""
        self._micro_usd += amount.micro_usd
        spent = self._spent
        self._spent = replace(
            spent,
            model_calls=spent.model_calls + amount.model_calls,
            input_tokens=spent.input_tokens + amount.input_tokens,
            output_tokens=spent.output_tokens + amount.output_tokens,
            cached_tokens=spent.cached_tokens + amount.cached_tokens,
            usd=self._micro_usd / 1_000_000,
        )

    def add(self, spent: Usage) -> None:
        """Count what an earlier attempt has spent, but for its seconds."""
        self.pay(
            Amount(
                micro_usd=round(1_000_000 * spent.usd),
                model_calls=spent.model_calls,
                input_tokens=spent.input_tokens,
                output_tokens=spent.output_tokens,
                cached_tokens=spent.cached_tokens,
            )
        )
        self.count(searches=spent.searches, pages=spent.pages)

    def count(self, *, searches: int = 0, pages: int = 0) -> None:
        """Count searches sent and pages read."""
        spent = self._spent
        self._spent = replace(spent, searches=spent.searches + searches, pages=spent.pages + pages)

    # ------------------------------------------------------------ what is under way

    @contextmanager
    def cover_search(self) -> Iterator[None]:
        """Hold a search while it is under way, until it is counted; raises ``BudgetSpent``."""
        self.budget.check_search(self._spent.searches + self._searching)
        self._searching += 1
        try:
            yield
        finally:
            self._searching -= 1

    @contextmanager
    def cover_page(self) -> Iterator[None]:
        """As ``cover_search``, for a page that is to be read."""
        self.budget.check_page(self._spent.pages + self._reading)
        self._reading += 1
        try:
            yield
        finally:
            self._reading -= 1

    @asynccontextmanager
    async def cover(self, request: Mapping[str, Any]) -> AsyncIterator[None]:
        """Hold what a model call may take while it is under way, and until it is kept.

        Raises ``BudgetSpent`` when the run's budget or one of the day does not cover it.
        """
        aside = self._aside(request)
        while True:
            self.budget.check_model_call(self.usage)
            if not self._under_way or self.budget.covers(self._expected()):
                break
            await self._ended.wait()
        async with self._hold(aside, "after" if self._is_written else "gathering"):
            yield

    @asynccontextmanager
    async def charge(self, request: Mapping[str, Any]) -> AsyncIterator[None]:
        """As ``cover``, for the answer, which the run's budget need not cover."""
        self._is_written = True
        async with self._hold(self._aside(request), "answer"):
            yield

    @asynccontextmanager
    async def _hold(self, aside: Aside, kind: Kind) -> AsyncIterator[None]:
        with self._put_aside(aside):
            if self._allowance is None:
                yield
            else:
                asked = monotonic()
                async with self._allowance.cover(aside.micro_usd, kind):
                    self._started += monotonic() - asked  # it may have waited for other runs
                    yield

    def _expected(self) -> Usage:
        """The maximum spending once the calls under way have ended."""
        spent = self.usage
        return replace(
            spent,
            model_calls=spent.model_calls + len(self._under_way),
            input_tokens=spent.input_tokens + sum(one.input_tokens for one in self._under_way),
            output_tokens=spent.output_tokens + sum(one.output_tokens for one in self._under_way),
            usd=(self._micro_usd + sum(one.micro_usd for one in self._under_way)) / 1_000_000,
        )

    @contextmanager
    def _put_aside(self, aside: Aside) -> Iterator[None]:
        self._under_way.append(aside)
        try:
            yield
        finally:
            self._under_way.remove(aside)
            self._ended.set()
            self._ended = asyncio.Event()

    def _aside(self, request: Mapping[str, Any]) -> Aside:
        tokens = round(MARGIN * estimate(json.dumps(request, ensure_ascii=False)))
        output = int(request.get("max_tokens") or 0)
        model = str(request.get("model") or "")
        # The dearest it can be: nothing is found in the cache, all is written to it.
        reply = ModelReply(model, (), "", cache_write_tokens=tokens, output_tokens=output)
        return Aside(tokens, output, round(1_000_000 * (self._price(reply) or 0.0)))


class Ledger(Protocol):
    """The record of what is spent and put aside: ``storage.reservations.Reservations``."""

    async def begin(self, call: Reservation, now: datetime, permit: Permit) -> bool: ...

    async def end(self, id: str) -> None: ...


class Days:
    """The accounts of a day. ``now`` is the clock, in any zone.

    Of the calls that wait for the same accounts only that of the oldest run looks: whenever a call
    of this process ends, and every ``LOOK_SECONDS`` for those of other processes.
    """

    def __init__(
        self, ledger: Ledger, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._ledger = ledger
        self._now = now
        self._waiting: dict[tuple[tuple[str, ...], ...], set[tuple[datetime, str, str]]] = {}
        self._changed = asyncio.Event()

    def allowance(self, holder: Holder, limits: DayLimits) -> Allowance:
        """The allowance that limits the calls of an attempt at a run."""
        return Allowance(self, holder, limits)

    async def put_aside(self, holder: Holder, kind: Kind, limits: DayLimits, micro_usd: int) -> str:
        """Put aside what a call may cost, once the limits cover it; returns the id by which that
        ends. Raises ``BudgetSpent``."""
        scopes = tuple(limits.micro_usd)
        accounts = tuple(holder.payer.account(scope) for scope in scopes)
        permit = partial(_covers, limits)
        call = Reservation(secrets.token_hex(8), holder, kind, scopes, micro_usd)
        this = (holder.accepted_at, holder.run_id, call.id)
        waiting = self._waiting.setdefault(accounts, set())
        waiting.add(this)
        try:
            while True:
                changed, is_first = self._changed, min(waiting) == this
                if is_first and await self._ledger.begin(call, self._now(), permit):
                    return call.id
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS if is_first else None):
                        await changed.wait()
        finally:
            waiting.discard(this)
            if not waiting and self._waiting.get(accounts) is waiting:
                del self._waiting[accounts]
            self._wake()

    async def end(self, id: str) -> None:
        """The call has ended, and what it cost is kept."""
        try:
            await self._ledger.end(id)
        except StorageUnavailable as error:
            log.info("reservation ends with its run", error=str(error))
        finally:
            self._wake()

    def _wake(self) -> None:
        """Let who waits look again."""
        self._changed.set()
        self._changed = asyncio.Event()


def _covers(limits: DayLimits, spent: DaySpent, aside: DaySpent) -> bool:
    """Return True if another call may begin; raises ``BudgetSpent``."""
    limits.check_call(spent)
    return not any(
        aside.of(scope).micro_usd and spent.of(scope).micro_usd + aside.of(scope).micro_usd >= limit
        for scope, limit in limits.micro_usd.items()
    )


class Allowance:
    """The amount that the payer of a run may spend today."""

    def __init__(self, days: Days, holder: Holder, limits: DayLimits) -> None:
        self._days = days
        self._holder = holder
        self._limits = limits

    @asynccontextmanager
    async def cover(self, micro_usd: int, kind: Kind = "gathering") -> AsyncIterator[None]:
        """Hold what a call may cost while it is under way; raises ``BudgetSpent``.

        Where no money is limited, nothing is asked.
        """
        if not self._limits.micro_usd:
            yield
            return
        id = await self._days.put_aside(self._holder, kind, self._limits, max(1, micro_usd))
        try:
            yield
        finally:
            await self._days.end(id)
