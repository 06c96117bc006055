"""Standing questions: looked at on a schedule, and told only when the answer has changed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.core.errors import (
    DaySpentUp,
    Invalid,
    PlatformUnavailable,
    PostRefused,
    StorageUnavailable,
)
from bot.core.messages import Author, Change
from bot.pages.page import Page
from bot.reasoning.evidence import Read, Search
from bot.service.research_service import LEASE
from bot.service.standing_service import (
    FIRST_SECONDS,
    ROUND_SECONDS,
    StandingRounds,
    due_after,
    schedule_named,
)
from bot.storage.standing_questions import StandingQuestions, Watch
from tests.fakes.poster import Remembered
from tests.unit.samples import NOW
from tests.unit.service.conftest import House, OpenHouse

ADA = Author("U1", "Ada")
COST = "https://tower.example/cost"
HOURS = "https://tower.example/hours"
MIRROR = "https://mirror.example/tower-cost"
BASE = {
    COST: "Tower tickets cost 29 euros for adults.",
    HOURS: "Tower doors open at 9:30 in summer.",
}
DAYS: dict[int, dict[str, str]] = {
    2: {COST: "For adults, tower tickets cost 29 euros."},  # other words
    4: {HOURS: BASE[HOURS], COST: BASE[COST]},  # another order
    6: {COST: "", MIRROR: BASE[COST]},  # another footnote
    7: {COST: BASE[COST], MIRROR: ""},
    8: {COST: "Tower tickets cost 29 euros for adults. Dogs are not welcome."},  # an aside
    10: {COST: "Tower tickets cost 31 euros for adults."},  # REAL
    12: {COST: "Tower tickets for adults cost **31 euros**."},  # emphasis
    14: {COST: "Adults pay. Tower tickets cost 31 euros."},  # in two sentences
    16: {COST: "Tower tickets cost 31 euros for adults.", HOURS: ""},  # one was not found
    18: {HOURS: "In summer the tower doors open at 9:30, as ever."},
    20: {HOURS: "Tower doors open at 9:00 in summer."},  # REAL
    22: {HOURS: "In summer, tower doors open at 9:00 a.m."},
    24: {COST: "Tickets of the tower cost 31.00 euros for adults."},
    26: {COST: ""},
}
REAL = {10, 20}


class Days:
    """A house in which a question is watched, and the days that pass in it."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.now = datetime.now(UTC)
        self.pages = dict(BASE)
        house.reasoner.turns = [[Search(("tower",))], [Read((1, 2, 3))]]
        self.rounds = StandingRounds(
            house.reception.settings, house.store, house.service, house.dispatcher, {"slack"}
        )
        self.shelve()

    def shelve(self) -> None:
        self.house.shelf.pages = {
            url: Page(url, "Tower", text, self.now) for url, text in self.pages.items() if text
        }

    async def begin(self, schedule: str = "daily") -> Watch:
        asked = await self.house.ask("What does the tower cost, and when does it open?")
        await self.house.dispatcher.wait(asked.run_id)
        return await self.house.reception.watch(
            asked.run_id, ADA, schedule, locale="en", audience="channel"
        )

    async def pass_one(self) -> list[str]:
        """Let a day pass; returns the runs that were begun in it."""
        self.now += timedelta(days=1, minutes=1)
        self.shelve()
        begun = await self.rounds.once(self.now)
        for run_id in begun:
            await self.house.dispatcher.wait(run_id)
        return begun

    @property
    def told(self) -> list[Remembered]:
        return [reply for reply in self.house.poster.replies[1:] if reply.finished]

    async def watch(self) -> Watch | None:
        listed = await self.house.reception.standing.all()
        return listed[0] if listed else None


@pytest.fixture
async def days(open_house: OpenHouse) -> Days:
    return Days(await open_house(page_ttl=0))


async def test_thirty_days_with_two_real_changes_and_ten_cosmetic_ones_are_told_twice(
    days: Days,
) -> None:
    await days.begin()
    spoken = []
    for day in range(1, 31):
        days.pages |= DAYS.get(day, {})
        if list(DAYS.get(day, {})) == [HOURS, COST]:
            days.pages = DAYS[day] | days.pages
        before = len(days.told)
        (run,) = await days.pass_one()
        if len(days.told) > before:
            spoken.append(day)
        else:
            assert await days.house.store.run(run) is None  # nothing is left of it
    assert spoken == sorted(REAL)
    first, second = (reply.finished[-1] for reply in days.told)
    assert first.changes == (
        Change(
            "Tower tickets cost 29 euros for adults [1].",
            "Tower tickets cost 31 euros for adults [1].",
        ),
    )
    assert second.changes == (
        Change(
            "Tower doors open at 9:30 in summer [2].", "Tower doors open at 9:00 in summer [2]."
        ),
    )


