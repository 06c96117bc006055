"""The share of ordinary queries that are kept from the web by mistake.

A query is judged as ``research.evidence.exposure`` judges it in a run that was shown the pages as
documents, or the earlier questions of a thread as answers. Nothing of them counts as public, which
is stricter than any run. Queries are those

  loop        of runs without a model, over MuSiQue's pages
  hops        a model would make of MuSiQue's chains: titles of gold pages, words of the question
  follow-ups  a model would make of the turns of CAsT: the standalone question, and its words
  manual      titles of pages of cloud documentation, with words of a question
  Chinese     titles of statutes, with words of a lay question

"refused" are queries that a rule on keys, length or repeated passages refuses: false alarms.
"other words" are those that hold a word which no person wrote, and which are refused besides where
documents are kept from the web and no web page has the word: what that setting costs at most.

Run: python -m tests.bench queries [--questions N]
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.research.evidence.outgoing import LONGEST, Exposure
from bot.text.terms import content_words
from tests.bench import multihop, rewriting
from tests.bench.corpus import SHARED, MemoryCorpus, a_store, work
from tests.bench.table import print_table

WORDS = 3  # of a question that stand beside a title in a query


@dataclass(frozen=True, slots=True)
class Case:
    """The queries of one run, in order, with what people wrote and what was shown in it."""

    people: Sequence[str]
    private: Sequence[str]
    queries: Sequence[str]
    titles: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """Of ``queries`` those that are refused, and those with other words than people's."""

    way: str
    queries: int
    refused: tuple[str, ...]
    other_words: int


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="queries", description=__doc__)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--named", action="store_true", help="name the refused queries")
    given = parser.parse_args(argv)
    rows = run(given.questions)
    total = sum(row.queries for row in rows)
    refused = sum(len(row.refused) for row in rows)
    others = sum(row.other_words for row in rows)
    cells = [(row.way, row.queries, len(row.refused), row.other_words) for row in rows]
    print_table(
        ["way", "queries", "refused", "per 1,000", "other words"],
        [
            [way, queries, no, f"{no * 1000 / max(queries, 1):.2f}", other]
            for way, queries, no, other in (*cells, ("all", total, refused, others))
        ],
    )
    if given.named:
        for row in rows:
            for query in row.refused:
                print(f"{row.way}: {query}")


def run(questions: int = 100) -> list[Row]:
    """All ways, over the first so many questions of each set."""
    return [
        judged("loop", asyncio.run(_loop(questions))),
        judged("hops", list(_hops(questions))),
        judged("follow-ups", list(_follow_ups(questions))),
        judged("manual", list(_titled("aws.en.json", questions))),
        judged("Chinese", list(_titled("statutes.zh.json", questions))),
    ]


def judged(way: str, cases: Sequence[Case]) -> Row:
    """The queries of some runs: which are refused, and how many more the strict rule refuses."""
    refused: list[str] = []
    others = 0
    for case in cases:
        loose, strict = _exposure(case, keeps=False), _exposure(case, keeps=True)
        for query in case.queries:
            if loose.objection(query):
                refused.append(query)
            elif strict.objection(query):
                others += 1
    return Row(way, sum(len(case.queries) for case in cases), tuple(refused), others)


def _exposure(case: Case, *, keeps: bool) -> Exposure:
    exposure = Exposure()
    for text in case.people:
        exposure.people.add(text)
    for text in case.private:
        exposure.private.add(text)
    for title in case.titles:
        exposure.titles.add(title)
    exposure.has_document = keeps
    return exposure


async def _loop(questions: int) -> list[Case]:
    pages, asked = multihop.load()
    corpus = MemoryCorpus(pages)
    cases = []
    async with a_store() as store:
        for question in asked[:questions]:
            worked = await work(question.text, corpus, store, pages=max(multihop.AT))
            shown = [p.text for source in worked.evidence.sources for p in source.passages]
            cases.append(
                Case((question.text,), (*worked.read, *shown), worked.searched, worked.read)
            )
    return cases


def _hops(questions: int) -> Iterator[Case]:
    pages, asked = multihop.load()
    for question in asked[:questions]:
        words = content_words(question.text)
        gold = sorted(question.gold)
        queries = [
            f"{name} {word}" for name in (*gold, question.answers[0]) for word in words[:WORDS]
        ]
        yield Case((question.text,), [*gold, *(pages[title] for title in gold)], queries, gold)


def _follow_ups(questions: int) -> Iterator[Case]:
    """Each turn in turn: what earlier turns meant was written by a model, as their questions."""
    for turns in (*rewriting.cast_2019(), *rewriting.cast_2020())[:questions]:
        for number in range(1, len(turns)):
            meant = turns[number].meant
            queries = [meant[:LONGEST], " ".join(content_words(meant)[:6])]
            said = [turn.said for turn in turns[: number + 1]]
            yield Case(said, [turn.meant for turn in turns[:number]], queries)


def _titled(name: str, questions: int) -> Iterator[Case]:
    given = json.loads((SHARED / "own-words" / name).read_text(encoding="utf-8"))
    for asked in given["queries"][:questions]:
        words = content_words(asked["question"])[:WORDS]
        documents = [
            _titled_text(key, given["documents"][key])
            for key in asked["relevant"]
            if key in given["documents"]
        ]
        queries = [f"{title} {word}" for title, _ in documents for word in words]
        texts = [part for document in documents for part in document]
        yield Case((asked["question"],), texts, queries, [title for title, _ in documents])


def _titled_text(key: str, document: str | dict[str, str]) -> tuple[str, str]:
    return (key, document) if isinstance(document, str) else (document["title"], document["text"])
