"""Searching only in what a reader may see: what is hidden shows in no result, number or time."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.core.reader import EVERYTHING, Reach
from bot.search import local_documents as local
from bot.search.index_file import area_addresses, in_area, innermost, open_reader
from bot.search.indexer import Indexer
from bot.search.local_documents import LocalDocuments
from bot.search.provider import Query
from bot.search.unchanged import unchanged

pytestmark = pytest.mark.usefixtures("reading_inside")

# Words of the hidden files alone: in many passages, in one, in titles and headings, in other forms
# and scripts, and beside words that everybody may see.
HIDDEN = ["zanzibar", "quetzal", "Armadillo", "xylophones", "秘密计划", "zanzibar harbour", "9021"]
NOWHERE = ["nonesuch", "brillig", "Jabberwocky", "toves", "乌有之乡", "nonesuch harbour", "7755"]
WORDS = [*HIDDEN, *NOWHERE, "harbour", "bell", "harbour bell of the town", "fog"]


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    for folder in ("open", "loose"):
        (docs / folder).mkdir(parents=True)
        for i in range(8):
            text = f"The harbour bell of town {i} rings in the fog." * (1 + i % 3)
            (docs / folder / f"{i}.md").write_text(f"# Town {folder} {i}\n\n{text}\n")
    write_hidden(docs)
    for file in docs.rglob("*.md"):
        os.utime(file, (1_000_000_000, 1_000_000_000))  # long enough ago to be settled
    return docs


def write_hidden(docs: Path) -> None:
    for folder in ("hr", "open/inner"):
        (docs / folder).mkdir()
        for i in range(30):
            text = "A zanzibar harbour bell in the fog, 秘密计划. " + "Harbour. " * i
            more = "The quetzal has 9021 xylophones." if i == 7 else "Nothing more."
            (docs / folder / f"{i}.md").write_text(
                f"# Armadillo {folder} {i}\n\n{text}\n\n## Zanzibar\n\n{more}\n"
            )


def collections(docs: Path) -> list[Path]:
    return [docs / "open", docs / "hr", docs / "open" / "inner"]


def reach_of(docs: Path, *hidden: str) -> Reach:
    """As ``Rights`` computes it: the longest address first."""
    rules = {path.as_uri(): str(path.relative_to(docs)) for path in collections(docs)}
    longest = sorted(rules, key=len, reverse=True)
    return Reach(tuple((url, rules[url] not in hidden) for url in longest))


@pytest.fixture
def index(docs: Path, tmp_path: Path) -> Path:
    index = tmp_path / "index.sqlite"
    Indexer(index, areas=collections(docs)).index([docs])
    return index


@pytest.fixture
async def opened(docs: Path) -> AsyncIterator[Callable[[Path], LocalDocuments]]:
    there: list[LocalDocuments] = []

    def open_documents(index: Path) -> LocalDocuments:
        there.append(LocalDocuments(index, [docs]))
        return there[-1]

    yield open_documents
    for each in there:
        await each.aclose()


Open = Callable[[Path], LocalDocuments]


async def results(documents: LocalDocuments, reach: Reach) -> list[object]:
    """All that a search tells of each of the words."""
    found: list[object] = []
    for words in WORDS:
        hits = await documents.search(Query(words, 30, reach=reach))
        rarity = await documents.rarity(words.split(), reach)
        found.append((words, [(hit.url, hit.title, hit.snippet) for hit in hits], rarity))
    return found


@pytest.mark.parametrize("known", ["before", "since", "never"])
async def test_results_are_those_of_an_index_without_the_hidden_files(
    docs: Path, tmp_path: Path, opened: Open, known: str
) -> None:
    """Hits, their order, and the rarity of words, by which refusals are decided. Whether the
    collections are ``known`` to the index, from its first run on, or since a later one, or not."""
    index = tmp_path / "index.sqlite"
    Indexer(index, areas=collections(docs) if known == "before" else ()).index([docs])
    if known == "since":
        assert unchanged(index, [docs]) is not None
        assert unchanged(index, [docs], collections(docs)) is None
        Indexer(index, areas=collections(docs)).index([docs])
        assert unchanged(index, [docs], collections(docs)) is not None
    here = await results(opened(index), reach_of(docs, "hr", "open/inner"))
    for folder in ("hr", "open/inner"):
        for file in (docs / folder).iterdir():
            file.unlink()
    Indexer(tmp_path / "without.sqlite").index([docs])
    assert here == await results(opened(tmp_path / "without.sqlite"), EVERYTHING)


@dataclass
class Work:
    """Steps of SQLite's virtual machine, and the statements with their values."""

    steps: int = 0
    statements: list[str] = field(default_factory=list)


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    work = Work()

    def step() -> int:
        work.steps += 1
        return 0

    def watched(path: Path) -> sqlite3.Connection:
        connection = open_reader(path)
        connection.set_progress_handler(step, 1)
        connection.set_trace_callback(work.statements.append)
        return connection

    monkeypatch.setattr(local, "open_reader", watched)
    return work


