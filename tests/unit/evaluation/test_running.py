"""The run: several at once, within its budget, and what is done stays when it is cancelled."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from bot.core.errors import CredentialsRefused, Invalid, ModelBroken
from bot.core.messages import Answer, RunOptions, Usage
from bot.evaluation.evaluation import (
    PARALLEL,
    Evaluation,
    Purse,
    described,
    expected_judging_usd,
    open_evaluation,
)
from bot.evaluation.questions import Case, CaseTurn, QuestionSet
from bot.evaluation.scoring import Result, Verdict
from bot.operation.configuration import load_settings
from tests.unit.evaluation.samples import GOOD, REFUSAL, TALL, a_set, an_answer

FOUR = a_set(*(CaseTurn(f"{number}?", answer="330 m") for number in range(1, 5)))
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


class Grading:
    """A judge that says the same, or fails."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    async def verdict(self, case: Case, turn: int, answer: Answer) -> Verdict:
        if self.error:
            raise self.error
        return Verdict("wrong", "So.", 0.01)


@pytest.fixture
def one_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.evaluation.evaluation.PARALLEL", 1)


def an_evaluation(
    asker: Asking, judge: Any = None, questions: QuestionSet = FOUR, **overrides: Any
) -> Evaluation:
    settings = load_settings(**{"anthropic_api_key": "sk-test", **overrides})
    return Evaluation(questions, settings, RunOptions(), asker, judge)


def untold(result: Result) -> None: ...


async def test_everything_is_asked_a_few_at_once() -> None:
    asker, told = Asking(), list[str]()
    many = a_set(*(CaseTurn(f"{number}?") for number in range(9)))
    evaluation = an_evaluation(asker, questions=many)

    await evaluation.run(Purse(None), lambda result: told.append(result.name))

    assert sorted(asker.asked) == [f"{number}?" for number in range(9)]
    assert 1 < asker.most <= PARALLEL
    assert sorted(told) == [each.name for each in evaluation.results] == list("123456789")
    assert evaluation.document(interrupted=False)["complete"]


async def test_what_is_kept_is_not_asked_again() -> None:
    asker = Asking(done={"1?": (GOOD,), "2?": (GOOD,)})
    evaluation = an_evaluation(asker)

    forecast = await evaluation.forecast()
    await evaluation.run(Purse(None), untold)

    assert (forecast.kept, forecast.to_ask) == (2, 2)
    assert asker.asked == ["3?", "4?"]
    assert len(evaluation.results) == 4


async def test_the_forecast_is_of_what_answers_have_cost() -> None:
    paid = replace(GOOD, usage=Usage(1, usd=COST))
    evaluation = an_evaluation(Asking(done={"1?": (paid,), "2?": (paid,)}), judge=Grading())
    forecast = await evaluation.forecast()
    judging = expected_judging_usd(load_settings(anthropic_api_key="sk-test")) or 0
    assert forecast.usd == pytest.approx(2 * COST + 4 * judging)
    assert judging > 0


async def test_nothing_is_forgotten_where_the_call_is_refused(tmp_path: Path) -> None:
    call = FOUR, load_settings(data_dir=tmp_path), RunOptions(), tmp_path / "eval"
    async with open_evaluation(*call, judge=False, fresh=False):
        [folder] = (tmp_path / "eval").iterdir()
    with pytest.raises(Invalid, match="ANTHROPIC_API_KEY"):
        async with open_evaluation(*call, judge=True, fresh=True):
            pass
    assert (folder / "footnote.sqlite").exists()


async def test_a_model_without_a_price_is_named() -> None:
    forecast = await an_evaluation(Asking(), model="my-model").forecast()
    assert (forecast.unpriced, forecast.usd) == ("my-model", 0.0)


