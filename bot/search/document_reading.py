"""Reads one file for the index: its text, its passages, their terms.

This is the slow part of indexing, and the one that a document can crash. It runs in separate
processes (see ``bot.search.document_reading``), whose replies are JSON and plain bytes.

Reads files for the index in child processes, in parallel, and returns their readings in order.

A malicious file can crash a process or make it use unlimited memory or time. Such a file is given
up and named; all others are read: the files of a batch that fails are read one by one.
The memory of all processes together is limited: a file that needs more is read again while the
other processes are ended, with more memory for a single process.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import math
import os
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any

from bot.core.errors import Broken, ReaderMissing, Stopped, Unavailable
from bot.pages.extract import from_bytes
from bot.pages.media import GZIP, format_of, holds_pictures
from bot.pages.passages import split
from bot.pages.pool import COMMAND, Pool, TaskFailed
from bot.pages.processes import NEAR_LIMIT, Answer, Work, peak_memory
from bot.search.folders import Document, open_document, why_not
from bot.search.index_file import Row, pack_spans, pack_text, word_rows

SAME_TICK = 2_000_000_000  # ns: a file changed this recently may change again without a new time
PICTURES = 5  # factor for the limit of documents that may consist mostly of pictures


@dataclass(frozen=True, slots=True)
class Content:
    """The stored content of a document.

    ``text`` and ``spans`` are packed (see ``index_file``), ``words`` has the rows of its passages.
    ``kept`` as in ``blocks.Reading``.
    """

    title: str
    kept: float
    text: bytes
    spans: bytes
    words: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of reading a file; without ``content`` and ``problem`` the file is unchanged.

    ``digest`` is of the bytes, empty if they were not read. ``is_settled`` is True if the next
    change of the file will certainly change its modification time.
    """

    digest: bytes = b""
    is_settled: bool = False
    content: Content | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """A file to read, unless its content has the digest ``known``, which may be empty."""

    document: Document
    known: bytes = b""


def read_file(job: Job, most_bytes: int) -> Reading:
    """Read a file of up to ``most_bytes`` of text, or ``PICTURES`` times that with pictures.

    Raises ``MemoryError`` if it needs more than this process may have.
    """
    document = job.document
    is_settled = _is_settled(document)
    most = _most_of(document, most_bytes)
    if document.size > most:
        return Reading(is_settled=is_settled, problem=_too_large(document, most_bytes))
    try:
        data, size = _bytes_of(document, most)
    except OSError as error:
        return Reading(problem=why_not(error))
    if size > most:  # it has grown since it was listed
        return Reading(problem=_too_large(document._replace(size=size), most_bytes))
    digest = hashlib.sha256(data).digest()
    if digest == job.known:
        return Reading(digest, is_settled)
    try:
        extracted = from_bytes(data, document.media_type, os.path.basename(document.path))
    except ReaderMissing as error:  # the extra may be installed before the next run
        return Reading(problem=error.sentence.rstrip("."))
    except Broken as error:
        return Reading(digest, is_settled, problem=error.sentence.rstrip("."))
    del data
    passages = split(extracted.text)
    if not passages:
        return Reading(digest, is_settled, problem="there is no text in it")
    content = Content(
        extracted.title,
        extracted.kept,
        pack_text(extracted.text),
        pack_spans(passages),
        tuple(word_rows(extracted.title, passages)),
    )
    return Reading(digest, is_settled, content)


def _most_of(document: Document, most_bytes: int) -> int:
    return most_bytes * (PICTURES if holds_pictures(document.media_type) else 1)


def _too_large(document: Document, most_bytes: int) -> str:
    known = format_of(document.path)
    kind = known.name if known else "plain text"
    packed = " packed with gzip" if document.media_type == GZIP else ""
    advice = ", or save it with smaller pictures" if holds_pictures(document.media_type) else ""
    most = _most_of(document, most_bytes) / 1_000_000
    return (
        f"it has {math.ceil(document.size / 100_000) / 10:,} MB, and the limit for {kind}{packed}"
        f" is {most:g} MB: split it into smaller files{advice}"
    )


def failed_reading(job: Job, problem: str) -> Reading:
    """The reading of a file on which a process failed, so that it is not tried in every run."""
    is_settled = _is_settled(job.document)
    try:
        with open_document(job.document) as file:
            digest = hashlib.file_digest(file, "sha256").digest()
    except OSError:  # it is gone; the next run will notice
        return Reading(problem=problem)
    return Reading(digest, is_settled, problem=problem)


def _is_settled(document: Document) -> bool:
    return document.modified < time.time_ns() - SAME_TICK


def _bytes_of(document: Document, most_bytes: int) -> tuple[bytes, int]:
    """The bytes of a file, at most ``most_bytes``, and its size. Raises ``OSError``."""
    with open_document(document) as file:
        return file.read(most_bytes), os.fstat(file.fileno()).st_size