def strict(before: str, now: str) -> bool:
    """The same only if one of them has all the words of the other, in whatever order."""
    words, others = (set(re.findall(r"\w+", one.lower())) for one in (before, now))
    return words <= others or others <= words


@pytest.mark.parametrize("same", [strict, lambda before, now: None], ids=["strict", "silent"])
async def test_with_a_model_cosmetic_changes_stay_cosmetic(
    days: Days, same: Callable[[str, str], bool | None]
) -> None:
    days.house.reasoner.same = same
    await days.begin()
    for pages in DAYS.values():
        days.pages |= pages
        await days.pass_one()
    assert len(days.told) == len(REAL)
    assert days.house.reasoner.compared, "no pair was undecided"


@pytest.mark.parametrize(
    ("verdict", "told"),
    [(False, ["Dogs must be left outside the tower."]), (True, []), (None, [])],
)
async def test_a_change_in_words_alone_is_told_if_the_model_says_so(
    days: Days, verdict: bool | None, told: list[str]
) -> None:
    days.pages[HOURS] = "Dogs may be taken into the tower."
    days.shelve()
    days.house.reasoner.same = lambda before, now: verdict
    await days.begin()
    days.pages[HOURS] = "Dogs must be left outside the tower."
    await days.pass_one()
    assert days.house.reasoner.compared == [
        ("Dogs may be taken into the tower.", "Dogs must be left outside the tower.")
    ]
    found = [change for reply in days.told for change in reply.finished[-1].changes]
    assert [change.after.partition(" [")[0] for change in found] == [s.rstrip(".") for s in told]


async def test_a_change_is_told_once_whatever_dies_between_the_claim_and_the_post(
    days: Days,
) -> None:
    watch = await days.begin()
    days.pages[COST] = "Tower tickets cost 31 euros for adults."
    days.now += timedelta(days=1, minutes=1)
    days.shelve()
    # A process dies when it has accepted the check: its run is left to others, as any question's.
    accept = days.house.service.accept

    async def and_die(*args: Any, **options: Any) -> tuple[str, bool]:
        await accept(*args, **options)
        raise StorageUnavailable("gone")

    days.house.service.accept = and_die  # type: ignore[method-assign]
    with pytest.raises(StorageUnavailable):
        await days.rounds.once(days.now)
    days.house.service.accept = accept  # type: ignore[method-assign]
    assert await asyncio.gather(*(days.rounds.once(days.now) for _ in range(3))) == [[], [], []]
    (run,) = [one.id for one in await days.house.store.unfinished(days.now + LEASE)]
    await days.house.dispatcher.submit(run, watch.place)
    # The platform is away when it is to be posted: the attempt ends, a later one posts.
    opened = days.house.poster.open

    async def away(*args: Any) -> Remembered:
        raise PlatformUnavailable("away")

    days.house.poster.open = away  # type: ignore[assignment, method-assign]
    with pytest.raises(PlatformUnavailable):
        await days.house.dispatcher.wait(run)
    assert days.told == []
    days.house.poster.open = opened  # type: ignore[method-assign]
    await days.house.dispatcher.submit(run, watch.thread)
    await days.house.dispatcher.wait(run)
    assert len(days.told) == 1
    assert await days.rounds.once(days.now) == []
    (now,) = await days.house.reception.standing.all()
    assert (now.run, now.outcome, now.thread) == (run, "changed", watch.thread)


