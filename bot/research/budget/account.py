"""Accounts: what is spent and what is under way, held against the limits before each model call.

Calls that run at the same time must not each take the same last cent for theirs. So a call that
begins puts aside what it will cost at most, as far as that can be told: its request as input that
is all new, and as much output as it may write. Another one begins only when the limits cover what
is spent and what is put aside; if they cover what is spent alone, it waits for the calls under way
and looks again, because they mostly cost less. A call that nothing is under way beside always
begins while the limit is not reached. So what is spent exceeds a limit by at most the last call,
however many run at once; and no call is refused for what is only put aside.

A run's account lives in its process. Those of a day are shared by all processes and are read from
the database before each call; what is put aside for them is known to one process only, so N
processes together may exceed a day's limit by N calls.

The writing of an answer is not checked: it comes once a run, and without it all the rest was spent
for nothing. But it is put aside like every call. The revisions of a report are many, and checked.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from time import monotonic
from typing import Any, Protocol

from bot.answers import Usage
from bot.reasoning.calls import ModelReply
from bot.research.budget.budget import Budget, DayLimits
from bot.storage.journal import step_key
from bot.storage.spending import Amount, DaySpent, Payer, Scope
from bot.text.tokens import estimate

# The estimate of tokens is a rule of thumb, and models' tokenizers differ by a third.
MARGIN = 1.5

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
        with self._put_aside(aside):
            if self._allowance is None:
                yield
            else:
                async with self._allowance.cover(aside.micro_usd):
                    yield

    @contextmanager
    def charge(self, request: Mapping[str, Any]) -> Iterator[None]:
        """As ``cover``, for the call that is made in any case."""
        aside = self._aside(request)
        with self._put_aside(aside):
            if self._allowance is None:
                yield
            else:
                with self._allowance.charge(aside.micro_usd):
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
    """The record of daily spending: ``storage.spending.Spending``."""

    async def day(self, payer: Payer, day: date) -> DaySpent: ...


class Days:
    """The accounts of a day, as one process sees them: what is kept, and what is under way here.

    ``now`` is the clock, in any zone.
    """

    def __init__(
        self, spending: Ledger, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._spending = spending
        self._now = now
        self._under_way: Counter[tuple[str, ...]] = Counter()  # account → micro-USD put aside
        self._ends = 0
        self._ended = asyncio.Event()

    def allowance(self, payer: Payer, limits: DayLimits) -> Allowance:
        """The allowance that limits a payer's calls."""
        return Allowance(self, payer, limits)

    async def wait_for_cover(self, payer: Payer, limits: DayLimits) -> None:
        """Return when one more call may begin, which has to be put aside at once; raises
        ``BudgetSpent``."""
        while True:
            ended, ends = self._ended, self._ends
            spent = await self._spending.day(payer, self._now().astimezone(UTC).date())
            if ends != self._ends:
                continue  # what a call cost is kept, and no longer put aside: look at both again
            limits.check_call(spent)
            if self._covers(payer, limits, spent):
                return
            await ended.wait()

    @contextmanager
    def put_aside(self, accounts: list[tuple[str, ...]], micro_usd: int) -> Iterator[None]:
        """Hold money of accounts while a call is under way."""
        for account in accounts:
            self._under_way[account] += micro_usd
        try:
            yield
        finally:
            for account in accounts:
                self._under_way[account] -= micro_usd
                if not self._under_way[account]:
                    del self._under_way[account]
            self._ends += 1
            self._ended.set()
            self._ended = asyncio.Event()

    def _covers(self, payer: Payer, limits: DayLimits, spent: DaySpent) -> bool:
        for scope, limit in limits.micro_usd.items():
            aside = self._under_way[payer.account(scope)]
            if aside and spent.of(scope).micro_usd + aside >= limit:
                return False
        return True


class Allowance:
    """The amount that one payer may spend today."""

    def __init__(self, days: Days, payer: Payer, limits: DayLimits) -> None:
        self._days = days
        self._payer = payer
        self._limits = limits
        scopes: tuple[Scope, ...] = tuple(limits.micro_usd)
        self._accounts = [payer.account(scope) for scope in scopes]

    @asynccontextmanager
    async def cover(self, micro_usd: int) -> AsyncIterator[None]:
        """Hold what a call may cost while it is under way; raises ``BudgetSpent``.

        Where nothing is limited, nothing is asked.
        """
        if self._accounts:
            await self._days.wait_for_cover(self._payer, self._limits)
        with self.charge(micro_usd):
            yield

    @contextmanager
    def charge(self, micro_usd: int) -> Iterator[None]:
        """As ``cover``, for a call that is made in any case."""
        with self._days.put_aside(self._accounts, max(1, micro_usd)):
            yield
