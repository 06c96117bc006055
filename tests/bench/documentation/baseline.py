"""The baseline: the three best hits of a plain FTS5 table."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.bench.documentation.rendering import Document

CHUNK = 1_700  # characters
TITLE_WEIGHT = 4.0
HITS = 3

CJK = "\u3400-\u4dbf\u4e00-\u9fff\u3040-\u30ff\uac00-\ud7af"
_CJK_RUN = re.compile(f"[{CJK}]+")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Found:
    """A hit: a chunk, and the path of the document that it is from."""

    path: str
    text: str


class Baseline:
    """A table of chunks with the tokenizer ``porter unicode61``; CJK text as bigrams."""

    def __init__(self, file: Path) -> None:
        """Open a table that ``build`` made."""
        self._connection = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)

    @staticmethod
    def build(file: Path, documents: Iterable[Document]) -> None:
        """Write the table; an interrupted one is not left behind."""
        unfinished = file.with_suffix(".unfinished")
        unfinished.unlink(missing_ok=True)
        connection = sqlite3.connect(unfinished)
        with connection:
            connection.execute(
                "CREATE VIRTUAL TABLE chunks USING fts5"
                " (title, body, path UNINDEXED, text UNINDEXED, tokenize='porter unicode61')"
            )
            connection.executemany(
                "INSERT INTO chunks VALUES (?, ?, ?, ?)",
                (
                    (spaced(document.title), spaced(chunk), document.path, chunk)
                    for document in documents
                    for chunk in chunks(document.text)
                ),
            )
        connection.close()
        unfinished.rename(file)

    def search(self, question: str, limit: int = HITS) -> list[Found]:
        """The best chunks that hold any of the question's words."""
        words = dict.fromkeys(_WORD.findall(spaced(question).casefold()))
        if not words:
            return []
        rows = self._connection.execute(
            "SELECT path, text FROM chunks WHERE chunks MATCH ?"
            f" ORDER BY bm25(chunks, {TITLE_WEIGHT}, 1.0), rowid LIMIT ?",
            (" OR ".join(f'"{word}"' for word in words), limit),
        )
        return [Found(*row) for row in rows]

    def close(self) -> None:
        self._connection.close()


def chunks(text: str) -> Iterator[str]:
    """Text in pieces of at most ``CHUNK`` characters, cut at white space where there is any."""
    start = 0
    while start < len(text):
        end = start + CHUNK
        if end < len(text):
            end = max((text.rfind(space, start + 1, end) for space in " \n"), default=-1)
            end = end if end > start else start + CHUNK
        piece = text[start:end].strip()
        if piece:
            yield piece
        start = end


def spaced(text: str) -> str:
    """Text in which runs of CJK characters are written as overlapping pairs."""
    return _CJK_RUN.sub(lambda run: f" {' '.join(_pairs(run[0]))} ", text)


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]
