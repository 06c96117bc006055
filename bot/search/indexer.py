"""Bringing the index of local documents up to date with the files."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterable
from pathlib import Path

import structlog

from bot.errors import InvalidSetting, Stopped, StorageUnavailable
from bot.search.folders import root_of
from bot.search.index_file import (
    Damaged,
    Outdated,
    building,
    damage_mark,
    discard,
    meaning,
    open_writer,
)
from bot.search.index_report import IndexReport
from bot.search.index_run import IndexRun, Progress
from bot.search.readers import ENDED, Readers

log = structlog.get_logger()

MAX_FILE_BYTES = 10_000_000  # of text; see ``read_file`` for what holds pictures


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
        self._ending = threading.Event()
        self._connection: sqlite3.Connection | None = None

    def index(self, paths: Iterable[str | Path], progress: Progress | None = None) -> IndexReport:
        """Index what is new or changed below ``paths``, drop what is gone, leave all else alone.

        Blocks; run it in a thread where an event loop must stay free. Files are compared by size
        and modification time, then by content. The work is written in small transactions: after
        an interruption of any kind (an exception from ``progress`` included) the index is usable
        and the next call carries on. Several processes may index at once; they take turns.

        A damaged index is built anew, which ``IndexReport.warning`` says.
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
        """Have ``index`` end soon, and every later call; called from another thread."""
        self._ending.set()
        connection = self._connection
        if connection is not None:
            with contextlib.suppress(sqlite3.ProgrammingError):  # it has just been closed
                connection.interrupt()

    def _run(self, roots: tuple[Path, ...], progress: Progress | None) -> tuple[IndexRun, str]:
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
    ) -> IndexRun:
        tell = progress or (lambda done, total: None)
        run = IndexRun(connection, roots, self._readers, self._max_file_bytes, tell, self._ending)
        try:
            self._connection = connection
            run.go()
        except sqlite3.Error as error:
            if self._ending.is_set():
                raise Stopped(ENDED) from error
            raise meaning(error, self._path) from error
        finally:
            self._connection = None
        return run

    def _open(self) -> tuple[sqlite3.Connection, str, str]:
        """A sound index, its generation, and the warning if it had to be built anew."""
        warning = ""
        with building(self._path):
            if damage_mark(self._path).exists():
                warning = self._discard("found while working with it")
            try:
                connection, generation = open_writer(self._path)
            except Outdated as damage:
                discard(self._path)
                log.info("index_rebuilt", index=str(self._path), why=str(damage))
                connection, generation = open_writer(self._path)
                warning = (
                    f"The index {self._path} was made by another version of Footnote and is built "
                    "anew; run `footnote index` for other folders that were in it."
                )
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
