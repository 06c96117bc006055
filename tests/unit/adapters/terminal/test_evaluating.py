"""The announcement of an evaluation, and its tables in a terminal."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

from rich.console import Console

from adapters.terminal.evaluating import EvaluationOptions, announcement, tables
from bot.configuration import load_settings
from bot.evaluation.questions import CaseTurn
from bot.evaluation.results import Outcome
from bot.evaluation.running import Forecast, Side
from bot.messages import RunOptions
from tests.unit.evaluation.samples import GOOD, POOR, REFUSAL, TALL, a_set, an_outcome

NOTHING = Forecast(0, 0, 0, 0.0, 0.0, ())


def shown(outcome: Outcome, width: int = 100) -> str:
    file = StringIO()
    Console(file=file, width=width, highlight=False).print(tables(outcome))
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def test_one_settings_needs_no_heading() -> None:
    text = shown(an_outcome(a_set(TALL, CaseTurn("Is it old?")), (POOR, GOOD)))

    assert "as set" not in text
    assert text.startswith("as expected    ")
    assert "1 of 2 (50%)" in text
    assert "Not as expected (1)" in text
    assert "words only in a quote" in text
    assert "Is it old?" not in text, "what is as expected stands on the page"


def test_two_settings_are_compared_and_what_differs_is_named() -> None:
    questions = a_set(TALL, replace(TALL, question="And now?"))
    text = shown(an_outcome(questions, (GOOD, POOR), (REFUSAL, POOR)))

    assert "The settings differ (1)" in text
    assert text.index("The settings differ") < text.index("Not as expected (1)")
    assert "other.toml" in text
    assert "refused" in text


def test_long_names_and_questions_are_folded_and_fit_the_terminal() -> None:
    long = replace(TALL, question="Why is the tower that stands in Paris so tall? " * 6)
    questions = a_set(long)
    outcome = an_outcome(questions, (POOR,), (REFUSAL,))
    named = replace(outcome.sides[1], name="a-very-long-name-of-a-file-" * 4 + ".toml")
    text = shown(replace(outcome, sides=(outcome.sides[0], named)))
    assert max(map(len, text.splitlines())) <= 100


def test_remarks_end_the_tables() -> None:
    outcome = replace(an_outcome(a_set(TALL), (None,)), remarks=("The budget left 1 unasked.",))
    assert shown(outcome).endswith("The budget left 1 unasked.")


# ---------------------------------------------------------------- the announcement


def a_call(judge: bool = False) -> EvaluationOptions:
    side = Side("as set", load_settings(), RunOptions())
    return EvaluationOptions(
        a_set((TALL, TALL), TALL), (side,), Path("x"), Path("x.html"), judge=judge
    )


def test_without_a_model_it_costs_nothing() -> None:
    lines = announcement(a_call(), replace(NOTHING, to_ask=3), 0.0)
    assert lines == [
        "tower.yaml: 2 questions and 1 follow-up, with the closest reasoner at depth auto, "
        "4 at once.",
        "No model is used: it costs nothing.",
    ]


def test_the_cost_the_judges_part_and_the_budget_are_said_before() -> None:
    forecast = Forecast(3, 2, 3, 0.30, 0.05, ())
    text = " ".join(announcement(a_call(judge=True), forecast, 0.70))
    assert "2 answers of an earlier call kept" in text
    assert "3 to ask: about 0.35 USD, 0.05 of it for the judge. Budget: 0.70 USD" in text


def test_a_price_that_is_not_known_is_said() -> None:
    forecast = replace(NOTHING, to_ask=3, unpriced=("my-model",))
    text = " ".join(announcement(a_call(), forecast, 0.0))
    assert "my-model" in text
    assert "FOOTNOTE_PRICES" in text
    assert "costs nothing" not in text
