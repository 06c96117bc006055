"""How fast local documents are indexed and searched, and how much room the index takes.

Documents are made of the pages of the MuSiQue set (``multihop/pages.json``), eight to a document
under headings of their own, repeated until there are enough passages; every repetition shuffles
the sentences and marks some of its names, so that its words are neither the same nor strangers.
Questions are those of the set.

Run: python -m tests.bench.indexing [--passages N]
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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bot.search.index_report import IndexReport
from bot.search.indexer import Indexer
from bot.search.local import LocalDocuments
from bot.search.provider import Query
from tests.bench.table import ms, percentile, print_table

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "multihop"
PAGES_IN_DOCUMENT = 8
CHANGED_SHARE = 0.01

_SENTENCE_END = re.compile(r"(?<=[.!?]) +(?=[A-Z])")
_NAME = re.compile(r"\b[A-Z][a-z]{3,}\b")


@dataclass(frozen=True, slots=True)
class Measured:
    """What one bench found; times in seconds."""

    documents: int
    passages: int
    text_bytes: int
    index_bytes: int
    first_run: float
    unchanged_run: float
    changed_run: float
    queries: tuple[float, ...]


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="indexing", description=__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    found = measure(parser.parse_args(argv).passages)
    print_table(
        ["measured", "value", "target"],
        [
            ["documents", f"{found.documents:,}", ""],
            ["passages", f"{found.passages:,}", ""],
            ["text", f"{found.text_bytes / 1e6:.1f} MB", ""],
            ["passages indexed a second", f"{found.passages / found.first_run:,.0f}", "> 3,000"],
            ["run with nothing changed", ms(found.unchanged_run), ""],
            [f"run with {CHANGED_SHARE:.0%} changed", ms(found.changed_run), ""],
            ["query, median", ms(statistics.median(found.queries)), "< 20 ms"],
            ["query, 95th percentile", ms(percentile(found.queries, 0.95)), ""],
            ["index size over text size", f"{found.index_bytes / found.text_bytes:.2f}", ""],
        ],
    )


def measure(passages: int) -> Measured:
    """Index and search documents with about so many passages."""
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder, "docs")
        index = Path(folder, "index.sqlite")
        files = _write_documents(docs, passages)
        first = Indexer(index).index([docs])
        index_bytes = index.stat().st_size
        text_bytes = sum(file.stat().st_size for file in files)
        unchanged = Indexer(index).index([docs])
        changed = _change_some(files, Indexer(index), docs)
        queries = asyncio.run(_time_queries(index, docs))
    return Measured(
        documents=len(files),
        passages=first.passages,
        text_bytes=text_bytes,
        index_bytes=index_bytes,
        first_run=first.seconds,
        unchanged_run=unchanged.seconds,
        changed_run=changed.seconds,
        queries=queries,
    )


def _write_documents(docs: Path, passages: int) -> list[Path]:
    docs.mkdir()
    files = []
    total = 0
    for number, (text, count) in enumerate(_documents()):
        file = docs / f"{number % 100:02}" / f"{number}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        files.append(file)
        total += count
        if total >= passages:
            break
    return files


def _documents() -> Iterator[tuple[str, int]]:
    """Endless documents and how many passages each is likely to have."""
    pages = json.loads((SHARED / "pages.json").read_text(encoding="utf-8"))
    titles = list(pages)
    chance = random.Random(1)
    repetition = 0
    while True:
        for start in range(0, len(titles), PAGES_IN_DOCUMENT):
            chosen = titles[start : start + PAGES_IN_DOCUMENT]
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


async def _time_queries(index: Path, docs: Path) -> tuple[float, ...]:
    questions = json.loads((SHARED / "questions.json").read_text(encoding="utf-8"))
    documents = LocalDocuments(index, [docs])
    await documents.search(Query("warm up", 10))
    times = []
    for question in questions:
        started = time.perf_counter()
        await documents.search(Query(question["question"], 10))
        times.append(time.perf_counter() - started)
    await documents.aclose()
    return tuple(times)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
