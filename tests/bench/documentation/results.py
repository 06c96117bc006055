"""Outcomes of a set and half, added up; as JSON and back."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tests.bench.documentation.questions import Half
from tests.bench.documentation.scoring import Answered, Refusal
from tests.bench.table import percentile

TOTAL = "all"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of one half of a set's questions."""

    name: str
    half: Half
    answered: tuple[Answered, ...]
    refusals: tuple[Refusal, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """Counts of ``Outcome``s added up; ``length`` is the median in words, times in seconds."""

    name: str
    answerable: int
    plain_page: int
    page: int
    plain_words: int
    words: int
    wrongly_refused: int
    off_topic: int
    refused: int
    quotes: int
    true_quotes: int
    length: float
    median: float
    p99: float


def row(name: str, outcomes: Iterable[Outcome]) -> Row:
    """Raises ``StatisticsError`` where there is no outcome at all."""
    found = list(outcomes)
    answered = [each for outcome in found for each in outcome.answered]
    refusals = [each for outcome in found for each in outcome.refusals]
    seconds = [each.seconds for each in answered] + [each.seconds for each in refusals]
    lengths = [each.length for each in answered if not each.refused]
    return Row(
        name=name,
        answerable=len(answered),
        plain_page=sum(each.plain_page for each in answered),
        page=sum(each.page for each in answered),
        plain_words=sum(each.plain_words for each in answered),
        words=sum(each.words for each in answered),
        wrongly_refused=sum(each.refused for each in answered),
        off_topic=len(refusals),
        refused=sum(each.refused for each in refusals),
        quotes=sum(each.quotes for each in answered),
        true_quotes=sum(each.true_quotes for each in answered),
        length=statistics.median(lengths) if lengths else 0.0,
        median=statistics.median(seconds),
        p99=percentile(seconds, 0.99),
    )


def rows(outcomes: Sequence[Outcome]) -> list[Row]:
    """One row for each set in the order of the outcomes, and all of them together."""
    names = list(dict.fromkeys(outcome.name for outcome in outcomes))
    each = [row(name, (one for one in outcomes if one.name == name)) for name in names]
    return [*each, row(TOTAL, outcomes)]


def common(
    before: Sequence[Outcome], after: Sequence[Outcome]
) -> tuple[list[Outcome], list[Outcome]]:
    """Both, limited to the sets, halves and questions that are in both."""
    asked = _asked(before) & _asked(after)
    return _limited(before, asked), _limited(after, asked)


_Asked = set[tuple[str, Half, str]]


def _asked(outcomes: Iterable[Outcome]) -> _Asked:
    return {
        (outcome.name, outcome.half, id)
        for outcome in outcomes
        for id in (
            *(each.id for each in outcome.answered),
            *(each.id for each in outcome.refusals),
        )
    }


def _limited(outcomes: Iterable[Outcome], asked: _Asked) -> list[Outcome]:
    limited = [
        replace(
            outcome,
            answered=tuple(
                each for each in outcome.answered if (outcome.name, outcome.half, each.id) in asked
            ),
            refusals=tuple(
                each for each in outcome.refusals if (outcome.name, outcome.half, each.id) in asked
            ),
        )
        for outcome in outcomes
    ]
    return [outcome for outcome in limited if outcome.answered or outcome.refusals]


# ---------------------------------------------------------------- JSON


def save(file: Path, outcomes: Sequence[Outcome], indexes: dict[str, Any]) -> None:
    """Write outcomes; they hold neither questions nor answers, so that nobody learns the kept
    half from them."""
    value = {"indexes": indexes, "outcomes": [asdict(outcome) for outcome in outcomes]}
    file.write_text(json.dumps(value, indent=1, ensure_ascii=False), encoding="utf-8")


def restored(file: Path) -> list[Outcome]:
    """Outcomes that ``save`` wrote. Raises ``SystemExit`` for another file."""
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
        return [
            Outcome(
                each["name"],
                each["half"],
                tuple(Answered(**one) for one in each["answered"]),
                tuple(Refusal(**one) for one in each["refusals"]),
            )
            for each in value["outcomes"]
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{file} holds no results of this bench: {error}") from None
