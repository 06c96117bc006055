"""Reads one file for the index: its text, its passages, their terms.

This is the slow part of indexing, and the one that a document can crash. It runs in separate
processes (see ``bot.search.reader_processes``), whose replies are JSON and plain bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from bot.core.errors import Broken, ReaderMissing
from bot.core.texts import Said, encoded, said
from bot.pages.extract import from_bytes
from bot.pages.media import GZIP, holds_pictures, is_log, name_of
from bot.pages.passages import split
from bot.pages.processes import NEAR_LIMIT, Answer, Work, peak_memory
from bot.search.filters import date_in_name
from bot.search.folders import Document, open_file, why_not
from bot.search.index_file import Row, count_spans, pack_spans, pack_text, word_rows

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SAME_TICK = 2_000_000_000  # ns: a file changed this recently may change again without a new time
MOST_AUTHORS = 10_000  # characters: a mailbox has many
PICTURES = 5  # factor for the limit of documents that may consist mostly of pictures


@dataclass(frozen=True, slots=True)
class Content:
    """The stored content of a document.

    ``text`` and ``spans`` are packed (see ``index_file``), ``words`` has the rows of its passages.
    ``kept``, ``omitted`` and ``author`` as in ``page.Reading``; ``dated`` is the day that the
    document says, else its name, else the day of its last change.
    """

    title: str
    kept: float
    text: bytes
    spans: bytes
    words: tuple[Row, ...]
    omitted: dict[str, int] = field(default_factory=dict)
    dated: str = ""
    author: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of reading a file; without ``content`` and ``problem`` the file is unchanged.

    ``digest`` is of the bytes, empty if they were not read. ``is_settled`` is True if the next
    change of the file will certainly change its modification time. ``problem`` is ``said.encoded``.
    """

    digest: bytes = b""
    is_settled: bool = False
    content: Content | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """A file to read, unless its content has the digest ``known``, which may be empty.

    ``people`` is the file with the names of the people who speak in it, as in exports of Slack.
    """

    document: Document
    known: bytes = b""
    people: Document | None = None


def read_file(job: Job, most_bytes: int) -> Reading:
    """Read a file of up to ``most_bytes`` of text, or ``PICTURES`` times that with pictures.

    Raises ``MemoryError`` if it needs more than this process may have.
    """
    document = job.document
    is_settled = _is_settled(document)
    most = _most_of(document, most_bytes)
    if document.size > most and not is_log(document.media_type):
        return Reading(is_settled=is_settled, problem=_too_large(document, most_bytes))
    try:
        data, size = _bytes_of(document, most)
    except OSError as error:
        return Reading(problem=encoded(why_not(error)))
    if size > most and not is_log(document.media_type):  # it has grown since it was listed
        return Reading(problem=_too_large(document._replace(size=size), most_bytes))
    digest = hashlib.sha256(data).digest()
    if digest == job.known:
        return Reading(digest, is_settled)
    try:
        name = os.path.basename(document.path)
        people = _bytes_of(job.people, most)[0] if job.people else b""
        extracted = from_bytes(data, document.media_type, name, people)
    except OSError as error:
        return Reading(problem=encoded(why_not(error)))
    except ReaderMissing as error:  # the extra may be installed before the next run
        return Reading(problem=encoded(error.said))
    except Broken as error:
        return Reading(digest, is_settled, problem=encoded(error.said))
    del data
    passages = split(extracted.text)
    if not passages:
        return Reading(digest, is_settled, problem=encoded(said("unread-no-text")))
    content = Content(
        extracted.title,
        extracted.kept,
        pack_text(extracted.text),
        pack_spans(passages),
        tuple(word_rows(extracted.title, document.url, passages)),
        dict(extracted.omitted),
        extracted.dated or date_in_name(name) or _day_of(document.modified),
        extracted.author[:MOST_AUTHORS],
    )
    return Reading(digest, is_settled, content)


def _most_of(document: Document, most_bytes: int) -> int:
    return most_bytes * (PICTURES if holds_pictures(document.media_type) else 1)


def _too_large(document: Document, most_bytes: int) -> str:
    kind = name_of(document.path)
    if document.media_type == GZIP:
        kind = said("format-gzipped", kind=kind)
    pictures = holds_pictures(document.media_type)
    id = "unread-too-large-pictures" if pictures else "unread-too-large"
    size = math.ceil(document.size / 100_000) / 10
    most = _most_of(document, most_bytes) / 1_000_000
    return encoded(said(id, size=size, kind=kind, most=most))


def failed_reading(job: Job, why: Said) -> Reading:
    """The reading of a file on which a process failed, so that it is not tried in every run."""
    is_settled, problem = _is_settled(job.document), encoded(why)
    try:
        with open_file(job.document.real) as file:
            digest = hashlib.file_digest(file, "sha256").digest()
    except OSError:  # it is gone; the next run will notice
        return Reading(problem=problem)
    return Reading(digest, is_settled, problem=problem)


def _day_of(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).date().isoformat()


def _is_settled(document: Document) -> bool:
    return document.modified < time.time_ns() - SAME_TICK


def _bytes_of(document: Document, most_bytes: int) -> tuple[bytes, int]:
    """The bytes of a file, at most ``most_bytes``, and its size. Raises ``OSError``."""
    with open_file(document.real) as file:
        return file.read(most_bytes), os.fstat(file.fileno()).st_size


# ---------------------------------------------------------------- messages to and from the parent


def request_of(jobs: list[Job], most_bytes: int) -> dict[str, Any]:
    """Return a request to read some files."""
    listed = [[*job.document, job.known.hex(), job.people] for job in jobs]
    return {"jobs": listed, "most_bytes": most_bytes}


def open_reading(memory: int) -> Work:
    """Return the work of a child process that may allocate ``memory`` bytes."""

    def work(asked: dict[str, Any], _: bytes) -> Answer:
        readings = []
        for *fields, known, people in asked["jobs"]:
            named = Document(*people) if people else None
            job = Job(Document(*fields), bytes.fromhex(known), named)
            reading = read_file(job, asked["most_bytes"])
            # If a library runs out of memory, readers may report the document as empty or broken.
            if reading.problem and peak_memory() > NEAR_LIMIT * memory:
                raise MemoryError
            readings.append(reading)
        return {}, packed(readings)

    return work


def packed(readings: list[Reading]) -> bytes:
    """The reply with these readings: JSON, in which bytes are hexadecimal."""
    return json.dumps([asdict(each) for each in readings], default=bytes.hex).encode()


def readings_of(count: int, _: Any, data: bytes) -> list[Reading]:
    """Parse the reply to such a request.

    Raises ``ValueError`` for an invalid one: a process that a malicious document has taken over may
    send anything.
    """
    readings = _replies().validate_json(data)
    if len(readings) != count:
        raise ValueError("more or fewer readings than files")
    for content in (each.content for each in readings if each.content):
        if count_spans(content.spans) != len(content.words) or not 0 <= content.kept <= 1:
            raise ValueError("an invalid reading")
    return readings


@cache
def _replies() -> TypeAdapter[list[Reading]]:
    from pydantic import ConfigDict, TypeAdapter  # slow to import: not in the child processes

    return TypeAdapter(list[Reading], config=ConfigDict(strict=True, val_json_bytes="hex"))
