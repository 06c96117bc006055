"""Processes that read files in parallel: results in order, bounded, and robust."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.core.errors import Unavailable
from bot.pages.media import media_type_of
from bot.pages.pool import Child, Pool
from bot.search import reader_processes as readers
from bot.search.document_reading import Content, Job, Reading, packed, read_file, readings_of
from bot.search.folders import Document, in_english
from bot.search.indexer import MAX_FILE_BYTES
from bot.search.reader_processes import BROKE, Readers
from tests.unit.search.readers import (
    BREAKS,
    DIES,
    EATS,
    EATS_WHEN_NOT_ALONE,
    HANGS,
    that,
    why,
)

MOST = 1_000_000
LINUX = pytest.mark.skipif(
    not os.path.exists("/proc/self/limits"), reason="only Linux limits the memory of a process"
)


def job(path: Path, text: str) -> Job:
    path.write_text(text, encoding="utf-8")
    status = path.stat()
    size, modified = status.st_size, status.st_mtime_ns - 10**10
    return Job(Document(str(path), str(path), path.as_uri(), "text/markdown", size, modified))


@pytest.fixture
def jobs(tmp_path: Path) -> list[Job]:
    """60 small files, every tenth of them beginning with a warning."""
    return [
        job(tmp_path / f"{i}.md", f"{'STOP' if i % 10 == 5 else ''}# Page {i}\n\nWords of {i}.")
        for i in range(60)
    ]


def titles(readings: list[Reading]) -> list[str]:
    return [each.content.title if each.content else why(each) for each in readings]


@pytest.mark.parametrize(("size", "batch"), [(1, 100), (2, 7), (5, 1)])
def test_readings_come_in_the_order_of_the_jobs(
    jobs: list[Job], monkeypatch: pytest.MonkeyPatch, size: int, batch: int
) -> None:
    monkeypatch.setattr(readers, "BATCH_FILES", batch)
    monkeypatch.setattr(readers, "MOST_AHEAD", 2_000)
    found = list(Readers(size=size).read(jobs, MOST))
    assert titles(found) == [f"{i}" if i % 10 == 5 else f"Page {i}" for i in range(60)]


@pytest.mark.parametrize("deed", [DIES, BREAKS])
def test_a_file_that_breaks_its_process_is_named_and_the_rest_is_read(
    jobs: list[Job], deed: str
) -> None:
    found = titles(list(that(deed, b"STOP").read(jobs[:30], MOST)))
    assert found == [in_english(BROKE) if i % 10 == 5 else f"Page {i}" for i in range(30)]


def test_a_file_that_takes_for_ever_is_named_and_the_rest_is_read(jobs: list[Job]) -> None:
    found = titles(list(that(HANGS, b"STOP", seconds=1.5).read(jobs[:12], MOST)))
    slow = "reading it takes more than 1.5 s: split it, or convert it to text"
    assert found == [slow if i % 10 == 5 else f"Page {i}" for i in range(12)]


@LINUX
def test_a_file_that_takes_all_memory_is_named_and_the_rest_is_read(jobs: list[Job]) -> None:
    found = titles(list(that(EATS, b"STOP").read(jobs[:30], MOST)))
    large = "reading it takes more than 240 MB of memory: split it into smaller files"
    assert found == [large if i % 10 == 5 else f"Page {i}" for i in range(30)]


@LINUX
def test_a_file_that_needs_more_room_is_read_while_nothing_else_is(jobs: list[Job]) -> None:
    found = list(that(EATS_WHEN_NOT_ALONE, b"STOP").read(jobs[:30], MOST))
    assert all(each.content for each in found)


def test_what_a_process_failed_on_keeps_its_digest_so_that_it_is_not_tried_again(
    jobs: list[Job],
) -> None:
    (broken,) = that(DIES, b"STOP").read([jobs[5]], MOST)
    (sound,) = Readers().read([jobs[5]], MOST)
    assert broken.digest == sound.digest
    assert broken.is_settled


def test_processes_end_though_the_last_reading_is_taken_while_they_are_being_ended(
    jobs: list[Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    ending = threading.Event()
    left: list[Child] = []

    class Late(Pool):
        """Ends its processes only when the consumer of the readings has left."""

        async def aclose(self) -> None:
            left.extend(self.children)
            await asyncio.to_thread(ending.wait)
            await super().aclose()

    def close(work: Any) -> None:
        closed(work)
        ending.set()

    closed = readers._Work._close
    monkeypatch.setattr(readers._Work, "_close", close)
    monkeypatch.setattr(readers, "Pool", Late)
    assert titles(list(Readers(size=1).read(jobs[:1], MOST))) == ["Page 0"]
    assert len(left) == 1
    assert not any(child.lives for child in left)


def test_a_file_of_known_content_is_not_read_as_a_document(jobs: list[Job]) -> None:
    (first,) = Readers().read([jobs[5]], MOST)
    (again,) = that(DIES, b"STOP").read([Job(jobs[5].document, first.digest)], MOST)
    assert again == Reading(first.digest, True)


SPLIT = "split it into smaller files"
LIGHTER = f"{SPLIT}, or save it with smaller pictures"


@pytest.mark.parametrize(
    ("name", "size", "problem"),
    [
        ("a.csv", 10_000_001, f"it has 10.1 MB, and the limit for CSV is 10 MB: {SPLIT}"),
        ("a.csv", 4_200_000_000, f"it has 4,200.0 MB, and the limit for CSV is 10 MB: {SPLIT}"),
        ("a.xml.dat", 10**7 + 1, f"it has 10.1 MB, and the limit for plain text is 10 MB: {SPLIT}"),
        (
            "a.txt.gz",
            12_000_000,
            "it has 12.0 MB, and the limit for plain text packed with gzip is 10 MB: " + SPLIT,
        ),
        ("a.docx", 50_000_001, f"it has 50.1 MB, and the limit for Word is 50 MB: {LIGHTER}"),
        ("a.xlsx", 90_000_000, f"it has 90.0 MB, and the limit for Excel is 50 MB: {LIGHTER}"),
        (
            "a.odt",
            61_000_000,
            f"it has 61.0 MB, and the limit for OpenDocument is 50 MB: {LIGHTER}",
        ),
        ("a.epub", 61_000_000, f"it has 61.0 MB, and the limit for EPUB is 50 MB: {LIGHTER}"),
        ("a.pdf", 61_000_000, f"it has 61.0 MB, and the limit for PDF is 50 MB: {LIGHTER}"),
    ],
)
def test_a_file_that_is_too_large_is_not_opened(
    tmp_path: Path, name: str, size: int, problem: str
) -> None:
    path = tmp_path / name  # there is none
    large = Document(
        str(path), str(path), path.as_uri(), media_type_of(name) or "text/plain", size, 1
    )
    reading = read_file(Job(large), MAX_FILE_BYTES)
    assert (reading.is_settled, reading.digest, why(reading)) == (True, b"", problem)


@pytest.mark.parametrize("name", ["a.docx", "a.epub", "a.pdf"])
def test_what_holds_pictures_may_be_larger_than_text(tmp_path: Path, name: str) -> None:
    """The reason only says that these are no documents, which shows that they were opened."""
    path = tmp_path / name
    path.write_bytes(bytes(500))
    large = Document(str(path), str(path), path.as_uri(), media_type_of(name) or "", 500, 1)
    assert "damaged" in why(read_file(Job(large), 100))
    assert "the limit" in why(read_file(Job(large), 99))


@pytest.mark.parametrize("command", [("/nonexistent/python",), ("/bin/false",)])
def test_without_processes_nothing_can_be_read(jobs: list[Job], command: tuple[str]) -> None:
    with pytest.raises(Unavailable, match="no process could be started"):
        list(Readers(command=command).read(jobs, MOST))


def test_a_reader_that_stops_reading_ends_the_processes(
    jobs: list[Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "BATCH_FILES", 2)
    begin = time.monotonic()
    reading = that(HANGS, b"STOP").read(jobs, MOST)
    next(reading)
    reading.close()
    assert time.monotonic() - begin < 30, "nothing is waited for"


SOUND = Reading(b"1", True, Content("T", 1.0, b"x", bytes(8), (("t", "h", "b"),)))


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"[]",
        b"{}",
        b"[" * 100_000,
        packed([SOUND, SOUND]),
        packed([replace(SOUND, digest="zz")]),  # type: ignore[arg-type]
        packed([replace(SOUND, problem=7)]),  # type: ignore[arg-type]
        packed([replace(SOUND, content=replace(SOUND.content, spans=bytes(16)))]),  # type: ignore[type-var]
        packed([replace(SOUND, content=replace(SOUND.content, kept=7.0))]),  # type: ignore[type-var]
        packed([replace(SOUND, content=replace(SOUND.content, words=(("t",),)))]),  # type: ignore[type-var]
        packed([replace(SOUND, content=replace(SOUND.content, omitted={"row": "x"}))]),  # type: ignore[type-var]
    ],
)
def test_a_reply_of_a_process_that_was_taken_over_is_refused(reply: bytes) -> None:
    assert readings_of(1, {}, packed([SOUND])) == [SOUND]
    with pytest.raises(ValueError):  # noqa: PT011 - of any kind
        readings_of(1, {}, reply)
