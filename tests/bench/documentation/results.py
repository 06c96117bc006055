"""Outcomes of a set and half: added up, as JSON, as tables."""

from __future__ import annotations

import json
import statistics
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.bench.documentation.questions import Answerable, Half, OffTopic
from tests.bench.documentation.scoring import Answered, Refusal
from tests.bench.frame import percentile, print_table

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


# ---------------------------------------------------------------- JSON


def save(file: Path, outcomes: Sequence[Outcome], indexes: dict[str, Any]) -> None:
    """Write outcomes; they hold neither questions nor answers, so that nobody learns the kept
    half from them."""
    value = {"indexes": indexes, "outcomes": [asdict(outcome) for outcome in outcomes]}
    file.write_text(json.dumps(value, indent=1, ensure_ascii=False), encoding="utf-8")


# ---------------------------------------------------------------- tables

HEADER = (
    "set",
    "questions",
    "page: FTS5",
    "Footnote",
    "words: FTS5",
    "Footnote",
    "wrongly refused",
    "off-topic refused",
    "quotes that stand",
    "answer, words",
    "median",
    "p99",
)


@dataclass(frozen=True, slots=True)
class Failed:
    """A question of the tuning half that went wrong, with what was said."""

    item: Answerable | OffTopic
    lacks: str
    said: dict[str, Any]
    cited: tuple[str, ...]
    false_quotes: tuple[str, ...] = ()


def show(title: str, outcomes: Sequence[Outcome]) -> None:
    """A table of the outcomes, one row for each set."""
    print(f"\n{title}")
    print_table(HEADER, [_cells(row) for row in rows(outcomes)])


def _cells(row: Row) -> list[object]:
    return [
        row.name,
        row.answerable,
        share(row.plain_page, row.answerable),
        share(row.page, row.answerable),
        share(row.plain_words, row.answerable),
        share(row.words, row.answerable),
        share(row.wrongly_refused, row.answerable),
        share(row.refused, row.off_topic),
        f"{row.true_quotes / row.quotes:.1%}" if row.quotes else "-",
        f"{row.length:.0f}",
        f"{row.median:.2f} s",
        f"{row.p99:.2f} s",
    ]


def show_kinds(outcomes: Sequence[Outcome]) -> None:
    """The same by kinds of questions, of all sets together."""
    answered = [each for outcome in outcomes for each in outcome.answered]
    refusals = [each for outcome in outcomes for each in outcome.refusals]
    print()
    rows_of_kinds: list[list[object]] = []
    for kind in sorted({each.kind for each in answered}):
        found = [each for each in answered if each.kind == kind]
        pages = [sum(each.plain_page for each in found), sum(each.page for each in found)]
        words = [sum(each.plain_words for each in found), sum(each.words for each in found)]
        counts = (*pages, *words, sum(each.refused for each in found))
        rows_of_kinds.append([kind, len(found), *(share(count, len(found)) for count in counts)])
    print_table(("kind", *HEADER[1:7]), rows_of_kinds)
    print()
    print_table(
        ("off-topic kind", "questions", "refused"),
        [
            [kind, len(refused), share(sum(refused), len(refused))]
            for kind in sorted({each.kind for each in refusals})
            if (refused := [each.refused for each in refusals if each.kind == kind])
        ],
    )


def share(count: int, total: int) -> str:
    """A count with its percentage."""
    return f"{count} ({count / total:.0%})" if total else "-"


# ---------------------------------------------------------------- failures

SHOWN = 12  # lines of an answer


def show_failures(failures: Sequence[Failed]) -> None:
    """Print what went wrong, for a person who works on it."""
    for failed in failures:
        item = failed.item
        print(f"\n--- {item.id} ({item.kind}): {failed.lacks}")
        print(f"question  {item.question}")
        if isinstance(item, Answerable):
            print(f"expected  {', '.join(item.pages)}")
            print(f"words     {' or '.join(' + '.join(each) for each in item.words)}")
        print(f"queries   {' | '.join(failed.said['queries'])}")
        print(f"cited     {', '.join(failed.cited) or 'nothing'}")
        lines = [line for line in failed.said["answer"].splitlines() if line.strip()]
        for line in lines[:SHOWN]:
            print(f"    {textwrap.shorten(line, 160, placeholder=' …')}")
        for quote in failed.false_quotes:
            print(f"false     {textwrap.shorten(quote, 300, placeholder=' …')}")
