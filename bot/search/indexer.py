"""Bringing the index of local documents up to date with the files."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import structlog

from bot.errors import InvalidSetting, StorageUnavailable
from bot.search.folders import Document, list_documents, readable, root_of
from bot.search.index_file import (
    Damaged,
    building,
    damage_mark,
    discard,
    meaning,
    open_writer,
)
from bot.search.index_writer import IndexWriter, Known, Prepared
from bot.search.readers import Readers
from bot.search.reading import Job, Reading
from bot.search.twins import order_of

log = structlog.get_logger()

MAX_FILE_BYTES = 10_000_000
BATCH_PASSAGES = 2_000  # written in one transaction: some 0.1 s of holding the write lock
BATCH_FILES = 500
BATCH_SECONDS = 2.0  # after which what was read is written, so that it can be searched

Progress = Callable[[int, int], None]
"""Told how many files have been looked at, and how many there are."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an indexing run did.

    ``added``, ``changed``, ``removed`` and ``unchanged`` count files; ``skipped`` are pairs of a
    path and a reason; ``passages`` is how many the given paths have in the index now; ``warning``
    is a sentence for the person, or "".
    """

    added: int
    changed: int
    removed: int
    unchanged: int
    skipped: tuple[tuple[str, str], ...]
    passages: int
    seconds: float
    warning: str = ""


class Indexer:
    """Indexes folders and files into one SQLite file, shared by any number of roots."""

    def __init__(
        self,
        index_path: Path,
        *,
        max_file_bytes: int = MAX_FILE_BYTES,
        readers: Readers | None = None,
    ) -> None:
        self._path = index_path
        self._max_file_bytes = max_file_bytes
        self._readers = readers or Readers()

    def index(self, paths: Iterable[str | Path], progress: Progress | None = None) -> IndexReport:
        """Index what is new or changed below ``paths``, drop what is gone, leave all else alone.

        Blocks; run it in a thread where an event loop must stay free. Files are compared by size
        and modification time, then by content. The work is written in small transactions: after
        an interruption of any kind (an exception from ``progress`` included) the index is usable
        and the next call carries on. Several processes may index at once; they take turns.

        A damaged index is built anew, which ``IndexReport.warning`` says.
        Raises ``InvalidSetting`` for a path that does not exist, ``StorageUnavailable`` when the
        index cannot be written.
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
            warning=warning,
        )

    def _run(self, roots: tuple[Path, ...], progress: Progress | None) -> tuple[_Run, str]:
        """Index; should the index prove damaged on the way, once more into a new one."""
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
            f"The index {self._path} is damaged again right after it was built anew: "
            "check the disk.",
            detail=str(damage),
        )

    def _fill(
        self, connection: sqlite3.Connection, roots: tuple[Path, ...], progress: Progress | None
    ) -> _Run:
        run = _Run(connection, roots, self._readers, self._max_file_bytes)
        try:
            run.go(progress or (lambda done, total: None))
        except sqlite3.Error as error:
            raise meaning(error, self._path) from error
        return run

    def _open(self) -> tuple[sqlite3.Connection, str, str]:
        """A sound index, its generation, and the warning if it had to be built anew."""
        warning = ""
        with building(self._path):
            if damage_mark(self._path).exists():
                warning = self._discard("found while working with it")
            try:
                connection, generation = open_writer(self._path)
            except Damaged as damage:
                warning = self._discard(str(damage))
                connection, generation = open_writer(self._path)
        return connection, generation, warning

    def _discard(self, damage: str) -> str:
        discard(self._path)
        log.warning("index_rebuilt", index=str(self._path), damage=damage)
        return (
            f"The index {self._path} was damaged and has been built anew; "
            "run `footnote index` for other folders that were in it."
        )

    def _mark_damaged(self, generation: str) -> None:
        """Have the index thrown away, unless another process has done so already."""
        with building(self._path):
            try:
                connection, now_there = open_writer(self._path)
                connection.close()
            except Damaged:
                now_there = generation
            if now_there == generation:
                damage_mark(self._path).touch()


class _Run:
    """One pass over the roots, and what it counts."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        roots: tuple[Path, ...],
        readers: Readers,
        max_file_bytes: int,
    ) -> None:
        self._writer = IndexWriter(connection)
        self._roots = roots
        self._readers = readers
        self._max_file_bytes = max_file_bytes
        self._known: dict[str, Known] = {}
        self._batch: list[Prepared] = []
        self._waiting = 0  # passages in the batch
        self._written_at = time.monotonic()
        self.added = self.changed = self.removed = self.unchanged = self.passages = 0
        self.skipped: list[tuple[str, str]] = []

    def go(self, progress: Progress) -> None:
        self._writer.refresh()
        self._writer.begin(self._roots)
        self._known = self._writer.files_below(self._roots)
        listing = list_documents(self._roots)
        self.skipped += listing.skipped
        self._remove([known for url, known in self._known.items() if url not in listing.documents])
        jobs = self._changed(listing.documents.values())
        done, total = len(listing.documents) - len(jobs), len(listing.documents)
        progress(done, total)
        with closing(self._readers.read(jobs, self._max_file_bytes)) as readings:
            for job, reading in zip(jobs, readings, strict=True):
                self._take(job.document, reading)
                done += 1
                progress(done, total)
        self._write()
        self._writer.tidy()
        self.passages = self._writer.passages_below(self._roots)

    def _changed(self, documents: Iterable[Document]) -> list[Job]:
        """The files to read, better readable ones first: what comes later is their twin."""
        jobs = []
        for document in documents:
            known = self._known.get(document.url)
            if known is None:
                jobs.append(Job(document))
            elif (known.size, known.modified) != (document.size, document.modified):
                jobs.append(Job(document, known.digest))
            else:
                self._count_kept(document, known.problem)
        jobs.sort(key=lambda job: order_of(job.document.url))
        return jobs

    def _take(self, document: Document, reading: Reading) -> None:
        problem = reading.problem
        known = self._known.get(document.url)
        if known and known.digest == reading.digest:
            problem = known.problem
        modified = document.modified if reading.is_settled else 0
        self._batch.append(Prepared(document, reading.digest, modified, reading.content, problem))
        self._waiting += len(reading.content.words) if reading.content else 0
        is_full = self._waiting >= BATCH_PASSAGES or len(self._batch) >= BATCH_FILES
        if is_full or time.monotonic() > self._written_at + BATCH_SECONDS:
            self._write()

    # ------------------------------------------------------------ writing

    def _write(self) -> None:
        batch, self._batch, self._waiting = self._batch, [], 0
        if batch:
            for prepared, outcome in zip(batch, self._writer.write(batch), strict=True):
                if outcome == "added":
                    self.added += 1
                elif outcome == "changed":
                    self.changed += 1
                else:
                    self._count_kept(prepared.document, prepared.problem)
        self._written_at = time.monotonic()

    def _remove(self, gone: list[Known]) -> None:
        self._writer.remove(gone)
        self.removed += sum(not known.problem for known in gone)

    def _count_kept(self, document: Document, problem: str) -> None:
        if problem:
            self.skipped.append((readable(document.path), problem))
        else:
            self.unchanged += 1
