"""The figures of an evaluation, and the order in which its questions are told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.answers import Doubt, Usage
from bot.evaluation.questions import CaseTurn
from bot.evaluation.results import KindSpent, Share, figures, result
from bot.evaluation.scoring import Verdict
from tests.unit.evaluation.samples import (
    FAILURE,
    GOOD,
    POOR,
    REFUSAL,
    TALL,
    a_set,
    an_answer,
    an_outcome,
    results_of,
)

NEVER = CaseTurn("Who won?", 2, refuse=True)
OPEN = CaseTurn("Is it old?", 3)
THREE = a_set(TALL, NEVER, OPEN)


def test_shares_count_only_what_was_expected() -> None:
    found = figures(tuple(results_of(THREE, POOR, REFUSAL, GOOD).values()))

    assert found.as_expected == Share(2, 3)
    assert found.words_said == Share(0, 1)
    assert found.words_quoted == found.page_cited == found.page_read == Share(1, 1)
    assert (found.refused_rightly, found.refused_wrongly) == (Share(1, 1), Share(0, 2))
    assert (found.right, found.failed) == (Share(0, 0), Share(0, 3))


def test_a_failure_is_neither_a_right_refusal_nor_a_wrong_one() -> None:
    found = figures(tuple(results_of(THREE, FAILURE, FAILURE, REFUSAL).values()))

    assert found.failed == Share(2, 3)
    assert (found.refused_rightly, found.refused_wrongly) == (Share(0, 0), Share(1, 2))


def test_sums_and_percentiles() -> None:
    case = a_set(OPEN).cases[0]
    kinds = ({"write": KindSpent(1, 10, 5, 2, 0.1)}, {"write": KindSpent(1, 20, 0, 3, 0.2)})
    results = [
        result(case, 0, an_answer(usage=Usage(2, 1, 1, 30, 5, 5, seconds, 0.3)), None, kind)
        for seconds, kind in zip((1.0, 4.0), kinds, strict=True)
    ]
    doubtful = replace(results[0].answer, doubts=(Doubt("It is.", "no"),))
    results[0] = replace(results[0], answer=doubtful, verdict=Verdict("right", "So.", 1, 1, 0.5))
    found = figures(results)

    assert (found.model_calls, found.input_tokens, found.cached_tokens) == (4, 60, 10)
    assert (found.doubts, found.sentences, found.footnotes) == (1, 2, 2)
    assert found.footnotes_per_sentence == 1.0
    assert found.usd == pytest.approx(0.6)
    assert (found.seconds, found.slow_seconds) == (2.5, 4.0)
    assert replace(found.kinds["write"], usd=0) == KindSpent(2, 30, 5, 5)
    assert found.kinds["write"].usd == pytest.approx(0.3)
    assert found.judging_usd == 0.5


def test_no_results_have_figures_too() -> None:
    found = figures(())
    assert (found.as_expected, found.footnotes_per_sentence) == (Share(0, 0), None)


def test_questions_on_which_the_settings_differ_come_first() -> None:
    five = a_set(OPEN, *(replace(TALL, question=f"{n}?") for n in range(5)))
    outcome = an_outcome(
        five,
        (GOOD, GOOD, POOR, POOR, REFUSAL, None),
        (GOOD, GOOD, POOR, GOOD, POOR, None),
    )

    assert outcome.names() == ["4", "5", "3", "1", "2", "6"]
    assert [name for name in outcome.names() if outcome.differs(name)] == ["4", "5"]
    assert not outcome.is_whole


def test_the_first_settings_decide_whether_all_is_as_expected() -> None:
    one = a_set(TALL)
    assert an_outcome(one, (GOOD,), (POOR,)).as_expected
    assert not an_outcome(one, (POOR,), (GOOD,)).as_expected
    assert not an_outcome(one, (None,)).as_expected


def test_a_question_is_found_by_its_name() -> None:
    found = a_set(OPEN, (TALL, NEVER))
    outcome = an_outcome(found, (GOOD, GOOD))
    assert [outcome.turn_named(name) for name in ("1", "2", "2.1")] == [OPEN, TALL, NEVER]
