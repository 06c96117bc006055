"""The JSON of an evaluation."""

from __future__ import annotations

import json

from bot.evaluation.document import evaluation_document
from tests.unit.evaluation.samples import GOOD, POOR, TALL, a_set, an_outcome


def test_the_document_is_json_with_every_field() -> None:
    outcome = an_outcome(a_set(TALL), (GOOD,), (POOR,))
    document = json.loads(json.dumps(evaluation_document(outcome, interrupted=False)))

    assert list(document) == [
        "questions",
        "interrupted",
        "complete",
        "as_expected",
        "remarks",
        "differ",
        "sides",
    ]
    assert (document["as_expected"], document["differ"]) == (True, ["1"])
    first, second = document["sides"]
    assert list(first) == ["name", "settings", "figures", "results"]
    assert first["figures"]["words_said"] == {"count": 1, "of": 1}
    [result] = second["results"]
    assert list(result) == [
        "id",
        "line",
        "question",
        "expected",
        "as_expected",
        "amiss",
        "score",
        "verdict",
        "calls",
        "answer",
    ]
    assert result["amiss"] == ["words only in a quote"]
    assert result["answer"]["answer"] == "It is tall [1]."
