"""The judge: one call an answer, repaired once."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bot.core.errors import Invalid, ModelBroken
from bot.evaluation.evaluation import Judge, open_judge
from bot.evaluation.questions import Case, CaseTurn
from bot.evaluation.scoring import Verdict
from bot.operation.configuration import load_settings
from bot.reasoning.calls import ModelReply, Request, Text
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


def a_judge(bench: Bench) -> Judge:
    return Judge(load_settings(anthropic_api_key="sk-test"), bench)


async def test_a_verdict_has_its_reason_and_its_cost() -> None:
    judge = a_judge(Bench(RIGHT))
    verdict = await judge.verdict(CASE, 0, an_answer())

    assert replace(verdict, usd=0) == Verdict("right", "It says 330 m.")
    assert verdict.usd == pytest.approx(0.003)


async def test_the_judge_sees_the_conversation_and_no_footnote_marks() -> None:
    bench = Bench(RIGHT)
    await a_judge(bench).verdict(CASE, 1, an_answer("It is 331 m [1]."))

    [call] = bench.calls
    sent = json.dumps(call.as_json())
    assert "How tall is it?\\nAnd now?" in sent
    assert "331 m." in sent
    assert "[1]" not in json.dumps(call.as_json()["turns"])


async def test_a_reply_that_is_no_verdict_is_repaired_once() -> None:
    bench = Bench("Right!", RIGHT)
    verdict = await a_judge(bench).verdict(CASE, 0, an_answer())
    assert (verdict.grade, len(bench.calls)) == ("right", 2)
    assert verdict.usd == pytest.approx(0.006)


async def test_a_judge_that_never_gives_a_verdict_is_said() -> None:
    with pytest.raises(ModelBroken, match="did not grade"):
        await a_judge(Bench("Right!", '{"grade": "good"}')).verdict(CASE, 0, an_answer())


async def test_without_a_key_there_is_no_judge() -> None:
    with pytest.raises(Invalid, match="ANTHROPIC_API_KEY"):
        async with open_judge(load_settings()):
            pass
