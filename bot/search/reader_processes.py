"""Reads files for the index in child processes, in parallel, and returns their readings in order.

A malicious file can crash a process or make it use unlimited memory or time. Such a file is given
up and named; all others are read: the files of a batch that fails are read one by one.
The memory of all processes together is limited: a file that needs more is read again while the
other processes are ended, with more memory for a single process.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial

from bot.core.errors import Stopped, Unavailable
from bot.core.texts import said, size
from bot.pages.pool import COMMAND, Pool, TaskFailed
from bot.search.document_reading import Job, Reading, failed_reading, readings_of, request_of

SECONDS = 60.0
"""The time limit for one file. A PDF manual of 1,000 pages takes 15 s."""

SIZE = max(1, min(3, os.cpu_count() or 1))
"""The maximum number of processes: with more, each would have too little memory."""

MEMORY = 120_000_000  # bytes for each of several processes; each needs 35 MB to start
ROOM_FOR_ONE = 240_000_000  # bytes for a process that works alone

BATCH_FILES = 24  # per request, to switch less often between threads and processes
BATCH_BYTES = 200_000  # ... fewer if they are large
MOST_AHEAD = 8_000_000  # bytes of readings that wait for an earlier one
BATCH_SECONDS = 15.0  # for a batch of several files, which usually takes a tenth of a second
CHECK_SECONDS = 0.25  # between checks whether indexing is to end

NO_PROCESS = (
    "Files cannot be read, because no process could be started for it: free some memory on this "
    "machine and try again."
)
BROKE = said("unread-broke")

ENDED = "Indexing was ended; the next run continues."


class Readers:
    """Reads files in up to ``size`` processes.

    ``seconds`` is the limit for one file, ``memory`` what one of several processes may allocate,
    ``room_for_one`` what a single one may. ``command`` is as for ``Pool``.
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
        batches = list(_batches(jobs))
        if not batches:
            return
        work = _Work(self, batches, most_bytes)
        work.begin()
        try:
            for number in range(len(batches)):
                yield from work.readings_of(number, ending or threading.Event())
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


class _Work:
    """The batches of one call of ``Readers.read``. An event loop in a thread asks the processes;
    ``_turn`` guards what it shares with the consumer of the readings."""

    def __init__(self, readers: Readers, batches: list[list[Job]], most_bytes: int) -> None:
        self._readers = readers
        self._batches = batches
        self._most_bytes = most_bytes
        self._size = min(readers.size, len(batches))
        self._numbers = iter(range(len(batches)))
        self._turn = threading.Condition()
        self._done: dict[int, list[Reading]] = {}
        self._ahead = 0  # bytes in ``_done``
        self._failure: Exception | None = None
        self._loop = asyncio.new_event_loop()
        self._lanes: list[asyncio.Future[None]] = []
        self._is_closed = False
        self._room = asyncio.Event()  # set when readings were consumed
        self._places = asyncio.Semaphore(self._size)  # for processes that work in parallel
        self._alone = asyncio.Lock()  # held by one who takes all places, or waits for them
        self._thread = threading.Thread(target=self._run, name="reading", daemon=True)

    # ------------------------------------------------------------ for the consumer of the results

    def begin(self) -> None:
        self._thread.start()

    def readings_of(self, number: int, ending: threading.Event) -> list[Reading]:
        """Wait for a batch."""
        with self._turn:
            while number not in self._done:
                if self._failure is not None:
                    raise self._failure
                if ending.is_set():
                    raise Stopped(ENDED)
                self._turn.wait(CHECK_SECONDS)
            readings = self._done.pop(number)
            self._ahead -= sum(map(_weight, readings))
        self._call(self._room.set)
        return readings

    def end(self) -> None:
        self._call(self._close)
        self._thread.join()

    def _call(self, callback: Callable[[], object]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(callback)

    # ------------------------------------------------------------ in the thread

    def _close(self) -> None:
        self._is_closed = True
        for lane in self._lanes:  # not what ends the processes, which may have begun
            lane.cancel()

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._read())
        except asyncio.CancelledError:
            pass
        except Exception as error:  # noqa: BLE001  (raised where the readings are waited for)
            with self._turn:
                self._failure = error
                self._turn.notify_all()

    async def _read(self) -> None:
        how = self._readers
        if self._is_closed:
            return
        self._several = Pool("index", self._size, how.memory, command=how.command)
        self._one = Pool("index", 1, how.room_for_one, command=how.command)
        self._lanes = [asyncio.ensure_future(self._lane()) for _ in range(self._size)]
        try:
            await asyncio.gather(*self._lanes)
        except Unavailable as error:
            raise Unavailable(NO_PROCESS, detail=error.detail) from error
        finally:
            for lane in self._lanes:
                lane.cancel()
            await asyncio.gather(*self._lanes, return_exceptions=True)
            await asyncio.gather(self._several.aclose(), self._one.aclose())

    async def _lane(self) -> None:
        while True:
            while self._ahead > MOST_AHEAD:
                self._room.clear()
                await self._room.wait()
            number = next(self._numbers, None)
            if number is None:
                return
            readings = await self._readings(self._batches[number])
            with self._turn:
                self._done[number] = readings
                self._ahead += sum(map(_weight, readings))
                self._turn.notify_all()

    async def _readings(self, batch: list[Job]) -> list[Reading]:
        if len(batch) > 1:
            with contextlib.suppress(TaskFailed):  # then one of them is to blame
                return await self._side_by_side(batch, min(BATCH_SECONDS, self._readers.seconds))
        return [await self._reading(job) for job in batch]

    async def _reading(self, job: Job) -> Reading:
        try:
            (reading,) = await self._side_by_side([job], self._readers.seconds)
        except TaskFailed as failed:
            if failed.reason == "slow":
                return self._failed(job, failed)
            return await self._by_itself(job)
        return reading

    async def _side_by_side(self, jobs: list[Job], seconds: float) -> list[Reading]:
        async with self._places:
            return await self._ask(self._several, jobs, seconds)

    async def _by_itself(self, job: Job) -> Reading:
        """Read a file while no other process runs."""
        async with self._alone:
            for _ in range(self._size):
                await self._places.acquire()
            self._several.end_idle()
            try:
                (reading,) = await self._ask(self._one, [job], self._readers.seconds)
            except TaskFailed as failed:
                reading = self._failed(job, failed)
            finally:
                self._one.end_idle()
                for _ in range(self._size):
                    self._places.release()
        return reading

    async def _ask(self, pool: Pool, jobs: list[Job], seconds: float) -> list[Reading]:
        asked = request_of(jobs, self._most_bytes)
        return await pool.ask(asked, b"", seconds, partial(readings_of, len(jobs)))

    def _failed(self, job: Job, failed: TaskFailed) -> Reading:
        if failed.reason == "died":
            return failed_reading(job, BROKE)
        if failed.reason == "memory":
            return failed_reading(job, said("unread-memory", most=size(self._readers.room_for_one)))
        return failed_reading(job, said("unread-slow", seconds=self._readers.seconds))


def _weight(reading: Reading) -> int:
    """The approximate size in bytes of a reading that waits."""
    return 1_000 + (8 * len(reading.content.text) if reading.content else 0)
