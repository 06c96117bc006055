"""The announcement of an evaluation, its tables, and the comparison with an earlier run."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from bot.cli.eval import announcement, read_earlier, tables
from bot.core.errors import Invalid
from bot.core.messages import Answer, RunOptions
from bot.evaluation.evaluation import Evaluation, Forecast, Purse
from bot.evaluation.questions import Case, CaseTurn, QuestionSet
from bot.operation.configuration import load_settings
from tests.unit.evaluation.samples import GOOD, POOR, REFUSAL, TALL, a_set

LATER = replace(TALL, question="And now?")


class Given:
    """Answers as it is told."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = answers

    async def stored_answers(self, case: Case) -> tuple[Answer, ...] | None:
        return None

    async def ask(self, case: Case) -> tuple[Answer, ...]:
        return self._answers[case.number - 1 : case.number]


def an_evaluation(questions: QuestionSet, *answers: Answer, **settings: Any) -> Evaluation:
    return Evaluation(questions, load_settings(**settings), RunOptions(), Given(*answers))


def an_outcome(questions: QuestionSet, *answers: Answer, **settings: Any) -> dict[str, Any]:
    evaluation = an_evaluation(questions, *answers, **settings)
    asyncio.run(evaluation.run(Purse(None), lambda result: None))
    return evaluation.document(interrupted=False)


def shown(outcome: dict[str, Any], earlier: dict[str, Any] | None = None) -> str:
    file = StringIO()
    Console(file=file, width=100, highlight=False).print(*tables(outcome, earlier), sep="\n")
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def test_what_is_not_as_expected_is_shown_with_its_answer() -> None:
    text = shown(an_outcome(a_set(TALL, CaseTurn("Is it old?")), POOR, GOOD))
    assert "1 of 2 (50%)" in text
    assert "1  How tall is it?\n    words only in a quote\n    It is tall [1]." in text
    assert "Is it old?" not in text


def test_a_run_is_compared_with_an_earlier_one(tmp_path: Path) -> None:
    questions = a_set(TALL, LATER, CaseTurn("Is it old?"))
    file = tmp_path / "before.json"
    file.write_text(json.dumps(an_outcome(questions, GOOD, POOR, POOR)), encoding="utf-8")
    now = an_outcome(a_set(CaseTurn("New?"), *questions_of(questions)), GOOD, REFUSAL, GOOD, GOOD,
                     max_usd=3)  # fmt: skip
    text = shown(now, read_earlier(file))
    assert "before.json" in text
    assert "max_usd" in text
    assert "depth" not in text, "only what differs"
    assert "2  How tall is it?\n    ✓ → refused" in text
    assert "3  And now?\n    words only in a quote → ✓" in text
    assert "Is it old?" not in text
    assert "New?" not in text


def questions_of(questions: QuestionSet) -> list[CaseTurn]:
    return [case.turns[0] for case in questions.cases]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"results": 1}', '{"results": [{}]}'])
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.json"
    with pytest.raises(Invalid, match="cannot be read"):
        read_earlier(file)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(Invalid, match="is not what `footnote eval --json` printed"):
        read_earlier(file)


def test_long_names_and_questions_are_folded_and_fit_the_terminal(tmp_path: Path) -> None:
    long = replace(TALL, question="Why is the tower that stands in Paris so tall? " * 6)
    outcome = an_outcome(a_set(long), POOR)
    file = tmp_path / ("a-very-long-name-of-a-file-" * 4 + ".json")
    file.write_text(json.dumps(outcome), encoding="utf-8")
    assert max(map(len, shown(outcome, read_earlier(file)).splitlines())) <= 100


def test_remarks_end_the_tables() -> None:
    outcome = {**an_outcome(a_set(TALL), GOOD), "remarks": ["The budget left 1 unasked."]}
    assert shown(outcome).endswith("The budget left 1 unasked.")


# ---------------------------------------------------------------- the announcement


@pytest.mark.parametrize(
    ("forecast", "said"),
    [
        (Forecast(3, 0, 0.0, ""), "No model is used: it costs nothing."),
        (Forecast(3, 2, 0.35, ""), "2 answer(s) of an earlier call kept; --fresh asks again."),
        (Forecast(3, 2, 0.35, ""), "3 to ask: about 0.35 USD. Budget: 0.70 USD"),
        (Forecast(3, 0, 0.0, "my-model"), "The price of my-model is not known"),
        (Forecast(3, 0, 0.0, "my-model"), "FOOTNOTE_PRICES"),
    ],
)
def test_the_cost_is_announced(forecast: Forecast, said: str) -> None:
    text = " ".join(announcement(an_evaluation(a_set(TALL)), forecast, 0.70))
    assert text.startswith("tower.yaml: 1 question(s).")
    assert said in text
    assert ("costs nothing" in text) is (not forecast.usd and not forecast.unpriced)
