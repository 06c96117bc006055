"""Writing to the index of local documents: files in, files out, words kept small."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bot.pages.passages import Passage, split
from bot.search.folders import Document
from bot.search.index_file import (
    Damaged,
    Row,
    fingerprint,
    pack_spans,
    pack_text,
    unpack_text,
    word_rows,
)

DEAD_SHARE = 0.5  # removed passages per living one at which the words are written anew
DEAD_FEW = 2_000  # ... and below this number it is not worth it
OPTIMIZE_SHARE = 0.1  # of all passages written in one run, above which segments are merged

Outcome = Literal["added", "changed", "kept", "skipped"]


@dataclass(frozen=True, slots=True)
class Known:
    """What the index says about a file; ``problem`` tells why it has no text, or is empty."""

    id: int
    size: int
    modified: int
    digest: bytes
    problem: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file read and cut up, ready to be written.

    ``modified`` is 0 where the time cannot be trusted to tell the next change; ``digest`` is of
    the bytes, empty when they were not read.
    """

    document: Document
    digest: bytes
    modified: int
    title: str = ""
    text: str = ""
    passages: tuple[Passage, ...] = ()
    problem: str = ""


class IndexWriter:
    """Writes in transactions of its own. Raises ``sqlite3.Error`` and ``Damaged`` as they come."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._written = 0  # passages

    def refresh(self) -> None:
        """Fit an index that another version of Footnote made: terms and spans are worked out anew
        from the stored texts, and every file counts as changed when it is next looked at."""
        if self._meta("fingerprint") != fingerprint():
            with _Transaction(self._connection):
                self._connection.execute("UPDATE files SET modified = 0, digest = x''")
                self._write_words_anew()
                self._set_meta("fingerprint", fingerprint())

    def files_below(self, roots: Iterable[Path]) -> dict[str, Known]:
        """The files at or below some roots, by their address."""
        columns = "url, id, size, modified, digest, problem"
        return {row[0]: Known(*row[1:]) for row in self._below(roots, columns)}

    def passages_below(self, roots: Iterable[Path]) -> int:
        return sum(count for (count,) in self._below(roots, "count"))

    # ------------------------------------------------------------ files

    def write(self, batch: Sequence[Prepared]) -> list[Outcome]:
        """Write some files in one transaction; returns what became of each."""
        rows = [word_rows(each.title, each.passages) for each in batch]  # outside the lock
        outcomes: list[Outcome] = []
        with _Transaction(self._connection):
            first = int(self._meta("next"))
            for prepared, words in zip(batch, rows, strict=True):
                outcome = self._write_file(prepared, words, first)
                if outcome in ("added", "changed"):
                    first += len(words)
                    self._written += len(words)
                outcomes.append(outcome)
            self._set_meta("next", first)
        return outcomes

    def remove(self, files: Sequence[Known]) -> None:
        if files:
            with _Transaction(self._connection):
                for known in files:
                    self._forget(known.id)

    def _write_file(self, prepared: Prepared, words: list[Row], first: int) -> Outcome:
        document = prepared.document
        before = self._file(document.url)
        if before and prepared.digest and before.digest == prepared.digest:
            # only its time has changed, or another process was faster
            self._connection.execute(
                "UPDATE files SET size = ?, modified = ? WHERE id = ?",
                (document.size, prepared.modified, before.id),
            )
            return "skipped" if before.problem else "kept"
        if before:
            self._forget(before.id)
        file = self._connection.execute(
            "INSERT INTO files (url, size, modified, digest, indexed_at, first, count, problem)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                document.url,
                document.size,
                prepared.modified,
                prepared.digest,
                time.time(),
                first,
                len(words),
                prepared.problem,
            ),
        ).lastrowid
        if prepared.problem:
            return "skipped"
        self._connection.execute(
            "INSERT INTO pages VALUES (?, ?, ?, ?)",
            (file, prepared.title, pack_spans(prepared.passages), pack_text(prepared.text)),
        )
        self._add_words(first, words)
        return "changed" if before and not before.problem else "added"

    def _forget(self, file: int) -> None:
        row = self._connection.execute("SELECT count FROM files WHERE id = ?", (file,)).fetchone()
        if row is not None:
            self._connection.execute("DELETE FROM files WHERE id = ?", (file,))
            self._connection.execute("DELETE FROM pages WHERE file = ?", (file,))
            self._set_meta("dead", int(self._meta("dead")) + row[0])

    # ------------------------------------------------------------ words

    def tidy(self) -> None:
        """Give back space and keep queries short, where what was done makes it worth while."""
        living = self._connection.execute("SELECT total(count) FROM files").fetchone()[0]
        dead = int(self._meta("dead"))
        if dead > DEAD_FEW and dead > living * DEAD_SHARE:
            with _Transaction(self._connection):
                self._write_words_anew()
        elif self._written > living * OPTIMIZE_SHARE:
            # One segment instead of many: shorter queries, and the space of the many comes free.
            self._connection.execute("INSERT INTO words (words) VALUES ('optimize')")
        # A script, because a single statement without columns is stepped only once.
        self._connection.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(PASSIVE)")

    def _write_words_anew(self) -> None:
        self._connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
        first = 1
        for (file,) in self._connection.execute("SELECT file FROM pages ORDER BY file").fetchall():
            title, text = self._connection.execute(
                "SELECT title, text FROM pages WHERE file = ?", (file,)
            ).fetchone()
            passages = split(unpack_text(text))
            self._connection.execute(
                "UPDATE files SET first = ?, count = ? WHERE id = ?", (first, len(passages), file)
            )
            self._connection.execute(
                "UPDATE pages SET spans = ? WHERE file = ?", (pack_spans(passages), file)
            )
            self._add_words(first, word_rows(title, passages))
            first += len(passages)
        self._set_meta("next", first)
        self._set_meta("dead", 0)

    def _add_words(self, first: int, words: list[Row]) -> None:
        self._connection.executemany(
            "INSERT INTO words (rowid, title, heading, body) VALUES (?, ?, ?, ?)",
            ((first + place, *row) for place, row in enumerate(words)),
        )

    # ------------------------------------------------------------ asking

    def _file(self, url: str) -> Known | None:
        row = self._connection.execute(
            "SELECT id, size, modified, digest, problem FROM files WHERE url = ?", (url,)
        ).fetchone()
        return None if row is None else Known(*row)

    def _below(self, roots: Iterable[Path], columns: str) -> Iterator[tuple[Any, ...]]:
        condition, values = below(roots)
        yield from self._connection.execute(
            f"SELECT {columns} FROM files WHERE {condition}",  # noqa: S608 - our own columns
            values,
        )

    def _meta(self, key: str) -> str | int:
        row = self._connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        if row is None:
            raise Damaged(f"meta {key}")
        value: str | int = row[0]
        return value

    def _set_meta(self, key: str, value: str | int) -> None:
        self._connection.execute("UPDATE meta SET value = ? WHERE key = ?", (value, key))


class _Transaction:
    """Takes the write lock at once, so that two writers wait instead of failing half-way."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._connection.in_transaction:
            self._connection.execute("COMMIT" if kind is None else "ROLLBACK")


def below(roots: Iterable[Path]) -> tuple[str, list[str]]:
    """A condition on ``files.url`` for everything at or below some roots, and its values."""
    conditions: list[str] = []
    values: list[str] = []
    for root in roots:
        url = root.as_uri().rstrip("/")
        conditions.append("(url = ? OR (url > ? AND url < ?))")
        values += [url, url + "/", url + "0"]  # "0" is the character after "/"
    return " OR ".join(conditions) or "TRUE", values
