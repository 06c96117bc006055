"""Measures how often the one page with the answer is read, and the answer quoted: XQuAD.

240 paragraphs are the pages, 1,190 questions the same in English and in Chinese; every tenth
question is asked. A page is titled by its first words, since XQuAD names no pages.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import dataclass

from tests.bench.corpus import SHARED, MemoryCorpus, a_store, work
from tests.bench.table import print_table

PAGES_READ = 4
TITLE = 24  # characters of a paragraph that title it


@dataclass(frozen=True, slots=True)
class Row:
    """Of ``questions``: rates with the gold page first, read at all, and the answer quoted."""

    language: str
    questions: int
    first: float
    read: float
    answered: float


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="paragraphs", description=__doc__)
    parser.add_argument("--every", type=int, default=10)
    every = parser.parse_args(argv).every
    rows = [asyncio.run(run(language, every)) for language in ("en", "zh")]
    print_table(
        ["XQuAD", "questions", "read first", f"in {PAGES_READ}", "answer quoted"],
        [
            [
                row.language,
                row.questions,
                f"{row.first:.0%}",
                f"{row.read:.0%}",
                f"{row.answered:.0%}",
            ]
            for row in rows
        ],
    )


async def run(language: str, every: int = 10) -> Row:
    """Ask every so many questions in a language."""
    path = SHARED / "chinese" / f"xquad.{language}.json"
    pages: dict[str, str] = {}
    asked: list[tuple[str, str, str]] = []
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            text = paragraph["context"]
            title = f"{text[:TITLE]}… {len(pages)}"
            pages[title] = text
            asked += [(qa["question"], title, qa["answers"][0]["text"]) for qa in paragraph["qas"]]
    asked = asked[::every]
    corpus = MemoryCorpus(pages)
    first = read = answered = 0
    async with a_store() as store:
        for question, gold, answer in asked:
            result = await work(question, corpus, store, pages=PAGES_READ)
            first += result.read[:1] == (gold,)
            read += gold in result.read
            answered += "".join(answer.split()) in "".join(result.quoted.split())
    size = len(asked)
    return Row(language, size, first / size, read / size, answered / size)
