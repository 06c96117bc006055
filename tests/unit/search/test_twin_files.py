"""Twins in the index: exactly one is searched as files come and go."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.search import indexer, twin_files
from bot.search.indexer import Indexer
from bot.search.local import LocalDocuments
from bot.search.provider import Query
from tests.unit.search.readers import Recording
from tests.unit.search.test_indexer import counts, write
from tests.unit.search.test_twins import prose

pytestmark = pytest.mark.usefixtures("reading_inside")

MARKDOWN = f"# Harbours\n\n{prose(1)}\n"
HTML = f"<html><title>Harbours</title><body><main><h1>Harbours</h1><p>{prose(1)}</p></main></body>"
RST = f"Harbours\n========\n\n{prose(1)}\n"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return tmp_path / "docs"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "index.sqlite"


async def found(index: Path, *roots: Path, query: str = "harbour tide lamp") -> list[str]:
    """The names of the files that a search finds."""
    documents = LocalDocuments(index, roots)
    try:
        hits = await documents.search(Query(query, 50))
        assert await documents.count() >= len(hits)
        return sorted(hit.url.rsplit("/", 1)[1] for hit in hits)
    finally:
        await documents.aclose()


async def test_the_better_readable_one_is_searched(docs: Path, index: Path) -> None:
    write(docs / "harbours.rst", RST)
    write(docs / "a" / "harbours.html", HTML)
    write(docs / "notes.txt", f"Harbours\n\n{prose(1)}")
    report = Indexer(index).index([docs])
    assert counts(report) == (3, 0, 0, 0)
    assert await found(index) == ["harbours.html"]


async def test_of_two_copies_the_one_with_the_shorter_path_is_searched(
    docs: Path, index: Path
) -> None:
    write(docs / "copies" / "same.md", MARKDOWN)
    write(docs / "z.md", MARKDOWN)
    Indexer(index).index([docs])
    assert await found(index) == ["z.md"]


async def test_its_words_are_not_in_the_index_twice(docs: Path, index: Path) -> None:
    write(docs / "a.md", MARKDOWN)
    single = Indexer(index).index([docs]).passages
    write(docs / "copy.md", MARKDOWN)
    assert Indexer(index).index([docs]).passages == single


async def test_it_comes_back_when_the_better_one_is_gone(docs: Path, index: Path) -> None:
    for name in ("a.html", "bb.rst", "ccc.rst"):
        write(docs / name, HTML if name == "a.html" else RST)
    Indexer(index).index([docs])
    assert await found(index) == ["a.html"]
    (docs / "a.html").unlink()
    assert counts(Indexer(index).index([docs])) == (0, 0, 1, 2)
    assert await found(index) == ["bb.rst"]
    (docs / "bb.rst").unlink()
    Indexer(index).index([docs])
    assert await found(index) == ["ccc.rst"]


async def test_it_comes_back_when_the_better_one_says_something_else(
    docs: Path, index: Path
) -> None:
    write(docs / "a.html", HTML)
    write(docs / "a.rst", RST)
    Indexer(index).index([docs])
    write(docs / "a.html", HTML.replace(prose(1), prose(2)), age=100)
    Indexer(index).index([docs])
    assert await found(index) == ["a.html", "a.rst"]


async def test_one_that_was_searched_gives_way_to_a_better_one(docs: Path, index: Path) -> None:
    write(docs / "a.rst", RST)
    Indexer(index).index([docs])
    assert await found(index) == ["a.rst"]
    write(docs / "a.html", HTML)
    assert counts(Indexer(index).index([docs])) == (1, 0, 0, 1)
    assert await found(index) == ["a.html"]


async def test_a_twin_can_still_be_read(docs: Path, index: Path) -> None:
    write(docs / "a.md", MARKDOWN)
    write(docs / "copy.md", MARKDOWN)
    Indexer(index).index([docs])
    documents = LocalDocuments(index)
    page = await documents.read((docs / "copy.md").as_uri())
    await documents.aclose()
    assert prose(1)[:50] in page.text


# ---------------------------------------------------------------- several roots


async def test_it_is_found_where_the_better_one_is_not_searched(tmp_path: Path) -> None:
    index, a, b = tmp_path / "index.sqlite", tmp_path / "a", tmp_path / "bb"
    write(a / "one.md", MARKDOWN)
    write(b / "copy.md", MARKDOWN)
    write(b / "copies" / "copy2.md", MARKDOWN)
    Indexer(index).index([a])
    Indexer(index).index([b])
    assert await found(index, a) == ["one.md"]
    assert await found(index, b) == ["copy.md"]
    assert await found(index, a, b) == ["one.md"]
    assert await found(index) == ["one.md"]


async def test_it_is_found_in_a_folder_that_is_searched_by_itself_later(tmp_path: Path) -> None:
    index, docs = tmp_path / "index.sqlite", tmp_path / "docs"
    write(docs / "one.md", MARKDOWN)
    write(docs / "old" / "copy.md", MARKDOWN)
    Indexer(index).index([docs])
    assert counts(Indexer(index).index([docs / "old"])) == (0, 0, 0, 1)
    assert await found(index, docs / "old") == ["copy.md"]
    assert await found(index, docs) == ["one.md"]


# ---------------------------------------------------------------- sources that are not read


@pytest.fixture
def site(docs: Path) -> Path:
    """Two pages of a manual with their sources, one of which is a stub."""
    write(docs / "harbours.html", HTML)
    write(docs / "_sources" / "harbours.rst.txt", RST)
    write(
        docs / "api" / "Tides.html", HTML.replace("Harbours", "Tides").replace(prose(1), prose(2))
    )
    write(docs / "_sources" / "api" / "Tides.rst.txt", "Tides\n=====\n\n.. automodule:: tides\n")
    return docs


async def test_the_source_of_a_page_is_not_even_read(site: Path, index: Path) -> None:
    readers = Recording()
    report = Indexer(index, readers=readers).index([site])
    assert counts(report) == (4, 0, 0, 0)
    assert len(readers.readings) == 2
    assert await found(index) == ["Tides.html", "harbours.html"]
    assert counts(Indexer(index).index([site])) == (0, 0, 0, 4)


async def test_it_is_read_when_its_page_is_gone(site: Path, index: Path) -> None:
    Indexer(index).index([site])
    (site / "harbours.html").unlink()
    assert counts(Indexer(index).index([site])) == (1, 0, 1, 2)
    assert await found(index) == ["Tides.html", "harbours.rst.txt"]


async def test_it_is_read_when_its_page_says_too_little(site: Path, index: Path) -> None:
    Indexer(index).index([site])
    write(site / "harbours.html", "<html><title>Other</title><main><p>Gone.</main>", age=100)
    assert counts(Indexer(index).index([site])) == (0, 1, 0, 3)
    assert await found(index) == ["Tides.html", "harbours.rst.txt"]


async def test_it_is_not_read_when_its_page_has_changed_a_little(site: Path, index: Path) -> None:
    Indexer(index).index([site])
    write(site / "harbours.html", HTML.replace("tide", "tides"), age=100)
    readers = Recording()
    assert counts(Indexer(index, readers=readers).index([site])) == (0, 1, 0, 3)
    assert len(readers.readings) == 1
    assert await found(index) == ["Tides.html", "harbours.html"]


async def test_it_is_read_where_it_is_searched_by_itself(site: Path, index: Path) -> None:
    Indexer(index).index([site])
    Indexer(index).index([site / "_sources"])
    found_there = await found(index, site / "_sources")
    assert found_there == ["Tides.rst.txt", "harbours.rst.txt"]
    assert await found(index, site) == ["Tides.html", "harbours.html"]


async def test_a_change_of_it_alone_is_noted(site: Path, index: Path) -> None:
    Indexer(index).index([site])
    write(site / "_sources" / "harbours.rst.txt", RST + "\nMore.\n", age=100)
    assert counts(Indexer(index).index([site])) == (0, 1, 0, 3)
    write(
        site / "_sources" / "harbours.rst.txt", RST + prose(5, 3_000).replace(". ", ".\n"), age=50
    )
    assert counts(Indexer(index).index([site])) == (0, 1, 0, 3)
    assert await found(index) == ["Tides.html", "harbours.html", "harbours.rst.txt"]


# ---------------------------------------------------------------- whatever comes and goes

NAMES = (
    "a.html",
    "a.rst",
    "b/a.html",
    "b/c.md",
    "cc.txt",
    "_sources/a.rst.txt",
    "b/_sources/x.txt",
)
TEXTS = [prose(1, 60), prose(1, 60) + " Home", prose(1, 40), prose(2, 60)]


def state(index: Path) -> set[tuple[Any, ...]]:
    """Each file, the file that is searched instead of it, and whether it is searched."""
    connection = sqlite3.connect(index)
    rows = connection.execute(
        "SELECT files.url, better.url, files.count FROM files LEFT JOIN files AS better"
        " ON better.id = files.twin"
    ).fetchall()
    connection.close()
    return set(rows)


steps = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from([None, *range(len(TEXTS))])), max_size=6
)


@settings(
    max_examples=30,  # each takes 40 ms, for up to five indexing runs
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(runs=st.lists(steps, min_size=1, max_size=4))
def test_the_outcome_does_not_depend_on_the_order_in_which_files_came(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    runs: list[list[tuple[str, int | None]]],
) -> None:
    monkeypatch.setattr(indexer, "BATCH_FILES", 2)
    folder = tmp_path_factory.mktemp("twins")
    docs, index = folder / "docs", folder / "index.sqlite"
    docs.mkdir()
    age = 10_000
    for run in runs:
        for name, text in run:
            age -= 10
            if text is None:
                (docs / name).unlink(missing_ok=True)
            elif name.endswith("html"):
                body = f"<title>T</title><main><h1>T</h1><p>{TEXTS[text]}</p></main>"
                write(docs / name, f"<html>{body}</html>", age)
            else:
                write(docs / name, f"T\n=\n\n{TEXTS[text]}\n", age)
        Indexer(index).index([docs])
    Indexer(folder / "fresh.sqlite").index([docs])
    assert state(index) == state(folder / "fresh.sqlite")


async def test_many_copies_are_one(docs: Path, index: Path) -> None:
    for i in range(twin_files.MOST_SHARING * 2):
        write(docs / f"{i:03}" / "LICENSE", f"Licence\n\n{prose(1)}")
    Indexer(index).index([docs])
    assert await found(index) == ["LICENSE"]
    (docs / "000" / "LICENSE").unlink()
    Indexer(index).index([docs])
    assert await found(index) == ["LICENSE"]


async def test_pages_of_one_template_are_all_searched(docs: Path, index: Path) -> None:
    for i in range(twin_files.MOST_SHARING * 2):
        write(docs / f"{i:03}.md", f"# Option {i}\n\nThe option {i} of {prose(1, 40)}")
    Indexer(index).index([docs])
    assert len(await found(index)) == 50
    documents = LocalDocuments(index)
    assert await documents.count() == twin_files.MOST_SHARING * 2
    await documents.aclose()
