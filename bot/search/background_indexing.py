"""Indexes documents in the background of a serving process, and reports the progress.

Changes are found by looking at all files now and then, not by events of the file system, which
network mounts and containers do not have, and of which Linux limits the number.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.core.errors import FootnoteError, InvalidSetting, Stopped
from bot.core.logs import get_logger
from bot.core.measurements import Indexing
from bot.core.settings import Settings
from bot.core.texts import Said, Sentence, said
from bot.search.folders import list_documents, root_of, stamp
from bot.search.index_file import alone
from bot.search.unchanged import unchanged

if TYPE_CHECKING:
    from bot.search.index_report import IndexReport
    from bot.search.indexer import Indexer, Progress

log = get_logger()

TELL_SECONDS = 10.0  # between two progress lines
BESIDE_OTHERS = 2  # reader processes beside those that read web pages: 240 MB of memory
MOST_SHARE = 0.004  # of one core, that looking for changes may use: 50,000 files every 30 s
QUIET_SECONDS = 1.0  # without a change, before changed files are read
MOST_LOOKS = 10  # ... at files that keep changing
MOST_PAUSE = 3_600.0  # seconds between two attempts to read what could not be read
NAMED_PROBLEMS = 5  # unreadable files listed by name; the others are counted


@asynccontextmanager
async def documents_being_indexed(
    settings: Settings, tell: Callable[[str], None], indexing: Indexing
) -> AsyncIterator[None]:
    """Keep the index up to date with ``settings.docs`` in the background of the block.

    ``indexing`` always holds the current state, and ``tell`` receives lines about progress and
    errors. An error leaves the existing index as it is. Leaving the block soon ends the indexing;
    the next start continues it.
    """
    if not settings.docs:
        yield
        return
    from bot.search.indexer import Indexer  # imported here because few processes index
    from bot.search.reader_processes import SIZE, Readers

    readers = Readers(size=min(BESIDE_OTHERS, SIZE))
    indexer = Indexer(settings.index_path, areas=settings.collection_paths, readers=readers)
    indexing.stop = indexer.stop
    rounds = Rounds(indexer, settings, tell, indexing)
    indexing.again = rounds.again
    task = asyncio.create_task(rounds.repeat())
    try:
        yield
    finally:
        rounds.end()
        await task


class Rounds:
    """Indexes everything once, and then what has changed since, again and again.

    ``clock`` returns seconds.
    """

    def __init__(
        self,
        indexer: Indexer,
        settings: Settings,
        tell: Callable[[str], None],
        indexing: Indexing,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._indexer = indexer
        self._settings = settings
        self._tell = tell
        self._indexing = indexing
        self._clock = clock
        self._woken = asyncio.Event()
        self._asked: list[str] = []  # paths to look at now
        self._every = 0  # files, before somebody asked for a look at some
        self._ends = threading.Event()
        self._told: set[str] = set()  # in the last round
        self._devices: dict[Path, int] = {}  # where the folders were first seen
        self._places: tuple[str, ...] = ()  # all folders and files of the last complete round
        self._stamp = 0  # theirs
        self._cost = 0.0  # processor seconds of the last round without a change
        self._pause = 0.0  # seconds from the last round to the next attempt to read what failed
        self._again = math.inf  # when that is; infinite if nothing failed

    def again(self, paths: Sequence[str] = ()) -> None:
        """Look at some paths now, or at all documents, and show the progress."""
        self._asked = list(dict.fromkeys([*self._asked, *(paths or self._settings.docs)]))
        if self._indexing.state != "indexing":
            self._every = self._indexing.total
            self._indexing.begin()
        self._woken.set()

    def end(self) -> None:
        self._ends.set()
        self._woken.set()
        self._indexer.stop()

    async def repeat(self) -> None:
        """Go on until the end, with pauses that keep the cost low however many files there are; the
        first round is always complete."""
        goes_on = await self._round(self.begin, self._settings.docs, self._progress())
        while goes_on:
            await self._rest()
            asked, self._asked = self._asked, []
            if self._ends.is_set():
                return
            if asked:
                goes_on = await self._round(self.begin, asked, self._progress())
                if len(asked) < len(self._settings.docs):
                    self._indexing.total = max(self._every, self._indexing.total)
            else:
                goes_on = await self._round(self.catch_up, self._settings.docs)

    async def _rest(self) -> None:
        """Wait until the next look: for ever if there is none, unless somebody asks for it."""
        poll = self._settings.docs_poll
        pause = max(poll, self._cost / MOST_SHARE) if poll else None
        now = datetime.now(UTC)
        self._indexing.looked_at = now
        self._indexing.next_look = now + timedelta(seconds=pause) if pause else None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self._woken.wait()
        self._woken.clear()

    async def _round(self, work: Callable[..., IndexReport | None], *values: Any) -> bool:
        """Do the work in a thread and tell its result; False if it was ended."""
        try:
            report = await asyncio.to_thread(work, *values)
        except Stopped:
            return False
        except FootnoteError as error:
            self._failed(error.said, f"The documents are not all indexed: {error.sentence}")
        except Exception as error:
            why = said("check-broke", error=type(error).__name__)
            if self._indexing.why != why:
                log.exception("indexing_failed")
            self._failed(
                why,
                "The documents are not all indexed: it failed unexpectedly; the log has the "
                "details.",
            )
        else:
            if report is not None:
                if self._indexing.state != "ok":
                    self._indexing.become("ok")
                for line in _changes_of(report):
                    self._tell(line)
                self._tell_new(_problems_of(report))
        return True

    def _failed(self, why: Sentence, line: str) -> None:
        self._places = ()
        if self._indexing.why != why:
            self._indexing.become("not ok", why)
        self._tell_new([line])

    def _tell_new(self, lines: list[str]) -> None:
        for line in lines:
            if line not in self._told:
                self._tell(line)
        self._told = set(lines)

    def begin(self, docs: Sequence[str], progress: Progress) -> IndexReport:
        self._check_disks(docs)
        return self._indexer.index(docs, progress)

    def catch_up(self, docs: Sequence[str]) -> IndexReport | None:
        """Index what has changed, when it has been quiet for a while; None if nothing has, or
        another process is doing so.

        Without a change, what could not be read is tried again: in the next round, and then less
        and less often.
        """
        began = time.thread_time()
        self._check_disks(docs)
        lock = _lock_of(self._settings)
        lock.touch()
        has_changed = not self._places or stamp(self._places) != self._stamp
        if not has_changed and self._clock() < self._again:
            self._cost = time.thread_time() - began
            return None
        index = self._settings.index_path
        with alone(lock) as is_alone:
            if not is_alone:
                return None
            for _ in range(MOST_LOOKS):
                places = list_documents(map(root_of, docs)).places()
                seen = stamp(places)
                if self._ends.wait(QUIET_SECONDS):
                    return None
                if stamp(places) == seen:
                    break
            self._check_disks(docs)
            areas = self._settings.collection_paths
            report = unchanged(index, docs, areas) or self._indexer.index(docs)
        self._places, self._stamp = places, seen
        longer = min(2 * self._pause + self._settings.docs_poll, MOST_PAUSE)
        self._pause = 0.0 if has_changed else longer
        self._again = self._clock() + self._pause if report.again else math.inf
        return report

    def _check_disks(self, docs: Sequence[str]) -> None:
        """Raise ``InvalidSetting`` if a folder is missing, or empty since its disk is gone."""
        for path in docs:
            root = root_of(path)
            device = _device_of(root)
            if self._devices.setdefault(root, device) != device and not any(root.iterdir()):
                raise InvalidSetting(said("disk-unmounted", path=path))

    def _progress(self) -> Callable[[int, int], None]:
        loop = asyncio.get_running_loop()
        told = 0.0

        def progress(done: int, total: int) -> None:  # in the indexer's thread
            nonlocal told
            loop.call_soon_threadsafe(self._indexing.advance, done, total)
            is_first, now = not told, time.monotonic()
            if done == total or (told and now < told + TELL_SECONDS):
                return
            told = now
            line = f"Indexed {done:,} of {total:,} files."
            if is_first:
                line = (
                    f"Indexing {total - done:,} of {total:,} files; "
                    "those that are indexed can be searched already."
                )
            loop.call_soon_threadsafe(self._tell, line)

        return progress


def looking(settings: Settings) -> Said:
    """Whether and when serving processes look for changes in the documents. The file of the lock
    has the time when one did so last."""
    if not settings.docs:
        return said("check-changes-none")
    if not settings.docs_poll:
        return said("check-changes-start")
    every = said("check-changes", seconds=settings.docs_poll)
    try:
        last = datetime.fromtimestamp(_lock_of(settings).stat().st_mtime, UTC)
    except FileNotFoundError:
        return every + said("check-changes-never")
    return every + said("check-changes-last", at=f"{last:%Y-%m-%d %H:%M:%S}")


def _lock_of(settings: Settings) -> Path:
    return settings.index_path.with_suffix(".round.lock")


def _device_of(root: Path) -> int:
    return root.stat().st_dev


def _changes_of(report: IndexReport) -> list[str]:
    lines = [report.warning] if report.warning else []
    if report.added or report.changed or report.removed:
        lines.append(
            f"Indexed in {report.seconds:.1f} s: {report.added} new, {report.changed} changed, "
            f"{report.removed} removed, {report.unchanged} unchanged files."
        )
    return lines


def _problems_of(report: IndexReport) -> list[str]:
    problems = report.skipped
    lines = [f"Skipped {path}: {reason}" for path, reason in problems[:NAMED_PROBLEMS]]
    if len(problems) > NAMED_PROBLEMS:
        lines.append(f"… and {len(problems) - NAMED_PROBLEMS} more files.")
    return lines
