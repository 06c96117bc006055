"""Measures how often all pages of a question of several hops are read, and its answer quoted.

100 questions of MuSiQue (2 to 4 hops) over 7,882 pages. Compared are one search by BM25 (its best
4 and 8 pages), a naive hop (the best page's search results, then those of the titles found), and
the closest passages, over BM25 in memory and over the index of local
documents: of one run, the first 4 and the first 8 pages read. Then XQuAD, in English and in
Chinese: 240 paragraphs are the pages, one of them answers each question, and every tenth of 1,190
questions is asked. A page is titled by its first words, since XQuAD names no pages.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bot.text.terms import fold
from tests.bench.corpus import IndexedCorpus, MemoryCorpus, Worked, a_store, indexed, work
from tests.bench.frame import SHARED, options, print_table

AT = (4, 8)  # pages
TITLE = 24  # characters of a paragraph that title it


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    gold: frozenset[str]
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One way of reading: over ``pages`` pages the rate of questions with all gold pages, the
    mean share of gold pages; for quoted answers the rate of those that hold the answer, and the
    sentences that the check doubts (None where nothing is written)."""

    way: str
    pages: int
    all_gold: float
    recall: float
    answered: float | None = None


def main(argv: list[str]) -> None:
    parser = options("multihop", __doc__)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--pages", type=int, help="of the corpus, beside those of the questions")
    parser.add_argument("--every", type=int, default=10, help="questions of XQuAD: every so many")
    given = parser.parse_args(argv)
    if given.quick:
        given.questions, given.pages, given.every = 1, 20, 1190
    print_table(
        ["way", "pages", "all gold", "recall", "answer quoted"],
        [
            [
                row.way,
                row.pages,
                f"{row.all_gold:.0%}",
                f"{row.recall:.2f}",
                "" if row.answered is None else f"{row.answered:.0%}",
            ]
            for row in asyncio.run(run(given.questions, given.pages))
        ],
    )
    print()
    print_table(
        ["XQuAD", "questions", "read first", f"in {AT[0]}", "answer quoted"],
        [
            (language, size, *(f"{share:.0%}" for share in shares))
            for language in ("en", "zh")
            for size, *shares in [asyncio.run(paragraphs(language, given.every))]
        ],
    )


def load() -> tuple[dict[str, str], list[Question]]:
    """The corpus (title → text) and the questions."""
    folder = SHARED / "multihop"
    pages: dict[str, str] = json.loads((folder / "pages.json").read_text(encoding="utf-8"))
    questions = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    return pages, [
        Question(q["question"], frozenset(q["gold"]), (q["answer"], *q["aliases"]))
        for q in questions
    ]


async def run(most: int = 100, others: int | None = None) -> list[Row]:
    """All ways over the first ``most`` questions, and their pages with so many others."""
    pages, questions = load()
    pages = _fewer(pages, questions[:most], others)
    memory, questions = MemoryCorpus(pages), questions[:most]
    rows = _scored("one search", questions, lambda q: _one_search(memory, q.text))
    rows += _scored("naive hop", questions, lambda q: _naive_hop(memory, q.text))
    rows += await _closest("closest passages, BM25", questions, memory)
    async with indexed(pages) as corpus:
        rows += await _closest("closest passages, local index", questions, corpus)
    return rows


def _fewer(
    pages: Mapping[str, str], questions: Sequence[Question], others: int | None
) -> dict[str, str]:
    wanted = {title for question in questions for title in question.gold}
    beside = [title for title in pages if title not in wanted][:others]
    kept = wanted.union(beside)
    return {title: text for title, text in pages.items() if title in kept}


def _one_search(corpus: MemoryCorpus, question: str) -> list[str]:
    return [corpus.title(url) for url in corpus.best(question, max(AT))]


def _naive_hop(corpus: MemoryCorpus, question: str) -> list[str]:
    """The best two pages, then what the titles of the best pages find, in turns."""
    first = corpus.best(question, 2)
    hops = [corpus.best(f"{corpus.title(url)} {question}", 8) for url in first]
    found = [*first, *(url for pair in zip(*hops, strict=False) for url in pair)]
    return [corpus.title(url) for url in dict.fromkeys(found)][: max(AT)]


async def _closest(
    way: str, questions: Sequence[Question], corpus: MemoryCorpus | IndexedCorpus
) -> list[Row]:
    worked: dict[Question, Worked] = {}
    async with a_store() as store:
        for question in questions:
            worked[question] = await work(question.text, corpus, store, pages=max(AT))
    answered = sum(holds_answer(worked[q].quoted, q.answers) for q in questions)
    *others, last = _scored(way, questions, lambda q: worked[q].read)
    rate = answered / len(questions)
    return [*others, Row(last.way, last.pages, last.all_gold, last.recall, rate)]


def _scored(
    way: str, questions: Sequence[Question], read: Callable[[Question], Sequence[str]]
) -> list[Row]:
    rows = []
    for pages in AT:
        found = [len(q.gold.intersection(read(q)[:pages])) / len(q.gold) for q in questions]
        all_gold = sum(share == 1.0 for share in found) / len(found)
        rows.append(Row(way, pages, all_gold, sum(found) / len(found)))
    return rows


def holds_answer(text: str, answers: Sequence[str]) -> bool:
    """Return True if a text has one of the answers, whatever its case, accents and spaces."""
    plain = "".join(fold(text).split())
    return any("".join(fold(answer).split()) in plain for answer in answers)


async def paragraphs(language: str, every: int) -> tuple[int, float, float, float]:
    """Of every so many questions of XQuAD: how many, and the shares with their page read first,
    read at all, and the answer quoted."""
    path = SHARED / "chinese" / f"xquad.{language}.json"
    pages: dict[str, str] = {}
    asked: list[tuple[str, str, str]] = []
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            title = f"{paragraph['context'][:TITLE]}… {len(pages)}"
            pages[title] = paragraph["context"]
            asked += [(qa["question"], title, qa["answers"][0]["text"]) for qa in paragraph["qas"]]
    asked = asked[::every]
    corpus = MemoryCorpus(pages)
    first = read = answered = 0
    async with a_store() as store:
        for question, gold, answer in asked:
            result = await work(question, corpus, store, pages=AT[0])
            first += result.read[:1] == (gold,)
            read += gold in result.read
            answered += "".join(answer.split()) in "".join(result.quoted.split())
    size = len(asked)
    return size, first / size, read / size, answered / size
