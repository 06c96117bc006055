"""Speed of indexing, searching and answering from local documents, and size of the index.

Documents are made of the pages of the MuSiQue set (``multihop/pages.json``), eight to a document
(or ``--pages``) under headings of their own, repeated until there are enough passages; every
repetition shuffles the sentences and marks some of its names, so that its words are neither the
same nor strangers. Questions are those of the set, of several hops each; the first 200 of them are
also answered without a model, by an app that is open.

Run: python -m tests.bench indexing [--passages N] [--pages N] [--questions N]
50,000 small files: --passages 100000 --pages 1
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.search.index_report import IndexReport
from bot.search.indexer import Indexer
from bot.search.local import LocalDocuments
from bot.search.provider import Query
from bot.search.unchanged import CheckProcess
from tests.bench.documentation.asking import open_footnote
from tests.bench.table import ms, percentile, print_table

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "multihop"
PAGES_IN_DOCUMENT = 8
ANSWERS = 200
CHANGED_SHARE = 0.01

_SENTENCE_END = re.compile(r"(?<=[.!?]) +(?=[A-Z])")
_NAME = re.compile(r"\b[A-Z][a-z]{3,}\b")


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurements of one bench; times in seconds."""

    documents: int
    passages: int
    text_bytes: int
    index_bytes: int
    first_run: float
    unchanged_run: float
    changed_run: float
    check: float
    queries: tuple[float, ...]
    answers: tuple[float, ...]


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="indexing", description=__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--pages", type=int, default=PAGES_IN_DOCUMENT, help="in a document")
    parser.add_argument("--questions", type=int, help="at most; default: all of the set")
    options = parser.parse_args(argv)
    found = measure(options.passages, options.pages, options.questions)
    print_table(
        ["measured", "value", "target"],
        [
            ["documents", f"{found.documents:,}", ""],
            ["passages", f"{found.passages:,}", ""],
            ["text", f"{found.text_bytes / 1e6:.1f} MB", ""],
            ["passages indexed a second", f"{found.passages / found.first_run:,.0f}", "> 3,000"],
            ["run with nothing changed", ms(found.unchanged_run), ""],
            ["process that sees it, beside loading", ms(found.check), "< 500 ms"],
            [f"run with {CHANGED_SHARE:.0%} changed", ms(found.changed_run), ""],
            ["query, median", ms(statistics.median(found.queries)), "< 20 ms"],
            ["query, 95th percentile", ms(percentile(found.queries, 0.95)), ""],
            ["answer, median", ms(statistics.median(found.answers)), "< 400 ms"],
            ["answer, 99th percentile", ms(percentile(found.answers, 0.99)), "< 2 s"],
            ["index size over text size", f"{found.index_bytes / found.text_bytes:.2f}", ""],
        ],
    )


def measure(passages: int, pages: int, most: int | None = None) -> Measured:
    """Index and search documents with about so many passages, of so many pages each; ``most`` are
    the questions asked at most."""
    asked = json.loads((SHARED / "questions.json").read_text(encoding="utf-8"))
    questions = [each["question"] for each in asked][:most]
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder, "docs")
        index = Path(folder, "index.sqlite")
        files = _write_documents(docs, passages, pages)
        first = Indexer(index).index([docs])
        index_bytes = index.stat().st_size
        text_bytes = sum(file.stat().st_size for file in files)
        unchanged = Indexer(index).index([docs])
        started = time.perf_counter()
        with CheckProcess(index, [docs]) as process:
            process.report()
        check = time.perf_counter() - started
        changed = _change_some(files, Indexer(index), docs)
        queries = asyncio.run(_time_queries(index, docs, questions))
        answers = asyncio.run(_time_answers(Path(folder), docs, questions[:ANSWERS]))
    return Measured(
        documents=len(files),
        passages=first.passages,
        text_bytes=text_bytes,
        index_bytes=index_bytes,
        first_run=first.seconds,
        unchanged_run=unchanged.seconds,
        changed_run=changed.seconds,
        check=check,
        queries=queries,
        answers=answers,
    )


def _write_documents(docs: Path, passages: int, pages: int) -> list[Path]:
    docs.mkdir()
    files = []
    total = 0
    for number, (text, count) in enumerate(_documents(pages)):
        file = docs / f"{number % 100:02}" / f"{number}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        files.append(file)
        total += count
        if total >= passages:
            break
    return files


def _documents(together: int) -> Iterator[tuple[str, int]]:
    """Endless documents, of so many pages, and how many passages each is likely to have."""
    pages = json.loads((SHARED / "pages.json").read_text(encoding="utf-8"))
    titles = list(pages)
    chance = random.Random(1)
    repetition = 0
    while True:
        for start in range(0, len(titles), together):
            chosen = titles[start : start + together]
            sections = [
                f"## {title}\n\n{_varied(pages[title], repetition, chance)}" for title in chosen
            ]
            text = f"# {chosen[0]} and more\n\n" + "\n\n".join(sections) + "\n"
            yield text, sum(1 + len(pages[title]) // 400 for title in chosen)
        repetition += 1


def _varied(text: str, repetition: int, chance: random.Random) -> str:
    if repetition == 0:
        return text
    sentences = _SENTENCE_END.split(text)
    chance.shuffle(sentences)
    return _NAME.sub(
        lambda match: match[0] + (str(repetition) if chance.random() < 0.2 else ""),
        " ".join(sentences),
    )


def _change_some(files: list[Path], indexer: Indexer, docs: Path) -> IndexReport:
    for file in files[:: int(1 / CHANGED_SHARE)]:
        file.write_text(file.read_text(encoding="utf-8") + "\nOne more line.\n", encoding="utf-8")
    return indexer.index([docs])


async def _time_queries(index: Path, docs: Path, questions: Sequence[str]) -> tuple[float, ...]:
    documents = LocalDocuments(index, [docs])
    await documents.search(Query("warm up", 10))
    times = []
    for question in questions:
        started = time.perf_counter()
        await documents.search(Query(question, 10))
        times.append(time.perf_counter() - started)
    await documents.aclose()
    return tuple(times)


async def _time_answers(data: Path, docs: Path, questions: Sequence[str]) -> tuple[float, ...]:
    """Seconds of each answer; ``data`` is the folder of the index."""
    times = []
    async with open_footnote(docs, data) as ask:
        await ask("Where is the warm-up?")
        for question in questions:
            started = time.perf_counter()
            await ask(question)
            times.append(time.perf_counter() - started)
    return tuple(times)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
