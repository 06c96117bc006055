"""Reads one file for the index: its text, its passages, their terms.

This is the slow part of indexing, and the one that a document can crash. It runs in separate
processes (see ``bot.search.readers``), whose replies are JSON and plain bytes.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from bot.core.errors import Broken, ReaderMissing
from bot.pages.extract import from_bytes
from bot.pages.media import GZIP, format_of, holds_pictures
from bot.pages.passages import split
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
