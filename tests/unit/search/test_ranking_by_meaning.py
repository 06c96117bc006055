"""Ranking by meaning as well as by words."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.core.errors import InvalidSetting, ProviderUnavailable
from bot.pages.passages import split
from bot.search.embedder import Embedder
from bot.search.indexer import Indexer
from bot.search.local_documents import LocalDocuments
from bot.search.provider import Hit, Query
from bot.search.vector_filling import fill_vectors
from bot.search.vectors import REST_SECONDS, Meaning, fuse
from tests.fakes.embeddings import MemoryEmbedder
from tests.unit.search.test_indexer import write

pytestmark = pytest.mark.usefixtures("reading_inside")

DOWN = ProviderUnavailable("The embeddings endpoint is down: try again later.")

# ---------------------------------------------------------------- fusing

places = st.tuples(st.integers(1, 5), st.integers(0, 5))
scores = st.dictionaries(places, st.floats(0.01, 50.0), max_size=12)
cosines = st.dictionaries(places, st.floats(-1.0, 1.0), max_size=12)


@given(scores, cosines)
def test_every_candidate_comes_once(
    by_words: dict[tuple[int, int], float], near: dict[tuple[int, int], float]
) -> None:
    found = fuse(by_words, near)

    assert sorted(found) == sorted({*by_words, *near})


@given(scores)
@example({(1, 0): 0.01, (1, 1): 0.010000000000000002, (1, 2): 40.640625})  # divided, two are equal
def test_without_cosines_the_order_is_that_of_words(by_words: dict[tuple[int, int], float]) -> None:
    assert fuse(by_words, {}) == sorted(by_words, key=lambda place: (-by_words[place], place))


def test_the_best_of_both_comes_first() -> None:
    by_words = {(1, 0): 10.0, (2, 0): 8.0, (3, 0): 1.0}
    near = {(1, 0): 0.70, (2, 0): 0.88, (3, 0): 0.75, (4, 0): 0.90}

    assert fuse(by_words, near) == [(2, 0), (1, 0), (4, 0), (3, 0)]


# ---------------------------------------------------------------- searching

PAGES = {
    "cars": "# Costs\n\nTo buy a car you need 20,000 euros.\n\n## Insurance\n\nIt is paid monthly.",
    "bread": "# Bread\n\nThe bread is baked at five o'clock.\n\n## Flour\n\nIt is bought in May.",
    "health": "# Health\n\nThe doctor comes on Mondays.",
    "trees": "# Trees\n\nThe oak grows slowly.",
}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    for name, text in PAGES.items():
        write(tmp_path / "docs" / f"{name}.md", text)
    return tmp_path / "docs"


async def hits(index: Path, query: str, embedder: Embedder | None, *roots: Path) -> list[Hit]:
    documents = LocalDocuments(index, roots, embedder)
    try:
        return await documents.search(Query(query, 3))
    finally:
        await documents.aclose()


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("automobile", "Costs"),
        ("医生什么时候来？", "Health"),
        ("physician", "Health"),
    ],
)
async def test_what_is_meant_is_found_without_a_common_word(
    index: Path, query: str, title: str
) -> None:
    embedder = MemoryEmbedder()
    await fill_vectors(index, (), embedder)

    assert not any(hit.title == title for hit in await hits(index, query, None))
    found = await hits(index, query, embedder)
    assert found[0].title == title
    assert found[0].relevance == 1.0
    assert all(0.0 <= (hit.relevance or 0.0) <= 1.0 for hit in found)


async def test_a_passage_without_a_vector_is_found_by_words(index: Path, tmp_path: Path) -> None:
    embedder = MemoryEmbedder()
    await fill_vectors(index, (), embedder)
    write(tmp_path / "docs" / "new.md", "# New\n\nZebras and automobiles.")
    Indexer(index).index([tmp_path / "docs"])

    found = await hits(index, "zebras", embedder)

    assert (found[0].title, found[0].relevance) == ("New", None)


async def test_other_roots_stay_out(index: Path, tmp_path: Path) -> None:
    embedder = MemoryEmbedder()
    write(tmp_path / "mine" / "a.md", "# Mine\n\nThe flour is white.")
    Indexer(index).index([tmp_path / "mine"])
    await fill_vectors(index, (), embedder)

    found = await hits(index, "automobile", embedder, tmp_path / "mine")

    assert [hit.title for hit in found] == ["Mine"]
    assert found[0].relevance == 0.0, "it is no nearer than the average of all"


@pytest.mark.parametrize(
    "trouble", ["no vectors", "another model", "another length", "other terms"]
)
async def test_vectors_that_cannot_be_used_leave_words(index: Path, trouble: str) -> None:
    embedder = MemoryEmbedder()
    await fill_vectors(index, (), embedder)
    if trouble == "another model":
        embedder.model = "1" * 32
    elif trouble == "another length":
        embedder.dimensions = 32
    else:
        harm = {
            "no vectors": "DELETE FROM vectors",
            "other terms": "UPDATE meta SET value = 'x' WHERE key = 'fingerprint'",
        }
        with closing(sqlite3.connect(index)) as connection:
            connection.execute(harm[trouble])
            connection.commit()

    for query in ("bread", "insurance flour", "car"):
        assert await hits(index, query, embedder) == await hits(index, query, None)


# ---------------------------------------------------------------- the embedder's troubles


@pytest.mark.parametrize("error", [DOWN, InvalidSetting("The key is wrong: correct it.")])
async def test_an_embedder_that_fails_rests(index: Path, error: ProviderUnavailable) -> None:
    now = 0.0
    embedder = MemoryEmbedder()
    await fill_vectors(index, (), embedder)
    meaning = Meaning(embedder, clock=lambda: now)
    embedder.failing = error
    assert await meaning.vector_of("How?") is None
    embedder.failing = None
    assert await meaning.vector_of("How?") is None
    now = REST_SECONDS
    assert await meaning.vector_of("How?") is not None


async def test_a_question_is_embedded_once(index: Path) -> None:
    embedder = MemoryEmbedder()
    await fill_vectors(index, (), embedder)
    meaning = Meaning(embedder)
    await meaning.vector_of("How?")
    await meaning.vector_of("How?")

    assert embedder.asked == ["How?"]


async def test_nothing_is_asked_where_there_are_no_vectors(index: Path) -> None:
    embedder = MemoryEmbedder()

    await hits(index, "How does the oak grow?", embedder)
    assert embedder.asked == []


# ---------------------------------------------------------------- reading


async def test_the_passages_of_a_page_are_weighed(index: Path, tmp_path: Path) -> None:
    embedder = MemoryEmbedder()
    await fill_vectors(index, (), embedder)
    documents = LocalDocuments(index, (), embedder)
    url = (tmp_path / "docs" / "cars.md").as_uri()
    page = await documents.read(url)

    weights = await documents.weigh("Which automobile to purchase?", url)

    assert documents.weighs(url)
    assert [(each.start, each.end) for each in weights] == [
        (each.start, each.end) for each in split(page.text)
    ]
    assert weights[0].relevance == pytest.approx(1.0)
    assert weights[1].relevance < 0.9
    await documents.aclose()


async def test_nothing_is_weighed_without_vectors(index: Path, tmp_path: Path) -> None:
    url = (tmp_path / "docs" / "cars.md").as_uri()
    plain = LocalDocuments(index)
    bare = LocalDocuments(index, (), MemoryEmbedder())

    assert not plain.weighs(url)
    assert not bare.weighs("https://example.org/")
    assert await bare.weigh("automobile", url) == ()
    await fill_vectors(index, (), MemoryEmbedder())
    assert await bare.weigh("automobile", (tmp_path / "none.md").as_uri()) == ()
    assert await bare.weigh("automobile", url) != ()
    await plain.aclose()
    await bare.aclose()
