"""Writing to the index of local documents: adding, removing and compacting."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from bot.pages.passages import split
from bot.search.areas import in_area, innermost
from bot.search.folders import Document
from bot.search.index_file import (
    Damaged,
    IndexEntry,
    Row,
    address,
    below,
    fingerprint,
    is_below,
    pack_spans,
    transaction,
    unpack_text,
    word_rows,
)
from bot.search.reading import Reading

DEAD_SHARE = 0.5  # removed passages per remaining one, above which ``words`` is rewritten
DEAD_FEW = 2_000  # ... unless there are fewer than this
OPTIMIZE_SHARE = 0.1  # of all passages written in one run, above which segments are merged
REMOVED_AT_ONCE = 200  # files per transaction

Outcome = Literal["added", "changed", "kept", "skipped"]


class IndexWriter:
    """Writes in its own transactions. Raises ``sqlite3.Error`` and ``Damaged`` unchanged."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._areas: dict[str, int] = {}  # address → id
        self._roots: list[str] = []  # of this run
        self._expected: set[str] = set()
        self._written = 0  # passages

    def refresh(self, areas: Sequence[str] = ()) -> None:
        """Update an index made by another version of Footnote: terms and spans are recomputed from
        the stored texts, and every file counts as changed in the next run.

        Adds ``areas`` (addresses, see ``areas.area_addresses``) to those of earlier runs.
        """
        self._areas = dict(self._connection.execute("SELECT url, id FROM areas"))
        if new := [url for url in areas if url not in self._areas]:
            with transaction(self._connection):
                self._add_areas(new)
        if self._meta("fingerprint") != fingerprint():
            with transaction(self._connection):
                self._connection.execute("UPDATE files SET modified = 0, digest = x''")
                self._rewrite_words()
                self._set_meta("fingerprint", fingerprint())

    def _add_areas(self, new: Sequence[str]) -> None:
        self._connection.executemany(
            "INSERT OR IGNORE INTO areas (url, passages) VALUES (?, 0)", ((url,) for url in new)
        )
        self._areas = dict(self._connection.execute("SELECT url, id FROM areas"))
        files = self._connection.execute("SELECT id, url, area FROM files").fetchall()
        moved = [(area, id) for id, url, before in files if (area := self._area_of(url)) != before]
        if moved:
            self._connection.executemany("UPDATE files SET area = ? WHERE id = ?", moved)
            self._rewrite_words()

    def _area_of(self, url: str) -> int:
        return self._areas[innermost(url, self._areas)]

    def begin(self, roots: Iterable[Path]) -> None:
        """Record that a run for these roots has begun."""
        self._roots = list(map(address, roots))
        with transaction(self._connection):
            self._connection.executemany(
                "INSERT OR IGNORE INTO roots VALUES (?, 1, ?)",
                ((url, time.time()) for url in self._roots),
            )

    def files_below(self, roots: Iterable[Path]) -> dict[str, IndexEntry]:
        """The files at or below some roots, by address."""
        columns = "url, id, size, modified, digest, problem"
        return {row[0]: IndexEntry(*row[1:]) for row in self._below(roots, columns)}

    def passages_below(self, roots: Iterable[Path]) -> int:
        return sum(count for (count,) in self._below(roots, "count"))

    def expect(self, urls: Sequence[str]) -> None:
        """Record how many files are still to be written, for searches to report as missing."""
        self._expected = set(urls)
        with transaction(self._connection):
            for root in self._roots:
                waiting = sum(is_below(url, root) for url in urls)
                self._connection.execute(
                    "UPDATE roots SET waiting = ?, since = ? WHERE url = ?",
                    (waiting, time.time(), root),
                )

    def _arrived(self, urls: Iterable[str]) -> None:
        """Subtract processed files, readable or not, from the number of missing ones."""
        arrived = self._expected.intersection(urls)
        self._expected -= arrived
        for root in self._roots if arrived else ():
            count = sum(is_below(url, root) for url in arrived)
            self._connection.execute(
                "UPDATE roots SET waiting = max(0, waiting - ?) WHERE url = ?", (count, root)
            )

    # ------------------------------------------------------------ files

    def write(self, batch: Sequence[tuple[Document, Reading]]) -> list[Outcome]:
        """Write some files in one transaction; returns the outcome for each."""
        with transaction(self._connection):
            outcomes = [self._write(document, reading) for document, reading in batch]
            self._arrived(document.url for document, _ in batch)
        return outcomes

    def _write(self, document: Document, reading: Reading) -> Outcome:
        before = self._file(document.url)
        modified = document.modified if reading.is_settled else 0
        if before and reading.digest and before.digest == reading.digest:
            self._connection.execute(
                "UPDATE files SET size = ?, modified = ? WHERE id = ?",
                (document.size, modified, before.id),
            )
            return "skipped" if before.problem else "kept"
        if reading.content is None and not reading.problem:
            return "kept"  # another process has changed it meanwhile
        if before:
            self._forget(before.id)
        self._insert(document, reading, modified)
        if reading.content is None:
            return "skipped"
        return "changed" if before and not before.problem else "added"

    def remove(self, files: Sequence[IndexEntry]) -> None:
        for start in range(0, len(files), REMOVED_AT_ONCE):
            with transaction(self._connection):
                for known in files[start : start + REMOVED_AT_ONCE]:
                    self._forget(known.id)

    def _insert(self, document: Document, reading: Reading, modified: int) -> None:
        """Write a file; ``modified`` is 0 if its time may not show the next change."""
        content = reading.content
        area = self._area_of(document.url)
        first = int(self._meta("next"))
        count = len(content.words) if content else 0
        # Equal texts are packed equally. Not hashed by the process that read the file, which a
        # malicious one may have taken over.
        text_digest = hashlib.sha256(content.text).digest() if content else b""
        file = self._connection.execute(
            "INSERT INTO files (url, size, modified, digest, indexed_at, first, count, problem,"
            " kept, text_digest, area) VALUES (?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?)",
            (
                document.url,
                document.size,
                modified,
                reading.digest,
                time.time(),
                reading.problem,
                content.kept if content else 0.0,
                text_digest,
                area,
            ),
        ).lastrowid
        if file is None:
            raise Damaged("a row without an id")
        if content is not None:
            self._connection.execute(
                "INSERT INTO pages VALUES (?, ?, ?, ?)",
                (file, content.title, content.spans, content.text),
            )
            self._place(file, first, count)
            self._add_words(first, content.words, area)
            self._set_meta("next", first + count)
            self._written += count

    def _forget(self, file: int) -> None:
        row = self._connection.execute("SELECT count FROM files WHERE id = ?", (file,)).fetchone()
        if row is not None:
            self._connection.execute("DELETE FROM files WHERE id = ?", (file,))
            self._connection.execute("DELETE FROM pages WHERE file = ?", (file,))
            self._set_meta("dead", int(self._meta("dead")) + row[0])

    # ------------------------------------------------------------ words

    def _place(self, file: int, first: int, count: int) -> None:
        self._connection.execute(
            "UPDATE files SET first = ?, count = ? WHERE id = ?", (first, count, file)
        )

    def tidy(self) -> None:
        """Free space and speed up queries, if this run's changes make it worthwhile."""
        living = self._connection.execute("SELECT total(count) FROM files").fetchone()[0]
        dead = int(self._meta("dead"))
        if dead > DEAD_FEW and dead > living * DEAD_SHARE:
            with transaction(self._connection):
                self._rewrite_words()
        elif self._written > living * OPTIMIZE_SHARE:
            # One segment instead of many: queries get faster, and the space of the many is freed.
            self._connection.execute("INSERT INTO words (words) VALUES ('optimize')")
        self._connection.executemany(
            "UPDATE roots SET waiting = 0 WHERE waiting > 0 AND url = ?",
            ((root,) for root in self._roots),
        )
        # As a script, because sqlite3 steps a single statement without columns only once.
        self._connection.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(PASSIVE)")

    def _rewrite_words(self) -> None:
        self._connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
        first = 1
        for file, area in self._connection.execute(
            "SELECT file, area FROM pages JOIN files ON id = file ORDER BY file"
        ).fetchall():
            title, text = self._connection.execute(
                "SELECT title, text FROM pages WHERE file = ?", (file,)
            ).fetchone()
            passages = split(unpack_text(text))
            self._connection.execute(
                "UPDATE pages SET spans = ? WHERE file = ?", (pack_spans(passages), file)
            )
            self._place(file, first, len(passages))
            self._add_words(first, word_rows(title, passages), area)
            first += len(passages)
        self._set_meta("next", first)
        self._set_meta("dead", 0)

    def _add_words(self, first: int, words: Sequence[Row], area: int) -> None:
        self._connection.executemany(
            "INSERT INTO words (rowid, title, heading, body) VALUES (?, ?, ?, ?)",
            (
                (first + place, *(in_area(area, column) for column in row))
                for place, row in enumerate(words)
            ),
        )

    # ------------------------------------------------------------ reading

    def _file(self, url: str) -> IndexEntry | None:
        row = self._connection.execute(
            "SELECT id, size, modified, digest, problem FROM files WHERE url = ?", (url,)
        ).fetchone()
        return None if row is None else IndexEntry(*row)

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
