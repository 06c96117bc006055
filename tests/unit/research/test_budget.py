"""Limits, and the accounts that keep them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.errors import BudgetSpent, DaySpentUp, StorageUnavailable, sentence_for
from bot.core.messages import RunOptions, Usage
from bot.core.texts import LOCALES, texts_for
from bot.operation.configuration import load_settings
from bot.reasoning.calls import ModelReply
from bot.research.budget import LOOK_SECONDS, Account, Budget, DayLimits, Days
from bot.storage.spending import (
    SCOPES,
    Amount,
    CallKind,
    DaySpent,
    Holder,
    Payer,
    Permit,
    Reservation,
    Scope,
)
from tests.fakes.virtual_time import in_virtual_time, now
from tests.unit.samples import NOW

BUDGET = Budget(
    model_calls=3, pages=4, input_tokens=1_000, seconds=60, usd=0.5, searches=5, output_tokens=300
)


def spent(usd: float = 0.0, questions: int = 0) -> Amount:
    return Amount(micro_usd=round(1_000_000 * usd), questions=questions)


# ---------------------------------------------------------------- one run


@pytest.mark.parametrize(
    ("usage", "sentence"),
    [
        (Usage(model_calls=3), "The budget of 3 model calls was spent."),
        (Usage(input_tokens=600, cached_tokens=400), "The budget of 1000 input tokens was spent."),
        (Usage(output_tokens=300), "The budget of 300 output tokens was spent."),
        (Usage(usd=0.5), "The budget of 0.50 USD was spent."),
        (Usage(seconds=60), "The time of 60 seconds was spent."),
    ],
)
def test_a_model_call_is_covered_until_a_limit_is_reached(usage: Usage, sentence: str) -> None:
    with pytest.raises(BudgetSpent) as error:
        BUDGET.check_model_call(usage)
    assert error.value.sentence == sentence
    assert not BUDGET.covers(usage)
    assert BUDGET.covers(Usage(2, 5, 4, 599, 299, 400, 59.9, 0.49))


def test_searches_and_pages_have_limits_of_their_own() -> None:
    BUDGET.check_search(4)
    BUDGET.check_page(3)
    with pytest.raises(BudgetSpent, match="5 searches"):
        BUDGET.check_search(5)
    with pytest.raises(BudgetSpent, match="4 pages"):
        BUDGET.check_page(4)


def test_deep_research_has_twice_of_everything_but_time() -> None:
    settings = load_settings()
    once, twice = Budget.of(settings), Budget.of(settings, times=2)
    assert once.seconds == twice.seconds
    for name in ("model_calls", "searches", "pages", "input_tokens", "output_tokens", "usd"):
        assert getattr(twice, name) == 2 * getattr(once, name)


def test_exhaustive_research_has_no_more_money_but_more_of_all_else_than_deep_research() -> None:
    settings = load_settings(max_seconds=100, max_usd=3)
    deep, most = Budget.of(settings, times=2), Budget.exhaustive(settings)
    assert (most.seconds, most.usd, most.searches) == (800, deep.usd, 150)
    for name in ("model_calls", "searches", "pages", "input_tokens", "output_tokens"):
        assert getattr(most, name) > getattr(deep, name)


# ---------------------------------------------------------------- one day


def limits(options: RunOptions | None = None, **settings: Any) -> DayLimits:
    return DayLimits.of(load_settings(**settings), options or RunOptions())


def test_by_default_a_day_has_no_limits() -> None:
    assert not limits()
    limits().check_call(DaySpent(spent(1e6), spent(1e6), spent(1e6)))
    limits().check_question(DaySpent(user=spent(questions=1_000)), NOW)


def test_a_channels_own_rule_goes_before_the_limit_of_all_channels() -> None:
    own = RunOptions(daily_usd=5.0)
    assert limits(own, channel_daily_usd=2.0).channel_usd == 5.0
    assert limits(own).channel_usd == 5.0
    assert limits(channel_daily_usd=2.0).channel_usd == 2.0


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        ("user", "Your budget of 1.50 USD for today was spent."),
        ("channel", "This channel’s budget of 1.50 USD for today was spent."),
        ("workspace", "This workspace’s budget of 1.50 USD for today was spent."),
    ],
)
def test_each_account_is_held_to_its_own_limit(scope: str, said: str) -> None:
    setting: dict[str, Any] = {f"{scope}_daily_usd": 1.5}
    day = limits(**setting)
    others = replace(DaySpent(spent(9), spent(9), spent(9)), **{scope: spent(1.499999)})
    day.check_call(others)
    day.check_question(others, NOW)
    with pytest.raises(BudgetSpent) as error:
        day.check_call(DaySpent(**{scope: spent(1.5)}))
    assert error.value.sentence == said
    with pytest.raises(DaySpentUp) as denied:
        day.check_question(DaySpent(**{scope: spent(1.5)}), NOW)
    assert denied.value.text_id == f"denied-day-{scope}"


@pytest.mark.parametrize(
    ("setting", "limited"),
    [({}, False), ({"user_daily_questions": 3}, True), ({"channel_daily_usd": 1.5}, True)],
)
def test_a_day_is_limited_by_money_or_by_questions(setting: dict[str, Any], limited: bool) -> None:
    assert bool(limits(**setting)) is limited


def test_uploads_are_limited_for_questions_with_files_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.research.budget.UPLOADS", 2)
    settings = load_settings()
    assert not DayLimits.of(settings, RunOptions())
    day = DayLimits.of(settings, RunOptions(), has_files=True)
    for check in (day.check_question, DayLimits.of_uploads().check_uploads):
        check(DaySpent(user=Amount(uploaded_bytes=2_000_000)), NOW)
        with pytest.raises(DaySpentUp, match=r"2 MB of files a day.* at 00:00 UTC, in less than"):
            check(DaySpent(user=Amount(uploaded_bytes=2_000_001)), NOW)


def test_so_many_questions_a_day_are_taken_and_no_more() -> None:
    day = limits(user_daily_questions=3)
    day.check_question(DaySpent(user=spent(questions=3)), NOW)  # the third is among them
    with pytest.raises(DaySpentUp, match="your 3 questions for today"):
        day.check_question(DaySpent(user=spent(questions=4)), NOW)
    day.check_call(DaySpent(user=spent(questions=9)))  # what was taken is worked to its end


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (datetime(2026, 1, 15, 12, 0, tzinfo=UTC), "in less than 12 hours"),
        (datetime(2026, 1, 15, 0, 0, 1, tzinfo=UTC), "in less than 24 hours"),
        (datetime(2026, 1, 15, 22, 59, tzinfo=UTC), "in less than 2 hours"),
        (datetime(2026, 1, 15, 23, 59, 59, tzinfo=UTC), "in less than an hour"),
        (datetime.fromisoformat("2026-01-15T20:30:00-05:00"), "in less than 23 hours"),
    ],
)
def test_who_is_refused_is_told_when_the_day_ends(now: datetime, words: str) -> None:
    with pytest.raises(DaySpentUp) as denied:
        limits(user_daily_usd=1.0).check_question(DaySpent(user=spent(1)), now)
    assert denied.value.sentence.endswith(f"You can ask again at 00:00 UTC, {words}.")


@pytest.mark.parametrize("locale", LOCALES)
def test_a_refusal_is_said_in_the_askers_language(locale: str) -> None:
    with pytest.raises(DaySpentUp) as denied:
        limits(user_daily_questions=1).check_question(DaySpent(user=spent(questions=2)), NOW)
    said = sentence_for(denied.value, texts_for(locale))
    assert "12" in said
    assert "00:00" in said
    assert (said == denied.value.sentence) == (locale == "en")


@pytest.mark.parametrize("name", ["user", "channel", "workspace"])
def test_a_limit_of_nothing_is_no_limit_that_can_be_set(name: str) -> None:
    with pytest.raises(Exception, match=f"FOOTNOTE_{name.upper()}_DAILY_USD"):
        load_settings(**{f"{name}_daily_usd": 0})


PLENTY = Budget(
    model_calls=10**6,
    pages=10**6,
    input_tokens=10**9,
    seconds=10**6,
    usd=10**6,
    searches=10**6,
    output_tokens=10**9,
)
ADA = Payer("slack", "T1", "C1", "U1")
ASIDE = 1_000  # micro-USD that a call may cost


def price(reply: ModelReply) -> float:
    """A ten-thousandth of a dollar for an output token."""
    return reply.output_tokens / 10_000


def request(number: int) -> Mapping[str, Any]:
    return {"model": "m", "max_tokens": 10, "number": number}


def a_reply(output: int = 10) -> ModelReply:
    return ModelReply("m", (), "end_turn", output_tokens=output)


class Workspace:
    """Makes calls on an account, each ending when it is told to."""

    def __init__(self, account: Account) -> None:
        self.account = account
        self.begun: list[int] = []
        self.refused: list[int] = []
        self._end: dict[int, asyncio.Future[int]] = {}

    async def call(self, number: int) -> None:
        self._end[number] = asyncio.get_running_loop().create_future()
        try:
            async with self.account.cover(request(number)):
                self.begun.append(number)
                output = await self._end[number]
                self.account.pay(self.account.amount(a_reply(output)))
        except BudgetSpent:
            self.refused.append(number)

    def end(self, number: int, output: int = 10) -> None:
        self._end[number].set_result(output)

    @property
    def under_way(self) -> list[int]:
        return [number for number in self.begun if not self._end[number].done()]


async def settled() -> None:
    """Let everything happen that can happen by itself."""
    for _ in range(20):
        await asyncio.sleep(0)


# ---------------------------------------------------------------- one run


async def test_calls_run_at_once_while_all_of_them_are_covered() -> None:
    workspace = Workspace(Account(PLENTY, price))
    calls = [asyncio.create_task(workspace.call(number)) for number in range(4)]
    await settled()
    assert workspace.begun == [0, 1, 2, 3]
    for number in range(4):
        workspace.end(number)
    await asyncio.gather(*calls)
    assert workspace.account.usage.model_calls == 4
    assert workspace.account.usage.usd == pytest.approx(0.004)


@pytest.mark.parametrize(
    "limit",
    [{"usd": 0.0025}, {"output_tokens": 25}, {"model_calls": 3}],
    ids=["usd", "output tokens", "model calls"],
)
async def test_a_call_that_might_be_too_many_waits_for_those_under_way(
    limit: dict[str, Any],
) -> None:
    budget = Budget(**{**{name: getattr(PLENTY, name) for name in Budget.__slots__}, **limit})
    workspace = Workspace(Account(budget, price))
    calls = [asyncio.create_task(workspace.call(number)) for number in range(5)]
    await settled()
    assert workspace.begun == [0, 1, 2], "the third may be the one over the limit, a fourth may not"
    workspace.end(0)
    await settled()
    assert len(workspace.begun) == 3
    workspace.end(1)
    workspace.end(2)
    await asyncio.gather(*calls)
    assert sorted(workspace.refused) == [3, 4]
    assert workspace.account.usage.model_calls == 3


async def test_nobody_is_refused_for_what_is_only_put_aside() -> None:
    workspace = Workspace(Account(Budget(**{**_plenty(), "usd": 0.001_5}), price))
    calls = [asyncio.create_task(workspace.call(number)) for number in range(3)]
    await settled()
    assert workspace.begun == [0, 1]
    workspace.end(0, output=1)  # it cost a tenth of what was put aside
    await settled()
    assert workspace.begun == [0, 1, 2]
    workspace.end(1, output=1)
    workspace.end(2, output=1)
    await asyncio.gather(*calls)
    assert workspace.refused == []


async def test_what_a_call_that_fails_had_put_aside_is_free_again() -> None:
    workspace = Workspace(Account(Budget(**{**_plenty(), "usd": 0.001}), price))
    first = asyncio.create_task(workspace.call(0))
    second = asyncio.create_task(workspace.call(1))
    await settled()
    assert workspace.begun == [0]
    first.cancel()
    await settled()
    assert workspace.begun == [0, 1]
    workspace.end(1)
    await second


async def test_the_writing_of_the_answer_is_never_refused_but_others_wait_for_it() -> None:
    account = Account(Budget(**{**_plenty(), "usd": 0.001}), price)
    workspace = Workspace(account)
    async with account.charge(request(9)):
        call = asyncio.create_task(workspace.call(0))
        await settled()
        assert workspace.begun == []
        account.pay(account.amount(a_reply()))
    await call
    assert workspace.refused == [0]
    async with account.charge(request(10)):
        pass


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(1, 10), min_size=1, max_size=25),
    st.integers(1, 60),
    st.integers(1, 6),
)
def test_what_is_spent_exceeds_the_limit_by_one_call_at_most(
    outputs: list[int], limit: int, at_once: int
) -> None:
    async def run() -> None:
        account = Account(Budget(**{**_plenty(), "usd": limit / 10_000}), price)
        waiting = list(outputs)
        dearest = 0

        async def work() -> None:
            nonlocal dearest
            while waiting:
                output = waiting.pop()
                try:
                    async with account.cover(request(output)):
                        for _ in range(output):
                            await asyncio.sleep(0)
                        dearest = max(dearest, output)
                        account.pay(account.amount(a_reply(output)))
                except BudgetSpent:
                    return

        await asyncio.gather(*(work() for _ in range(at_once)))
        spent = round(account.usage.usd * 10_000)
        assert spent < limit + dearest
        assert spent >= min(limit, sum(outputs)), "and no one stops before it is reached"

    asyncio.run(run())


async def test_time_counts_from_the_first_attempt() -> None:
    account = Account(Budget(**{**_plenty(), "seconds": 60.0}), price, worked_before=59.0)
    async with account.cover(request(0)):
        pass
    assert 59.0 <= account.usage.seconds < 60.0
    late = Account(Budget(**{**_plenty(), "seconds": 60.0}), price, worked_before=60.0)
    with pytest.raises(BudgetSpent, match="60 seconds"):
        async with late.cover(request(0)):
            pass


async def test_a_call_that_is_asked_for_again_is_counted_once() -> None:
    account = Account(PLENTY, price)
    asked = [("judge", request(1)), ("judge", request(2)), ("think", request(1))]
    assert [account.first_time(kind, inputs) for kind, inputs in asked] == [True] * 3
    assert [account.first_time(kind, inputs) for kind, inputs in asked] == [False] * 3


@pytest.mark.parametrize(("usd", "cost"), [(0.25, (250_000, 0)), (0.0, (0, 0)), (None, (0, 1))])
def test_a_call_whose_price_is_not_known_costs_nothing_and_is_counted_as_such(
    usd: float | None, cost: tuple[int, int]
) -> None:
    reply = ModelReply(
        "m", (), "end_turn", input_tokens=1, output_tokens=2, cache_read_tokens=4,
        cache_write_tokens=8,
    )  # fmt: skip
    amount = Account(PLENTY, lambda reply: usd).amount(reply)
    assert (amount.micro_usd, amount.unpriced_calls) == cost
    assert amount.model_calls == 1
    assert (amount.input_tokens, amount.output_tokens, amount.cached_tokens) == (9, 2, 4)


def test_what_an_earlier_attempt_spent_is_spent() -> None:
    account = Account(PLENTY, price)
    earlier = Usage(1, 2, 3, 4, 5, 6, 7.0, 0.25)
    for times in (1, 2):
        account.add(earlier)
        usage = account.usage
        assert (usage.model_calls, usage.searches, usage.pages) == (times, 2 * times, 3 * times)
        assert (usage.input_tokens, usage.output_tokens) == (4 * times, 5 * times)
        assert (usage.cached_tokens, usage.usd) == (6 * times, 0.25 * times)
        assert usage.seconds < 7.0, "its time is known to the journal"


@pytest.mark.parametrize("kind", ["searches", "pages"])
async def test_searches_and_pages_under_way_count_until_they_are_counted(kind: str) -> None:
    account = Account(Budget(**{**_plenty(), kind: 3}), price)

    @asynccontextmanager
    async def cover() -> AsyncIterator[None]:
        if kind == "searches":
            async with account.cover_search(0.0):
                yield
        else:
            with account.cover_page():
                yield

    account.count(**{kind: 1})
    async with cover(), cover():
        with pytest.raises(BudgetSpent):
            async with cover():
                pass
    async with cover():
        pass
    account.count(**{kind: 2})
    with pytest.raises(BudgetSpent):
        async with cover():
            pass
    counted = {"searches": account.usage.searches, "pages": account.usage.pages}
    assert counted == {"searches": 0, "pages": 0, kind: 3}


@pytest.mark.parametrize(
    ("text", "waits"),
    [("word " * 100, False), ("word " * 900, True), ("漢字" * 280, False), ("漢字" * 500, True)],
)
async def test_a_call_waits_for_one_whose_request_may_use_up_the_input(
    text: str, waits: bool
) -> None:
    workspace = Workspace(Account(Budget(**{**_plenty(), "input_tokens": 1_000}), price))
    async with workspace.account.charge({"model": "m", "prompt": text}):
        call = asyncio.create_task(workspace.call(0))
        await settled()
        assert (workspace.begun == []) == waits
    await settled()
    workspace.end(0)
    await call
    assert workspace.begun == [0]


async def test_what_is_put_aside_is_the_most_that_a_call_can_cost() -> None:
    """All its input is new to the cache, and it writes as much as it may."""
    priced: list[ModelReply] = []

    def remember(reply: ModelReply) -> None:
        priced.append(reply)

    async with Account(PLENTY, remember).cover({"model": "m", "max_tokens": 7, "prompt": "word"}):
        pass
    (dearest,) = priced
    assert (dearest.model, dearest.output_tokens) == ("m", 7)
    assert dearest.cache_write_tokens > 0 == dearest.input_tokens == dearest.cache_read_tokens


async def test_pictures_are_put_aside_by_their_size() -> None:
    priced: list[ModelReply] = []
    account = Account(PLENTY, priced.append)
    request = {"model": "m", "max_tokens": 7, "prompt": "word"}
    sizes = [{"tokens": 100}, {"tokens": 4_784}]
    for each in (request, {**request, "pictures": []}, {**request, "pictures": sizes}):
        async with account.cover(each):
            pass
    bare, _, seen = (reply.cache_write_tokens for reply in priced)
    assert 100 + 4_784 <= seen - bare < 100 + 4_784 + 50  # and some for the request's text


def _plenty() -> dict[str, Any]:
    return {name: getattr(PLENTY, name) for name in Budget.__slots__}


# ---------------------------------------------------------------- one day


class Ledger:
    """The spending of a day and what is put aside, in memory; ``looks`` counts the look-ups, and
    ``kinds`` are those of the calls that began."""

    def __init__(self) -> None:
        self.spent: dict[tuple[str, ...], int] = {}
        self.aside: dict[str, tuple[set[tuple[str, ...]], int]] = {}
        self.looks: list[date] = []
        self.kinds: list[CallKind] = []

    async def begin(self, call: Reservation, now: datetime, permit: Permit) -> bool:
        self.looks.append(now.astimezone(UTC).date())
        await asyncio.sleep(0)
        accounts = {scope: call.holder.payer.account(scope) for scope in call.scopes}
        spent = {scope: self.spent.get(account, 0) for scope, account in accounts.items()}
        aside = {
            scope: sum(held for on, held in self.aside.values() if account in on)
            for scope, account in accounts.items()
        }
        if permit(a_day(spent), a_day(aside)):
            self.aside[call.id] = set(accounts.values()), call.micro_usd
            self.kinds.append(call.kind)
            return True
        return False

    async def end(self, id: str) -> None:
        del self.aside[id]

    def keep(self, micro_usd: int, payer: Payer = ADA) -> None:
        for scope in SCOPES:
            account = payer.account(scope)
            self.spent[account] = self.spent.get(account, 0) + micro_usd


def a_day(micro_usd: Mapping[Scope, int]) -> DaySpent:
    return DaySpent(**{scope: Amount(micro_usd=spent) for scope, spent in micro_usd.items()})


def cover(
    days: Days, limits: DayLimits, payer: Payer = ADA, run: str = "r1"
) -> AbstractAsyncContextManager[None]:
    return days.allowance(Holder(run, 1, NOW, payer), limits).cover(ASIDE)


async def test_where_no_money_is_limited_nothing_is_looked_up() -> None:
    ledger = Ledger()
    async with cover(Days(ledger), DayLimits(user_questions=3)):
        pass
    assert ledger.looks == []


@pytest.mark.parametrize("at_once", [2, 4, 50])
@pytest.mark.parametrize("processes", [1, 3])
@in_virtual_time
async def test_runs_at_the_same_time_exceed_a_days_limit_by_one_call_at_most(
    at_once: int, processes: int
) -> None:
    ledger, limits = Ledger(), DayLimits(user_usd=0.005_5)
    days = [Days(ledger, lambda: NOW) for _ in range(processes)]
    refused = 0

    async def run(number: int) -> None:
        nonlocal refused
        for _ in range(4):
            try:
                async with cover(days[number % processes], limits):
                    await asyncio.sleep(0.01)
                    ledger.keep(ASIDE)
            except BudgetSpent:
                refused += 1

    await asyncio.gather(*map(run, range(at_once)))
    assert ledger.spent[ADA.account("user")] == 6 * ASIDE
    assert refused == 4 * at_once - 6
    assert ledger.aside == {}


@in_virtual_time
async def test_only_the_call_of_the_oldest_run_looks() -> None:
    ledger, limits = Ledger(), DayLimits(user_usd=0.001)
    days = Days(ledger, lambda: NOW)
    async with cover(days, limits):
        waiting = [asyncio.ensure_future(cover(days, limits).__aenter__()) for _ in range(40)]
        await asyncio.sleep(0.01)
        at_first = len(ledger.looks)
        await asyncio.sleep(3 * LOOK_SECONDS)
        assert len(ledger.looks) == at_first + 3
        ledger.keep(ASIDE)
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert {type(result) for result in results} == {BudgetSpent}


@in_virtual_time
async def test_where_a_call_ends_the_next_begins_at_once_the_oldest_run_first() -> None:
    ledger, limits = Ledger(), DayLimits(user_usd=0.001_5)
    days = Days(ledger, lambda: NOW)
    begun: list[str] = []

    async def call(run: str) -> None:
        async with cover(days, limits, run=run):
            begun.append(run)
            await asyncio.sleep(0.1)

    calls = [asyncio.create_task(call(run)) for run in ("r1", "r2", "r4", "r3")]
    begin = now()
    await asyncio.gather(*calls)
    assert begun == ["r1", "r2", "r3", "r4"]
    assert now() - begin == pytest.approx(0.2), "two at a time, and none waited to look again"


async def test_accounts_of_others_are_left_alone() -> None:
    ledger, limits = Ledger(), DayLimits(user_usd=0.001)
    days = Days(ledger, lambda: NOW)
    async with cover(days, limits):
        waiting = asyncio.ensure_future(cover(days, limits).__aenter__())
        await settled()
        async with asyncio.timeout(5), cover(days, limits, Payer("slack", "T1", "C1", "U2"), "r2"):
            assert not waiting.done()
    await waiting


@in_virtual_time
async def test_waiting_for_the_calls_of_other_runs_is_no_working_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.research.budget.monotonic", now)
    days, limits = Days(Ledger(), lambda: NOW), DayLimits(user_usd=0.001)
    account = Account(PLENTY, price, days.allowance(Holder("r2", 1, NOW, ADA), limits))

    async def call() -> None:
        async with account.cover(request(1)):
            await asyncio.sleep(5)

    async with cover(days, limits):
        waits = asyncio.create_task(call())
        await asyncio.sleep(30)
        assert not waits.done()
    await waits
    assert account.usage.seconds == pytest.approx(5)


async def test_nothing_is_kept_for_the_answer_any_more_once_it_is_written() -> None:
    ledger = Ledger()
    allowance = Days(ledger).allowance(Holder("r1", 1, NOW, ADA), DayLimits(user_usd=1.0))
    account = Account(PLENTY, price, allowance)
    for hold in (account.cover, account.charge, account.cover):
        async with hold(request(1)):
            pass
    assert ledger.kinds == ["gathering", "answer", "answer"]


@in_virtual_time
async def test_a_waiting_call_that_is_cancelled_holds_up_nobody() -> None:
    ledger, limits = Ledger(), DayLimits(user_usd=0.001)
    days = Days(ledger, lambda: NOW)
    async with cover(days, limits):
        first, second = (asyncio.ensure_future(cover(days, limits).__aenter__()) for _ in "12")
        await asyncio.sleep(0.01)
        first.cancel()
    await second
    assert first.cancelled()
    assert len(ledger.aside) == 1


async def test_a_reservation_that_cannot_be_ended_now_ends_with_its_run() -> None:
    class Away(Ledger):
        async def end(self, id: str) -> None:
            raise StorageUnavailable("The database is away.")

    async with cover(Days(Away(), lambda: NOW), DayLimits(user_usd=1.0)):
        pass


async def test_the_day_changes_at_midnight_utc() -> None:
    ledger = Ledger()
    evening = datetime.fromisoformat("2026-01-15T20:00:00-05:00")
    async with cover(Days(ledger, lambda: evening), DayLimits(user_usd=1.0)):
        pass
    assert ledger.looks == [date(2026, 1, 16)]
