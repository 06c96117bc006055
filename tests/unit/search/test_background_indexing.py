"""Indexing in the background: its progress, its end, and the lines it prints."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

import pytest

from bot.core.errors import StorageUnavailable
from bot.core.measurements import Indexing
from bot.core.settings import Settings
from bot.core.texts import encoded, said
from bot.operation.configuration import load_settings
from bot.search import background_indexing, folders
from bot.search import local_documents as local
from bot.search.background_indexing import Rounds, documents_being_indexed
from bot.search.document_reading import Job, Reading
from bot.search.indexer import Indexer
from bot.search.local_documents import LocalDocuments
from bot.search.provider import Query
from bot.search.reader_processes import Readers
from tests.unit.search.readers import Inside
from tests.unit.search.test_indexer import write

BROKEN_DISK = encoded(said("unread-cannot", why="Input/output error"))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    for i in range(10):
        write(tmp_path / "docs" / f"{i}.md", f"# Page {i}\n\nWords of {i}.")
    return load_settings(data_dir=tmp_path / "data", docs=(str(tmp_path / "docs"),))


class Halting(Readers):
    """Readers that pause after some files, and end when they are told to."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after = after
        self.go_on = threading.Event()

    def read(
        self, jobs: Sequence[Job], most_bytes: int, ending: threading.Event | None = None
    ) -> Generator[Reading]:
        yield from super().read(jobs[: self.after], most_bytes, ending)
        while not self.go_on.wait(0.01):
            if ending is not None and ending.is_set():
                break
        yield from super().read(jobs[self.after :], most_bytes, ending)


@pytest.fixture
def halting(monkeypatch: pytest.MonkeyPatch) -> Halting:
    readers = Halting(after=4)
    monkeypatch.setattr("bot.search.indexer.BATCH_FILES", 2)
    monkeypatch.setattr("bot.search.reader_processes.Readers", lambda **how: readers)
    return readers


async def until(indexing: Indexing, done: int) -> None:
    async with asyncio.timeout(60):
        while indexing.done < done:
            await asyncio.sleep(0.01)


async def test_it_goes_on_beside_the_block_and_is_told(settings: Settings) -> None:
    said: list[str] = []
    indexing = Indexing(True)
    async with documents_being_indexed(settings, said.append, indexing):
        async with asyncio.timeout(60):
            while indexing.state == "indexing":
                await asyncio.sleep(0.01)
    assert indexing.as_json() == {"state": "ok", "total": 10}
    assert said[0] == ("Indexing 10 of 10 files; those that are indexed can be searched already.")
    assert said[1].endswith(": 10 new, 0 changed, 0 removed, 0 unchanged files.")


async def test_what_is_indexed_can_be_searched_and_what_is_missing_is_known(
    settings: Settings, halting: Halting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "PATIENCE", 0.0)
    indexing = Indexing(True)
    documents = LocalDocuments(settings.index_path, settings.docs)
    async with documents_being_indexed(settings, lambda line: None, indexing):
        await until(indexing, 4)
        assert indexing.as_json() == {"state": "indexing", "done": 4, "total": 10}
        assert indexing.is_going_on
        assert len(await documents.search(Query("words", 20))) == 4
        assert await documents.missing() == 6
        halting.go_on.set()
        await until(indexing, 10)
    assert len(await documents.search(Query("words", 20))) == 10
    assert await documents.missing() == 0
    await documents.aclose()


async def test_a_search_waits_a_moment_for_a_run_that_has_just_begun(
    settings: Settings, halting: Halting
) -> None:
    indexing = Indexing(True)
    documents = LocalDocuments(settings.index_path, settings.docs)
    async with documents_being_indexed(settings, lambda line: None, indexing):
        await indexing.wait_until_counted()
        search = asyncio.create_task(documents.search(Query("words", 20)))
        await until(indexing, 4)
        assert not search.done()
        halting.go_on.set()
        assert len(await search) == 10
    await documents.aclose()


