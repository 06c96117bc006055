"""Local PDF documents: indexed by page, and never able to end the indexing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bot.pages.extract import Extracted
from bot.pages.workers import BlockingWorker
from bot.search import indexer
from bot.search.indexer import Indexer
from bot.search.local import LocalDocuments
from bot.search.provider import Query
from tests.fakes.pdf import pdf, typed

# What a worker does with a document that gets the better of PDFium.
DYING = "import os, sys; sys.stdin.buffer.read(1); os._exit(3)"
STUCK = "import sys, time; sys.stdin.buffer.read(1); time.sleep(600)"

LAMP = typed(["The lamp was lit for the first time in 1874."])
KEEPER = typed(["The keeper is paid 1,200 marks a year."])


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A PDF document of two pages between two documents of other kinds."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("# Alpha\n\nBefore it.")
    (folder / "m.pdf").write_bytes(pdf([LAMP, KEEPER], title="Lighthouse"))
    (folder / "z.txt").write_text("Zulu\n\nAfter it.")
    return folder


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "index.sqlite"


class Counting(BlockingWorker):
    """Counts the documents it is given."""

    asked = 0

    def extract(self, data: bytes, media_type: str | None, name: str) -> Extracted:
        Counting.asked += 1
        return super().extract(data, media_type, name)


async def test_it_is_found_and_read_again_with_its_pages(docs: Path, index: Path) -> None:
    report = Indexer(index).index([docs])
    assert (report.added, report.skipped) == (3, ())
    documents = LocalDocuments(index)
    (hit,) = await documents.search(Query("keeper paid marks", 5))
    assert (hit.title, hit.url) == ("Lighthouse", (docs / "m.pdf").as_uri())
    assert hit.snippet == "The keeper is paid 1,200 marks a year."
    page = await documents.read(hit.url)
    await documents.aclose()
    assert page.text == (
        "## Page 1\n\nThe lamp was lit for the first time in 1874.\n\n"
        "## Page 2\n\nThe keeper is paid 1,200 marks a year."
    )


async def test_it_is_read_only_when_it_has_changed_and_without_it_no_process_starts(
    docs: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Counting, "asked", 0)
    assert Indexer(index, pdf_reader=Counting).index([docs]).added == 3

    def unstartable() -> BlockingWorker:
        return BlockingWorker(command=("/nonexistent/python",))

    again = Indexer(index, pdf_reader=unstartable).index([docs])
    assert (again.unchanged, again.skipped, Counting.asked) == (3, (), 1)
    (docs / "m.pdf").write_bytes(pdf([KEEPER], title="Keepers"))
    changed = Indexer(index, pdf_reader=Counting).index([docs])
    assert (changed.changed, changed.unchanged, Counting.asked) == (1, 2, 2)
    documents = LocalDocuments(index)
    assert [hit.title for hit in await documents.search(Query("lamp lit keeper", 5))] == ["Keepers"]
    await documents.aclose()


def test_one_process_reads_all_and_names_those_it_cannot_read(docs: Path, index: Path) -> None:
    (docs / "broken.pdf").write_bytes(b"%PDF-1.7\n" + b"rubbish " * 40)
    (docs / "empty.pdf").touch()
    (docs / "late.pdf").write_bytes(pdf([typed(["Read after the unreadable ones."])]))
    (docs / "locked.pdf").write_bytes(pdf([LAMP], locked=True))
    (docs / "huge.pdf").write_bytes(b"%PDF-1.7\n".ljust(20_000))
    (docs / "scan.pdf").write_bytes(pdf([[]]))
    readers: list[BlockingWorker] = []
    processes: set[int] = set()

    def reader() -> BlockingWorker:
        readers.append(BlockingWorker())
        return readers[-1]

    def look(done: int, total: int) -> None:
        processes.update(w._worker._process.pid for w in readers if w._worker)

    report = Indexer(index, max_file_bytes=10_000, pdf_reader=reader).index([docs], look)
    assert (report.added, len(processes)) == (4, 1)
    assert {Path(path).name: reason for path, reason in report.skipped} == {
        "broken.pdf": "broken.pdf is a broken PDF document; give another copy of it, or paste its"
        " text",
        "empty.pdf": "empty.pdf is empty; there is nothing to read in it",
        "huge.pdf": "it is larger than 0.01 MB",
        "locked.pdf": "locked.pdf is a PDF document locked with a password; give a version without"
        " one, or paste its text",
        "scan.pdf": "scan.pdf is a PDF document of pictures without text; give a version that was"
        " run through text recognition (OCR), or paste its text",
    }
    again = Indexer(index, max_file_bytes=10_000).index([docs])
    assert (again.skipped, again.unchanged) == (report.skipped, 4)
    assert [reader._worker for reader in readers] == [None], "the process is ended"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (DYING, "m.pdf could not be read: its reader broke on it; paste its text"),
        (STUCK, "m.pdf is made in a way that takes too long to read; paste its text"),
    ],
)
def test_one_that_breaks_or_stalls_its_reader_is_named_and_the_rest_goes_on(
    docs: Path, index: Path, body: str, reason: str
) -> None:
    def reader() -> BlockingWorker:
        return BlockingWorker(0.3, (sys.executable, "-c", body))

    report = Indexer(index, pdf_reader=reader).index([docs])
    assert report.added == 2
    assert report.skipped == ((str(docs / "m.pdf"), reason),)
    assert Indexer(index).index([docs]).skipped == report.skipped, "it is not tried at every run"


def test_one_that_no_process_could_be_started_for_is_tried_again(docs: Path, index: Path) -> None:
    def reader() -> BlockingWorker:
        return BlockingWorker(command=("/nonexistent/python",))

    report = Indexer(index, pdf_reader=reader).index([docs])
    assert report.added == 2
    assert "no room for another process" in report.skipped[0][1]
    again = Indexer(index).index([docs])
    assert (again.added, again.unchanged, again.skipped) == (1, 2, ())


def test_one_that_goes_by_another_name_is_not_read_in_this_process_either(
    docs: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.md", "z.txt"):
        (docs / name).unlink()
    (docs / "m.pdf").rename(docs / "m.txt")
    monkeypatch.delattr(indexer, "from_bytes")
    assert Indexer(index).index([docs]).added == 1


def test_an_interruption_ends_the_process(docs: Path, index: Path) -> None:
    readers: list[BlockingWorker] = []
    seen: list[object] = []

    def reader() -> BlockingWorker:
        readers.append(BlockingWorker())
        return readers[-1]

    def interrupt(done: int, total: int) -> None:
        if done == 2:
            seen.append(readers[0]._worker)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Indexer(index, pdf_reader=reader).index([docs], interrupt)
    assert seen != [None]
    assert readers[0]._worker is None
