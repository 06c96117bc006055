"""Money put aside for calls under way: seen by all processes, and gone with the attempt."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.core.errors import BudgetSpent
from bot.core.messages import RunOptions
from bot.research.budget import DayLimits, Days
from bot.storage.journal import Journal, RecordedStep, open_journal
from bot.storage.reservations import Holder, Kind, Reservation, Reservations
from bot.storage.spending import Amount, DaySpent, Payer, Spending, add_spent
from bot.storage.store import Store, open_store
from tests.unit.samples import a_message, a_thread

LEASE = timedelta(seconds=30)
ADA = Payer.of(a_message())
LIMITS = DayLimits(user_usd=0.2, workspace_usd=0.5)
CALL = 30_000  # millionths of a USD


def now() -> datetime:
    return datetime.now(UTC)


async def begun(store: Store, run_id: str) -> Holder:
    """A run that a process works on, in a thread of its own."""
    await store.accept(run_id, a_message(thread=a_thread(run_id)), RunOptions(), now())
    run = await store.claim(run_id, "h/1/x", now(), LEASE)
    assert run is not None
    return Holder(run_id, run.attempt, run.accepted_at, ADA)


async def put_aside(
    store: Store, holder: Holder, at: datetime | None = None, kind: Kind = "after"
) -> DaySpent:
    """Put a call aside; what was put aside before."""
    seen: list[DaySpent] = []

    def permit(spent: DaySpent, aside: DaySpent) -> bool:
        seen.append(aside)
        return True

    scopes = tuple(LIMITS.micro_usd)
    call = Reservation(f"call of {holder.run_id}", holder, kind, scopes, CALL)
    await Reservations(store.database).begin(call, at or now(), permit)
    return seen[0]


async def test_what_is_put_aside_is_seen_until_it_ends(store: Store) -> None:
    reservations = Reservations(store.database)
    first, second = await begun(store, "r1"), await begun(store, "r2")
    assert await put_aside(store, first) == DaySpent()
    aside = Amount(micro_usd=CALL)
    assert await put_aside(store, second) == DaySpent(workspace=aside, user=aside)
    await reservations.end("call of r1")
    third = await begun(store, "r3")
    assert await put_aside(store, third) == DaySpent(workspace=aside, user=aside)


async def test_a_call_that_is_repeated_is_put_aside_once(store: Store) -> None:
    holder = await begun(store, "r1")
    await put_aside(store, holder)
    assert await put_aside(store, holder) == DaySpent()  # its own is not in its way


async def test_later_runs_leave_alone_what_an_answer_will_cost_and_earlier_ones_do_not(
    store: Store,
) -> None:
    first, second = await begun(store, "r1"), await begun(store, "r2")
    await put_aside(store, second, kind="gathering")
    one, two = Amount(micro_usd=CALL), Amount(micro_usd=2 * CALL)
    assert await put_aside(store, first, kind="gathering") == DaySpent(workspace=one, user=one)
    third = await begun(store, "r3")
    four = two + two
    assert await put_aside(store, third, kind="gathering") == DaySpent(workspace=four, user=four)
    await put_aside(store, first, kind="answer")  # now it is a call, and was counted as one before
    three = one + two
    assert await put_aside(store, third) == DaySpent(workspace=three, user=three)


@pytest.mark.parametrize("end", ["claimed again", "ended", "lease over", "deleted"])
async def test_a_reservation_is_gone_with_its_attempt(store: Store, end: str) -> None:
    holder = await begun(store, "r1")
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
    assert await put_aside(store, await begun(store, "r2"), at) == DaySpent()
    async with store.database.read() as db:
        kept = await db.exec_driver_sql("SELECT run_id FROM reservations")
        assert [row[0] for row in kept] == ["r2"]


async def test_a_person_is_limited_over_all_workspaces_and_a_workspace_for_itself(
    store: Store,
) -> None:
    await put_aside(store, await begun(store, "r1"))
    elsewhere = await begun(store, "r2")
    payer = Payer(ADA.platform, "another", "place", ADA.user)
    seen = await put_aside(store, replace(elsewhere, payer=payer))
    assert seen == DaySpent(user=Amount(micro_usd=CALL))


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
            holder = await begun(store, f"r{number}")
            journal = await open_journal(store.database, holder.run_id, holder.attempt)
            allowance = days[which].allowance(holder, LIMITS)
            for call in range(3):
                try:
                    async with allowance.cover(CALL + 20_000):
                        await spend(journal, call)
                except BudgetSpent:
                    refused += 1
            await store.end(holder.run_id, holder.attempt, "answered", now())

        await asyncio.gather(*map(ask, range(20)))
        spent = await Spending(stores[0].database).day(ADA, now().date())
        assert 200_000 <= spent.user.micro_usd < 200_000 + CALL
        assert refused == 60 - spent.user.model_calls
    finally:
        for store in stores:
            await store.close()


async def spend(journal: Journal, call: int) -> None:
    step = RecordedStep(f"k{call}", "think", "Think", "{}", 0.1, now())
    await journal.record(step, cost=Amount(micro_usd=CALL, model_calls=1))


async def test_what_others_have_spent_is_seen(store: Store) -> None:
    holder = await begun(store, "r1")
    days = Days(Reservations(store.database))
    async with store.database.write() as db:
        await add_spent(db, ADA, now().date(), Amount(micro_usd=500_000))
    with pytest.raises(BudgetSpent, match=r"Your budget of 0\.20"):
        async with days.allowance(holder, LIMITS).cover(CALL):
            pass
