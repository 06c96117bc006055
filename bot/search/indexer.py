"""Bring the index of local documents up to date with the files.

``Indexer`` opens or rebuilds the index, and ``_Run`` is one pass over some folders.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path

from bot.core.errors import InvalidSetting, Stopped, StorageUnavailable
from bot.core.logs import get_logger
from bot.search.areas import area_addresses
from bot.search.folders import Document, list_documents, readable, root_of
from bot.search.index_file import (
    Damaged,
    IndexEntry,
    Outdated,
    building,
    damage_mark,
    discard,
    meaning,
    open_writer,
)
from bot.search.index_report import IndexReport
from bot.search.index_writer import IndexWriter, Outcome
from bot.search.readers import ENDED, Readers
from bot.search.reading import Job, Reading

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
        """``areas`` are the paths of collections: see ``bot.search.areas``."""
        self._path = index_path
        self._areas = area_addresses(areas)
        self._max_file_bytes = max_file_bytes
        self._readers = readers or Readers()
        self._ending = threading.Event()
        self._connection: sqlite3.Connection | None = None

    def index(self, paths: Iterable[str | Path], progress: Progress | None = None) -> IndexReport:
        """Index new and changed files below ``paths`` and remove those that are gone.

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
            raise meaning(error, self._path) from error
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
    path and a reason; ``passages`` is how many the roots have in the index at the end.
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
        self.added = self.changed = self.removed = self.unchanged = self.passages = 0
        self.skipped: list[tuple[str, str]] = []

    def go(self) -> None:
        """Run it. Raises ``sqlite3.Error``, ``Damaged``, and errors of progress or readers."""
        self._writer.begin(self._roots)
        self._known = self._writer.files_below(self._roots)
        listing = list_documents(self._roots)
        self.skipped += listing.skipped
        self._remove([known for url, known in self._known.items() if url not in listing.documents])
        jobs = self._changed(listing.documents.values())
        self._total = len(listing.documents)
        self._step(self._total - len(jobs))
        self._writer.expect([job.document.url for job in jobs])
        self._read(jobs)
        self._writer.tidy()
        self.passages = self._writer.passages_below(self._roots)

    def _changed(self, documents: Iterable[Document]) -> list[Job]:
        """The files to read; the others are counted as unchanged."""
        jobs = []
        for document in documents:
            known = self._known.get(document.url)
            if known is None:
                jobs.append(Job(document))
            elif (known.size, known.modified) != (document.size, document.modified):
                jobs.append(Job(document, known.digest))
            else:
                self._count_kept(document, known.problem)
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
        self.removed += sum(not known.problem for known in gone)

    def _count(self, document: Document, reading: Reading, outcome: Outcome) -> None:
        known = self._known.get(document.url)
        if outcome == "added":
            self.added += 1
        elif outcome == "changed":
            self.changed += 1
        elif known and reading.digest and known.digest == reading.digest:
            self._count_kept(document, known.problem)
        else:
            self._count_kept(document, reading.problem)

    def _count_kept(self, document: Document, problem: str) -> None:
        if problem:
            self.skipped.append((readable(document.path), problem))
        else:
            self.unchanged += 1
