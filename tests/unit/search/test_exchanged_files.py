"""Files and folders that are exchanged for links while an indexing run reads them."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from bot.core.texts import said
from bot.search.document_reading import Job, failed_reading, read_file
from bot.search.folders import Document, list_documents, open_real
from bot.search.index_file import unpack_text
from bot.search.indexer import Indexer
from tests.unit.search.readers import why

pytestmark = pytest.mark.usefixtures("reading_inside")

MOST = 1_000_000
SECRET = "The secret number is 987654321."
EXCHANGED = "it was exchanged for a link while the folder was read"
PLACE = "a/b/c/guide.md"
PARTS = [PLACE, "a/b/c", "a/b", "a"]  # what can be exchanged on the way to the file


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder to index, beside one with the same paths that is not to be read."""
    for folder, text in (("docs", "Harmless words."), ("outside", SECRET)):
        file = tmp_path / folder / PLACE
        file.parent.mkdir(parents=True)
        file.write_text(f"# Title\n\n{text}\n", encoding="utf-8")
    return tmp_path / "docs"


def listed(docs: Path) -> Document:
    (document,) = list_documents([docs]).documents.values()
    return document


def to_absolute(path: Path, target: Path) -> None:
    path.symlink_to(target)


def to_relative(path: Path, target: Path) -> None:
    path.symlink_to(os.path.relpath(target, path.parent))


def to_a_link(path: Path, target: Path) -> None:
    between = target.parent / "between"
    between.symlink_to(target)
    path.symlink_to(between)


def to_proc(path: Path, target: Path) -> None:
    path.symlink_to(f"/proc/self/root{target}")


Linking = Callable[[Path, Path], None]
LINKS = [to_absolute, to_relative, to_a_link, to_proc]


def exchange(docs: Path, part: str, link: Linking) -> None:
    """Put a link to what is outside in the place of a part of the path."""
    (docs / part).rename(docs.parent / "before")
    link(docs / part, docs.parent / "outside" / part)


def texts(index: Path) -> list[str]:
    with closing(sqlite3.connect(index)) as connection:
        return [unpack_text(text) for (text,) in connection.execute("SELECT text FROM pages")]


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("part", PARTS)
def test_nothing_is_read_through_a_link_that_was_not_there_before(
    docs: Path, part: str, link: Linking
) -> None:
    document = listed(docs)
    exchange(docs, part, link)
    assert (docs / PLACE).read_text(encoding="utf-8").endswith(f"{SECRET}\n"), "the link works"
    reading = read_file(Job(document), MOST)
    assert (why(reading), reading.digest, reading.content) == (EXCHANGED, b"", None)
    failed = failed_reading(Job(document), said("unread-broke"))
    assert failed.digest == b""


@pytest.mark.parametrize("part", PARTS)
def test_a_link_to_another_file_of_the_folder_is_not_followed_either(docs: Path, part: str) -> None:
    """Another collection, with other readers, may be in the same folder."""
    document = listed(docs)
    (docs / "other").mkdir()
    (docs.parent / "outside").rename(docs / "other" / "within")
    (docs / part).rename(docs.parent / "before")
    (docs / part).symlink_to(docs / "other" / "within" / part)
    assert why(read_file(Job(document), MOST)) == EXCHANGED


@pytest.mark.parametrize("made", [os.mkfifo, os.mkdir])
def test_only_a_regular_file_is_read(docs: Path, made: Callable[[Path], None]) -> None:
    """Opening a pipe without a writer would wait without end."""
    document = listed(docs)
    (docs / PLACE).unlink()
    made(docs / PLACE)
    assert why(read_file(Job(document), MOST)) == "it is not a regular file"


def test_a_file_that_has_grown_is_not_read_in_part(docs: Path) -> None:
    document = listed(docs)
    (docs / PLACE).write_bytes(b"x" * (MOST + 1))
    reading = read_file(Job(document), MOST)
    assert (reading.content, reading.digest) == (None, b"")
    assert why(reading).startswith("it has 1.1 MB, and the limit for Markdown is 1 MB")
    assert not reading.is_settled, "the next run tries again"


@pytest.mark.parametrize("path", ["/", "/proc"])
def test_a_path_of_any_depth_is_opened(path: str) -> None:
    descriptor = open_real(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        assert os.path.samestat(os.fstat(descriptor), os.stat(path))
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("part", PARTS)
def test_a_run_does_not_index_what_a_link_leads_to(
    docs: Path, tmp_path: Path, part: str, link: Linking
) -> None:
    """Progress is reported between listing the files and reading them."""
    index = tmp_path / "index.sqlite"

    def at_first(done: int, total: int) -> None:
        if not (docs.parent / "before").exists():
            exchange(docs, part, link)

    report = Indexer(index).index([docs], at_first)
    assert report.skipped == ((str(docs / PLACE), EXCHANGED),)
    assert texts(index) == []
    report = Indexer(index).index([docs])
    assert [why for _, why in report.skipped] == ["a link that leads out of the indexed folders"]
    assert texts(index) == []


@pytest.mark.parametrize("part", ["a/b/c", "a/b", "a"])
def test_a_folder_exchanged_during_the_walk_is_not_listed(
    docs: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    (docs.parent / "outside" / "a" / "b" / "c" / "name of a client.xyz").touch()
    above = os.stat((docs / part).parent)
    scan = os.scandir

    def exchanging(folder: int) -> object:
        entries = scan(folder)
        if os.path.samestat(os.fstat(folder), above):
            rest = list(entries)
            exchange(docs, part, to_absolute)
            return closing(_Listed(rest))
        return entries

    monkeypatch.setattr(os, "scandir", exchanging)
    listing = list_documents([docs])
    assert not listing.documents
    ((path, why),) = listing.skipped
    assert path == str(docs / part)
    assert why in ("the folder cannot be opened (Not a directory)", EXCHANGED)


class _Listed(list[os.DirEntry[str]]):
    """Entries as ``os.scandir`` returns them."""

    def close(self) -> None: ...


def test_files_that_are_exchanged_all_the_time_never_give_text_from_outside(
    docs: Path, tmp_path: Path
) -> None:
    """One thread exchanges files for links and back while runs repeat."""
    names = [f"{number:02}.md" for number in range(40)]
    ended = threading.Event()

    def swap() -> None:
        while not ended.is_set():
            for name in names:
                beside = docs / f".{name}"
                beside.symlink_to(docs.parent / "outside" / PLACE)
                os.rename(beside, docs / name)
                beside.write_text(f"# {name}\n\nHarmless words.\n", encoding="utf-8")
                os.rename(beside, docs / name)

    for name in names:
        (docs / name).write_text(f"# {name}\n\nHarmless words.\n", encoding="utf-8")
    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for run in range(2):
            index = tmp_path / f"{run}.sqlite"
            Indexer(index).index([docs])
            assert not [text for text in texts(index) if SECRET in text]
    finally:
        ended.set()
        thread.join()


# ---------------------------------------------------------------- links that are documented