# ---------------------------------------------------------------- messages to and from the parent


def pack(reading: Reading) -> tuple[dict[str, Any], bytes]:
    """Convert a reading to JSON and data."""
    head: dict[str, Any] = {
        "digest": reading.digest.hex(),
        "is_settled": reading.is_settled,
        "problem": reading.problem,
    }
    content = reading.content
    if content is None:
        return head, b""
    words = "\n".join("\t".join(row) for row in content.words).encode()
    parts = (content.text, content.spans, words)
    head |= {"title": content.title, "kept": content.kept, "parts": [len(part) for part in parts]}
    return head, b"".join(parts)


def unpack(head: Any, data: bytes) -> Reading:
    """Convert them to a reading.

    Raises ``ValueError`` for an invalid reply: a process that a malicious document has taken over
    may send anything.
    """
    match head:
        case {"digest": str(digest), "is_settled": bool(is_settled), "problem": str(problem)}:
            if "parts" not in head:
                return Reading(bytes.fromhex(digest), is_settled, problem=problem)
            content = _content(head, data)
            return Reading(bytes.fromhex(digest), is_settled, content, problem)
        case _:
            raise ValueError("an invalid reply")


def _content(head: dict[str, Any], data: bytes) -> Content:
    match head:
        case {
            "title": str(title),
            "kept": int() | float() as kept,
            "parts": [int(texts), int(spans), int(words)],
        } if texts + spans + words == len(data) and min(texts, spans, words) >= 0:
            pass
        case _:
            raise ValueError("an invalid reply")
    view = memoryview(data)
    rows = str(view[texts + spans :], "utf-8").split("\n")
    content = Content(
        title,
        min(1.0, max(0.0, float(kept))),
        bytes(view[:texts]),
        bytes(view[texts : texts + spans]),
        tuple(_row(row) for row in rows),
    )
    if len(content.words) * 8 != spans:
        raise ValueError("a reply with more or fewer passages than spans")
    return content


def _row(line: str) -> Row:
    title, heading, body = line.split("\t")
    return title, heading, body


def request_of(jobs: list[Job], most_bytes: int) -> dict[str, Any]:
    """Return a request to read some files."""
    return {"jobs": [[*job.document, job.known.hex()] for job in jobs], "most_bytes": most_bytes}


def readings_of(count: int, reply: Any, data: bytes) -> list[Reading]:
    """Parse the reply to such a request. Raises ``ValueError``."""
    match reply:
        case {"readings": list(heads), "sizes": list(sizes)} if len(heads) == len(
            sizes
        ) == count and all(type(size) is int for size in sizes):
            ends = list(accumulate(sizes))
            if (ends or [0])[-1] != len(data) or min(sizes, default=0) < 0:
                raise ValueError("an invalid reply")
            parts = zip(heads, sizes, ends, strict=True)
            return [unpack(head, data[end - size : end]) for head, size, end in parts]
    raise ValueError("an invalid reply")


def open_reading(memory: int) -> Work:
    """Return the work of a child process that may allocate ``memory`` bytes."""

    def work(asked: dict[str, Any], _: bytes) -> Answer:
        packed = []
        for *fields, known in asked["jobs"]:
            job = Job(Document(*fields), bytes.fromhex(known))
            reading = read_file(job, asked["most_bytes"])
            # If a library runs out of memory, readers may report the document as empty or broken.
            if reading.problem and peak_memory() > NEAR_LIMIT * memory:
                raise MemoryError
            packed.append(pack(reading))
        heads, data = [head for head, _ in packed], [each for _, each in packed]
        return {"readings": heads, "sizes": [*map(len, data)]}, b"".join(data)

    return work


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
BROKE = "its reader broke on it: save it again, or convert it to text"

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
        self._task: asyncio.Task[None] | None = None
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
        if self._task is not None:
            self._task.cancel()

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
        how, self._task = self._readers, asyncio.current_task()
        if self._is_closed:
            return
        self._several = Pool("index", self._size, how.memory, command=how.command)
        self._one = Pool("index", 1, how.room_for_one, command=how.command)
        lanes = [asyncio.ensure_future(self._lane()) for _ in range(self._size)]
        try:
            await asyncio.gather(*lanes)
        except Unavailable as error:
            raise Unavailable(NO_PROCESS, detail=error.detail) from error
        finally:
            for lane in lanes:
                lane.cancel()
            await asyncio.gather(*lanes, return_exceptions=True)
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
            room = f"{self._readers.room_for_one / 1_000_000:g} MB"
            too_large = f"reading it takes more than {room} of memory: split it into smaller files"
            return failed_reading(job, too_large)
        problem = f"reading it takes more than {self._readers.seconds:g} s: split it, or "
        return failed_reading(job, problem + "convert it to text")


def _weight(reading: Reading) -> int:
    """The approximate size in bytes of a reading that waits."""
    return 1_000 + (8 * len(reading.content.text) if reading.content else 0)
