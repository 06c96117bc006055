"""The run: several at once, within its budget, and what is done stays when it is cancelled."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from bot.answers import Answer, Usage
from bot.configuration import load_settings
from bot.errors import CredentialsRefused, Invalid, ModelBroken
from bot.evaluation.questions import Case, CaseTurn, QuestionSet
from bot.evaluation.results import KindSpent, Result
from bot.evaluation.running import Evaluation, Side, described, open_evaluation
from bot.evaluation.scoring import Verdict
from bot.evaluation.spending import Purse
from bot.messages import RunOptions
from tests.unit.evaluation.samples import GOOD, REFUSAL, a_set, an_answer

FOUR = a_set(*(CaseTurn(f"{number}?", number, answer="330 m") for number in range(1, 5)))
COST = 0.1


@dataclass
class Asking:
    """Answers with the same answer, unless it was told to raise; remembers what it was asked."""

    answer: Answer = field(default_factory=lambda: replace(GOOD, usage=Usage(1, usd=COST)))
    done: dict[str, tuple[Answer, ...]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    error: Exception | None = None
    gate: asyncio.Event | None = None
    most: int = 0
    _now: int = 0

    async def stored_answers(self, case: Case) -> tuple[Answer, ...] | None:
        return self.done.get(case.texts[0])

    async def ask(self, case: Case) -> tuple[Answer, ...]:
        self.asked.append(case.texts[0])
        self._now += 1
        self.most = max(self.most, self._now)
        await asyncio.sleep(0)
        if self.error:
            raise self.error
        if self.gate is not None and len(self.asked) > 2:
            await self.gate.wait()
        self._now -= 1
        self.done[case.texts[0]] = found = (self.answer,) * len(case.turns)
        return found

    async def spent_by_kind(self, answer: Answer) -> dict[str, KindSpent]:
        return {"write": KindSpent(1)}


class Grading:
    """A judge that says the same, or fails."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.given: set[str] = set()

    def stored_verdict(self, case: Case, turn: int, answer: Answer) -> Verdict | None:
        return Verdict("right", "Kept.") if case.texts[turn] in self.given else None

    async def verdict(self, case: Case, turn: int, answer: Answer) -> Verdict:
        if self.error:
            raise self.error
        self.given.add(case.texts[turn])
        return Verdict("wrong", "So.", 1, 1, 0.01)


def a_side(name: str = "as set", **overrides: Any) -> Side:
    settings = load_settings(**{"anthropic_api_key": "sk-test", **overrides})
    return Side(name, settings, RunOptions())


def an_evaluation(*askers: Asking, judge: Any = None, questions: QuestionSet = FOUR) -> Evaluation:
    sides = [a_side(), a_side("other.toml", max_usd=3)][: len(askers)]
    return Evaluation(questions, sides, askers, judge)


def untold(side: Side, result: Result, kept: bool) -> None: ...


async def test_everything_is_asked_with_every_settings_a_few_at_once() -> None:
    askers = (Asking(), Asking())
    told: list[tuple[str, str, bool]] = []
    evaluation = an_evaluation(*askers)

    await evaluation.run(Purse(None), 2, lambda s, r, kept: told.append((s.name, r.name, kept)))

    assert [sorted(asker.asked) for asker in askers] == [["1?", "2?", "3?", "4?"]] * 2
    assert max(asker.most for asker in askers) <= 2
    assert len(told) == 8
    assert not any(kept for *_, kept in told)
    outcome = evaluation.outcome()
    assert outcome.is_whole
    assert [list(side.results) for side in outcome.sides] == [["1", "2", "3", "4"]] * 2
    assert outcome.sides[0].figures.kinds == {"write": KindSpent(4)}


async def test_neither_of_two_settings_always_comes_first() -> None:
    order: list[str] = []
    askers = (Asking(), Asking())
    evaluation = an_evaluation(*askers)
    await evaluation.run(Purse(None), 1, lambda side, result, kept: order.append(side.name))
    assert order == ["as set", "other.toml", "other.toml", "as set"] * 2


async def test_what_is_kept_is_not_asked_again() -> None:
    asker = Asking(done={"1?": (GOOD,), "2?": (GOOD,)})
    evaluation = an_evaluation(asker)

    forecast = await evaluation.forecast()
    await evaluation.run(Purse(None), 4, untold)

    assert (forecast.kept, forecast.to_ask) == (2, 2)
    assert asker.asked == ["3?", "4?"]
    assert len(evaluation.outcome().sides[0].results) == 4


async def test_the_forecast_is_of_what_answers_have_cost() -> None:
    paid = replace(GOOD, usage=Usage(1, usd=COST))
    evaluation = an_evaluation(Asking(done={"1?": (paid,), "2?": (paid,)}), judge=Grading())
    forecast = await evaluation.forecast()
    assert forecast.asking_usd == pytest.approx(2 * COST)
    assert forecast.to_judge == 4
    assert forecast.usd == forecast.asking_usd + forecast.judging_usd > forecast.asking_usd


