"""An evaluation as JSON: the stable output format of ``footnote eval --json``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from bot.evaluation.results import Figures, Outcome, Result, SideResults
from bot.rendering.documents import answer_document


def evaluation_document(outcome: Outcome, *, interrupted: bool) -> dict[str, Any]:
    """Return the whole outcome; ``differ`` lists the questions on which two settings differ."""
    return {
        "questions": outcome.questions.name,
        "interrupted": interrupted,
        "complete": outcome.is_whole,
        "as_expected": outcome.as_expected,
        "remarks": list(outcome.remarks),
        "differ": [name for name in outcome.names() if outcome.differs(name)],
        "sides": [_side(side) for side in outcome.sides],
    }


def _side(side: SideResults) -> dict[str, Any]:
    return {
        "name": side.name,
        "settings": dict(side.settings),
        "figures": _figures(side.figures),
        "results": [_result(each) for each in side.results.values()],
    }


def _figures(figures: Figures) -> dict[str, Any]:
    fields = asdict(figures)
    for name in ("usd", "judging_usd"):
        fields[name] = round(fields[name], 6)
    for name in ("seconds", "slow_seconds"):
        fields[name] = round(fields[name], 3)
    for spent in fields["kinds"].values():
        spent["usd"] = round(spent["usd"], 6)
    per_sentence = figures.footnotes_per_sentence
    return fields | {
        "footnotes_per_sentence": None if per_sentence is None else round(per_sentence, 3)
    }


def _result(result: Result) -> dict[str, Any]:
    asked, score = result.asked, result.score
    return {
        "id": result.name,
        "line": asked.line,
        "question": asked.question,
        "expected": {
            "words": [list(group) for group in asked.words],
            "page": [list(group) for group in asked.pages],
            "answer": asked.answer,
            "refuse": asked.refuse,
        },
        "as_expected": score.as_expected,
        "amiss": list(score.amiss),
        "score": asdict(score),
        "verdict": asdict(result.verdict) if result.verdict else None,
        "calls": {kind: asdict(spent) for kind, spent in result.kinds.items()},
        "answer": answer_document(result.answer),
    }
