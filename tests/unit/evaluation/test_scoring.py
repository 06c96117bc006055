"""One answer against what was expected of it."""

from __future__ import annotations

from typing import Any

import pytest

from bot.answers import Answer
from bot.evaluation.questions import CaseTurn
from bot.evaluation.scoring import Verdict, footnotes_of, score
from tests.unit.evaluation.samples import (
    FAILURE,
    REFUSAL,
    TALL,
    a_citation,
    a_read,
    an_answer,
)

NEVER = CaseTurn("Who won?", 1, refuse=True)
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
    assert found.as_expected is not bool(amiss)


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


@pytest.mark.parametrize(
    ("text", "sentences", "footnotes"),
    [
        ("It is tall [1]. It is old [1][2].", 2, 3),
        ("# A heading\n\nIt is tall [1].", 1, 1),
        ("It is:\n\n- tall [1]\n- old [2]", 2, 2),
        ("> Nothing else was found.", 0, 0),
        ("```\nx = a[1]\n```", 0, 0),
        ("很高[1]。很旧[2]。", 2, 2),
        ("", 0, 0),
    ],
)
def test_footnotes_are_counted_against_sentences_that_could_carry_one(
    text: str, sentences: int, footnotes: int
) -> None:
    assert footnotes_of(text) == (sentences, footnotes)