async def test_leaving_the_block_ends_it_and_the_next_run_continues(
    settings: Settings, halting: Halting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "PATIENCE", 0.0)
    indexing = Indexing(True)
    async with asyncio.timeout(60):
        async with documents_being_indexed(settings, lambda line: None, indexing):
            await until(indexing, 4)
    documents = LocalDocuments(settings.index_path, settings.docs)
    assert len(await documents.search(Query("words", 20))) == 4
    assert await documents.missing() == 6, "what an ended run has left is known"
    report = await asyncio.to_thread(Indexer(settings.index_path).index, settings.docs)
    assert (report.added, report.unchanged) == (6, 4)
    assert await documents.missing() == 0
    await documents.aclose()


async def test_what_goes_wrong_is_told_and_leaves_the_rest_alone(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise StorageUnavailable("The disk is full.")

    monkeypatch.setattr(Indexer, "index", fail)
    said: list[str] = []
    indexing = Indexing(True)
    async with documents_being_indexed(settings, said.append, indexing):
        await indexing.wait_until_counted()
    told = indexing.as_json()
    assert (told["state"], told["why"]) == ("not ok", "The disk is full.")
    assert said == ["The documents are not all indexed: The disk is full."]


async def test_without_documents_there_is_nothing_to_tell(tmp_path: Path) -> None:
    indexing = Indexing(False)
    async with documents_being_indexed(load_settings(data_dir=tmp_path), print, indexing):
        await indexing.wait_until_counted()
    assert indexing.state == "none"
    assert not (tmp_path / "index.sqlite").exists()


async def test_what_cannot_be_seen_stays_and_is_told_once(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder without permission, a name that is not UTF-8, and links in a circle."""
    docs = Path(settings.docs[0])
    write(docs / "inner" / "kept.md", "# Kept\n\nThe heron nests here.")
    write(Path(os.fsdecode(os.fsencode(docs) + b"/\xff.md")), "# Odd\n\nThe curlew calls.")
    (docs / "inner" / "circle").symlink_to(docs)
    opened = folders.open_real
    refused = True

    def open_real(path: str, flags: int) -> int:
        if refused and path.endswith("/inner"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, flags)

    said: list[str] = []
    indexing = Indexing(True)
    brisk = settings.model_copy(update={"docs_poll": 0.01})
    monkeypatch.setattr(background_indexing, "QUIET_SECONDS", 0.01)
    documents = LocalDocuments(settings.index_path)
    async with documents_being_indexed(brisk, said.append, indexing):
        await told(said, "12 new")
        monkeypatch.setattr(folders, "open_real", open_real)
        write(docs / "1.md", "# Page 1\n\nThe dunlin feeds.")
        await told(said, "0 new, 1 changed, 0 removed")
        (docs / "2.md").unlink()
        await told(said, "0 new, 0 changed, 1 removed")
        assert [hit.title for hit in await documents.search(Query("heron"))] == ["Kept"]
        assert [hit.title for hit in await documents.search(Query("curlew"))] == ["Odd"]
        refused = False
        (docs / "inner" / "kept.md").unlink()
        await told(said, "0 new, 0 changed, 1 removed", times=2)
        assert await documents.search(Query("heron")) == []
    await documents.aclose()
    assert sum("cannot be opened" in line for line in said) == 1


class Failing(Inside):
    """Readers for which a file cannot be opened while ``fails``."""

    def __init__(self) -> None:
        super().__init__()
        self.fails = True
        self.tried: list[str] = []

    def read(
        self, jobs: Sequence[Job], most_bytes: int, ending: threading.Event | None = None
    ) -> Generator[Reading]:
        for job, reading in zip(jobs, super().read(jobs, most_bytes, ending), strict=True):
            self.tried.append(Path(job.document.path).name)
            is_it = self.fails and job.document.path.endswith("/3.md")
            yield Reading(problem=BROKEN_DISK) if is_it else reading


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Failing:
    monkeypatch.setattr(background_indexing, "QUIET_SECONDS", 0.0)
    return Failing()


def test_a_file_that_could_not_be_read_is_tried_again_without_a_change(
    settings: Settings, failing: Failing
) -> None:
    rounds = after_a_round(settings, failing)
    assert failing.tried[10:] == ["3.md"]
    failing.fails = False
    report = rounds.catch_up(settings.docs)
    assert report is not None
    assert (report.added, report.unchanged, report.skipped) == (1, 9, ())
    assert failing.tried[10:] == ["3.md", "3.md"]
    assert rounds.catch_up(settings.docs) is None


def test_a_folder_that_could_not_be_opened_is_tried_again_without_a_change(
    settings: Settings, failing: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(Path(settings.docs[0]) / "inner" / "late.md", "# Late\n\nThe heron nests here.")
    opened = folders.open_real
    failing.fails, refused = False, True

    def open_real(path: str, flags: int) -> int:
        if refused and path.endswith("/inner"):
            raise OSError(errno.EIO, "Input/output error")
        return opened(path, flags)

    monkeypatch.setattr(folders, "open_real", open_real)
    rounds = after_a_round(settings, failing)
    refused = False
    report = rounds.catch_up(settings.docs)
    assert report is not None
    assert (report.added, report.unchanged) == (1, 10)
    assert rounds.catch_up(settings.docs) is None


def test_a_file_that_stays_unreadable_is_tried_less_and_less_often(
    settings: Settings, failing: Failing
) -> None:
    now = 0.0
    rounds = after_a_round(settings, failing, lambda: now)
    tried = []
    for number in range(100):
        before = failing.tried.count("3.md")
        rounds.catch_up(settings.docs)
        tried += [number] * (failing.tried.count("3.md") - before)
        now += settings.docs_poll
    assert tried == [0, 1, 4, 11, 26, 57]
    assert set(failing.tried[10:]) == {"3.md"}


def after_a_round(
    settings: Settings, readers: Readers, clock: Callable[[], float] = time.monotonic
) -> Rounds:
    """Rounds of which the first, and one in which nothing had changed, are over."""
    indexer = Indexer(settings.index_path, readers=readers)
    rounds = Rounds(indexer, settings, lambda line: None, Indexing(True), clock)
    rounds.begin(settings.docs, lambda done, total: None)
    assert rounds.catch_up(settings.docs) is not None
    return rounds


async def test_a_disk_that_is_gone_removes_nothing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = Path(settings.docs[0])
    said: list[str] = []
    indexing = Indexing(True)
    brisk = settings.model_copy(update={"docs_poll": 0.01})
    monkeypatch.setattr(background_indexing, "QUIET_SECONDS", 0.01)
    device = 1
    monkeypatch.setattr(background_indexing, "_device_of", lambda root: device)
    async with documents_being_indexed(brisk, said.append, indexing):
        await told(said, "10 new")
        device = 2
        for path in list(docs.iterdir()):
            path.unlink()
        await told(said, "is not mounted")
        assert indexing.state == "not ok"
        write(docs / "3.md", "# Page 3\n\nIt is back.")
        await told(said, "0 new, 1 changed, 9 removed")
        assert indexing.as_json()["state"] == "ok"


@pytest.mark.parametrize("poll", [0, 3_600])
async def test_somebody_can_ask_for_a_look_now(settings: Settings, poll: int) -> None:
    docs = Path(settings.docs[0])
    said: list[str] = []
    indexing = Indexing(True)
    rare = settings.model_copy(update={"docs_poll": poll})
    async with documents_being_indexed(rare, said.append, indexing):
        await told(said, "10 new")
        assert indexing.looked_at is not None
        assert (indexing.next_look is None) == (poll == 0)
        write(docs / "inner" / "late.md", "# Late\n\nThe heron nests here.")
        write(docs / "1.md", "# Page 1\n\nThe dunlin feeds.")
        indexing.again([str(docs / "inner")])
        assert indexing.state == "indexing"
        await indexing.wait_until_over()
        await told(said, "1 new, 0 changed")
        indexing.again([])
        await told(said, "0 new, 1 changed, 0 removed, 10 unchanged")
        await indexing.wait_until_over()
        assert indexing.as_json() == {"state": "ok", "total": 11}


async def told(said: list[str], words: str, times: int = 1) -> None:
    ends = time.monotonic() + 60
    while sum(words in line for line in said) < times:
        assert time.monotonic() < ends, said
        await asyncio.sleep(0.01)
