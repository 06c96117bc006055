"""Local PDF documents: indexed by page."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.search.indexer import Indexer
from bot.search.local_documents import LocalDocuments
from bot.search.provider import Query
from tests.fakes.pdf import pdf, typed

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


def test_those_that_cannot_be_read_are_named(docs: Path, index: Path) -> None:
    (docs / "broken.pdf").write_bytes(b"%PDF-1.7\n" + b"rubbish " * 40)
    (docs / "empty.pdf").touch()
    (docs / "late.pdf").write_bytes(pdf([typed(["Read after the unreadable ones."])]))
    (docs / "locked.pdf").write_bytes(pdf([LAMP], locked=True))
    (docs / "huge.pdf").write_bytes(b"%PDF-1.7\n".ljust(60_000))
    (docs / "scan.pdf").write_bytes(pdf([[]]))
    report = Indexer(index, max_file_bytes=10_000).index([docs])
    assert report.added == 4
    assert {Path(path).name: reason for path, reason in report.skipped} == {
        "broken.pdf": "broken.pdf is a broken PDF document; give another copy of it, or paste its"
        " text",
        "empty.pdf": "empty.pdf is empty; there is nothing to read in it",
        "huge.pdf": "it has 0.1 MB, and the limit for PDF is 0.05 MB: split it into smaller files,"
        " or save it with smaller pictures",
        "locked.pdf": "locked.pdf is a PDF document locked with a password; give a version without"
        " one, or paste its text",
        "scan.pdf": "scan.pdf is a PDF document of pictures without text; give a version that was"
        " run through text recognition (OCR), or paste its text",
    }
    again = Indexer(index, max_file_bytes=10_000).index([docs])
    assert (set(again.skipped), again.unchanged) == (set(report.skipped), 4)
