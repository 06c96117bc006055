"""Processes that read files for tests, and misbehave on some of them."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence

from bot.core.texts import decoded, encoded, said
from bot.search.document_reading import Job, Reading, packed, read_file, readings_of
from bot.search.folders import in_english
from bot.search.reader_processes import Readers
from tests.unit.pages.children import changed

_CHANGE = """
from bot.search import document_reading as reading
real = reading.from_bytes
def from_bytes(data, media_type, name, people=b""):
    if data.startswith({start!r}):
        {deed}
    return real(data, media_type, name)
reading.from_bytes = from_bytes
"""

DIES = "os._exit(3)"
HANGS = "time.sleep(600)"
EATS = "x = bytearray(10**10)"
EATS_WHEN_NOT_ALONE = "x = b'.' * 150_000_000"
BREAKS = "raise RuntimeError('a bug in a reader')"


def that(deed: str, start: bytes, seconds: float = 60.0, size: int = 2) -> Readers:
    """Readers whose processes misbehave on files with a given beginning."""
    change = _CHANGE.format(start=start, deed=deed)
    return Readers(size=size, seconds=seconds, command=changed(change))


class Inside(Readers):
    """Read in this process: a process of their own takes a quarter of a second to begin."""

    def read(
        self, jobs: Sequence[Job], most_bytes: int, ending: threading.Event | None = None
    ) -> Generator[Reading]:
        for job in jobs:
            yield from readings_of(1, {}, packed([read_file(job, most_bytes)]))


class Recording(Readers):
    """Keeps what was read."""

    def __init__(self) -> None:
        super().__init__()
        self.readings: list[Reading] = []

    def read(
        self, jobs: Sequence[Job], most_bytes: int, ending: threading.Event | None = None
    ) -> Generator[Reading]:
        for reading in super().read(jobs, most_bytes, ending):
            self.readings.append(reading)
            yield reading


class Refused(Readers):
    """Make every file impossible to open, since permissions do not bind root."""

    def read(
        self, jobs: Sequence[Job], most_bytes: int, ending: threading.Event | None = None
    ) -> Generator[Reading]:
        for _ in jobs:
            yield Reading(problem=encoded(said("unread-cannot", why="Permission denied")))


def why(reading: Reading) -> str:
    """Why a file was not read, as it is printed."""
    return in_english(decoded(reading.problem))
