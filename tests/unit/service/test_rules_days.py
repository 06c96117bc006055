"""A day's budget: who is refused a question, what they hear, and whose word sets it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.core.errors import DaySpentUp, Denied, Invalid
from bot.core.messages import Author
from bot.core.settings import ChannelRules
from bot.core.texts import sentence_for, texts_for
from bot.service.access import options_for, rule_values, with_rule
from bot.service.reception import AcceptedQuestion
from bot.storage.spending import Amount, Payer, add_spent
from bot.storage.workspaces import Workspaces
from tests.unit.service.conftest import House, OpenHouse

ADA, BOB = Author("U1", "Ada"), Author("U2", "Bob")


async def spend(house: House, usd: float, author: Author = ADA, channel: str = "C1") -> None:
    payer = Payer("slack", "T1", channel, author.id)
    async with house.store.database.write() as db:
        amount = Amount(micro_usd=round(1_000_000 * usd), model_calls=1)
        await add_spent(db, payer, datetime.now(UTC).date(), amount)


@pytest.mark.parametrize(
    ("setting", "text_id"),
    [
        ({"user_daily_usd": 1.0}, "denied-day-user"),
        ({"channel_daily_usd": 1.0}, "denied-day-channel"),
        ({"workspace_daily_usd": 1.0}, "denied-day-workspace"),
    ],
)
async def test_once_a_days_money_is_spent_a_question_is_refused(
    open_house: OpenHouse, setting: dict[str, Any], text_id: str
) -> None:
    house = await open_house(**setting)
    await house.answered()
    await spend(house, 1.0)
    with pytest.raises(Denied) as denied:
        await house.ask("How long is the bridge?")
    assert denied.value.text_id == text_id
    assert "00:00 UTC" in sentence_for(denied.value, texts_for("en"))
    assert "协调世界时" in sentence_for(denied.value, texts_for("zh-CN"))


async def test_the_budget_of_one_is_not_that_of_another(open_house: OpenHouse) -> None:
    house = await open_house(user_daily_usd=1.0, channel_daily_usd=2.0)
    await spend(house, 1.0)
    with pytest.raises(DaySpentUp):
        await house.ask("How tall?")
    assert (await house.ask("How tall?", author=BOB)).new


async def test_an_event_that_comes_again_finds_its_run_though_the_day_is_spent(
    open_house: OpenHouse,
) -> None:
    house = await open_house(user_daily_questions=1)
    message = house.message("How tall is the tower?")
    first = await house.reception.receive(message, "footnote")
    again = await house.reception.receive(message, "footnote")
    assert isinstance(first, AcceptedQuestion)
    assert again == AcceptedQuestion(first.run_id, new=False, ahead=0)
    with pytest.raises(DaySpentUp) as denied:
        await house.ask("And how wide?")
    assert denied.value.text_id == "denied-day-questions"
    await house.dispatcher.wait(first.run_id)
    assert house.poster.replies[-1].finished, "what was taken in is answered"


async def test_buttons_and_edits_are_questions_too(open_house: OpenHouse) -> None:
    house = await open_house(user_daily_questions=1)
    asked = await house.ask("How tall is the tower?")
    await house.dispatcher.wait(asked.run_id)
    with pytest.raises(DaySpentUp):
        await house.reception.dig_deeper(asked.run_id, ADA, locale="en", audience="channel")
    with pytest.raises(DaySpentUp):
        await house.reception.edit("slack", "m1", "How wide is the tower?")
    assert (await house.run(asked.run_id)).message.text == "How tall is the tower?"
    deeper = await house.reception.dig_deeper(asked.run_id, BOB, locale="en", audience="channel")
    assert deeper.new, "whoever presses pays"


async def test_a_stop_is_heard_though_the_day_is_spent(open_house: OpenHouse) -> None:
    house = await open_house(user_daily_questions=1)
    house.reasoner.let_on.clear()
    asked = await house.ask("How tall is the tower?")
    await house.reasoner.thinking.wait()
    await house.reception.receive(house.message("stop"), "thread")
    await house.dispatcher.wait(asked.run_id)
    assert (await house.run(asked.run_id)).state == "stopped"


# ---------------------------------------------------------------- a channel's own rule


async def test_a_channel_may_have_a_budget_of_its_own(open_house: OpenHouse) -> None:
    house = await open_house(channel_daily_usd=1.0, channels={"C9": ChannelRules(daily_usd=5.0)})
    await spend(house, 2.0, channel="C9")
    there = replace(house.message("How tall?").thread, channel="C9")
    assert (await house.reception.rules.of(there)).daily_usd == 5.0
    asked = replace(house.message("How tall?"), thread=there)
    assert isinstance(await house.reception.receive(asked, "footnote"), AcceptedQuestion)
    await spend(house, 3.0, channel="C9")
    with pytest.raises(DaySpentUp):
        await house.reception.receive(replace(asked, event_id="m99"), "footnote")


@pytest.mark.parametrize(
    ("typed", "general", "own", "effective"),
    [
        (None, 2.0, None, 2.0),
        (1.0, 2.0, None, 1.0),
        (9.0, 2.0, None, 2.0),
        (9.0, 2.0, 5.0, 5.0),
        (9.0, None, None, 9.0),
        (None, None, None, None),
    ],
)
async def test_a_command_may_lower_what_the_operator_allows_and_not_raise_it(
    open_house: OpenHouse,
    typed: float | None,
    general: float | None,
    own: float | None,
    effective: float | None,
) -> None:
    operators = {} if own is None else {"C1": ChannelRules(daily_usd=own)}
    house = await open_house(channel_daily_usd=general, channels=operators)
    rules = ChannelRules(tone="dry", daily_usd=typed).model_dump(mode="json")
    await Workspaces(house.store.database).set_rules("slack", "T1", "C1", rules, "U1")
    found = await house.reception.rules.of(house.message("x").thread)
    assert (found.tone, found.daily_usd) == ("dry", effective)


@pytest.mark.parametrize(
    ("typed", "expected"), [("2.50", 2.5), ("$3", 3.0), ("3 $", 3.0), ("", None)]
)
def test_a_budget_is_set_from_what_is_typed(typed: str, expected: float | None) -> None:
    rules = with_rule(ChannelRules(daily_usd=1.0), "daily_usd", typed, ())
    assert rules.daily_usd == expected
    assert options_for(rules).daily_usd == expected
    assert rule_values(rules) == ([] if expected is None else [("daily_usd", str(expected))])


@pytest.mark.parametrize("typed", ["much", "0", "-1", "nan", "inf", "1,5"])
def test_what_is_no_sum_of_money_is_named(typed: str) -> None:
    with pytest.raises(Invalid, match="does not work for daily_usd"):
        with_rule(ChannelRules(), "daily_usd", typed, ())