@pytest.mark.parametrize(
    ("hidden", "nowhere"),
    [
        ("armadillo", "jabberwocky"),  # in titles
        ("秘密计划", "乌有之乡"),
        ("zanzibar harbour", "nonesuch harbour"),  # with a word that everybody may see
    ],
)
async def test_a_hidden_word_costs_what_a_word_costs_that_is_nowhere(
    docs: Path, tmp_path: Path, opened: Open, work: Work, hidden: str, nowhere: str
) -> None:
    """It is in thousands of passages, so that looking at them could not be overlooked."""
    paragraph = "A zanzibar harbour bell in the fog, 秘密计划. " + "Nothing more is told. " * 30
    for i in range(40):
        text = f"# Armadillo {i}\n\n" + f"{paragraph}\n\n" * 40
        (docs / "hr" / f"long {i}.md").write_text(text.replace("told", f"told{i}"))
    index = tmp_path / "long.sqlite"
    Indexer(index, areas=collections(docs)).index([docs])
    documents, reach = opened(index), reach_of(docs, "hr", "open/inner")

    async def steps(words: str, reach: Reach) -> int:
        before = work.steps
        await documents.search(Query(words, 5, reach=reach))
        await documents.rarity(words.split(), reach)
        return work.steps - before

    await steps("harbour", reach)
    work.statements.clear()
    same = await steps(nowhere, reach)
    # Looking up a term takes more or fewer steps, depending on where it would be in the tree.
    most = 2 * same + 2_000
    assert await steps(hidden, reach) < most
    with closing(sqlite3.connect(index)) as connection:
        ids = {Path(url).name: id for id, url in connection.execute("SELECT id, url FROM areas")}
    asked = {int(id) for each in work.statements for id in re.findall(r"(\d+)·", each)}
    assert asked == {ids["open"]}, "no term of another area is looked up"
    assert await steps(hidden, EVERYTHING) > 3 * most, "it can be seen"


@pytest.mark.parametrize("hidden", [[], ["hr"], ["open"], ["open/inner"], ["open", "hr"]])
async def test_everything_that_may_be_seen_is_found(
    docs: Path, index: Path, opened: Open, hidden: Sequence[str]
) -> None:
    """Inner collections keep their own rights, whatever those of the outer ones are."""
    documents, reach = opened(index), reach_of(docs, *hidden)
    hits = await documents.search(Query("harbour bell fog", 100, reach=reach))
    expected = {file.as_uri() for file in docs.rglob("*.md") if reach.allows(file.as_uri())}
    assert {hit.url for hit in hits} == expected
    assert await documents.count(reach) == len(expected)


async def test_a_copy_of_a_hidden_file_is_found_by_those_who_may_read_the_copy(
    docs: Path, tmp_path: Path, opened: Open
) -> None:
    text = "# Parking\n\n" + "The visitors of the house park their cars behind the mill. " * 20
    for place in ("hr/a.md", "loose/parking.md", "open/inner/b.md"):
        (docs / place).write_text(text)
    index = tmp_path / "copies.sqlite"
    Indexer(index).index([docs])
    Indexer(index, areas=collections(docs)).index([docs])
    documents = opened(index)
    for hidden in (["hr"], ["hr", "open/inner"], ["open/inner"], ["open", "open/inner"]):
        reach = reach_of(docs, *hidden)
        hits = await documents.search(Query("visitors park behind the mill", 5, reach=reach))
        assert [hit.title for hit in hits if hit.title == "Parking"] == ["Parking"], hidden
        assert all(reach.allows(hit.url) for hit in hits)


