"""Files with equal text: one of them is shown, and a file that is hidden stands in for none."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterable
from itertools import permutations
from pathlib import Path

import pytest

from bot.core.reader import EVERYTHING, Reach
from bot.search import local_documents as local
from bot.search.index_file import open_reader
from bot.search.index_report import holdings
from bot.search.indexer import Indexer
from bot.search.local_documents import LocalDocuments
from bot.search.provider import Query
from bot.search.vector_filling import fill_vectors
from tests.fakes.embeddings import MemoryEmbedder
from tests.unit.search.test_indexer import write

pytestmark = pytest.mark.usefixtures("reading_inside")

TEXT = "# Harbours\n\nA harbour has a lamp, and the tide comes twice a day."
HTML = (
    "<title>Harbours</title><main><h1>Harbours</h1>"
    "<p>A harbour has a lamp, and the tide comes twice a day.</p></main>"
)
OTHER = "# Moors\n\nA moor has a lamp, and the tide never comes."


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return tmp_path / "docs"


def indexed(docs: Path, areas: Iterable[Path] = ()) -> Path:
    index = docs.parent / "index.sqlite"
    Indexer(index, areas=areas).index([docs])
    return index


def hiding(*folders: Path) -> Reach:
    return Reach(tuple((folder.as_uri(), False) for folder in folders))


async def found(
    index: Path, *roots: Path, reach: Reach = EVERYTHING, by_meaning: bool = False
) -> list[str]:
    """The files that a search finds and a count counts: the same ones."""
    documents = LocalDocuments(index, roots, MemoryEmbedder() if by_meaning else None)
    try:
        hits = await documents.search(Query("harbour tide lamp", 50, reach=reach))
        urls = sorted(hit.url for hit in hits)
        assert await documents.count(reach) == len(urls)
    finally:
        await documents.aclose()
    return [url.rpartition("/docs/")[2] for url in urls]


@pytest.mark.parametrize(
    ("files", "shown"),
    [
        ({"a.md": TEXT, "copy of a.md": TEXT}, ["a.md"]),
        ({"a/z.md": TEXT, "b.md": TEXT}, ["b.md"]),  # the shorter address
        ({"b.md": TEXT, "a.md": TEXT}, ["a.md"]),  # then the first by name
        ({"a.md": TEXT, "b.md": f"\n\n{TEXT}\n\n"}, ["a.md"]),  # the text counts, not the bytes
        ({"a.md": TEXT, "b.md": TEXT.replace("twice", "once")}, ["a.md", "b.md"]),
        ({"a.md": TEXT, "b.md": f"{TEXT} Home."}, ["a.md", "b.md"]),
        ({"a.md": TEXT, "b.html": HTML}, ["a.md"]),  # if two formats have the very same text
        ({"a.md": TEXT, "_sources/a.rst": f"Harbours\n========\n\n{TEXT[12:]} x."}, 2),
        ({f"{n:02}/LICENSE": TEXT for n in range(70)} | {"moor.md": OTHER}, 2),
    ],
)
@pytest.mark.parametrize("by_meaning", [False, True])
async def test_files_with_equal_text_are_one_source(
    docs: Path, files: dict[str, str], shown: list[str] | int, by_meaning: bool
) -> None:
    for name, text in files.items():
        write(docs / name, text)
    index = indexed(docs)
    if by_meaning:
        await fill_vectors(index, (), MemoryEmbedder())
    here = await found(index, by_meaning=by_meaning)
    assert here == shown if isinstance(shown, list) else len(here) == shown


@pytest.mark.parametrize("order", list(permutations(["a/b.md", "aa.md", "b.md"])))
async def test_which_one_is_shown_does_not_depend_on_the_order_in_which_they_came(
    docs: Path, order: tuple[str, ...]
) -> None:
    for name in order:
        write(docs / name, TEXT)
        index = indexed(docs)
    assert await found(index) == ["b.md"]
    (docs / "b.md").unlink()
    assert await found(indexed(docs)) == ["aa.md"]
    write(docs / "aa.md", OTHER, age=10)
    assert await found(indexed(docs)) == ["a/b.md", "aa.md"]


async def test_whatever_comes_and_goes_the_index_is_as_one_that_is_new(
    docs: Path, tmp_path: Path
) -> None:
    chance = random.Random(3)
    names, texts = ["a.md", "b.md", "cc.md", "d/a.md", "d/e.md"], [TEXT, OTHER, f"{TEXT} Home."]
    for age in range(10_000, 9_860, -10):
        name = chance.choice(names)
        if chance.random() < 0.3:
            (docs / name).unlink(missing_ok=True)
        else:
            write(docs / name, chance.choice(texts), age)
        index = indexed(docs)
        fresh = tmp_path / f"{age}.sqlite"
        Indexer(fresh).index([docs])
        assert await found(index) == await found(fresh)
        assert holdings(index, [docs]) == holdings(fresh, [docs])


async def test_a_folder_that_is_searched_by_itself_shows_its_own(docs: Path) -> None:
    write(docs / "a.md", TEXT)
    write(docs / "old" / "copy.md", TEXT)
    index = indexed(docs)
    assert await found(index, docs / "old") == ["old/copy.md"]
    assert await found(index, docs) == ["a.md"]


async def test_one_that_is_not_shown_can_be_read(docs: Path) -> None:
    write(docs / "a.md", TEXT)
    write(docs / "copy.md", TEXT)
    documents = LocalDocuments(indexed(docs))
    page = await documents.read((docs / "copy.md").as_uri())
    await documents.aclose()
    assert "twice a day" in page.text


# ---------------------------------------------------------------- rights


@pytest.mark.parametrize("by_meaning", [False, True])
@pytest.mark.parametrize("known", ["before", "since", "never"])
@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ((), ["a/1.md"]),
        (("a",), ["bb/2.md"]),
        (("a", "bb"), ["ccc/3.md"]),
        (("bb", "ccc"), ["a/1.md"]),
        (("a", "bb", "ccc"), []),
    ],
)
async def test_a_hidden_file_stands_in_for_none_and_is_not_shown(
    docs: Path, known: str, hidden: tuple[str, ...], shown: list[str], by_meaning: bool
) -> None:
    """The index knows the collections from its first run on, since a later one, or not."""
    folders = [docs / "a", docs / "bb", docs / "ccc"]
    for number, folder in enumerate(folders, 1):
        write(folder / f"{number}.md", TEXT)
    index = indexed(docs, folders if known == "before" else ())
    if known == "since":
        indexed(docs, folders)
    if by_meaning:
        await fill_vectors(index, (), MemoryEmbedder())
    reach = hiding(*(docs / name for name in hidden))
    assert await found(index, reach=reach, by_meaning=by_meaning) == shown


async def test_hidden_copies_cost_no_time(
    docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    def watched(path: Path) -> sqlite3.Connection:
        connection = open_reader(path)
        connection.set_progress_handler(step, 1)
        return connection

    async def cost(index: Path, reach: Reach) -> int:
        nonlocal steps
        documents = LocalDocuments(index, (), MemoryEmbedder())
        steps = 0
        assert len(await documents.search(Query("harbour tide lamp", 5, reach=reach))) == 1
        await documents.aclose()
        return steps

    for number in range(20):
        write(docs / "many" / f"{number}.md", TEXT)
    few, many = tmp_path / "few.sqlite", tmp_path / "many.sqlite"
    Indexer(few, areas=[docs / "h"]).index([docs])
    for number in range(600):
        write(docs / "h" / f"{number}.md", TEXT)
    Indexer(many, areas=[docs / "h"]).index([docs])
    for index in (few, many):
        await fill_vectors(index, (), MemoryEmbedder())
    monkeypatch.setattr(local, "open_reader", watched)
    visible = await cost(few, hiding(docs / "h"))
    assert await cost(many, hiding(docs / "h")) < 1.5 * visible + 500
    assert await cost(many, EVERYTHING) > 5 * visible, "it can be seen"
