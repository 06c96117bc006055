"""The limits: what the settings make of them, and what is said when one is reached."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.core.answers import Usage
from bot.core.errors import BudgetSpent, DaySpentUp
from bot.core.messages import RunOptions
from bot.core.texts import LOCALES, sentence_for, texts_for
from bot.operation.configuration import load_settings
from bot.research.budget import Budget, DayLimits
from bot.storage.spending import Amount, DaySpent
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
        (Usage(seconds=60.5), "The time of 60 seconds was spent."),
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
    day.check_question(DaySpent(user=Amount(uploaded_bytes=2_000_000)), NOW)
    with pytest.raises(DaySpentUp, match=r"2 MB a day.* at 00:00 UTC, in less than"):
        day.check_question(DaySpent(user=Amount(uploaded_bytes=2_000_001)), NOW)


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
