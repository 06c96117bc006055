"""Being forgotten: what is under way stops first, and a wish outlives a crash."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime, timedelta

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from bot.core.messages import Author
from bot.core.texts import texts_for
from bot.service.buttons import forget_me
from bot.service.deletion import Forgetter, Maintenance
from bot.service.reception import is_yes
from bot.storage.forgetting import Forgetting, Request, Subject
from bot.storage.removal import Keep, Removed, Retention
from bot.storage.spending import Payer, Spending
from bot.storage.tables import forgettings, messages, spending
from tests.fakes.virtual_time import in_virtual_time, now
from tests.unit.service.conftest import House

ADA = Subject("person", "slack", "U1")
A_THREAD = Subject("thread", "slack", "slack:T1:C1:t1")
ENGLISH = texts_for("en")


async def forget(house: House, word: str = "yes", author: str = "U1") -> str:
    message = house.message("forget me", "pending-1", author=Author(author, "Ada"))
    return await forget_me(house.reception, message, word, "/forget yes", ENGLISH)


async def counted(house: House, table: sa.Table) -> int:
    async with house.store.database.read() as db:
        return int(await db.scalar(sa.select(sa.func.count()).select_from(table)) or 0)


@pytest.mark.parametrize(
    ("word", "yes"),
    [("yes", True), (" Yes! ", True), ("是", True), ("確認", True), ("", False), ("no", False)],
)
def test_a_word_says_yes_or_it_does_not(word: str, yes: bool) -> None:
    assert is_yes(word) is yes


async def test_without_a_yes_nothing_goes_and_the_reply_says_what_would(house: House) -> None:
    await house.answered()
    said = await forget(house, "")
    assert "one message of yours" in said
    assert "/forget yes" in said
    assert await counted(house, messages) == 1


async def test_a_yes_takes_it_away(house: House) -> None:
    await house.answered()
    await house.answered(thread="t2")
    said = await forget(house)
    assert said.startswith("Done. I have deleted 2 messages of yours")
    assert await counted(house, messages) == 0
    assert await forget(house, "") == "I have stored nothing that you wrote."
    assert (await forget(house)).startswith("Done. I have stored nothing")


async def test_a_forgotten_thread_is_none_of_ours_any_more(house: House) -> None:
    await house.answered()
    await forget(house)
    assert not await house.reception.takes_part(house.message("Hm.").thread)


async def test_a_question_under_way_is_stopped_before_it_is_forgotten(house: House) -> None:
    house.reasoner.let_on.clear()
    asked = await house.ask("How tall is the tower?")
    await house.reasoner.thinking.wait()
    await forget(house)
    assert [answer.status for answer in house.poster.replies[0].finished] == ["stopped"]
    assert await house.store.run(asked.run_id) is None


async def test_the_sum_of_today_stays_until_tomorrow(house: House) -> None:
    """Or a daily budget could be had twice."""
    await house.answered()
    await forget(house)
    today = datetime.now(UTC).date()
    spent = await Spending(house.store.database).day(Payer("slack", "T1", "C1", "U1"), today)
    assert spent.user.questions == 1
    assert (await house.reception.forgetter.catch_up()).spending == 0
    async with house.store.database.write() as db:  # a day goes by
        day = timedelta(days=1)
        await db.execute(sa.update(spending).values(day=today - day))
        await db.execute(sa.update(forgettings).values(at=datetime.now(UTC) - day))
    removed = await house.reception.forgetter.catch_up()
    assert removed.spending == 1
    assert await counted(house, forgettings) == 0
    async with house.store.database.read() as db:
        scopes = (await db.scalars(sa.select(spending.c.scope))).all()
    assert sorted(scopes) == ["channel", "workspace"]


async def test_the_sums_of_a_forgotten_workspace_go_at_once(house: House) -> None:
    """No one is left there whose daily budget could start over."""
    await house.answered()
    await Forgetting(house.store.database).ask(
        Subject("workspace", "slack", "T1"), datetime.now(UTC)
    )
    assert (await house.reception.forgetter.catch_up()).spending == 3
    assert await counted(house, spending) == await counted(house, forgettings) == 0


class Working:
    """Takes the place of what forgets: two runs, of which one is worked on for so many looks."""

    def __init__(self, looks: int) -> None:
        self.looks = looks
        self.told: list[str] = []

    async def ask(self, subject: Subject, at: datetime) -> Request:
        return Request(subject, 0, at)

    async def unfinished(self, subject: Subject) -> list[str]:
        return ["r1", "r2"]

    async def worked_on(self, subject: Subject, at: datetime) -> list[str]:
        self.told.append("looked")
        return ["r2"] if self.told.count("looked") <= self.looks else []

    async def stop(self, run_id: str) -> None:
        self.told.append(run_id)

    async def remove(self, request: Request) -> Removed:
        self.told.append("removed")
        return Removed()

    async def remove_spending(self, subject: Subject, before: date) -> Removed:
        return Removed()


@pytest.mark.parametrize(("looks", "seconds"), [(0, 0.0), (3, 0.6), (1_000, 10.0)])
def test_runs_that_are_stopped_get_ten_seconds_to_end(
    monkeypatch: pytest.MonkeyPatch, looks: int, seconds: float
) -> None:
    working = Working(looks)
    monkeypatch.setattr("bot.service.deletion.Forgetting", lambda database: working)

    @in_virtual_time
    async def forget() -> None:
        begin = now()
        forgetter = Forgetter(None, working.stop)  # type: ignore[arg-type]
        await forgetter.forget(Subject("workspace", "slack", "T1"), datetime.now(UTC).date())
        assert now() - begin == pytest.approx(seconds, abs=0.21)

    forget()
    looked = min(looks + 1, 51)
    assert working.told[:2] == ["r1", "r2"]
    assert working.told[2:] in (["looked"] * n + ["removed"] for n in (looked - 1, looked))


async def test_a_wish_that_a_crash_cut_short_is_fulfilled_by_who_keeps_house(house: House) -> None:
    await house.answered()
    await Forgetting(house.store.database).ask(ADA, datetime.now(UTC))
    keeper = Maintenance(Retention(house.store.database, Keep()), house.reception.forgetter)
    removed = await keeper.once()
    assert (removed.messages, removed.runs) == (1, 1)
    assert not await keeper.once()


class Keeping:
    """Takes the place of all that keeps house: the first round removes two pages."""

    def __init__(self) -> None:
        self.rounds: list[int] = []
        self.looks = 0

    async def look(self) -> None:
        self.looks += 1

    async def catch_up(self) -> Removed:
        return Removed()

    async def prune(self, at: datetime) -> Removed:
        self.rounds.append(round(now()))
        return Removed(pages=2 if len(self.rounds) == 1 else 0)


@in_virtual_time
async def test_house_is_kept_at_once_and_every_hour_and_told_of_if_anything_went() -> None:
    house, began = Keeping(), round(now())
    keeper = Maintenance(house, house, house)  # type: ignore[arg-type]
    with capture_logs() as told:
        async with keeper.at_work():
            await asyncio.sleep(7_201)
    assert house.rounds == [began, began + 3_600, began + 7_200]
    assert house.looks == 3
    assert told == [{"event": "pruning finished", "log_level": "info", "pages": 2}]


DAY = timedelta(days=1)


@pytest.mark.parametrize(("days_ago", "left", "wishes"), [(2, 2, 0), (1, 1, 0), (0, 1, 1)])
async def test_what_is_forgotten_again_was_spent_until_the_day_of_the_wish(
    house: House, days_ago: int, left: int, wishes: int
) -> None:
    """But for today: that goes tomorrow."""
    at = datetime.now(UTC)
    sums = {"platform": "slack", "scope": "user", "name": "U1", "workspace": "T1"}
    async with house.store.database.write() as db:
        await db.execute(
            sa.insert(spending), [{**sums, "day": at.date() - n * DAY} for n in range(4)]
        )
    removed = await house.reception.forgetter.forget_again(ADA, at - days_ago * DAY)
    assert removed.spending == 4 - left
    assert await counted(house, forgettings) == wishes


async def test_what_was_forgotten_is_told_of_without_whom(house: House) -> None:
    await house.answered()
    with capture_logs() as told:
        await forget(house)
        await house.reception.forgetter.forget(A_THREAD, datetime.now(UTC).date())
    assert told == [
        {"event": "forgotten", "log_level": "info", "kind": "person", "platform": "slack"}
    ]


async def test_a_whole_thread_leaves_no_wish(house: House) -> None:
    await house.answered()
    forgetter = Forgetter(house.store.database, house.store.request_stop)
    removed = await forgetter.forget(A_THREAD, datetime.now(UTC).date())
    assert (removed.threads, removed.messages) == (1, 1)
    assert await counted(house, forgettings) == 0
