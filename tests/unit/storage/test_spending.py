"""Daily spending is counted exactly once, and money is put aside for calls under way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from bot.core.errors import BudgetSpent, DaySpentUp, FootnoteError, RunLost
from bot.core.messages import Author, Message, RunOptions, Thread
from bot.research.budget import DayLimits, Days
from bot.storage.conversations import Conversations
from bot.storage.journal import Journal, RecordedStep, open_journal
from bot.storage.spending import (
    NOTHING,
    SCOPES,
    Amount,
    CallKind,
    DaySpent,
    Holder,
    Payer,
    Reservation,
    Reservations,
    Spending,
    add_spent,
)
from bot.storage.store import Store, open_store
from tests.unit.samples import NOW, a_message, a_page, a_thread

TODAY = NOW.date()
ADA = Payer("slack", "T1", "C1", "U1")
CALL = Amount(
    micro_usd=1_500,
    model_calls=1,
    input_tokens=900,
    output_tokens=80,
    cached_tokens=20,
)


def asked(payer: Payer = ADA, event_id: str = "e1", thread: str = "t1") -> Message:
    place = Thread(payer.platform, payer.workspace, payer.channel, thread)
    return replace(a_message(event_id=event_id, thread=place), author=Author(payer.user, "Ada"))


def a_step(key: str = "k", seconds: float = 0.5, at: datetime = NOW) -> RecordedStep:
    return RecordedStep(key, "think", "t", "{}", seconds, at)


async def begun(store: Store, run_id: str = "r1", payer: Payer = ADA) -> None:
    await store.accept(run_id, asked(payer, event_id=run_id, thread=run_id), RunOptions(), NOW)
    await store.claim(run_id, "h/1/x", NOW, timedelta(seconds=30))


async def spent(store: Store, payer: Payer = ADA, day: date = TODAY) -> DaySpent:
    return await Spending(store.database).day(payer, day)


async def add(store: Store, payer: Payer, amount: Amount, day: date = TODAY) -> None:
    async with store.database.write() as db:
        await add_spent(db, payer, day, amount)


# ---------------------------------------------------------------- accounts


async def test_each_of_the_three_accounts_has_its_own_sum(store: Store) -> None:
    await add(store, ADA, CALL)
    await add(store, replace(ADA, user="U2"), CALL)
    await add(store, replace(ADA, channel="C2"), CALL)
    found = await spent(store)
    assert [found.of(scope).model_calls for scope in SCOPES] == [3, 2, 2]
    assert found.workspace == CALL + CALL + CALL
    assert (found.user.usd, found.user.tokens) == (0.003, 2_000)


async def test_a_person_has_one_account_in_all_workspaces_of_a_platform(store: Store) -> None:
    await add(store, ADA, CALL)
    await add(store, replace(ADA, workspace="T2"), CALL)
    await add(store, replace(ADA, platform="discord"), CALL)
    found = await spent(store)
    assert found == DaySpent(workspace=CALL, channel=CALL, user=CALL + CALL)


async def test_a_new_day_begins_with_nothing(store: Store) -> None:
    await add(store, ADA, CALL)
    assert await spent(store, day=TODAY + timedelta(1)) == DaySpent()


async def test_nothing_that_is_added_at_the_same_time_gets_lost(store: Store) -> None:
    await asyncio.gather(*(add(store, ADA, CALL) for _ in range(30)))
    assert (await spent(store)).user.micro_usd == 30 * CALL.micro_usd


# ---------------------------------------------------------------- with the step that spent it


async def test_a_step_and_its_cost_are_kept_together_and_once(store: Store) -> None:
    await begun(store)
    journal = await open_journal(store.database, "r1", 1)
    await journal.record(a_step(), a_page(), CALL)
    await journal.record(a_step("search"))
    assert (await spent(store)).channel == CALL + Amount(questions=1)
    # The next attempt finds the step; only what it does itself is added.
    await store.claim("r1", "h/2/x", NOW + timedelta(hours=1), timedelta(seconds=30))
    again = await open_journal(store.database, "r1", 2)
    assert again.finished("k") is not None
    assert (await spent(store)).channel == CALL + Amount(questions=1)


async def test_when_a_step_cannot_be_kept_neither_is_its_cost(store: Store) -> None:
    await begun(store)
    journal = await open_journal(store.database, "r1", 1)
    await journal.record(a_step(), cost=CALL)
    journal.owe(CALL)
    async with store.database.write() as db:
        await db.exec_driver_sql("ALTER TABLE pages RENAME TO out_of_reach")
    with pytest.raises(FootnoteError):
        await journal.record(a_step("read"), a_page(), CALL)
    assert (await spent(store)).user == CALL + Amount(questions=1)
    await journal.settle(NOW)
    assert (await spent(store)).user == CALL + CALL + Amount(questions=1), "still owed, and paid"


async def test_what_a_lost_run_spent_is_spent_all_the_same(store: Store) -> None:
    await begun(store)
    journal = await open_journal(store.database, "r1", 1)
    await store.claim("r1", "h/2/x", NOW + timedelta(hours=1), timedelta(seconds=30))
    with pytest.raises(RunLost):
        await journal.record(a_step(), a_page(), CALL)
    assert (await spent(store)).workspace == CALL + Amount(questions=1)
    assert (await open_journal(store.database, "r1", 2)).finished("k") is None
    assert await store.recent_page(a_page().url, NOW - timedelta(1)) is None


async def test_what_no_step_shows_is_kept_with_the_next_one_or_at_the_end(store: Store) -> None:
    await begun(store)
    journal = await open_journal(store.database, "r1", 1)
    journal.owe(CALL)
    assert (await spent(store)).user == Amount(questions=1)
    await asyncio.gather(*(journal.record(a_step(str(n))) for n in range(5)))
    assert (await spent(store)).user == CALL + Amount(questions=1)
    journal.owe(CALL)
    for _ in range(2):
        await journal.settle(NOW)
    assert (await spent(store)).user == CALL + CALL + Amount(questions=1)


async def test_the_day_is_one_of_utc(store: Store) -> None:
    await begun(store)
    journal = await open_journal(store.database, "r1", 1)
    late = datetime.fromisoformat("2026-01-15T23:30:00-05:00")
    await journal.record(a_step(at=late), cost=CALL)
    assert (await spent(store, day=date(2026, 1, 16))).user == CALL


async def test_who_pays_is_who_asked(store: Store) -> None:
    await begun(store)
    assert (await open_journal(store.database, "r1", 1)).payer == ADA


# ---------------------------------------------------------------- questions


def at_most(questions: int) -> Callable[[DaySpent], None]:
    def permit(day: DaySpent) -> None:
        if day.user.questions > questions:
            raise DaySpentUp("Enough.")

    return permit


async def test_a_question_counts_once_however_often_its_event_comes(store: Store) -> None:
    for run_id in ("r1", "r2"):
        await store.accept(run_id, asked(), RunOptions(), NOW)
    assert (await spent(store)).user == Amount(questions=1)


async def test_a_question_too_many_is_refused_and_leaves_nothing(store: Store) -> None:
    await store.accept("r1", asked(), RunOptions(), NOW, permit=at_most(1))
    with pytest.raises(DaySpentUp):
        await store.accept("r2", asked(event_id="e2"), RunOptions(), NOW, permit=at_most(1))
    assert await store.run("r2") is None
    assert (await spent(store)).user.questions == 1
    again = await store.accept("r3", asked(), RunOptions(), NOW, permit=at_most(1))
    assert again == ("r1", False), "an event that comes again is none too many"


async def test_of_questions_asked_at_the_same_time_no_one_too_many_is_taken(store: Store) -> None:
    async def ask(number: int) -> bool:
        message = asked(event_id=f"e{number}", thread=f"t{number}")
        try:
            await store.accept(f"r{number}", message, RunOptions(), NOW, permit=at_most(3))
        except DaySpentUp:
            return False
        return True

    assert sum(await asyncio.gather(*(ask(number) for number in range(8)))) == 3


async def test_an_edited_question_counts_again_and_may_be_one_too_many(store: Store) -> None:
    await begun(store)
    conversations = Conversations(store.database)

    async def edit(text: str, most: int) -> bool:
        begun_anew = await conversations.edit(
            "slack", "r1", text, (), NOW, owner=None, lease=timedelta(), permit=at_most(most)
        )
        return begun_anew is not None

    assert await edit("And how wide?", most=2)
    assert not await edit("And how wide?", most=2), "it reads the same"
    with pytest.raises(DaySpentUp):
        await edit("And how deep?", most=2)
    run = await store.run("r1")
    assert run is not None
    assert run.message.text == "And how wide?"
    assert (await spent(store)).user.questions == 2


# ---------------------------------------------------------------- how long a run has been worked on


# ---------------------------------------------------------------- the list of all accounts


async def test_all_accounts_are_listed_dearest_first_with_the_names_people_go_by(
    store: Store,
) -> None:
    await begun(store)
    bob = Payer("slack", "T1", "C2", "U2")
    await add(store, bob, CALL, TODAY - timedelta(3))
    await add(store, bob, CALL)
    await add(store, ADA, CALL, date(2025, 12, 31))  # last month
    lines = await Spending(store.database).lines(TODAY.replace(day=1), TODAY)
    question = Amount(questions=1)
    assert [(line.scope, line.name, line.known_as, line.today, line.month) for line in lines] == [
        ("workspace", "T1", "", CALL + question, CALL + CALL + question),
        ("channel", "C2", "", CALL, CALL + CALL),
        ("channel", "C1", "", question, question),
        ("user", "U2", "", CALL, CALL + CALL),
        ("user", "U1", "Ada", question, question),
    ]
    assert lines[0].today.usd == pytest.approx(0.0015)
    assert await Spending(store.database).lines(TODAY + timedelta(1), TODAY) == []


def test_amounts_add_up_field_by_field() -> None:
    assert CALL + NOTHING == CALL
    assert (CALL + CALL).cached_tokens == 40
    assert NOW.tzinfo is UTC


LEASE = timedelta(seconds=30)
ASKER = Payer.of(a_message())
LIMITS = DayLimits(user_usd=0.2, workspace_usd=0.5)
CALL_COST = 30_000  # millionths of a USD


def now() -> datetime:
    return datetime.now(UTC)


async def held(store: Store, run_id: str) -> Holder:
    """A run that a process works on, in a thread of its own."""
    await store.accept(run_id, a_message(thread=a_thread(run_id)), RunOptions(), now())
    run = await store.claim(run_id, "h/1/x", now(), LEASE)
    assert run is not None
    return Holder(run_id, run.attempt, run.accepted_at, ASKER)


async def put_aside(
    store: Store, holder: Holder, at: datetime | None = None, kind: CallKind = "answer"
) -> DaySpent:
    """Put a call aside; what was put aside before."""
    seen: list[DaySpent] = []

    def permit(spent: DaySpent, aside: DaySpent) -> bool:
        seen.append(aside)
        return True

    scopes = tuple(LIMITS.micro_usd)
    call = Reservation(f"call of {holder.run_id}", holder, kind, scopes, CALL_COST)
    await Reservations(store.database).begin(call, at or now(), permit)
    return seen[0]


async def test_what_is_put_aside_is_seen_until_it_ends(store: Store) -> None:
    reservations = Reservations(store.database)
    first, second = await held(store, "r1"), await held(store, "r2")
    assert await put_aside(store, first) == DaySpent()
    aside = Amount(micro_usd=CALL_COST)
    assert await put_aside(store, second) == DaySpent(workspace=aside, user=aside)
    await reservations.end("call of r1")
    third = await held(store, "r3")
    assert await put_aside(store, third) == DaySpent(workspace=aside, user=aside)


async def test_a_call_that_is_repeated_is_put_aside_once(store: Store) -> None:
    holder = await held(store, "r1")
    await put_aside(store, holder)
    assert await put_aside(store, holder) == DaySpent()  # its own is not in its way


async def test_later_runs_leave_alone_what_an_answer_will_cost_and_earlier_ones_do_not(
    store: Store,
) -> None:
    first, second = await held(store, "r1"), await held(store, "r2")
    await put_aside(store, second, kind="gathering")
    one, two = Amount(micro_usd=CALL_COST), Amount(micro_usd=2 * CALL_COST)
    assert await put_aside(store, first, kind="gathering") == DaySpent(workspace=one, user=one)
    third = await held(store, "r3")
    four = two + two
    assert await put_aside(store, third, kind="gathering") == DaySpent(workspace=four, user=four)
    await put_aside(store, first, kind="answer")  # now it is a call, and was counted as one before
    three = one + two
    assert await put_aside(store, third) == DaySpent(workspace=three, user=three)


@pytest.mark.parametrize("end", ["claimed again", "ended", "lease over", "deleted"])
async def test_a_reservation_is_gone_with_its_attempt(store: Store, end: str) -> None:
    holder = await held(store, "r1")
    await put_aside(store, holder)
    at = now()
    if end == "claimed again":
        at += 2 * LEASE
        await store.claim("r1", "h/2/y", at, LEASE)
    elif end == "ended":
        await store.end("r1", 1, "answered", at)
    elif end == "lease over":
        at += 2 * LEASE
    else:
        async with store.database.write() as db:
            await db.exec_driver_sql("DELETE FROM runs")
    assert await put_aside(store, await held(store, "r2"), at) == DaySpent()
    async with store.database.read() as db:
        kept = await db.exec_driver_sql("SELECT run_id FROM reservations")
        assert [row[0] for row in kept] == ["r2"]


async def test_a_person_is_limited_over_all_workspaces_and_a_workspace_for_itself(
    store: Store,
) -> None:
    await put_aside(store, await held(store, "r1"))
    elsewhere = await held(store, "r2")
    payer = Payer(ASKER.platform, "another", "place", ASKER.user)
    seen = await put_aside(store, replace(elsewhere, payer=payer))
    assert seen == DaySpent(user=Amount(micro_usd=CALL_COST))


async def test_many_at_once_in_three_processes_exceed_a_limit_by_one_call_at_most(
    database_url: str,
) -> None:
    """Each process has a database of its own, as processes have; each call is kept as the journal
    keeps it."""
    stores = [await open_store(database_url) for _ in range(3)]
    try:
        days = [Days(Reservations(store.database)) for store in stores]
        refused = 0

        async def ask(number: int) -> None:
            nonlocal refused
            which = number % len(stores)
            store = stores[which]
            holder = await held(store, f"r{number}")
            journal = await open_journal(store.database, holder.run_id, holder.attempt)
            allowance = days[which].allowance(holder, LIMITS)
            for call in range(3):
                try:
                    async with allowance.cover(CALL_COST + 20_000):
                        await spend(journal, call)
                except BudgetSpent:
                    refused += 1
            await store.end(holder.run_id, holder.attempt, "answered", now())

        await asyncio.gather(*map(ask, range(20)))
        spent = await Spending(stores[0].database).day(ASKER, now().date())
        assert 200_000 <= spent.user.micro_usd < 200_000 + CALL_COST
        assert refused == 60 - spent.user.model_calls
    finally:
        for store in stores:
            await store.close()


async def spend(journal: Journal, call: int) -> None:
    step = RecordedStep(f"k{call}", "think", "Think", "{}", 0.1, now())
    await journal.record(step, cost=Amount(micro_usd=CALL_COST, model_calls=1))


async def test_what_others_have_spent_is_seen(store: Store) -> None:
    holder = await held(store, "r1")
    days = Days(Reservations(store.database))
    async with store.database.write() as db:
        await add_spent(db, ASKER, now().date(), Amount(micro_usd=500_000))
    with pytest.raises(BudgetSpent, match=r"Your budget of 0\.20"):
        async with days.allowance(holder, LIMITS).cover(CALL_COST):
            pass
