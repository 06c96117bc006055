"""Measures how well the check of answers tells true sentences from false ones.

Each item is one sentence with the words of a page that it cites, true to them or false in a known
way (tests/bench/check_sets; quotes are resolved from the shared data). Rules may
be made from those of ``tune``; those of ``held`` are kept apart for measuring alone, and the later
half of them was written by people who had not seen a rule. Most of ``tune`` was made to find what
the rules get wrong: shares of ``tune`` say nothing of how the check does on new sentences.

The first step is ``bot.research.answer.check.check`` on an answer of that sentence. For the second,
a judge that sees nothing but sentence and quotes:

  python -m tests.bench check --write-judge-input batches.txt   (held items, without their labels)
  python -m tests.bench check --judge verdicts.txt

``verdicts.txt`` has a line for each item, "en-0a1b2c supported": supported, partly, unsupported
or contradicted, and then whatever the judge would like to say. All but "supported" marks the
sentence. Items without a verdict are left out and counted.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.pages.passages import Passage
from bot.reasoning.evidence import AnswerDelta, CitationDelta, Evidence, Source, TextDelta
from bot.research.answer.check import check
from bot.research.answer.write import Written, write
from tests.bench.check_items import (
    FALSE_KINDS,
    HALVES,
    LANGUAGES,
    TRUE_KINDS,
    Item,
    Quote,
    items,
    page_of,
    words_of,
)
from tests.bench.table import ms, percentile, print_table
from tests.unit.samples import NOW

BATCH = 12  # sentences of one answer, as a judge is given them
VERDICTS = ("supported", "partly", "unsupported", "contradicted")


@dataclass(frozen=True, slots=True)
class Judged:
    """The first step's verdict on an item: why it was marked, or "", and in how many seconds."""

    item: Item
    reason: str
    seconds: float


Marks = Callable[[Judged], bool]


def main(argv: list[str]) -> None:
    options = _options(argv)
    if options.write_judge_input:
        held = [item for language in options.language for item in items(language, "held")]
        chosen = shuffled(held)[: options.items]
        options.write_judge_input.write_text(judge_input(chosen), encoding="utf-8")
        print(f"{len(chosen)} items to judge: {options.write_judge_input}")
        return
    verdicts = read_verdicts(options.judge) if options.judge else {}
    halves = HALVES if options.half == "both" else (options.half,)
    for language in options.language:
        chosen = [item for half in halves for item in items(language, half)]
        judged = asyncio.run(first_step(chosen[: options.items]))
        if not judged:
            continue
        if verdicts:
            _print_steps(language, judged, verdicts)
        else:
            _print_halves(language, halves, judged)
        middle = percentile([each.seconds for each in judged], 0.5)
        print(f"first step: {ms(middle)} a sentence (median)\n")
        if options.failures:
            _print_failures(judged)


def _options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m tests.bench check",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--half", choices=(*HALVES, "both"), default="both")
    parser.add_argument("--language", choices=LANGUAGES, nargs="+", default=LANGUAGES)
    parser.add_argument("--items", type=int, help="only so many, of each language or to judge")
    parser.add_argument(
        "--failures", action="store_true", help="list what is misjudged of the tune half"
    )
    parser.add_argument("--judge", type=Path, help="verdicts of a second step")
    parser.add_argument(
        "--write-judge-input", type=Path, metavar="FILE", help="write the held items for a judge"
    )
    return parser.parse_args(argv)


# ---------------------------------------------------------------- the first step


async def first_step(chosen: Sequence[Item]) -> list[Judged]:
    """Check every item as an answer of one sentence."""
    judged = []
    for item in chosen:
        written, evidence = await answer_of(item)
        began = time.perf_counter()
        checked = check(written, evidence, item.question)
        seconds = time.perf_counter() - began
        reason = "; ".join(doubt.reason for doubt in checked.doubts)
        judged.append(Judged(item, reason, seconds))
    return judged


async def answer_of(item: Item) -> tuple[Written, Evidence]:
    """An answer that is the item's sentence, cited to its quotes, and the pages it was given."""
    evidence = Evidence(sources=_sources(item.quotes))
    numbers = {source.title: source.number for source in evidence.sources}

    async def stream() -> AsyncIterator[AnswerDelta]:
        yield TextDelta(item.claim)
        for quote in item.quotes:
            yield CitationDelta(numbers[_title(quote)], quote.start, quote.end)

    return await write(stream(), evidence, lambda text: None), evidence


def _sources(quotes: Sequence[Quote]) -> tuple[Source, ...]:
    """The pages of the quotes: each quote is a passage, what stands between them are others."""
    by_page: dict[str, list[Quote]] = {}
    for quote in quotes:
        by_page.setdefault(_title(quote), []).append(quote)
    sources = []
    for number, (title, of_page) in enumerate(by_page.items(), start=1):
        page = page_of(of_page[0])
        passages: list[Passage] = []
        end = 0
        for quote in sorted(of_page, key=lambda quote: quote.start):
            words_of(quote)  # raises where the page has changed
            passages += _passage(page, end, quote.start)
            passages += _passage(page, quote.start, quote.end)
            end = quote.end
        passages += _passage(page, end, len(page))
        url = f"https://example.org/{number}"
        key = hashlib.sha256(page.encode()).hexdigest()
        sources.append(Source(number, url, title, tuple(passages), key, NOW))
    return tuple(sources)


