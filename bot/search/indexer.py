"""Brings the index of local documents up to date with the files.

``Indexer`` opens or rebuilds the index, ``IndexWriter`` writes to it, ``_Run`` is one pass over
some folders.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

from bot.core.errors import InvalidSetting, Stopped, StorageUnavailable
from bot.core.logs import get_logger
from bot.pages.passages import split
from bot.search.document_reading import Job, Reading
from bot.search.folders import Document, in_english, list_documents, readable, root_of
from bot.search.index_file import (
    TEXT_OF,
    Damaged,
    IndexEntry,
    Outdated,
    Row,
    address,
    area_addresses,
    below,
    building,
    damage_mark,
    discard,
    fingerprint,
    in_area,
    innermost,
    is_below,
    open_writer,
    pack_spans,
    transaction,
    translated,
    unpack_text,
    word_rows,
)
from bot.search.index_report import IndexReport, reason_of
from bot.search.reader_processes import ENDED, Readers

log = get_logger()

MAX_FILE_BYTES = 10_000_000  # of text; ``read_file`` allows more for formats with pictures
BATCH_PASSAGES = 2_000  # per transaction, which holds the write lock for about 0.1 s
BATCH_FILES = 500
BATCH_SECONDS = 2.0  # after which finished readings are written, so that they can be searched

Progress = Callable[[int, int], None]
"""Receives the number of files processed so far and the total number."""


class Indexer:
    """Indexes folders and files into one SQLite file, shared by any number of roots."""

    def __init__(
        self,
        index_path: Path,
        *,
        areas: Iterable[str | Path] = (),
        max_file_bytes: int = MAX_FILE_BYTES,
        readers: Readers | None = None,
    ) -> None:
        """``areas`` are the paths of collections: see ``bot.search.index_file``."""
        self._path = index_path
        self._areas = area_addresses(areas)
        self._max_file_bytes = max_file_bytes
        self._readers = readers or Readers()
        self._ending = threading.Event()
        self._connection: sqlite3.Connection | None = None

    def index(self, paths: Iterable[str | Path], progress: Progress | None = None) -> IndexReport:
        """Index new and changed files below ``paths`` and remove those that are gone.

        A folder that cannot be looked at stays as it is.

        Blocks; run it in a thread where an event loop must stay free. Files are compared by size
        and modification time, then by content. The work is written in small transactions: after
        an interruption of any kind (an exception from ``progress`` included) the index is usable
        and the next call carries on. Several processes may index at once; they take turns.

        A damaged index is rebuilt, which ``IndexReport.warning`` says.
        Raises ``InvalidSetting`` for a path that does not exist, ``StorageUnavailable`` when the
        index cannot be written, ``Unavailable`` when no process can be started to read, and
        ``Stopped`` after ``stop``.
        """
        started = time.monotonic()
        roots = tuple(dict.fromkeys(root_of(path) for path in paths))
        if not roots:
            raise InvalidSetting("Name at least one folder or file to index.")
        run, warning = self._run(roots, progress)
        return IndexReport(
            added=run.added,
            changed=run.changed,
            removed=run.removed,
            unchanged=run.unchanged,
            skipped=tuple(run.skipped),
            passages=run.passages,
            seconds=time.monotonic() - started,
            again=run.again,
            warning=warning,
        )

    def stop(self) -> None:
        """Make the running call of ``index``, and every later one, end soon; thread-safe."""
        self._ending.set()
        connection = self._connection
        if connection is not None:
            with contextlib.suppress(sqlite3.ProgrammingError):  # closed in the meantime
                connection.interrupt()

    def _run(self, roots: tuple[Path, ...], progress: Progress | None) -> tuple[_Run, str]:
        """Run the indexing; if the index turns out to be damaged, once more into a new one."""
        warning = ""
        damage: Damaged | None = None
        for _ in range(2):
            connection, generation, note = self._open()
            warning = warning or note
            try:
                return self._fill(connection, roots, progress), warning
            except Damaged as error:
                damage = error
            finally:
                connection.close()
            self._mark_damaged(generation)
        raise StorageUnavailable(
            f"The index {self._path} was damaged again right after it was rebuilt: check the disk.",
            detail=str(damage),
        )

    def _fill(
        self, connection: sqlite3.Connection, roots: tuple[Path, ...], progress: Progress | None
    ) -> _Run:
        tell = progress or (lambda done, total: None)
        writer = IndexWriter(connection)
        run = _Run(writer, roots, self._readers, self._max_file_bytes, tell, self._ending)
        try:
            self._connection = connection
            writer.refresh(self._areas)
            run.go()
        except sqlite3.Error as error:
            if self._ending.is_set():
                raise Stopped(ENDED) from error
            raise translated(error, self._path) from error
        finally:
            self._connection = None
        return run

    def _open(self) -> tuple[sqlite3.Connection, str, str]:
        """An intact index, its generation, and a warning if it had to be rebuilt."""
        warning = ""
        with building(self._path):
            if damage_mark(self._path).exists():
                warning = self._discard("found while it was in use")
            try:
                connection, generation = open_writer(self._path)
            except Outdated as damage:
                discard(self._path)
                log.info("index_rebuilt", index=str(self._path), why=str(damage))
                connection, generation = open_writer(self._path)
                warning = (
                    f"The index {self._path} was made by another version of Footnote and is "
                    "being rebuilt; run `footnote index` for other folders that were in it."
                )
            except Damaged as damage:
                warning = self._discard(str(damage))
                connection, generation = open_writer(self._path)
        return connection, generation, warning

    def _discard(self, damage: str) -> str:
        discard(self._path)
        log.warning("index_rebuilt", index=str(self._path), damage=damage)
        return (
            f"The index {self._path} was damaged and has been rebuilt; "
            "run `footnote index` for other folders that were in it."
        )

    def _mark_damaged(self, generation: str) -> None:
        """Mark the index for rebuilding, unless another process has already rebuilt it."""
        with building(self._path):
            try:
                connection, now_there = open_writer(self._path)
                connection.close()
            except Damaged:
                now_there = generation
            if now_there == generation:
                damage_mark(self._path).touch()


class _Run:
    """Reads new and changed files, removes those that are gone, and counts them.

    ``added``, ``changed``, ``removed`` and ``unchanged`` count files; ``skipped`` are pairs of a
    path and a reason; ``again`` and ``passages`` are as in ``IndexReport``.
    """

    def __init__(
        self,
        writer: IndexWriter,
        roots: tuple[Path, ...],
        readers: Readers,
        max_file_bytes: int,
        progress: Progress,
        ending: threading.Event,
    ) -> None:
        self._writer = writer
        self._roots = roots
        self._readers = readers
        self._max_file_bytes = max_file_bytes
        self._progress = progress
        self._ending = ending
        self._done = self._total = 0
        self._known: dict[str, IndexEntry] = {}
        self._batch: list[tuple[Document, Reading]] = []
        self._waiting = 0  # passages in the batch
        self._written_at = time.monotonic()
        self.added = self.changed = self.removed = self.unchanged = self.passages = self.again = 0
        self.skipped: list[tuple[str, str]] = []

    def go(self) -> None:
        """Run it. Raises ``sqlite3.Error``, ``Damaged``, and errors of progress or readers."""
        self._writer.begin(self._roots)
        self._known = self._writer.files_below(self._roots)
        listing = list_documents(self._roots)
        self.skipped += listing.skipped
        self.again += len(listing.unseen)
        self._remove([known for url, known in self._known.items() if listing.is_gone(url)])
        jobs = self._changed(listing.documents)
        self._total = len(listing.documents)
        self._step(self._total - len(jobs))
        self._writer.expect([job.document.url for job in jobs])
        self._read(jobs)
        self._writer.note_unread(self._roots, listing.unread)
        self._writer.tidy()
        self.passages = self._writer.passages_below(self._roots)

    def _changed(self, documents: Mapping[str, Document]) -> list[Job]:
        """The files to read; the others are counted as unchanged."""
        jobs = []
        for document in documents.values():
            known = self._known.get(document.url)
            if known is None or (known.size, known.modified) != (document.size, document.modified):
                # Slack's export has a folder for each channel, and this file beside them.
                people = documents.get(f"{document.url.rsplit('/', 2)[0]}/users.json")
                jobs.append(Job(document, known.digest if known else b"", people))
            else:
                self._count_kept(document, known.problem, known)
        return jobs

    def _step(self, files: int) -> None:
        if self._ending.is_set():
            raise Stopped(ENDED)
        self._done = min(self._done + files, self._total)
        self._progress(self._done, self._total)

    # ------------------------------------------------------------ reading

    def _read(self, jobs: Sequence[Job]) -> None:
        with closing(self._readers.read(jobs, self._max_file_bytes, self._ending)) as readings:
            for job, reading in zip(jobs, readings, strict=True):
                self._take(job.document, reading)
                self._step(1)
        self._write()

    def _take(self, document: Document, reading: Reading) -> None:
        self._batch.append((document, reading))
        self._waiting += len(reading.content.words) if reading.content else 0
        is_full = self._waiting >= BATCH_PASSAGES or len(self._batch) >= BATCH_FILES
        if is_full or time.monotonic() > self._written_at + BATCH_SECONDS:
            self._write()

    # ------------------------------------------------------------ writing

    def _write(self) -> None:
        batch, self._batch, self._waiting = self._batch, [], 0
        if batch:
            for (document, reading), outcome in zip(batch, self._writer.write(batch), strict=True):
                self._count(document, reading, outcome)
        self._written_at = time.monotonic()

    def _remove(self, gone: list[IndexEntry]) -> None:
        self._writer.remove(gone)
        self.removed += sum(known.text_of > 0 for known in gone)

    def _count(self, document: Document, reading: Reading, outcome: Outcome) -> None:
        known = self._known.get(document.url)
        self.again += bool(reading.problem) and not reading.is_settled
        if outcome == "added":
            self.added += 1
        elif outcome == "changed":
            self.changed += 1
        elif known and reading.digest and known.digest == reading.digest:
            self._count_kept(document, known.problem, known)
        else:
            self._count_kept(document, reading.problem, known)

    def _count_kept(self, document: Document, problem: str, known: IndexEntry | None) -> None:
        if problem:
            reason = in_english(reason_of(problem, known.text_of if known else 0.0))
            self.skipped.append((readable(document.path), reason))
        else:
            self.unchanged += 1


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

        Adds ``areas`` (addresses, see ``area_addresses``) to those of earlier runs.
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
        for (url,) in self._connection.execute("SELECT DISTINCT url FROM unread").fetchall():
            self._connection.execute(
                "UPDATE unread SET area = ? WHERE url = ?", (self._area_of(url), url)
            )
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
        columns = f"url, id, size, modified, digest, problem, {TEXT_OF}"
        return {row[0]: IndexEntry(*row[1:]) for row in self._below(roots, columns)}

    def note_unread(self, roots: Sequence[Path], found: Mapping[tuple[str, str], int]) -> None:
        """Store how many files of kinds that are not read are in folders at or below some roots."""
        condition, values = below(roots)
        before = self._connection.execute(
            f"SELECT url, ending, count FROM unread WHERE {condition}",  # noqa: S608 - our own columns
            values,
        )
        if {(url, ending): count for url, ending, count in before} == found:
            return
        with transaction(self._connection):
            self._connection.execute(f"DELETE FROM unread WHERE {condition}", values)  # noqa: S608
            self._connection.executemany(
                "INSERT INTO unread VALUES (?, ?, ?, ?)",
                ((url, ending, n, self._area_of(url)) for (url, ending), n in found.items()),
            )

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
        if before and before.text_of and reading.content is None:
            self._connection.execute(
                "UPDATE files SET size = ?, modified = ?, digest = ?, problem = ? WHERE id = ?",
                (document.size, modified, reading.digest, reading.problem, before.id),
            )
            return "skipped"
        if before:
            self._forget(before.id)
        self._insert(document, reading, modified)
        if reading.content is None:
            return "skipped"
        return "changed" if before and before.text_of else "added"

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
            " kept, omitted, text_digest, area, dated, author)"
            " VALUES (?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?)",
            (
                document.url,
                document.size,
                modified,
                reading.digest,
                time.time(),
                reading.problem,
                content.kept if content else 0.0,
                json.dumps(content.omitted if content else {}),
                text_digest,
                area,
                content.dated if content else "",
                content.author if content else "",
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
        for file, url, area in self._connection.execute(
            "SELECT file, url, area FROM pages JOIN files ON id = file ORDER BY file"
        ).fetchall():
            title, text = self._connection.execute(
                "SELECT title, text FROM pages WHERE file = ?", (file,)
            ).fetchone()
            passages = split(unpack_text(text))
            self._connection.execute(
                "UPDATE pages SET spans = ? WHERE file = ?", (pack_spans(passages), file)
            )
            self._place(file, first, len(passages))
            self._add_words(first, word_rows(title, url, passages), area)
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
            f"SELECT id, size, modified, digest, problem, {TEXT_OF} FROM files WHERE url = ?",  # noqa: S608
            (url,),
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
