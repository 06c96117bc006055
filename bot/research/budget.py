"""Limits on spending, of one run and per day, and the accounts that keep them.

Limits are values: of a run, and per day for a person, a channel and a workspace. Concurrent calls
must not all spend the same last cent. Therefore each call reserves its estimated maximum cost: its
request as uncached input, and as much output as it may write. Another call begins only if the
limits cover both spending and reservations. If they cover spending alone, the call waits for those
in progress and checks again, because they mostly cost less than reserved. Without other calls in
progress, a call always begins while the limit is not reached. So spending exceeds a limit by at
most the last call, and no call is refused because of a mere reservation.

A run's account lives in its process. Daily accounts and their reservations are shared by all
processes (``storage.spending``) and looked up when a call begins.

The run's budget does not limit the call that writes the answer: it happens once per run, and
without it the rest would be wasted. The daily budget does limit it, since many concurrent runs
would each add a call. Revisions of a report are many, and both budgets limit them.
"""

from __future__ import annotations

import asyncio
import json
import math
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from functools import partial
from time import monotonic
from typing import Any, Protocol

from bot.core.errors import BudgetSpent, DaySpentUp, StorageUnavailable
from bot.core.logs import get_logger
from bot.core.messages import RunOptions, Usage
from bot.core.settings import Settings
from bot.core.texts import said
from bot.reasoning.calls import ModelReply
from bot.search.provider import Spent
from bot.storage.journal import step_key
from bot.storage.spending import (
    SCOPES,
    Amount,
    CallKind,
    DaySpent,
    Holder,
    Permit,
    Reservation,
    Scope,
)
from bot.text.terms import estimate

