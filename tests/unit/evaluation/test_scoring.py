"""One answer against what was expected of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.core.messages import Answer, Doubt, Usage
from bot.evaluation.questions import CaseTurn
from bot.evaluation.scoring import Verdict, figures, score
from tests.unit.evaluation.samples import (
    FAILURE,
    GOOD,
    POOR,
    REFUSAL,
    TALL,
    a_citation,
    a_read,
    a_result,
    an_answer,
)

NEVER = CaseTurn("Who won?", refuse=True)
ELSEWHERE = a_citation("Long.", url="file:///docs/bridge.md", title="Bridge")


@pytest.mark.parametrize(
    ("asked", "answer", "amiss"),
    [
        (TALL, an_answer(), ()),
        (CaseTurn("How tall?"), an_answer("No idea."), ()),
        (TALL, REFUSAL, ("refused",)),
        (TALL, FAILURE, ("failed",)),
        (NEVER, REFUSAL, ()),
        (NEVER, an_answer(), ("should be refused",)),
        (NEVER, an_answer("Who won was not found. It is 330 m tall [1].", status="partial"), ()),
        (NEVER, an_answer("Ada won [1].", status="partial"), ("should be refused",)),
        (NEVER, FAILURE, ("failed",)),
        (TALL, an_answer("It is tall [1]."), ("words only in a quote",)),
        (
            TALL,
            an_answer("It is tall [1].", citations=(a_citation("Tall."),)),
            ("words missing",),
        ),
        (TALL, an_answer(citations=(ELSEWHERE,)), ("page read but not cited",)),
        (TALL, an_answer(citations=(ELSEWHERE,), steps=()), ("page not found",)),
        (
            TALL,
            an_answer("Hm.", citations=(ELSEWHERE,), steps=(a_read("file:///x", "X"),)),
            ("page not found", "words missing"),
        ),
    ],
)
def test_what_is_amiss(asked: CaseTurn, answer: Answer, amiss: tuple[str, ...]) -> None:
    found = score(asked, answer)
    assert found.amiss == amiss


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((("330",), ("tall",)), True),
        ((("330",), ("short",)), False),
        ((("short", "tall"),), True),
        ((), None),
    ],
)
def test_every_group_is_wanted_and_one_item_of_it(words: Any, said: bool | None) -> None:
    assert score(CaseTurn("?", words=words), an_answer()).words_said is said


def test_a_mark_does_not_part_words() -> None:
    assert score(TALL, an_answer("It is 330 [1] m tall.")).words_said


@pytest.mark.parametrize(
    ("grade", "amiss"),
    [("right", ()), ("partly", ("judged partly",)), ("wrong", ("judged wrong",))],
)
def test_a_grade_counts(grade: Any, amiss: tuple[str, ...]) -> None:
    assert score(TALL, an_answer(), Verdict(grade, "So.")).amiss == amiss


# ---------------------------------------------------------------- figures

OPEN = CaseTurn("Is it old?")


def test_shares_count_only_what_was_expected() -> None:
    found = figures([a_result(TALL, POOR), a_result(NEVER, REFUSAL), a_result(OPEN, GOOD)])

    assert found["as_expected"] == [2, 3]
    assert found["words_said"] == [0, 1]
    assert found["words_quoted"] == found["page_cited"] == found["page_read"] == [1, 1]
    assert (found["refused_rightly"], found["refused_wrongly"]) == ([1, 1], [0, 2])
    assert (found["judged_right"], found["failed"]) == ([0, 0], [0, 3])


def test_a_failure_is_neither_a_right_refusal_nor_a_wrong_one() -> None:
    found = figures([a_result(TALL, FAILURE), a_result(NEVER, FAILURE), a_result(OPEN, REFUSAL)])

    assert found["failed"] == [2, 3]
    assert (found["refused_rightly"], found["refused_wrongly"]) == ([0, 0], [1, 2])


def test_sums_and_percentiles() -> None:
    verdict = Verdict("right", "So.", 0.5)
    results = [
        a_result(OPEN, an_answer(usage=Usage(2, 1, 1, 30, 5, 5, seconds, 0.3)), verdict)
        for seconds in (1.0, 4.0)
    ]
    doubtful = replace(results[0].answer, doubts=(Doubt("It is.", "no"),))
    found = figures([replace(results[0], answer=doubtful), results[1]])

    assert (found["model_calls"], found["tokens_in"], found["tokens_out"]) == (4, 70, 10)
    assert (found["usd"], found["judging_usd"], found["doubts"]) == (0.6, 1.0, 1)
    assert (found["seconds"], found["slow_seconds"]) == (2.5, 4.0)
    assert found["judged_right"] == [2, 2]


def test_no_results_have_figures_too() -> None:
    assert figures(())["as_expected"] == [0, 0]
