"""Daily spending is counted exactly once, with the step or question that spent it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from bot.core.errors import DaySpentUp, FootnoteError, RunLost
from bot.core.messages import Author, Message, RunOptions, Thread
from bot.storage.conversations import Conversations
from bot.storage.journal import RecordedStep, open_journal
from bot.storage.spending import NOTHING, SCOPES, Amount, DaySpent, Payer, Spending, add_spent
from bot.storage.store import Store
from tests.unit.samples import NOW, a_message, a_page

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


async def test_a_step_that_was_kept_when_the_connection_broke_costs_once(store: Store) -> None:
    await begun(store)
    journal = await open_journal(store.database, "r1", 1)
    for _ in range(2):  # as who is not told that it was kept does
        await journal.record(a_step(), a_page(), CALL)
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
            raise DaySpentUp("denied-day-questions", "Enough.")

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


@pytest.mark.parametrize(
    ("steps", "seconds"),
    [
        ([], 0.0),
        ([(10, 4)], 4.0),
        ([(10, 4), (10, 4)], 4.0),  # at the same time
        ([(10, 4), (12, 4)], 6.0),  # the second began before the first had ended
        ([(10, 4), (9, 1)], 4.0),  # within it
        ([(10, 4), (3_600, 5)], 9.0),  # in another attempt, an hour later
        ([(-5, 3), (10, 4)], 4.0),  # for the question as it was before it was edited
    ],
)
async def test_the_time_of_earlier_attempts_is_that_of_their_steps(
    store: Store, steps: list[tuple[float, float]], seconds: float
) -> None:
    await begun(store)
    journal = await open_journal(store.database, "r1", 1)
    for number, (end, took) in enumerate(steps):
        await journal.record(a_step(str(number), took, NOW + timedelta(seconds=end)))
    assert (await open_journal(store.database, "r1", 1)).seconds == pytest.approx(seconds)


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