# Of one run. They bound what money does not: models without a price, search engines, sites.
MODEL_CALLS = 24
PAGES = 20
SEARCHES = 40
INPUT_TOKENS = 400_000
OUTPUT_TOKENS = 100_000
DEEP = 2  # times the searches and the budget of ordinary questions
EXHAUSTIVE, EXHAUSTIVE_SEARCHES = 8, 150  # times all of it but money and searches
UPLOADS = 40  # MB of files that one person may send in the console in a day


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one run. ``seconds`` is the working time of all attempts together, without waiting
    in a queue or for a restart. ``searches`` are queries."""

    seconds: float
    usd: float
    model_calls: int = MODEL_CALLS
    pages: int = PAGES
    input_tokens: int = INPUT_TOKENS
    searches: int = SEARCHES
    output_tokens: int = OUTPUT_TOKENS

    @classmethod
    def of(cls, settings: Settings, times: int = 1) -> Budget:
        """The budget from the settings, multiplied by ``times`` for deep research (except time)."""
        return cls(
            seconds=settings.max_seconds,
            usd=settings.max_usd * times,
            model_calls=MODEL_CALLS * times,
            pages=PAGES * times,
            input_tokens=INPUT_TOKENS * times,
            searches=SEARCHES * times,
            output_tokens=OUTPUT_TOKENS * times,
        )

    @classmethod
    def exhaustive(cls, settings: Settings) -> Budget:
        """The budget of exhaustive research: the money of deep research, more of all else."""
        cap, usd = cls.of(settings, EXHAUSTIVE), DEEP * settings.max_usd
        return replace(cap, seconds=EXHAUSTIVE * cap.seconds, usd=usd, searches=EXHAUSTIVE_SEARCHES)

    def check_model_call(self, spent: Usage) -> None:
        """Raise ``BudgetSpent`` if another model call is not covered."""
        if spent.model_calls >= self.model_calls:
            raise _spent("budget-model-calls", self.model_calls)
        if spent.input_tokens + spent.cached_tokens >= self.input_tokens:
            raise _spent("budget-input-tokens", self.input_tokens)
        if spent.output_tokens >= self.output_tokens:
            raise _spent("budget-output-tokens", self.output_tokens)
        if spent.usd >= self.usd:
            raise _spent("budget-usd", self.usd)
        self.check_time(spent)

    def check_time(self, spent: Usage) -> None:
        """Raise ``BudgetSpent`` if the time is over; called before any search, read or model
        call."""
        if spent.seconds >= self.seconds:
            raise _spent("budget-seconds", self.seconds)

    def check_search(self, searches: int) -> None:
        """Raise ``BudgetSpent`` if another search is not covered."""
        if searches >= self.searches:
            raise _spent("budget-searches", self.searches)

    def check_page(self, pages: int) -> None:
        """Raise ``BudgetSpent`` if another page is not covered."""
        if pages >= self.pages:
            raise _spent("budget-pages", self.pages)

    def covers(self, spent: Usage) -> bool:
        try:
            self.check_model_call(spent)
        except BudgetSpent:
            return False
        return True


@dataclass(frozen=True, slots=True)
class DayLimits:
    """Limits of one day (UTC), money in USD; None means no limit."""

    user_usd: float | None = None
    channel_usd: float | None = None
    workspace_usd: float | None = None
    user_questions: int | None = None
    user_uploads: int | None = None  # MB

    @classmethod
    def of(cls, settings: Settings, options: RunOptions, *, has_files: bool = False) -> DayLimits:
        """Return the limits from the settings; a channel's own rule overrides the general channel
        limit. That on uploads counts only for a question that ``has_files``."""
        return cls(
            user_usd=settings.user_daily_usd,
            channel_usd=options.daily_usd or settings.channel_daily_usd,
            workspace_usd=settings.workspace_daily_usd,
            user_questions=settings.user_daily_questions,
            user_uploads=UPLOADS if has_files else None,
        )

    @classmethod
    def of_uploads(cls) -> DayLimits:
        return cls(user_uploads=UPLOADS)

    def __bool__(self) -> bool:
        """Return True if there is any limit."""
        counts = (self.user_questions, self.user_uploads)
        return any(each is not None for each in counts) or bool(self.micro_usd)

    @property
    def micro_usd(self) -> dict[Scope, int]:
        """Return the limits on money, in millionths of a USD, of the scopes that have one."""
        usd: dict[Scope, float | None] = {
            "user": self.user_usd,
            "channel": self.channel_usd,
            "workspace": self.workspace_usd,
        }
        return {
            scope: round(1_000_000 * limit)
            for scope in reversed(SCOPES)
            if (limit := usd[scope]) is not None
        }

    def check_call(self, spent: DaySpent) -> None:
        """Raise ``BudgetSpent`` if a daily limit does not cover another model call."""
        for scope, limit in self.micro_usd.items():
            if spent.of(scope).micro_usd >= limit:
                raise _spent(f"budget-day-{scope}", limit / 1_000_000)

    def check_question(self, spent: DaySpent, now: datetime) -> None:
        """Raise ``DaySpentUp``, which says until when, if the daily limits do not cover a question;
        ``spent`` already includes it."""
        asked = spent.user.questions
        if self.user_questions is not None and asked > self.user_questions:
            raise _spent_up("denied-day-questions", now, limit=self.user_questions)
        for scope, limit in self.micro_usd.items():
            if spent.of(scope).micro_usd >= limit:
                raise _spent_up(f"denied-day-{scope}", now)
        self.check_uploads(spent, now)

    def check_uploads(self, spent: DaySpent, now: datetime) -> None:
        """The same for the bytes of files that the person sends."""
        most = self.user_uploads
        if most is not None and spent.user.uploaded_bytes > 1_000_000 * most:
            raise _spent_up("denied-day-uploads", now, limit=most)


def _spent(text_id: str, limit: float) -> BudgetSpent:
    return BudgetSpent(said(text_id, limit=limit), limit=limit)


def _spent_up(text_id: str, now: datetime, **values: int) -> DaySpentUp:
    tomorrow = datetime.combine(now.astimezone(UTC).date() + timedelta(1), time(), UTC)
    values["hours"] = max(1, math.ceil((tomorrow - now).total_seconds() / 3600))
    return DaySpentUp(said(text_id, **values))


# Token counts are a rough estimate, and models' tokenizers differ by a third.
MARGIN = 1.5
LOOK_SECONDS = 0.5  # between checks of calls in other processes

log = get_logger()

Price = Callable[[ModelReply], float | None]


class Account:
    """One run's account. ``price`` returns the USD for a reply, None if unknown; ``worked_before``
    are the seconds of earlier attempts."""

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
        self.counted: set[str] = set()  # keys of the steps that were already counted
        self._started = monotonic() - worked_before
        self._paid = Amount()
        self._searches = 0
        self._pages = 0
        self._searching = 0
        self._reading = 0
        self._under_way: list[Amount] = []  # the most that the calls in progress may cost
        self._is_written = False  # whether writing the answer has begun
        self._ended = asyncio.Event()

    @property
    def usage(self) -> Usage:
        """The usage so far, earlier attempts included."""
        return self._usage(self._paid)

    def _usage(self, paid: Amount) -> Usage:
        return Usage(
            model_calls=paid.model_calls,
            searches=self._searches,
            pages=self._pages,
            input_tokens=paid.input_tokens,
            output_tokens=paid.output_tokens,
            cached_tokens=paid.cached_tokens,
            seconds=monotonic() - self._started,
            usd=paid.usd,
        )

    # ------------------------------------------------------------ what was spent

    def first_time(self, kind: str, inputs: Mapping[str, Any]) -> bool:
        """Return True the first time a step occurs: a repeated step is not counted again."""
        key = step_key(kind, inputs)
        if key in self.counted:
            return False
        self.counted.add(key)
        return True

    def amount(self, reply: ModelReply) -> Amount:
        """Return the cost of a reply, as recorded for the day."""
        usd = self._price(reply)
        return Amount(
            micro_usd=round(1_000_000 * (usd or 0.0)),
            model_calls=1,
            unpriced_calls=int(usd is None),
            input_tokens=reply.input_tokens + reply.cache_write_tokens,
            output_tokens=reply.output_tokens,
            cached_tokens=reply.cache_read_tokens,
        )

    def amount_of_search(self, spent: Iterable[Spent]) -> Amount:
        """Return the cost of a search, which is not counted as a model call."""
        amount = Amount()
        for each in spent:
            reply = ModelReply(each.model, (), "", each.input_tokens, each.output_tokens)
            amount += replace(self.amount(reply), model_calls=0)
            amount += Amount(micro_usd=round(1_000_000 * each.usd))
        return amount

    def pay(self, amount: Amount) -> None:
        self._paid += amount

    def add(self, spent: Usage) -> None:
        """Count the spending of an earlier attempt, without its seconds."""
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
        self._searches += searches
        self._pages += pages

    # ------------------------------------------------------------ what is under way

    @asynccontextmanager
    async def cover_search(self, usd: float) -> AsyncIterator[None]:
        """Reserve a search, and the most that it costs, until it is counted; raises
        ``BudgetSpent``."""
        self.budget.check_search(self._searches + self._searching)
        self._searching += 1
        try:
            if not usd:
                yield
                return
            async with self._covered(Amount(micro_usd=round(1_000_000 * usd))):
                yield
        finally:
            self._searching -= 1

    @contextmanager
    def cover_page(self) -> Iterator[None]:
        """Reserve the reading of a page until it is counted; raises ``BudgetSpent``."""
        self.budget.check_page(self._pages + self._reading)
        self._reading += 1
        try:
            yield
        finally:
            self._reading -= 1

    @asynccontextmanager
    async def cover(self, request: Mapping[str, Any]) -> AsyncIterator[None]:
        """Reserve the cost of a model call until its result is stored.

        Raises ``BudgetSpent`` if the run's budget or a daily budget does not cover it.
        """
        async with self._covered(self._most(request)):
            yield

    @asynccontextmanager
    async def _covered(self, most: Amount) -> AsyncIterator[None]:
        while True:
            self.budget.check_model_call(self.usage)
            expected = self._usage(sum(self._under_way, self._paid))
            if not self._under_way or self.budget.covers(expected):
                break
            await self._ended.wait()
        async with self._hold(most):
            yield

    @asynccontextmanager
    async def charge(self, request: Mapping[str, Any]) -> AsyncIterator[None]:
        """Reserve the cost of writing or verifying the answer: as ``cover``, but without the run's
        budget."""
        self._is_written = True
        async with self._hold(self._most(request)):
            yield

    @asynccontextmanager
    async def _hold(self, most: Amount) -> AsyncIterator[None]:
        self._under_way.append(most)
        kind: CallKind = "answer" if self._is_written else "gathering"
        try:
            if self._allowance is None:
                yield
            else:
                asked = monotonic()
                async with self._allowance.cover(most.micro_usd, kind):
                    self._started += monotonic() - asked  # waiting for other runs does not count
                    yield
        finally:
            self._under_way.remove(most)
            self._ended.set()
            self._ended = asyncio.Event()

    def _most(self, request: Mapping[str, Any]) -> Amount:
        """Return the highest possible cost: nothing is read from the cache, everything is written
        to it."""
        tokens = round(MARGIN * estimate(json.dumps(request, ensure_ascii=False)))
        tokens += sum(each["tokens"] for each in request.get("pictures", ()))
        output = int(request.get("max_tokens") or 0)
        model = str(request.get("model") or "")
        return self.amount(
            ModelReply(model, (), "", cache_write_tokens=tokens, output_tokens=output)
        )


class Ledger(Protocol):
    """The record of spending and reservations: ``storage.spending.Reservations``."""

    async def begin(self, call: Reservation, now: datetime, permit: Permit) -> bool: ...

    async def end(self, id: str) -> None: ...


_Waiting = tuple[tuple[tuple[str, ...], ...], datetime, str, str]  # accounts, age of the run, ids


class Days:
    """The daily accounts. ``now`` is the clock, in any zone.

    Of the calls waiting for the same accounts, only the oldest run's checks again: whenever a call
    of this process ends, and every ``LOOK_SECONDS`` for calls of other processes.
    """

    def __init__(
        self, ledger: Ledger, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._ledger = ledger
        self._now = now
        self._waiting: set[_Waiting] = set()
        self._changed = asyncio.Event()

    def allowance(self, holder: Holder, limits: DayLimits) -> Allowance:
        """Return the allowance that limits the calls of an attempt at a run."""
        return Allowance(self, holder, limits)

    async def reserve(
        self, holder: Holder, kind: CallKind, limits: DayLimits, micro_usd: int
    ) -> str:
        """Reserve the cost of a call once the limits cover it; returns the reservation's id for
        ``end``. Raises ``BudgetSpent``."""
        scopes = tuple(limits.micro_usd)
        accounts = tuple(holder.payer.account(scope) for scope in scopes)
        permit = partial(_covers, limits)
        call = Reservation(secrets.token_hex(8), holder, kind, scopes, micro_usd)
        this: _Waiting = (accounts, holder.accepted_at, holder.run_id, call.id)
        self._waiting.add(this)
        try:
            while True:
                changed = self._changed
                is_first = this == min(each for each in self._waiting if each[0] == accounts)
                if is_first and await self._ledger.begin(call, self._now(), permit):
                    return call.id
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS if is_first else None):
                        await changed.wait()
        finally:
            self._waiting.discard(this)
            self._wake()

    async def end(self, id: str) -> None:
        """End a reservation, after the call's cost is stored."""
        try:
            await self._ledger.end(id)
        except StorageUnavailable as error:
            log.info("reservation ends with its run", error=str(error))
        finally:
            self._wake()

    def _wake(self) -> None:
        """Let waiting calls check again."""
        self._changed.set()
        self._changed = asyncio.Event()


def _covers(limits: DayLimits, spent: DaySpent, aside: DaySpent) -> bool:
    """Return True if another call may begin; raises ``BudgetSpent``."""
    limits.check_call(spent)
    return not any(
        aside.of(scope).micro_usd and spent.of(scope).micro_usd + aside.of(scope).micro_usd >= limit
        for scope, limit in limits.micro_usd.items()
    )


@dataclass(frozen=True, slots=True)
class Allowance:
    """The amount that may be spent today on behalf of a run."""

    _days: Days
    _holder: Holder
    _limits: DayLimits

    @asynccontextmanager
    async def cover(self, micro_usd: int, kind: CallKind = "gathering") -> AsyncIterator[None]:
        """Reserve the cost of a call while it is in progress; raises ``BudgetSpent``.

        Does nothing if there is no limit on money.
        """
        if not self._limits.micro_usd:
            yield
            return
        id = await self._days.reserve(self._holder, kind, self._limits, max(1, micro_usd))
        try:
            yield
        finally:
            await self._days.end(id)