def _passage(page: str, start: int, end: int) -> list[Passage]:
    words = page[start:end]
    return [Passage(start, end, words)] if words.strip() else []


def _title(quote: Quote) -> str:
    """A page's title as it is shown; paragraphs of XQuAD are named by article and number."""
    return quote.title.replace("_", " ") if quote.data.startswith("xquad") else quote.title


# ---------------------------------------------------------------- the second step


def shuffled(chosen: Sequence[Item]) -> list[Item]:
    """The items in an order that tells nothing of their labels, always the same."""
    return sorted(chosen, key=lambda item: hashlib.sha256(item.id.encode()).hexdigest())


def judge_input(chosen: Sequence[Item]) -> str:
    """The items as numbered pairs of sentence and quotes, in batches, without their labels."""
    lines: list[str] = []
    for number, item in enumerate(chosen):
        if number % BATCH == 0:
            lines += [f"==== batch {number // BATCH + 1}", ""]
        lines.append(f"{number % BATCH + 1}. {item.id}: {item.claim}")
        for quote in item.quotes:
            lines.append(f"   [{_title(quote)}] {' '.join(words_of(quote).split())}")
        lines.append("")
    return "\n".join(lines)


def read_verdicts(path: Path) -> dict[str, str]:
    """Verdicts by item id. Raises ``ValueError`` for a line that is none, or the second of one
    item."""
    known = {item.id for language in LANGUAGES for half in HALVES for item in items(language, half)}
    verdicts: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        key, verdict, *_ = (*line.split(), "")
        verdict = verdict.strip(".,:;").lower()
        if key not in known or verdict not in VERDICTS:
            given = f"{path}, line {number}: {line[:60]!r}"
            raise ValueError(f"{given} is not an item's id and one of {', '.join(VERDICTS)}")
        if key in verdicts:
            raise ValueError(f"{path}, line {number}: a second verdict on {key}")
        verdicts[key] = verdict
    return verdicts


# ---------------------------------------------------------------- tables


def by_first_step(judged: Judged) -> bool:
    return bool(judged.reason)


def _print_halves(language: str, halves: Sequence[str], judged: Sequence[Judged]) -> None:
    columns = [
        ([each for each in judged if each.item.half == half], by_first_step) for half in halves
    ]
    print_table((language, *halves), rows(columns))


def _print_steps(language: str, judged: Sequence[Judged], verdicts: Mapping[str, str]) -> None:
    having = [each for each in judged if each.item.id in verdicts]
    if not having:
        return

    def by_judge(each: Judged) -> bool:
        return verdicts[each.item.id] != "supported"

    def by_either(each: Judged) -> bool:
        return by_first_step(each) or by_judge(each)

    header = (language, "first step", "second step", "either")
    print_table(header, rows([(having, marks) for marks in (by_first_step, by_judge, by_either)]))
    print(f"{len(having)} of {len(judged)} items have a verdict")


def rows(columns: Sequence[tuple[Sequence[Judged], Marks]]) -> list[list[str]]:
    """A line for each kind, and the totals: of each column's sentences how many are marked."""
    found: list[list[str]] = []
    for label, kinds, total in (
        (False, FALSE_KINDS, "FALSE, FOUND"),
        (True, TRUE_KINDS, "TRUE, MARKED"),
    ):
        for kind, what in kinds.items():
            counts = [_count(judged, marks, label, kind) for judged, marks in columns]
            if any(size for _, size in counts):
                found.append([f"{kind}: {what}", *(f"{n} / {size}" for n, size in counts)])
        counts = [_count(judged, marks, label) for judged, marks in columns]
        found.append([total, *(_share(*count) for count in counts)])
    return found


def _count(judged: Sequence[Judged], marks: Marks, label: bool, kind: str = "") -> tuple[int, int]:
    """The numbers of marked items and of all items with this label and kind."""
    of_kind = [j for j in judged if j.item.label is label and kind in ("", j.item.kind)]
    return sum(map(marks, of_kind)), len(of_kind)


def _share(marked: int, size: int) -> str:
    return f"{marked} / {size} = {marked / size:.0%}" if size else "-"


def _print_failures(judged: Sequence[Judged]) -> None:
    for each in judged:
        item = each.item
        if item.half == "tune" and by_first_step(each) is item.label:
            wrong = f"marked ({each.reason})" if item.label else "not marked"
            print(f"{item.id} {item.label} {item.kind}, {wrong}\n  {item.claim}")
            for quote in item.quotes:
                print(f"  > [{_title(quote)}] {' '.join(words_of(quote).split())}")
