"""The judge: one call an answer, repaired once, and never paid for twice."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bot.configuration import load_settings
from bot.errors import Invalid, ModelBroken
from bot.evaluation.judge import Judge, open_judge
from bot.evaluation.questions import Case, CaseTurn
from bot.evaluation.scoring import Verdict
from bot.reasoning.calls import ModelReply, Text
from bot.reasoning.model.requests import Request
from tests.unit.evaluation.samples import an_answer

CASE = Case(1, (CaseTurn("How tall is it?", answer="330 m"), CaseTurn("And now?", answer="331 m")))
RIGHT = json.dumps({"reason": "It says 330 m.", "grade": "right"})


class Bench:
    """An endpoint that replies what it is given, one after the other."""

    def __init__(self, *replies: str) -> None:
        self.calls: list[Request] = []
        self._replies = list(replies)

    async def complete(self, request: Request) -> ModelReply:
        self.calls.append(request)
        content = (Text(self._replies.pop(0)),)
        return ModelReply("claude-sonnet-5-5", content, "end_turn", 1_000, 100)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "verdicts.jsonl"


def a_judge(bench: Bench, kept: Path) -> Judge:
    return Judge(load_settings(anthropic_api_key="sk-test"), bench, kept)


async def test_a_verdict_has_its_reason_and_its_cost(kept: Path) -> None:
    judge = a_judge(Bench(RIGHT), kept)
    assert judge.stored_verdict(CASE, 0, an_answer()) is None

    verdict = await judge.verdict(CASE, 0, an_answer())

    assert replace(verdict, usd=0) == Verdict("right", "It says 330 m.", 1_000, 100)
    assert verdict.usd == pytest.approx(0.003)
    assert judge.stored_verdict(CASE, 0, an_answer()) == verdict


async def test_a_later_judge_knows_it_even_after_a_line_that_was_cut_off(kept: Path) -> None:
    verdict = await a_judge(Bench(RIGHT), kept).verdict(CASE, 0, an_answer())
    with kept.open("a") as file:
        file.write('{"key": "abc", "gra')
    later = Bench()

    assert await a_judge(later, kept).verdict(CASE, 0, an_answer()) == verdict
    assert later.calls == []


async def test_another_answer_or_expectation_is_judged_anew(kept: Path) -> None:
    judge = a_judge(Bench(RIGHT), kept)
    await judge.verdict(CASE, 0, an_answer())

    assert judge.stored_verdict(CASE, 0, an_answer("It is 324 m tall [1].")) is None
    other = Case(1, (CaseTurn("How tall is it?", answer="324 m"),))
    assert judge.stored_verdict(other, 0, an_answer()) is None


async def test_the_judge_sees_the_conversation_and_no_footnote_marks(kept: Path) -> None:
    bench = Bench(RIGHT)
    await a_judge(bench, kept).verdict(CASE, 1, an_answer("It is 331 m [1]."))

    [call] = bench.calls
    sent = json.dumps(call.as_json())
    assert "How tall is it?\\nAnd now?" in sent
    assert "331 m." in sent
    assert "[1]" not in json.dumps(call.as_json()["turns"])


async def test_a_reply_that_is_no_verdict_is_repaired_once(kept: Path) -> None:
    bench = Bench("Right!", RIGHT)
    verdict = await a_judge(bench, kept).verdict(CASE, 0, an_answer())
    assert (verdict.grade, verdict.input_tokens, len(bench.calls)) == ("right", 2_000, 2)


async def test_a_judge_that_never_gives_a_verdict_is_said(kept: Path) -> None:
    with pytest.raises(ModelBroken, match="did not grade"):
        await a_judge(Bench("Right!", '{"grade": "good"}'), kept).verdict(CASE, 0, an_answer())
    assert not kept.exists()


async def test_without_a_key_there_is_no_judge(kept: Path) -> None:
    with pytest.raises(Invalid, match="ANTHROPIC_API_KEY"):
        async with open_judge(load_settings(), kept):
            pass