async def test_what_the_budget_does_not_cover_is_left_and_said(one_at_once: None) -> None:
    asker = Asking()
    evaluation = an_evaluation(asker)

    await evaluation.run(Purse(0.25), untold)

    assert asker.asked == ["1?", "2?"]
    assert evaluation.remarks() == ["The budget left 2 question(s) unasked: --budget raises it."]
    assert not evaluation.as_expected
    assert not evaluation.document(interrupted=False)["complete"]


async def test_cancelling_keeps_what_is_done(one_at_once: None) -> None:
    asker = Asking(gate=asyncio.Event())
    evaluation = an_evaluation(asker)
    work = asyncio.create_task(evaluation.run(Purse(None), untold))
    while len(asker.asked) < 3:
        await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert [each.name for each in evaluation.results] == ["1", "2"]


async def test_what_would_fail_every_question_ends_it(one_at_once: None) -> None:
    evaluation = an_evaluation(asker := Asking(error=CredentialsRefused("No key.")))
    with pytest.raises(CredentialsRefused):
        await evaluation.run(Purse(None), untold)
    assert len(asker.asked) < 4


async def test_answers_are_judged_where_there_is_one_to_compare() -> None:
    questions = a_set(CaseTurn("1?", answer="330 m"), CaseTurn("2?"))
    evaluation = an_evaluation(Asking(), judge=Grading(), questions=questions)
    purse = Purse(None)

    await evaluation.run(purse, untold)

    assert [each.score.grade for each in evaluation.results] == ["wrong", None]
    assert purse.spent == pytest.approx(2 * COST + 0.01)


async def test_a_refusal_is_not_judged() -> None:
    evaluation = an_evaluation(Asking(answer=REFUSAL), judge=Grading(AssertionError("asked")))
    await evaluation.run(Purse(None), untold)
    assert [each.verdict for each in evaluation.results] == [None] * 4


async def test_a_judge_that_fails_leaves_the_answers_and_is_said_once() -> None:
    evaluation = an_evaluation(Asking(), judge=Grading(ModelBroken("It talks.")))
    await evaluation.run(Purse(None), untold)
    assert len(evaluation.results) == 4
    assert evaluation.remarks() == ["It talks (4 times)."]


async def test_answers_without_the_model_are_said() -> None:
    evaluation = an_evaluation(Asking(answer=an_answer(reasoner="closest")))
    await evaluation.run(Purse(None), untold)
    [remark] = evaluation.remarks()
    assert "could not be reached for 4 answer(s)" in remark


async def test_why_answers_failed_is_said() -> None:
    failure = an_answer("The key is not accepted.", status="failed")
    evaluation = an_evaluation(Asking(answer=failure))
    await evaluation.run(Purse(None), untold)
    assert evaluation.remarks() == ["4 answer(s) failed: The key is not accepted."]


def test_settings_are_described_without_secrets() -> None:
    settings = load_settings(
        max_usd=3,
        anthropic_api_key="sk-2",
        blocked_domains=("x",),
        database_url="postgresql+psycopg://me:word@db/footnote",
        fetch_proxy="http://me:word@proxy:3128",
    )
    told = described(settings, RunOptions(depth="deep"))
    assert (told["model"], told["depth"]) == ("claude-sonnet-5-5", "deep")
    assert (told["max_usd"], told["blocked_domains"]) == ("3.0", "x")
    assert not any(secret in str(told) for secret in ("sk-2", "word"))


def test_the_document_has_each_question_with_all_about_it() -> None:
    evaluation = an_evaluation(Asking(), questions=a_set(TALL))
    asyncio.run(evaluation.run(Purse(None), untold))
    document = evaluation.document(interrupted=False)
    json.dumps(document)
    [result] = document["results"]
    assert (result["id"], result["asked"], result["amiss"]) == ("1", ["How tall is it?"], [])
    assert result["expected"]["words"] == (("330 m",),)
    assert result["answer"]["citations"][0]["quote"] == "It is 330 m tall."
    assert (document["as_expected"], document["figures"]["as_expected"]) == (True, [1, 1])