async def test_without_interest_it_ends_and_says_so_once(
    days: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.service.standing_checks.DAYS", 3)
    begun = await days.begin()
    for _ in range(2):
        await days.pass_one()
    # Somebody opens the conversation: three more days.
    await StandingQuestions(days.house.store.database).record_interest(begun.thread, days.now)
    for _ in range(2):
        await days.pass_one()
    assert days.told == []
    for _ in range(3):
        await days.pass_one()
    (reply,) = days.told
    assert reply.finished[-1].text.startswith("I have stopped checking this")
    assert reply.run.message.thread.thread == "t1"
    watch = await days.watch()
    assert watch is not None
    assert watch.state == "ended"


async def test_where_nothing_can_be_posted_any_more_it_ends(days: Days) -> None:
    await days.begin()

    async def refused(*args: Any) -> Remembered:
        raise PostRefused("The thread is gone.")

    days.house.poster.open = refused  # type: ignore[assignment, method-assign]
    days.pages[COST] = "Tower tickets cost 31 euros for adults."
    await days.pass_one()
    watch = await days.watch()
    assert watch is not None
    assert (watch.state, watch.outcome) == ("ended", "refused")
    assert await days.pass_one() == []


async def test_a_person_has_a_limited_number_and_the_same_question_is_watched_once(
    open_house: OpenHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.service.standing_service.MOST", 1)
    days = Days(await open_house())
    first = await days.begin()
    again = await days.house.reception.watch(
        first.run, ADA, "weekly", locale="en", audience="channel"
    )
    assert (again.id, again.schedule) == (first.id, "weekly")
    other = await days.house.ask("How long is the bridge?", "t2")
    with pytest.raises(Invalid):
        await days.house.reception.watch(
            other.run_id, ADA, "daily", locale="en", audience="channel"
        )


async def test_pausing_resuming_stopping_and_forgetting(days: Days) -> None:
    watch = await days.begin()
    desk = days.house.reception.standing
    by, ada = days.house.message(""), ("slack", "U1")
    stranger = days.house.message("", author=Author("U2", "Bob"))
    with pytest.raises(Invalid):
        await desk.do("pause", watch.id, ("slack", "U2"))
    await desk.do("pause", watch.id, ada)
    assert await days.pass_one() == []
    await desk.do("resume", watch.id, ada)
    assert len(await days.pass_one()) == 1
    bobs = await days.house.reception.watch(
        watch.run, stranger.author, "daily", locale="en", audience="channel"
    )
    assert [one.id for one in await desk.of_person(("slack", "U2"))] == [bobs.id]
    await days.house.reception.forget_author(stranger)
    assert [one.id for one in await desk.all()] == [watch.id]
    await days.house.reception.forget_author(by)  # whose question it was
    assert await desk.all() == []


async def test_a_process_checks_soon_after_its_start_and_not_with_all_others(
    days: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = asyncio.Event()
    spans: list[tuple[float, float]] = []

    async def once(now: datetime) -> list[str]:
        checked.set()
        return []

    def uniform(least: float, most: float) -> float:
        spans.append((least, most))
        return least

    monkeypatch.setattr(days.rounds, "once", once)
    monkeypatch.setattr("bot.service.standing_service.random.uniform", uniform)
    async with days.rounds.at_work():
        await asyncio.wait_for(checked.wait(), ROUND_SECONDS / 2)
    assert spans == [(0.0, FIRST_SECONDS)]


async def test_a_check_that_the_budget_forbids_waits_for_the_next(open_house: OpenHouse) -> None:
    days = Days(await open_house(page_ttl=0))
    await days.begin()
    spent = DaySpentUp("spent")

    async def refused(*args: Any, **options: Any) -> tuple[str, bool]:
        raise spent

    accept, days.house.service.accept = days.house.service.accept, refused  # type: ignore[method-assign]
    assert await days.pass_one() == []
    days.house.service.accept = accept  # type: ignore[method-assign]
    watch = await days.watch()
    assert watch is not None
    assert (watch.outcome, watch.state) == ("budget", "watching")
    assert len(await days.pass_one()) == 1


@pytest.mark.parametrize(
    "words", ["hourly", "* * * * *", "0 9 * * mon tue", "0 0 30 2 *", "@daily"]
)
def test_schedules_that_are_none_or_come_too_often_are_refused(words: str) -> None:
    with pytest.raises(Invalid):
        schedule_named(words)


def test_what_was_missed_is_not_made_up_for() -> None:
    assert due_after("daily", NOW, NOW + timedelta(days=3, hours=1)) == NOW + timedelta(days=4)
    assert due_after("0 9 * * 1-5", NOW, NOW) == datetime(2026, 1, 16, 9, tzinfo=UTC)