async def test_the_forecast_of_a_fresh_start_counts_everything_at_what_it_has_cost() -> None:
    paid = replace(GOOD, usage=Usage(1, usd=COST))
    evaluation = an_evaluation(Asking(done={"1?": (paid,), "2?": (paid,)}))
    forecast = await evaluation.forecast(fresh=True)
    assert (forecast.to_ask, forecast.kept) == (4, 0)
    assert forecast.usd == pytest.approx(4 * COST)


async def test_nothing_is_forgotten_where_the_call_is_refused(tmp_path: Path) -> None:
    side = Side("as set", load_settings(data_dir=tmp_path), RunOptions())
    async with open_evaluation(FOUR, [side], tmp_path / "eval", judge=False, fresh=False):
        [folder] = (tmp_path / "eval").iterdir()
    with pytest.raises(Invalid, match="ANTHROPIC_API_KEY"):
        async with open_evaluation(FOUR, [side], tmp_path / "eval", judge=True, fresh=True):
            pass
    assert (folder / "footnote.sqlite").exists()


async def test_a_model_without_a_price_is_named() -> None:
    side = a_side(model="my-model")
    forecast = await Evaluation(FOUR, [side], [Asking()], None).forecast()
    assert (forecast.unpriced, forecast.usd) == (("my-model",), 0.0)


async def test_what_the_budget_does_not_cover_is_left_and_said() -> None:
    asker = Asking()
    evaluation = an_evaluation(asker)

    await evaluation.run(Purse(0.25), 1, untold)

    outcome = evaluation.outcome()
    assert asker.asked == ["1?", "2?"]
    assert outcome.remarks == ("The budget left 2 questions unasked: --budget raises it.",)
    assert not outcome.is_whole


async def test_cancelling_keeps_what_is_done() -> None:
    asker = Asking(gate=asyncio.Event())
    evaluation = an_evaluation(asker)
    work = asyncio.create_task(evaluation.run(Purse(None), 1, untold))
    while len(asker.asked) < 3:
        await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert list(evaluation.outcome().sides[0].results) == ["1", "2"]


async def test_what_would_fail_every_question_ends_it() -> None:
    evaluation = an_evaluation(asker := Asking(error=CredentialsRefused("No key.")))
    with pytest.raises(CredentialsRefused):
        await evaluation.run(Purse(None), 1, untold)
    assert len(asker.asked) < 4


async def test_answers_are_judged_where_there_is_one_to_compare() -> None:
    questions = a_set(CaseTurn("1?", answer="330 m"), CaseTurn("2?"))
    evaluation = an_evaluation(Asking(), judge=Grading(), questions=questions)
    purse = Purse(None)

    await evaluation.run(purse, 1, untold)

    results = evaluation.outcome().sides[0].results
    assert [each.score.grade for each in results.values()] == ["wrong", None]
    assert purse.spent == pytest.approx(2 * COST + 0.01)


async def test_a_refusal_is_not_judged() -> None:
    evaluation = an_evaluation(Asking(answer=REFUSAL), judge=Grading(AssertionError("asked")))
    await evaluation.run(Purse(None), 1, untold)
    assert evaluation.outcome().sides[0].figures.right.of == 0


async def test_a_judge_that_fails_leaves_the_answers_and_is_said_once() -> None:
    evaluation = an_evaluation(Asking(), judge=Grading(ModelBroken("It talks.")))
    await evaluation.run(Purse(None), 1, untold)
    outcome = evaluation.outcome()
    assert len(outcome.sides[0].results) == 4
    assert outcome.remarks == ("It talks (4 times).",)


async def test_answers_without_the_model_are_said() -> None:
    evaluation = an_evaluation(Asking(answer=an_answer(reasoner="closest")))
    await evaluation.run(Purse(None), 1, untold)
    [remark] = evaluation.outcome().remarks
    assert "could not be reached for 4 answers" in remark


async def test_why_answers_failed_is_said() -> None:
    failure = an_answer("The key is not accepted.", status="failed")
    evaluation = an_evaluation(Asking(answer=failure))
    await evaluation.run(Purse(None), 1, untold)
    assert evaluation.outcome().remarks == ("4 answers failed: The key is not accepted.",)


def test_settings_are_described_by_what_differs_without_secrets() -> None:
    one, other = (
        a_side(),
        a_side("other", max_usd=3, anthropic_api_key="sk-2", blocked_domains=("x",)),
    )
    first, second = described([one, other])
    assert first["model"] == "claude-sonnet-5-5"
    assert (first["max_usd"], second["max_usd"]) == ("2.0", "3.0")
    assert second["blocked_domains"] == "x"
    assert "sk-" not in str((first, second))
    assert "max_usd" not in described([one])[0]


async def test_settings_that_change_nothing_are_refused(tmp_path: Path) -> None:
    side = Side("as set", load_settings(data_dir=tmp_path), RunOptions())
    same = replace(side, name="other.toml")
    with pytest.raises(Invalid, match=r"other\.toml changes nothing"):
        async with open_evaluation(FOUR, [side, same], tmp_path / "eval", judge=False, fresh=False):
            pass
