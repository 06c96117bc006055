"""Measures how well the check of answers tells true sentences from false ones.

Each item is one sentence with the words of a page that it cites, true to them or false in a known
way (tests/bench/check_sets; quotes are resolved from the shared data). Rules and prompts may
be made from those of ``tune``; those of ``held`` are kept apart for measuring alone, and the later
half of them was written by people who had not seen a rule. Most of ``tune`` was made to find what
the rules get wrong: shares of ``tune`` say nothing of how the check does on new sentences.

The first step is ``bot.research.checking.check`` on an answer of that sentence; it compares
figures, dates, names and calculations. The second is the configured small model, asked as the
product asks it, one call an item:

  ANTHROPIC_API_KEY=… python -m tests.bench check --model --half held --items 24

``--items`` takes so many false and so many true ones of each language, the same every time and
mixed. All but "supported" marks the sentence. Items without a verdict are left out and counted.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from bot.core.measurements import nothing_observed
from bot.operation.configuration import load_settings
from bot.pages.passages import Passage
from bot.reasoning.evidence import (
    AnswerDelta,
    CitationDelta,
    Claim,
    Evidence,
    Source,
    TextDelta,
    Verdict,
)
from bot.reasoning.reasoner import Researcher, chosen_reasoner
from bot.research.checking import check, cited_claim
from bot.research.composer import Written, write
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
from tests.bench.frame import ms, options, percentile, print_table
from tests.fakes.calls import MemoryCalls
from tests.unit.samples import NOW

CALLS = 8  # of the model at once


@dataclass(frozen=True, slots=True)
class Judged:
    """The first step's verdict on an item: why it was marked, or "", and in how many seconds; and
    the claim that the second step judges."""

    item: Item
    reason: str
    seconds: float
    claim: Claim


Marks = Callable[[Judged], bool]


def main(argv: list[str]) -> None:
    given = _given(argv)
    halves = HALVES if given.half == "both" else (given.half,)
    every = [
        item for language in given.language for half in halves for item in items(language, half)
    ]
    chosen = sample(every, given.items) if given.items else every
    judged = asyncio.run(first_step(chosen))
    verdicts = asyncio.run(second_step(judged)) if given.model else {}
    for language in given.language:
        of_language = [each for each in judged if each.item.language == language]
        if not of_language:
            continue
        if verdicts:
            _print_steps(language, of_language, verdicts)
        else:
            _print_halves(language, halves, of_language)
        middle = percentile([each.seconds for each in of_language], 0.5)
        print(f"first step: {ms(middle)} a sentence (median)\n")
        if given.failures:
            _print_failures(of_language, verdicts)


def _given(argv: list[str]) -> argparse.Namespace:
    parser = options("check", __doc__)
    parser.add_argument("--half", choices=(*HALVES, "both"), default="both")
    parser.add_argument("--language", choices=LANGUAGES, nargs="+", default=LANGUAGES)
    parser.add_argument("--items", type=int, help="only so many false and true ones of a language")
    parser.add_argument(
        "--failures", action="store_true", help="list what is misjudged of the tune half"
    )
    parser.add_argument("--model", action="store_true", help="ask the configured model too")
    given = parser.parse_args(argv)
    if given.quick:
        given.items = given.items or 4
    return given


def sample(every: Sequence[Item], count: int) -> list[Item]:
    """So many false and true items of each language, in an order that tells nothing of their
    labels, always the same. Kinds take turns."""
    mixed = sorted(every, key=lambda item: hashlib.sha256(item.id.encode()).hexdigest())
    taken: list[Item] = []
    for of_one in {(item.language, item.label): None for item in mixed}:
        kinds: dict[str, list[Item]] = {}
        for item in mixed:
            if (item.language, item.label) == of_one:
                kinds.setdefault(item.kind, []).append(item)
        turns = [one for turn in zip_longest(*kinds.values()) for one in turn if one is not None]
        taken += turns[:count]
    return sorted(taken, key=mixed.index)


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
        judged.append(Judged(item, reason, seconds, _claim(item, evidence)))
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


def _claim(item: Item, evidence: Evidence) -> Claim:
    """The item's sentence with its quotes, as the answer's own claims have them."""
    quoted = {(_title(quote), quote.start) for quote in item.quotes}
    return cited_claim(
        item.claim,
        [
            (source, passage)
            for source in evidence.sources
            for passage in source.passages
            if (source.title, passage.start) in quoted
        ],
    )


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


async def second_step(judged: Sequence[Judged]) -> dict[str, Verdict]:
    """The configured model's verdicts, by item; those that it does not give are missing."""
    settings = load_settings()
    declared = chosen_reasoner(settings)
    if declared.models(settings) is None:
        raise SystemExit("No model is configured: set ANTHROPIC_API_KEY, or FOOTNOTE_MODEL.")
    verdicts: dict[str, Verdict] = {}
    turn = asyncio.Semaphore(CALLS)
    async with declared.open(settings, nothing_observed, False) as reasoner:
        thinking = reasoner(MemoryCalls(limit=len(judged)))
        assert isinstance(thinking, Researcher)

        async def ask(each: Judged) -> None:
            async with turn:
                (verdict,) = await thinking.verify(
                    each.item.question, each.item.claim, [each.claim]
                )
            if verdict is not None:
                verdicts[each.item.id] = verdict

        await asyncio.gather(*(ask(each) for each in judged))
    return verdicts


# ---------------------------------------------------------------- tables


def by_first_step(judged: Judged) -> bool:
    return bool(judged.reason)


def _print_halves(language: str, halves: Sequence[str], judged: Sequence[Judged]) -> None:
    columns = [
        ([each for each in judged if each.item.half == half], by_first_step) for half in halves
    ]
    print_table((language, *halves), rows(columns))


def _print_steps(language: str, judged: Sequence[Judged], verdicts: Mapping[str, Verdict]) -> None:
    having = [each for each in judged if each.item.id in verdicts]
    if not having:
        return

    def by_judge(each: Judged) -> bool:
        return verdicts[each.item.id].judgement != "supported"

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


def _print_failures(judged: Sequence[Judged], verdicts: Mapping[str, Verdict]) -> None:
    for each in judged:
        item, verdict = each.item, verdicts.get(each.item.id)
        marked = bool(each.reason) if verdict is None else verdict.judgement != "supported"
        if item.half == "tune" and marked is item.label:
            why = f"{verdict.judgement}: {verdict.words}" if verdict else each.reason
            print(f"{item.id} {item.label} {item.kind}, {why or 'not marked'}\n  {item.claim}")
            for quote in item.quotes:
                print(f"  > [{_title(quote)}] {' '.join(words_of(quote).split())}")
