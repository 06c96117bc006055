"""Searching and reading the index of local documents."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.core.errors import PageUnreadable, ProviderUnavailable, StorageUnavailable
from bot.core.reader import EVERYTHING, NO_DOCUMENTS, Reach
from bot.pages.passages import split
from bot.search import local_documents as local
from bot.search.index_file import damage_mark, pack_spans
from bot.search.index_report import documents_digest
from bot.search.indexer import Indexer
from bot.search.local_documents import Headings, LocalDocuments, OpenedPage, rate_matches
from bot.search.provider import Query
from bot.search.vectors import Match
from tests.unit.pages.test_passages import PAGES

pytestmark = pytest.mark.usefixtures("reading_inside")


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    return folder


@pytest.fixture
async def documents(tmp_path: Path) -> AsyncIterator[LocalDocuments]:
    provider = LocalDocuments(tmp_path / "index.sqlite")
    yield provider
    await provider.aclose()


def index(docs: Path, **texts: str) -> None:
    for name, text in texts.items():
        (docs / f"{name}.md").write_text(text, encoding="utf-8")
    Indexer(docs.parent / "index.sqlite").index([docs])


async def titles(documents: LocalDocuments, query: str, limit: int = 10) -> list[str]:
    return [hit.title for hit in await documents.search(Query(query, limit))]


async def test_titles_are_those_in_all_reaches_the_last_changed_first(
    docs: Path, documents: LocalDocuments
) -> None:
    index(docs, a="# Anchor", b="# Buoy", c="# Compass", d="# Buoy\n\nAgain.", e="# Ebb")
    for name, changed in (("a", 3), ("b", 1), ("c", 4), ("d", 5), ("e", 2)):
        os.utime(docs / f"{name}.md", (changed, changed))
    index(docs)
    assert await documents.titles(9, EVERYTHING) == ["Buoy", "Compass", "Anchor", "Ebb"]
    without = [Reach(rules=(((docs / f"{name}.md").as_uri(), False),)) for name in ("c", "e")]
    assert await documents.titles(9, *without) == ["Buoy", "Anchor"]
    assert await documents.titles(1, EVERYTHING) == ["Buoy"]
    assert await documents.titles(9, NO_DOCUMENTS) == []


# ---------------------------------------------------------------- ranking


async def test_what_has_more_of_the_question_comes_first(
    docs: Path, documents: LocalDocuments
) -> None:
    index(
        docs,
        a="# Alpha\n\nThe moon is round and far away from here.",
        b="# Beta\n\nThe moon pulls the sea, which makes the tides of every coast.",
        c="# Gamma\n\nThe sea is deep.",
    )
    found = await titles(documents, "How does the moon make tides in the sea?")
    assert found[0] == "Beta"
    assert sorted(found) == ["Alpha", "Beta", "Gamma"]


async def test_pages_in_another_language_come_after_those_in_ones_own(
    docs: Path, documents: LocalDocuments
) -> None:
    german = "Das Tor `gate` öffnet sich am Morgen, und die Boote fahren hinaus auf das Meer. "
    english = "It opens in the morning, and then all of the boats go out to the sea again. "
    index(
        docs,
        a=f"# Tor\n\n{german * 9}",
        b=f"# Doors\n\nThe gate is old and not much is known of it at all.\n\n{english * 9}",
    )
    assert await titles(documents, "When does the gate open?", 1) == ["Doors"]
    assert await titles(documents, "Wann geht das Tor auf, und ist es ein gate?", 1) == ["Tor"]


async def test_a_word_in_the_title_weighs_more_than_one_in_the_text(
    docs: Path, documents: LocalDocuments
) -> None:
    index(
        docs,
        a="# Harbours\n\nSome say that a lighthouse stands there, and nobody knows since when.",
        b="# Lighthouse\n\nA tower stands on the coast, and a lamp burns in it all night long.",
    )
    assert await titles(documents, "lighthouse") == ["Lighthouse", "Harbours"]


async def test_a_file_is_found_by_the_names_of_its_folder_and_itself(
    docs: Path, documents: LocalDocuments
) -> None:
    for name, who in (("projA", "Bob"), ("projB", "Ana")):
        (docs / name).mkdir()
        (docs / name / "Team list.md").write_text(f"# People\n\nLeitung: {who}\n")
    index(docs, harbour="# Harbour\n\nThe list of ships is long.")
    (hit,) = await documents.search(Query("Wer leitet projB?", 10))
    assert hit.url.endswith("/projB/Team%20list.md")
    best = [hit.title for hit in await documents.search(Query("team list", 10))]
    assert best == ["People", "People", "Harbour"]


async def test_a_word_in_a_heading_counts_for_what_stands_below_it(
    docs: Path, documents: LocalDocuments
) -> None:
    index(docs, a="# Guide\n\nLead.\n\n## Refunds\n\nAsk within 30 days.\n\n## Shipping\n\nBy sea.")
    (hit,) = await documents.search(Query("refunds", 5))
    assert hit.snippet == "Ask within 30 days."


async def test_the_snippet_is_the_passage_that_fits_best(
    docs: Path, documents: LocalDocuments
) -> None:
    filler = "\n\n".join(
        f"Paragraph {i} speaks of wood, stone and other matter." for i in range(40)
    )
    text = f"{filler}\n\nThe cellar floods every spring.\n\n{filler}\n\nIn the cellar is wood."
    index(docs, a=f"# House\n\n{text}")
    (hit,) = await documents.search(Query("when does the cellar flood?", 5))
    assert "The cellar floods every spring." in hit.snippet


async def test_a_page_with_many_fitting_passages_is_one_hit(
    docs: Path, documents: LocalDocuments
) -> None:
    long = "\n\n".join(f"## Part {i}\n\nThe moon in part {i}." for i in range(30))
    index(docs, a=f"# Long\n\n{long}", b="# Short\n\nThe moon.")
    assert sorted(await titles(documents, "moon", 2)) == ["Long", "Short"]


async def test_words_are_found_in_their_other_forms(docs: Path, documents: LocalDocuments) -> None:
    index(docs, a="# Études\n\nThe company’s policies were changed in 1,200 places.")
    for query in ("etude", "policy", "place", "1200 places", "COMPANY"):
        assert await titles(documents, query) == ["Études"], query


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("长城是谁修筑的？", "长城"),
        ("秦始皇", "长城"),
        ("東京の高い塔", "東京タワー"),
        ("서울의 역사는 언제 시작되었나요", "서울"),
    ],
)
async def test_chinese_japanese_and_korean_are_found(
    docs: Path, documents: LocalDocuments, query: str, title: str
) -> None:
    index(
        docs,
        zh="# 长城\n\n秦始皇统一中国后修筑万里长城。",
        ja="# 東京タワー\n\n東京にある高い塔である。",
        ko="# 서울\n\n서울의 역사는 백제에서 시작되었다.",
    )
    assert (await titles(documents, query))[0] == title


async def test_common_words_are_left_out_when_they_cost_too_much(
    docs: Path, documents: LocalDocuments, monkeypatch: pytest.MonkeyPatch
) -> None:
    index(docs, **{f"p{i}": f"# Page {i}\n\nCommon text number {i}." for i in range(50)})
    monkeypatch.setattr(local, "MOST_POSTINGS", 60)
    assert await titles(documents, "common text 17", 1) == ["Page 17"]
    assert len(await titles(documents, "common", 100)) == 50  # alone, a common word is looked up


# ---------------------------------------------------------------- roots


async def test_hits_of_other_roots_never_crowd_out_ones_own(tmp_path: Path) -> None:
    mine, others = tmp_path / "mine", tmp_path / "others"
    mine.mkdir()
    others.mkdir()
    for i in range(300):
        (others / f"{i}.md").write_text(f"# Moon {i}\n\nMoon moon moon.")
    (mine / "a.md").write_text(
        "# Mine\n\nA long text that speaks of the moon just once, in passing."
    )
    path = tmp_path / "index.sqlite"
    Indexer(path).index([mine, others])
    documents = LocalDocuments(path, [mine])
    assert await titles(documents, "moon") == ["Mine"]
    assert await documents.count() == 1
    with pytest.raises(PageUnreadable):
        await documents.read((others / "1.md").as_uri())
    await documents.aclose()


# ---------------------------------------------------------------- how rare words are


async def test_the_rarer_a_word_the_higher_its_rarity(
    docs: Path, documents: LocalDocuments
) -> None:
    index(docs, a="# A\n\nThe harbour bell.", b="# B\n\nThe harbour.", c="# C\n\nFog.")
    rarity = await documents.rarity(["harbour", "bell", "zorro"])
    assert 0 < rarity["harbour"] < rarity["bell"] < rarity["zorro"] == rarity[""]


async def test_the_rarity_of_every_word_asked_about_is_told(
    docs: Path, documents: LocalDocuments
) -> None:
    """However many there are: what is left out could not be told from what no document has."""
    index(docs, a="# A\n\nThe harbour bell.")
    words = [f"word{n}" for n in range(200)]
    assert set(await documents.rarity([*words, "bell"])) == {"", "bell", *words}


# ---------------------------------------------------------------- reading


async def test_a_page_is_read_as_it_was_indexed(docs: Path, documents: LocalDocuments) -> None:
    index(docs, a="# Tides\n\nThe moon pulls the sea.")
    (hit,) = await documents.search(Query("moon", 5))
    (docs / "a.md").write_text("# Tides\n\nSomething else.")
    page = await documents.read(hit.url)
    assert hit.snippet in page.text
    (docs / "a.md").unlink()
    assert await documents.read(hit.url) == page


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "file:///", "file:///../../etc/passwd", "file:///a%00b"]
)
async def test_only_files_in_the_index_are_read(
    docs: Path, documents: LocalDocuments, url: str
) -> None:
    index(docs, a="# A\n\nText.")
    with pytest.raises(PageUnreadable, match="not among the indexed documents"):
        await documents.read(url)


async def test_a_link_to_a_section_reads_its_page(docs: Path, documents: LocalDocuments) -> None:
    index(docs, a="# A\n\nText.")
    url = (docs / "a.md").as_uri()
    assert (await documents.read(url + "#section")).url == url


# ---------------------------------------------------------------- the index under it


async def test_what_changes_during_a_search_does_not_disturb_it(
    docs: Path, documents: LocalDocuments, monkeypatch: pytest.MonkeyPatch
) -> None:
    index(docs, a="# A\n\nAlpha.", b="# B\n\nBeta.")
    make_hit = local._hit

    def after_a_writer(*arguments: Any) -> Any:
        (docs / "a.md").unlink(missing_ok=True)
        index(docs)
        return make_hit(*arguments)

    monkeypatch.setattr(local, "_hit", after_a_writer)
    assert await titles(documents, "alpha") == ["A"]
    assert await titles(documents, "alpha") == []


async def test_an_index_that_was_replaced_is_opened_anew(
    docs: Path, documents: LocalDocuments, tmp_path: Path
) -> None:
    index(docs, a="# A\n\nAlpha.")
    assert await titles(documents, "alpha") == ["A"]
    for name in ("index.sqlite", "index.sqlite-wal", "index.sqlite-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    with pytest.raises(ProviderUnavailable, match="No documents are indexed yet"):
        await documents.search(Query("alpha", 5))
    index(docs, b="# B\n\nAlpha.")
    assert sorted(await titles(documents, "alpha")) == ["A", "B"]


async def test_many_searches_at_once(docs: Path, documents: LocalDocuments) -> None:
    index(docs, **{f"p{i}": f"# Page {i}\n\nText number {i}." for i in range(50)})
    found = await asyncio.gather(*(documents.search(Query(f"page {i}", 3)) for i in range(50)))
    assert [hits[0].title for hits in found] == [f"Page {i}" for i in range(50)]


async def test_an_index_on_a_read_only_medium_is_searched(
    docs: Path, documents: LocalDocuments, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There SQLite cannot make the shared memory that WAL wants (permissions do not bind root)."""
    index(docs, a="# A\n\nAlpha.")
    connect = sqlite3.connect

    def without_shared_memory(address: str, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(address, **options)
        if "immutable" not in address:
            connection.close()
            connection = connect("file:/nowhere/at/all?mode=ro", **options)
        return connection

    monkeypatch.setattr(sqlite3, "connect", without_shared_memory)
    assert await titles(documents, "alpha") == ["A"]


@given(query=st.text(max_size=40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_no_query_is_misread_by_sqlite(tmp_path_factory: Any, query: str) -> None:
    folder = tmp_path_factory.getbasetemp() / "any-query"
    path = folder / "index.sqlite"
    if not path.exists():
        (folder / "docs").mkdir(parents=True, exist_ok=True)
        (folder / "docs" / "a.md").write_text("# A 1\n\nAlpha and NOT beta 长城.")
        Indexer(path).index([folder / "docs"])
    documents = LocalDocuments(path)
    assert len(await documents.search(Query(query, 5))) <= 1
    await documents.aclose()


@pytest.mark.parametrize(
    ("harm", "words", "is_marked"),
    [
        (b"no database" * 500, "is damaged: run `footnote index`", True),
        (None, "made by another version of Footnote: run `footnote index`", False),
    ],
)
async def test_an_index_that_cannot_be_used_says_what_to_do(
    docs: Path, harm: bytes | None, words: str, is_marked: bool
) -> None:
    index = docs.parent / "index.sqlite"
    (docs / "a.md").write_text("# A\n\nWords.", encoding="utf-8")
    Indexer(index).index([docs])
    if harm is None:
        with closing(sqlite3.connect(index)) as connection:
            connection.execute("PRAGMA user_version = 3")
    else:
        index.write_bytes(harm)
    documents = LocalDocuments(index)
    with pytest.raises(ProviderUnavailable, match=words):
        await documents.search(Query("words", 3))
    await documents.aclose()
    assert damage_mark(index).exists() == is_marked
    with pytest.raises(StorageUnavailable, match=words):
        documents_digest(index, [docs])

    assert "rebuilt" in Indexer(index).index([docs]).warning
    assert documents_digest(index, [docs])


WEIGHTS = {"harbour": 3.0, "fee": 2.0, "bell": 1.0}
FOG = "\n\n".join("Fog lies on the sea. " * 20 for _ in range(4))


def a_page(text: str, title: str = "") -> OpenedPage:
    return OpenedPage(title, text, pack_spans(split(text)))


def order(pages: Mapping[int, OpenedPage], *matches: tuple[int, int]) -> list[str]:
    """The passages of the matches (file, place), best first."""
    found = rate_matches(
        WEIGHTS,
        [Match(file, f"file:///{file}", place, 0.0) for file, place in matches],
        pages,
    )
    return [pages[match.file].passage(match.place) for match in found]


def test_passages_are_those_that_were_indexed() -> None:
    page = a_page("# A\n\nOne.\n\n# B\n\nTwo.")
    assert [page.passage(place) for place in range(-1, 3)] == ["", "One.", "Two.", ""]


def test_a_short_passage_gains_by_the_words_beside_it() -> None:
    text = f"# Bells\n\nA fee.\n\n{FOG}\n\n# Fees\n\nThe harbour.\n\n## Amount\n\nA fee."
    page = a_page(text)
    last = len(split(text)) - 1
    found = rate_matches(
        WEIGHTS,
        [Match(1, "file:///1", 0, 9.0), Match(1, "file:///1", last, 1.0)],
        {1: page},
    )
    assert [match.place for match in found] == [last, 0]
    assert found[0].score > found[1].score > 0


@pytest.mark.parametrize(
    "better", [a_page("A fee.", "Harbour"), a_page("# Harbour\n\nA fee."), a_page("A harbour fee.")]
)
def test_the_title_and_the_headings_count(better: OpenedPage) -> None:
    pages = {1: a_page("A fee."), 2: better}
    assert order(pages, (1, 0), (2, 0))[0] == better.passage(0)


@given(PAGES)
def test_all_matches_come_back_best_first(text: str) -> None:
    pages = {1: a_page(text), 2: a_page("The harbour bell.")}
    matches = [Match(1, "file:///1", place, 0.0) for place in range(len(split(text)))]
    matches.append(Match(2, "file:///2", 0, 0.0))
    found = rate_matches(WEIGHTS, matches, pages)
    assert sorted((m.file, m.place) for m in found) == sorted((m.file, m.place) for m in matches)
    assert [m.score for m in found] == sorted((m.score for m in found), reverse=True)


# ---------------------------------------------------------------- headings

TEXT = """# Harbour

Lead.

## Fees

### Boats

Ten kroner.

## Rules

```sh
# Open the gate
harbour open
```

No fires."""


@pytest.mark.parametrize(
    ("words", "headings"),
    [
        ("# Harbour", []),
        ("Lead.", ["Harbour"]),
        ("Ten kroner.", ["Boats", "Fees", "Harbour"]),
        ("No fires.", ["Rules", "Harbour"]),
        ("harbour open", ["Rules", "Harbour"]),
    ],
)
def test_headings_above_are_of_rising_rank_and_nearest_first(
    words: str, headings: list[str]
) -> None:
    assert list(Headings(TEXT).above(TEXT.index(words))) == headings


@given(PAGES)
def test_headings_above_a_passage_are_those_of_its_path(text: str) -> None:
    for passage in split(text):
        if not passage.text.lstrip().startswith("#"):
            for heading in Headings(text).above(passage.start):
                assert heading in passage.heading or not heading
