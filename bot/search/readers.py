"""Processes that read files in parallel and return their readings in order.

Why processes: reading is Python and C code that keeps one core busy, and a malicious file can crash
it or make it use unlimited memory or time. Such a file is given up and named; all others are read.
The memory of all processes together is limited: a file that needs more is read again while the
other processes are ended, with more memory for a single process.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.errors import Stopped, Unavailable
from bot.pages.processes import WorkerProcess
from bot.search.reading import Job, Reading, failed_reading, request_of, unpack

SECONDS = 60.0
"""The time limit for one file. A PDF manual of 1,000 pages takes 15 s."""

START_SECONDS = 60.0  # for a process to become ready; it takes some seconds on a busy machine

SIZE = max(1, min(3, os.cpu_count() or 1))
"""The maximum number of processes: with more, each would have too little memory."""

MEMORY = 120_000_000  # bytes for each of several processes; each needs 35 MB to start
ROOM_FOR_ONE = 240_000_000  # bytes for a process that works alone

COMMAND = (sys.executable, "-P", "-c", "import sys; from bot.search.reading import work; "
           "work(int(sys.argv[1]))")  # fmt: skip

BATCH_FILES = 24  # per request, to switch less often between threads and processes
BATCH_BYTES = 200_000  # ... fewer if they are large
MOST_AHEAD = 8_000_000  # bytes of readings that wait for an earlier one
CHECK_SECONDS = 0.25  # between checks for processes that have taken too long

NO_PROCESS = (
    "Files cannot be read, because no process could be started for it: free some memory on this "
    "machine and try again."
)
BROKE = "its reader broke on it: save it again, or convert it to text"

ENDED = "Indexing was ended; the next run continues."

_Failure = Literal["broke", "lacks memory"]


class Readers:
    """Reads files in up to ``size`` processes.

    ``seconds`` is the limit for one file. ``command`` starts a process; the bytes that it may
    allocate are appended to it: ``memory`` for one of several, ``room_for_one`` for a single one.
    """

    def __init__(
        self,
        *,
        size: int = SIZE,
        seconds: float = SECONDS,
        command: Sequence[str] = COMMAND,
        memory: int = MEMORY,
        room_for_one: int = ROOM_FOR_ONE,
    ) -> None:
        self.size = size
        self.seconds = seconds
        self.command = command
        self.memory = memory
        self.room_for_one = room_for_one

    def read(
        self, jobs: Sequence[Job], most_bytes: int, ending: threading.Event | None = None
    ) -> Generator[Reading]:
        """The readings of all jobs, in their order. Blocks; close the generator to stop early.

        ``most_bytes`` is as in ``read_file``. A file that could not be read has a ``problem``, and
        is not settled if the next run should try it again. Raises ``Unavailable`` if no process
        can be started, and ``Stopped`` soon after another thread has set ``ending``.
        """
        work = _Work(self, list(_batches(jobs)), most_bytes, ending or threading.Event())
        try:
            work.begin()
            for number in range(len(work.batches)):
                yield from work.readings_of(number)
        finally:
            work.end()


def _batches(jobs: Sequence[Job]) -> Iterator[list[Job]]:
    batch: list[Job] = []
    size = 0
    for job in jobs:
        if batch and (len(batch) == BATCH_FILES or size + job.document.size > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(job)
        size += job.document.size
    if batch:
        yield batch


@dataclass(slots=True)
class _Lane:
    """One process, started when needed, and the deadline for its current work."""

    process: WorkerProcess | None = None
    deadline: float = math.inf  # monotonic seconds
    is_late: bool = False  # it was stopped because it missed the deadline

    def end(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            process.kill()


class _Closed(Exception):
    """The work is being stopped."""


class _Work:
    """The batches of one call of ``Readers.read``; ``_turn`` guards everything threads share."""

    def __init__(
        self,
        readers: Readers,
        batches: list[list[Job]],
        most_bytes: int,
        ending: threading.Event,
    ) -> None:
        self.batches = batches
        self._ending = ending
        self._readers = readers
        self._most_bytes = most_bytes
        self._lanes = [_Lane() for _ in range(min(readers.size, len(batches)))]
        self._threads: list[threading.Thread] = []
        self._turn = threading.Condition()
        self._next = 0  # number of the next batch
        self._done: dict[int, list[Reading]] = {}
        self._ahead = 0  # bytes in ``_done``
        self._active = 0  # lanes that work in parallel
        self._is_reserved = False  # by a lane that works alone, or waits to do so
        self._is_closed = False
        self._failure: Exception | None = None

    # ------------------------------------------------------------ for the consumer of the results

    def begin(self) -> None:
        for lane in self._lanes:
            thread = threading.Thread(target=self._run, args=(lane,), name="reading", daemon=True)
            thread.start()
            self._threads.append(thread)

    def readings_of(self, number: int) -> list[Reading]:
        """Wait for a batch, and meanwhile stop processes that take too long."""
        with self._turn:
            while number not in self._done:
                if self._failure is not None:
                    raise self._failure
                if self._ending.is_set():
                    raise Stopped(ENDED)
                self._turn.wait(CHECK_SECONDS)
                for lane in self._lanes:
                    if lane.deadline < time.monotonic() and lane.process is not None:
                        lane.is_late = True
                        lane.process.stop()
            readings = self._done.pop(number)
            self._ahead -= sum(map(_weight, readings))
            self._turn.notify_all()
        return readings

    def end(self) -> None:
        with self._turn:
            self._is_closed = True
            for lane in self._lanes:
                if lane.process is not None:
                    lane.process.stop()
            self._turn.notify_all()
        for thread in self._threads:
            thread.join()

    # ------------------------------------------------------------ in the threads

    def _run(self, lane: _Lane) -> None:
        try:
            while (number := self._taken()) is not None:
                batch = self.batches[number]
                readings = self._side_by_side(lane, batch)
                whole = [
                    reading if isinstance(reading, Reading) else self._alone(lane, job)
                    for job, reading in zip(batch, readings, strict=True)
                ]
                with self._turn:
                    self._done[number] = whole
                    self._ahead += sum(map(_weight, whole))
                    self._turn.notify_all()
        except _Closed:
            pass
        except Exception as error:  # noqa: BLE001  (raised where the readings are waited for)
            with self._turn:
                self._failure = self._failure or error
                self._turn.notify_all()
        finally:
            lane.end()

    def _taken(self) -> int | None:
        """Take the next batch, once few enough readings wait for earlier ones; None at the end."""
        with self._turn:
            self._wait_while(lambda: self._ahead > MOST_AHEAD)
            if self._next == len(self.batches):
                return None
            self._next += 1
            return self._next - 1

    def _side_by_side(self, lane: _Lane, jobs: list[Job]) -> list[Reading | _Failure]:
        """Read in parallel with other lanes; failed files should be tried alone."""
        with self._turn:
            self._wait_while(lambda: self._is_reserved)
            self._active += 1
        try:
            return self._exchange(lane, jobs, self._readers.memory)
        finally:
            with self._turn:
                self._active -= 1
                self._turn.notify_all()

    def _alone(self, lane: _Lane, job: Job) -> Reading:
        """Read a file while no other process runs."""
        with self._turn:
            self._wait_while(lambda: self._is_reserved)
            self._is_reserved = True
        try:
            with self._turn:
                self._wait_while(lambda: self._active > 0)
            for each in self._lanes:
                each.end()
            (reading,) = self._exchange(lane, [job], self._readers.room_for_one)
        finally:
            lane.end()
            with self._turn:
                self._is_reserved = False
                self._turn.notify_all()
        if isinstance(reading, Reading):
            return reading
        room = f"{self._readers.room_for_one / 1_000_000:g} MB"
        too_large = f"reading it takes more than {room} of memory: split it into smaller files"
        return failed_reading(job, BROKE if reading == "broke" else too_large)

    def _wait_while(self, condition: Callable[[], bool]) -> None:
        while condition() and not self._is_closed:
            self._turn.wait()
        if self._is_closed:
            raise _Closed

    def _exchange(self, lane: _Lane, jobs: list[Job], memory: int) -> list[Reading | _Failure]:
        readings: list[Reading | _Failure] = []
        while len(readings) < len(jobs):
            rest = jobs[len(readings) :]
            process = self._living(lane, memory)
            try:
                self._await(lane, self._readers.seconds)
                process.tell(request_of(rest, self._most_bytes, self._readers.seconds))
                for _ in rest:
                    reading = unpack(*process.hear())
                    self._await(lane, self._readers.seconds)
                    readings.append(reading or "lacks memory")
                    if reading is None:
                        lane.end()  # its memory is fragmented now
                        break
            except (OSError, EOFError, ValueError):
                readings.append(self._broken(lane, jobs[len(readings)]))
            finally:
                lane.deadline = math.inf
        return readings

    def _living(self, lane: _Lane, memory: int) -> WorkerProcess:
        """The process of a lane, ready for work; started if there is none."""
        if lane.process is not None and lane.process.lives():
            return lane.process
        lane.end()
        try:
            with self._turn:
                if self._is_closed:
                    raise _Closed
                lane.process = WorkerProcess((*self._readers.command, str(memory)))
            self._await(lane, START_SECONDS)
            lane.process.hear()
        except (OSError, EOFError, ValueError) as error:
            with self._turn:
                if self._is_closed:
                    raise _Closed from None
            raise Unavailable(NO_PROCESS, detail=f"{type(error).__name__}: {error}") from error
        return lane.process

    def _await(self, lane: _Lane, seconds: float) -> None:
        """Set the lane's deadline; raises if it was stopped because it missed the last one."""
        with self._turn:
            if lane.is_late:
                raise EOFError("stopped")
            lane.deadline = time.monotonic() + seconds

    def _broken(self, lane: _Lane, job: Job) -> Reading | _Failure:
        """The result for a file whose reading process has died."""
        lane.end()
        with self._turn:
            if self._is_closed:
                raise _Closed
            was_late, lane.is_late = lane.is_late, False
        if was_late:
            problem = f"reading it takes more than {self._readers.seconds:g} s: split it, or "
            return failed_reading(job, problem + "convert it to text")
        return "broke"


def _weight(reading: Reading) -> int:
    """The approximate size in bytes of a reading that waits."""
    return 1_000 + (8 * len(reading.content.text) if reading.content else 0)
