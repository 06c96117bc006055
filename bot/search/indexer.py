"""Bringing the index of local documents up to date with the files."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import structlog

from bot.errors import Broken, InvalidSetting, StorageUnavailable, Unavailable
from bot.pages.extract import Extracted, from_bytes
from bot.pages.media import LOOK_AT, may_be_pdf
from bot.pages.passages import split
from bot.pages.workers import BlockingWorker
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

log = structlog.get_logger()

MAX_FILE_BYTES = 10_000_000
BATCH_PASSAGES = 2_000  # written in one transaction: some 0.1 s of holding the write lock
BATCH_FILES = 500
SAME_TICK = 2_000_000_000  # ns: a file changed this recently may change again unnoticed

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
        pdf_reader: Callable[[], BlockingWorker] = BlockingWorker,
    ) -> None:
        self._path = index_path
        self._max_file_bytes = max_file_bytes
        self._pdf_reader = pdf_reader

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
        pdfs = self._pdf_reader()
        run = _Run(IndexWriter(connection), roots, self._max_file_bytes, pdfs)
        try:
            run.go(progress or (lambda done, total: None))
        except sqlite3.Error as error:
            raise meaning(error, self._path) from error
        finally:
            pdfs.close()
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
        writer: IndexWriter,
        roots: tuple[Path, ...],
        max_file_bytes: int,
        pdfs: BlockingWorker,
    ) -> None:
        self._writer = writer
        self._roots = roots
        self._max_file_bytes = max_file_bytes
        self._pdfs = pdfs
        self._known: dict[str, Known] = {}
        self._batch: list[Prepared] = []
        self._waiting = 0  # passages in the batch
        self.added = self.changed = self.removed = self.unchanged = self.passages = 0
        self.skipped: list[tuple[str, str]] = []

    def go(self, progress: Progress) -> None:
        self._writer.refresh()
        self._known = self._writer.files_below(self._roots)
        listing = list_documents(self._roots)
        self.skipped += listing.skipped
        self._remove([known for url, known in self._known.items() if url not in listing.documents])
        total = len(listing.documents)
        for done, document in enumerate(listing.documents.values(), 1):
            self._look_at(document)
            progress(done, total)
        self._write()
        self._writer.tidy()
        self.passages = self._writer.passages_below(self._roots)

    def _look_at(self, document: Document) -> None:
        known = self._known.get(document.url)
        if known and (known.size, known.modified) == (document.size, document.modified):
            self._count_kept(document, known.problem)
            return
        prepared = self._prepare(document, known)
        self._batch.append(prepared)
        self._waiting += len(prepared.passages)
        if self._waiting >= BATCH_PASSAGES or len(self._batch) >= BATCH_FILES:
            self._write()

    # ------------------------------------------------------------ reading

    def _prepare(self, document: Document, known: Known | None) -> Prepared:
        """Read and cut up a file, unless its content is what the index has."""
        if document.size > self._max_file_bytes:
            limit = f"{self._max_file_bytes / 1_000_000:g} MB"
            return Prepared(document, b"", 0, problem=f"it is larger than {limit}")
        try:
            with open(document.path, "rb") as file:
                data = file.read(self._max_file_bytes)
        except OSError as error:
            return Prepared(document, b"", 0, problem=f"it cannot be read ({error.strerror})")
        digest = hashlib.sha256(data).digest()
        settled = document.modified < time.time_ns() - SAME_TICK
        modified = document.modified if settled else 0
        if known and known.digest == digest:
            return Prepared(document, digest, modified, problem=known.problem)
        try:
            extracted = self._extracted(data, document)
        except Broken as error:
            return Prepared(document, digest, modified, problem=error.sentence.rstrip("."))
        except Unavailable as error:  # no fault of the file's: it is looked at again next time
            return Prepared(document, b"", 0, problem=error.sentence.rstrip("."))
        passages = tuple(split(extracted.text))
        if not passages:
            return Prepared(document, digest, modified, problem="there is no text in it")
        return Prepared(document, digest, modified, extracted.title, extracted.text, passages)

    def _extracted(self, data: bytes, document: Document) -> Extracted:
        """The text of a file. What has the form of a PDF document is read in a process of its
        own, because PDFium is C++ code that a file can break, or keep busy for ever."""
        name = Path(document.path).name
        if may_be_pdf(data[:LOOK_AT], document.media_type):
            return self._pdfs.extract(data, document.media_type, name)
        return from_bytes(data, document.media_type, name)

    # ------------------------------------------------------------ writing

    def _write(self) -> None:
        batch, self._batch, self._waiting = self._batch, [], 0
        if not batch:
            return
        for prepared, outcome in zip(batch, self._writer.write(batch), strict=True):
            if outcome == "added":
                self.added += 1
            elif outcome == "changed":
                self.changed += 1
            else:
                self._count_kept(prepared.document, prepared.problem)

    def _remove(self, gone: list[Known]) -> None:
        self._writer.remove(gone)
        self.removed += sum(not known.problem for known in gone)

    def _count_kept(self, document: Document, problem: str) -> None:
        if problem:
            self.skipped.append((readable(document.path), problem))
        else:
            self.unchanged += 1
