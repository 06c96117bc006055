"""Writing to the index of local documents: files in, files out, words kept small."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bot.pages.passages import split
from bot.search.folders import Document
from bot.search.index_file import (
    Damaged,
    Known,
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
from bot.search.twin_files import NONE, UNDECIDED, TwinFiles, packed
from bot.search.twins import is_enough

DEAD_SHARE = 0.5  # removed passages per living one at which the words are written again
DEAD_FEW = 2_000  # ... and below this number it is not worth it
OPTIMIZE_SHARE = 0.1  # of all passages written in one run, above which segments are merged
REMOVED_AT_ONCE = 200  # files; their twins may have to be written in the same transaction
CACHE_KILOBYTES = 16_000  # of the index kept in memory: keys of twins are all over it

Outcome = Literal["added", "changed", "kept", "skipped"]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file that was read, ready to be written.

    ``modified`` is 0 where the time cannot be trusted to tell the next change; ``digest`` is of
    the bytes, empty when they were not read.
    """

    document: Document
    digest: bytes
    modified: int
    content: Content | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A file that was not read, and the address of the page that was made from it."""

    job: Job
    glance: Glance
    page: str


class IndexWriter:
    """Writes in transactions of its own. Raises ``sqlite3.Error`` and ``Damaged`` as they come."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._twins = TwinFiles(connection)
        self._roots: list[str] = []  # all that were ever indexed
        self._written_roots: list[str] = []  # those of this run
        self._expected: set[str] = set()
        self._written = 0  # passages
        self._dropped: list[str] = []
        connection.execute(f"PRAGMA cache_size = -{CACHE_KILOBYTES}")

    def refresh(self) -> None:
        """Fit an index that another version of Footnote made: terms and spans are worked out again
        from the stored texts, and every file counts as changed when it is next looked at."""
        if self._meta("fingerprint") != fingerprint():
            with transaction(self._connection):
                self._connection.execute("UPDATE files SET modified = 0, digest = x''")
                self._rewrite_words()
                self._set_meta("fingerprint", fingerprint())

    def begin(self, roots: Iterable[Path]) -> None:
        """Have twins searched where one of these folders holds them without their better ones."""
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
                twins = self._connection.execute("SELECT id FROM files WHERE twin > 0").fetchall()
                self._word(id for (id,) in twins)

    def files_below(self, roots: Iterable[Path]) -> dict[str, Known]:
        """The files at or below some roots, by their address."""
        columns = "url, id, size, modified, digest, problem"
        return {row[0]: Known(*row[1:]) for row in self._below(roots, columns)}

    def passages_below(self, roots: Iterable[Path]) -> int:
        return sum(count for (count,) in self._below(roots, "count"))

    def expect(self, urls: Sequence[str]) -> None:
        """Record how many files wait to be written, so that searches can report them as missing."""
        self._expected = set(urls)
        with transaction(self._connection):
            for root in self._written_roots:
                waiting = sum(is_below(url, root) for url in urls)
                self._connection.execute(
                    "UPDATE roots SET waiting = ?, since = ? WHERE url = ?",
                    (waiting, time.time(), root),
                )

    def _arrived(self, urls: Iterable[str]) -> None:
        """Take processed files off the count of missing ones, whether they could be read or not."""
        arrived = self._expected.intersection(urls)
        self._expected -= arrived
        for root in self._written_roots if arrived else ():
            count = sum(is_below(url, root) for url in arrived)
            self._connection.execute(
                "UPDATE roots SET waiting = max(0, waiting - ?) WHERE url = ?", (count, root)
            )

    def take_dropped(self) -> list[str]:
        """The addresses of files that have to be read, since the page is gone as whose source they
        were taken unread; each is told once."""
        dropped, self._dropped = self._dropped, []
        return dropped

    # ------------------------------------------------------------ files

    def write(self, batch: Sequence[Prepared]) -> list[Outcome]:
        """Write some files in one transaction; returns what became of each."""
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
                    outcomes.append("kept")  # another process changed it meanwhile
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

        Returns what became of each; None where the page does not hold enough for that, and
        nothing was done.
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

    def remove(self, files: Sequence[Known]) -> None:
        for start in range(0, len(files), REMOVED_AT_ONCE):
            with transaction(self._connection):
                orphans: list[int] = []
                for known in files[start : start + REMOVED_AT_ONCE]:
                    orphans += self._forget(known.id)
                self._settle(orphans)

    def _settle(self, files: list[int], words: dict[int, Sequence[Row]] | None = None) -> None:
        """Decide whose twins some files are, and have the words of those that are nobody's."""
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

    def _touch(self, known: Known, prepared: Prepared) -> None:
        """Only the time of a file has changed, or another process was faster."""
        self._connection.execute(
            "UPDATE files SET size = ?, modified = ? WHERE id = ?",
            (prepared.document.size, prepared.modified, known.id),
        )

    def _insert(self, prepared: Prepared) -> int:
        """Write a file as one that is not searched yet."""
        document, content = prepared.document, prepared.content
        file = self._connection.execute(
            "INSERT INTO files (url, size, modified, digest, indexed_at, first, count, problem,"
            " kept, twin, keys) VALUES (?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?)",
            (
                document.url,
                document.size,
                prepared.modified,
                prepared.digest,
                time.time(),
                prepared.problem,
                content.kept if content else 0.0,
                UNDECIDED if content else NONE,
                packed(content.keys if content else ()),
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
        """Remove a file; returns its twins, which have to be decided about."""
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
        """Write the words of those files that should be searched and are not, and the other way.

        ``ready`` are words that need not be worked out from the stored text.
        """
        first = before = int(self._meta("next"))
        dead = 0
        unread: list[int] = []
        for file in sorted(files):
            url, twin, count = self._connection.execute(
                "SELECT url, twin, count FROM files WHERE id = ?", (file,)
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
            self._add_words(first, words)
            first += len(words)
        self._written += first - before
        self._set_meta("next", first)
        if dead:
            self._set_meta("dead", int(self._meta("dead")) + dead)
        self._drop(unread)

    def _is_searched(self, url: str, twin: int) -> bool:
        """Return True if somebody may search a file without the better one whose twin it is."""
        if twin == NONE:
            return True
        (better,) = self._connection.execute(
            "SELECT url FROM files WHERE id = ?", (twin,)
        ).fetchone()
        return any(is_below(url, root) and not is_below(better, root) for root in self._roots)

    def _place(self, file: int, first: int, count: int) -> None:
        self._connection.execute(
            "UPDATE files SET first = ?, count = ? WHERE id = ?", (first, count, file)
        )

    def tidy(self) -> None:
        """Give back space and keep queries short, where what was done makes it worth while."""
        living = self._connection.execute("SELECT total(count) FROM files").fetchone()[0]
        dead = int(self._meta("dead"))
        if dead > DEAD_FEW and dead > living * DEAD_SHARE:
            with transaction(self._connection):
                self._rewrite_words()
        elif self._written > living * OPTIMIZE_SHARE:
            # One segment instead of many: shorter queries, and the space of the many comes free.
            self._connection.execute("INSERT INTO words (words) VALUES ('optimize')")
        self._connection.executemany(
            "UPDATE roots SET waiting = 0 WHERE waiting > 0 AND url = ?",
            ((root,) for root in self._written_roots),
        )
        # A script, because a single statement without columns is stepped only once.
        self._connection.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(PASSIVE)")

    def _rewrite_words(self) -> None:
        self._connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
        first = 1
        for file, count in self._connection.execute(
            "SELECT file, count FROM pages JOIN files ON id = file ORDER BY file"
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
                self._add_words(first, word_rows(title, passages))
                first += len(passages)
        self._set_meta("next", first)
        self._set_meta("dead", 0)

    def _page(self, file: int) -> tuple[str, str] | None:
        """Title and text of a file; None for a source that was not read."""
        row = self._connection.execute(
            "SELECT title, text FROM pages WHERE file = ?", (file,)
        ).fetchone()
        return None if row is None else (row[0], unpack_text(row[1]))

    def _add_words(self, first: int, words: Sequence[Row]) -> None:
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
