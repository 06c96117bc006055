"""Writing to the index of local documents: adding, removing and compacting."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
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
from bot.search.reading import Content, Glance, Job
from bot.search.twin_files import NONE, UNDECIDED, TwinFiles, pack_keys
from bot.search.twins import is_enough

DEAD_SHARE = 0.5  # removed passages per remaining one, above which ``words`` is rewritten
DEAD_FEW = 2_000  # ... unless there are fewer than this
OPTIMIZE_SHARE = 0.1  # of all passages written in one run, above which segments are merged
REMOVED_AT_ONCE = 200  # files; their twins may have to be written in the same transaction
CACHE_KILOBYTES = 16_000  # of the index kept in memory: keys of twins are scattered all over it

Outcome = Literal["added", "changed", "kept", "skipped"]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file that was read and is ready to be written.

    ``modified`` is 0 if the time cannot be trusted to show the next change; ``digest`` is of the
    bytes, empty if they were not read.
    """

    document: Document
    digest: bytes
    modified: int
    content: Content | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A source file that was not read, and the address of the page that was made from it."""

    job: Job
    glance: Glance
    page: str


class IndexWriter:
    """Writes in its own transactions. Raises ``sqlite3.Error`` and ``Damaged`` unchanged."""

    def __init__(self, connection: sqlite3.Connection, areas: Sequence[str] = ()) -> None:
        """``areas`` are addresses (``areas.area_addresses``), in addition to those of earlier
        runs."""
        self._connection = connection
        self._new_areas = areas
        self._areas: dict[str, int] = {}  # address → id
        self._twins = TwinFiles(connection)
        self._roots: list[str] = []  # all that were ever indexed
        self._written_roots: list[str] = []  # those of this run
        self._expected: set[str] = set()
        self._written = 0  # passages
        self._dropped: list[str] = []
        connection.execute(f"PRAGMA cache_size = -{CACHE_KILOBYTES}")

    def refresh(self) -> None:
        """Update an index made by another version of Footnote: terms and spans are recomputed from
        the stored texts, and every file counts as changed in the next run. Add new areas."""
        self._read_areas()
        if self._meta("fingerprint") != fingerprint():
            with transaction(self._connection):
                self._connection.execute("UPDATE files SET modified = 0, digest = x''")
                self._rewrite_words()
                self._set_meta("fingerprint", fingerprint())

    def _read_areas(self) -> None:
        self._areas = dict(self._connection.execute("SELECT url, id FROM areas"))
        if new := [url for url in self._new_areas if url not in self._areas]:
            with transaction(self._connection):
                self._connection.executemany(
                    "INSERT OR IGNORE INTO areas (url, passages) VALUES (?, 0)",
                    ((url,) for url in new),
                )
                self._areas = dict(self._connection.execute("SELECT url, id FROM areas"))
                self._move_to_new_areas(new)

    def _move_to_new_areas(self, new: Sequence[str]) -> None:
        files = self._connection.execute("SELECT id, url, area FROM files").fetchall()
        moved = [(area, id) for id, url, before in files if (area := self._area_of(url)) != before]
        if moved:
            self._connection.executemany("UPDATE files SET area = ? WHERE id = ?", moved)
            self._rewrite_words()
            self._roots = [url for (url,) in self._connection.execute("SELECT url FROM roots")]
            self._word_twins()

    def _area_of(self, url: str) -> int:
        return self._areas[innermost(url, self._areas)]

    def begin(self, roots: Iterable[Path]) -> None:
        """Make twins searchable in folders that contain them without their better files."""
        known = {url for (url,) in self._connection.execute("SELECT url FROM roots")}
        self._written_roots = list(map(address, roots))
        new = [url for url in self._written_roots if url not in known]
        self._roots = [*known, *new]
        if new:
            with transaction(self._connection):
                self._connection.executemany(
                    "INSERT OR IGNORE INTO roots VALUES (?, 1, ?)",
                    ((url, time.time()) for url in new),
                )
                self._word_twins()

    def _word_twins(self) -> None:
        twins = self._connection.execute("SELECT id FROM files WHERE twin > 0").fetchall()
        self._word(id for (id,) in twins)

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
            for root in self._written_roots:
                waiting = sum(is_below(url, root) for url in urls)
                self._connection.execute(
                    "UPDATE roots SET waiting = ?, since = ? WHERE url = ?",
                    (waiting, time.time(), root),
                )

    def _arrived(self, urls: Iterable[str]) -> None:
        """Subtract processed files, readable or not, from the number of missing ones."""
        arrived = self._expected.intersection(urls)
        self._expected -= arrived
        for root in self._written_roots if arrived else ():
            count = sum(is_below(url, root) for url in arrived)
            self._connection.execute(
                "UPDATE roots SET waiting = max(0, waiting - ?) WHERE url = ?", (count, root)
            )

    def take_dropped(self) -> list[str]:
        """The addresses of source files that must be read now, since the page for which they were
        skipped is gone; each is returned only once."""
        dropped, self._dropped = self._dropped, []
        return dropped

    # ------------------------------------------------------------ files

    def write(self, batch: Sequence[Prepared]) -> list[Outcome]:
        """Write some files in one transaction; returns the outcome for each."""
        outcomes: list[Outcome] = []
        words: dict[int, Sequence[Row]] = {}
        orphans: list[int] = []
        with transaction(self._connection):
            for prepared in batch:
                before = self._file(prepared.document.url)
                if before and prepared.digest and before.digest == prepared.digest:
                    self._touch(before, prepared)
                    outcomes.append("skipped" if before.problem else "kept")
                    continue
                if prepared.content is None and not prepared.problem:
                    outcomes.append("kept")  # another process has changed it meanwhile
                    continue
                if before:
                    orphans += self._forget(before.id)
                file = self._insert(prepared)
                if prepared.content is None:
                    outcomes.append("skipped")
                    continue
                words[file] = prepared.content.words
                outcomes.append("changed" if before and not before.problem else "added")
            self._settle([*words, *orphans], words)
            self._arrived(prepared.document.url for prepared in batch)
        return outcomes

    def write_sources(self, sources: Sequence[Source]) -> list[Outcome | None]:
        """Write some files as twins of the pages that were made from them, without their text.

        Returns the outcome for each; None if nothing was written, because the page contains too
        little of the text.
        """
        with transaction(self._connection):
            outcomes = [self._write_source(each) for each in sources]
            settled = zip(sources, outcomes, strict=True)
            self._arrived(each.job.document.url for each, outcome in settled if outcome)
        return outcomes

    def _write_source(self, source: Source) -> Outcome | None:
        document, glance = source.job.document, source.glance
        page = self._connection.execute(
            "SELECT id, twin, text FROM files JOIN pages ON file = id WHERE url = ?", (source.page,)
        ).fetchone()
        if page is None or not is_enough(len(unpack_text(page[2])), glance.characters):
            return None
        twin = page[0] if page[1] == NONE else page[1]
        if self._is_searched(document.url, twin):
            return None
        modified = document.modified if glance.is_settled else 0
        prepared = Prepared(document, glance.digest, modified)
        before = self._file(document.url)
        if before and before.digest == prepared.digest and not before.problem:
            self._touch(before, prepared)
            return "kept"
        orphans = self._forget(before.id) if before else []
        file = self._insert(prepared)
        self._connection.execute("UPDATE files SET kept = 1, twin = ? WHERE id = ?", (twin, file))
        self._settle(orphans)
        return "changed" if before and not before.problem else "added"

    def remove(self, files: Sequence[IndexEntry]) -> None:
        for start in range(0, len(files), REMOVED_AT_ONCE):
            with transaction(self._connection):
                orphans: list[int] = []
                for known in files[start : start + REMOVED_AT_ONCE]:
                    orphans += self._forget(known.id)
                self._settle(orphans)

    def _settle(self, files: list[int], words: dict[int, Sequence[Row]] | None = None) -> None:
        """Determine the twins of some files, and add the words of files that are not twins."""
        self._word(self._twins.settle(files), words)
        self._drop(self._twins.unread)
        self._twins.unread.clear()

    def _drop(self, files: Iterable[int]) -> None:
        for file in files:
            (url,) = self._connection.execute(
                "SELECT url FROM files WHERE id = ?", (file,)
            ).fetchone()
            self._connection.execute("DELETE FROM files WHERE id = ?", (file,))
            self._dropped.append(url)

    def _touch(self, known: IndexEntry, prepared: Prepared) -> None:
        """Update the time of a file whose content is already in the index."""
        self._connection.execute(
            "UPDATE files SET size = ?, modified = ? WHERE id = ?",
            (prepared.document.size, prepared.modified, known.id),
        )

    def _insert(self, prepared: Prepared) -> int:
        """Write a file that is not searchable yet."""
        document, content = prepared.document, prepared.content
        file = self._connection.execute(
            "INSERT INTO files (url, size, modified, digest, indexed_at, first, count, problem,"
            " kept, twin, area, keys) VALUES (?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?)",
            (
                document.url,
                document.size,
                prepared.modified,
                prepared.digest,
                time.time(),
                prepared.problem,
                content.kept if content else 0.0,
                UNDECIDED if content else NONE,
                self._area_of(document.url),
                pack_keys(content.keys if content else ()),
            ),
        ).lastrowid
        if file is None:
            raise Damaged("a row without an id")
        if content is not None:
            self._connection.execute(
                "INSERT INTO pages VALUES (?, ?, ?, ?)",
                (file, content.title, content.spans, content.text),
            )
        return file

    def _forget(self, file: int) -> list[int]:
        """Remove a file; returns the files that were its twins, which must be settled again."""
        row = self._connection.execute(
            "SELECT count, keys FROM files WHERE id = ?", (file,)
        ).fetchone()
        if row is None:
            return []
        twins = self._twins.forget(file, row[1])
        self._connection.execute("DELETE FROM files WHERE id = ?", (file,))
        self._connection.execute("DELETE FROM pages WHERE file = ?", (file,))
        self._set_meta("dead", int(self._meta("dead")) + row[0])
        return twins

    # ------------------------------------------------------------ words

    def _word(self, files: Iterable[int], ready: dict[int, Sequence[Row]] | None = None) -> None:
        """Add the words of files that should be searchable but are not, and vice versa.

        ``ready`` has words that need not be computed from the stored text.
        """
        first = before = int(self._meta("next"))
        dead = 0
        unread: list[int] = []
        for file in sorted(files):
            url, twin, count, area = self._connection.execute(
                "SELECT url, twin, count, area FROM files WHERE id = ?", (file,)
            ).fetchone()
            if self._is_searched(url, twin) == (count > 0):
                continue
            if count:
                dead += count
                self._place(file, 0, 0)
                continue
            words = ready.get(file) if ready else None
            if words is None:
                page = self._page(file)
                if page is None:
                    unread.append(file)
                    continue
                words = word_rows(page[0], split(page[1]))
            self._place(file, first, len(words))
            self._add_words(first, words, area)
            first += len(words)
        self._written += first - before
        self._set_meta("next", first)
        if dead:
            self._set_meta("dead", int(self._meta("dead")) + dead)
        self._drop(unread)

    def _is_searched(self, url: str, twin: int) -> bool:
        """Return True if a file can be searched without the better one whose twin it is."""
        if twin == NONE:
            return True
        (better,) = self._connection.execute(
            "SELECT url FROM files WHERE id = ?", (twin,)
        ).fetchone()
        if self._area_of(url) != self._area_of(better):
            return True  # those who may read it may not all read the better one
        return any(is_below(url, root) and not is_below(better, root) for root in self._roots)

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
            ((root,) for root in self._written_roots),
        )
        # As a script, because sqlite3 steps a single statement without columns only once.
        self._connection.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(PASSIVE)")

    def _rewrite_words(self) -> None:
        self._connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
        first = 1
        for file, count, area in self._connection.execute(
            "SELECT file, count, area FROM pages JOIN files ON id = file ORDER BY file"
        ).fetchall():
            title, text = self._connection.execute(
                "SELECT title, text FROM pages WHERE file = ?", (file,)
            ).fetchone()
            passages = split(unpack_text(text))
            self._connection.execute(
                "UPDATE pages SET spans = ? WHERE file = ?", (pack_spans(passages), file)
            )
            if count:
                self._place(file, first, len(passages))
                self._add_words(first, word_rows(title, passages), area)
                first += len(passages)
        self._set_meta("next", first)
        self._set_meta("dead", 0)

    def _page(self, file: int) -> tuple[str, str] | None:
        """Title and text of a file; None for a source that was not read."""
        row = self._connection.execute(
            "SELECT title, text FROM pages WHERE file = ?", (file,)
        ).fetchone()
        return None if row is None else (row[0], unpack_text(row[1]))

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