def test_passages_are_counted_as_files_come_and_go(docs: Path, index: Path) -> None:
    def check() -> None:
        with closing(sqlite3.connect(index)) as connection:
            counted = connection.execute(
                "SELECT areas.id, passages, total(count) FROM areas"
                " LEFT JOIN files ON area = areas.id GROUP BY areas.id"
            ).fetchall()
            assert all(passages == count for _, passages, count in counted)
            assert sum(passages > 0 for _, passages, _ in counted) == 4

    check()
    (docs / "hr" / "1.md").write_text("# Changed\n\nShort.\n")
    (docs / "hr" / "2.md").unlink()
    (docs / "open" / "new.md").write_text("# New\n\nA new one.\n")
    Indexer(index, areas=collections(docs)).index([docs])
    check()
    Indexer(index, areas=[docs / "loose"]).index([docs])
    with closing(sqlite3.connect(index)) as connection:
        (last,) = connection.execute(
            "SELECT passages FROM areas WHERE url = ?", ((docs / "loose").as_uri(),)
        ).fetchone()
    assert last == 8


@pytest.mark.parametrize(
    ("url", "area"),
    [
        ("file:///d/a.md", ""),
        ("file:///d/hr/a.md", "file:///d/hr"),
        ("file:///d/hr/inner/a.md", "file:///d/hr/inner"),
        ("file:///d/hrx/a.md", ""),
        ("file:///d/hr", "file:///d/hr"),
    ],
)
def test_a_file_is_in_the_innermost_area(url: str, area: str) -> None:
    assert innermost(url, ["", "file:///d/hr", "file:///d/hr/inner"]) == area


def test_terms_of_an_area_are_marked_one_by_one() -> None:
    assert in_area(0, "a b") == "a b"
    assert in_area(3, "a b") == "3·a 3·b"
    assert in_area(3, "") == ""


def test_a_path_with_links_has_both_addresses(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    addresses = area_addresses([tmp_path / "link", tmp_path / "none"])
    assert addresses == [(tmp_path / name).as_uri() for name in ("link", "none", "real")]


# ---------------------------------------------------------------- files that are not read


async def test_files_of_kinds_that_are_not_read_are_counted_where_a_reader_may_see(
    docs: Path, index: Path, opened: Open
) -> None:
    for name in ("open/a.psd", "open/b.psd", "hr/c.psd", "hr/d.dwg", "loose/NOTICE"):
        (docs / name).write_bytes(b"x")
    Indexer(index).index([docs])
    documents = opened(index)
    everything = await documents.unread(())
    assert everything.endings == ((".psd", 3), (".dwg", 1)), "a file without ending is text"
    assert everything.files == 8 + 8 + 30 + 30 + 5
    assert everything.kinds == ".psd 3, .dwg 1"
    of_some = await documents.unread((), reach_of(docs, "hr", "open/inner"))
    assert (of_some.endings, of_some.files) == (((".psd", 2),), 8 + 8 + 3)
    for name in ("open/a.psd", "hr/d.dwg"):
        (docs / name).unlink()
    Indexer(index).index([docs])
    assert (await documents.unread(())).endings == ((".psd", 2),)


async def test_files_that_could_not_be_read_are_named_where_a_reader_may_see(
    docs: Path, index: Path, opened: Open
) -> None:
    for name in ("open/deed.pdf", "hr/pay.pdf"):
        (docs / name).write_bytes(b"%PDF-1.7 nothing")
    Indexer(index).index([docs])
    documents = opened(index)
    assert (await documents.unread(())).failed == ("pay.pdf", "deed.pdf")
    assert (await documents.unread((), reach_of(docs, "hr"))).failed == ("deed.pdf",)


async def test_which_of_some_documents_lost_much_of_their_text(
    docs: Path, index: Path, opened: Open
) -> None:
    files = [(docs / f"open/{i}.md").as_uri() for i in range(3)]
    with closing(sqlite3.connect(index)) as connection, connection:
        connection.execute("UPDATE files SET kept = 0.5 WHERE url = ?", (files[0],))
        lost = '{"textless page": 2}'
        connection.execute("UPDATE files SET omitted = ? WHERE url = ?", (lost, files[1]))
    documents = opened(index)
    assert (await documents.unread([*files, "https://a.example/"])).partly == (
        "Town open 0",
        "Town open 1",
    )
    assert (await documents.unread(files[2:])).partly == ()
    assert (await documents.unread(files, reach_of(docs, "open"))).partly == ()
