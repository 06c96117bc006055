"""Finding the nearest vectors among those of the files that a reader may see."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.reader import EVERYTHING, Reach
from bot.search import vectors
from bot.search.embedder import Vector, unit
from bot.search.index_file import Visible, open_reader, open_writer
from bot.search.vectors import Scan, maker_of, pack
from tests.unit.search.test_indexer import write

pytestmark = pytest.mark.usefixtures("reading_inside")

MODEL = "cd" * 16
DIMENSIONS = 96
FILES, PARTS = 40, 15


def around(centre: Vector, numbers: random.Random, spread: float) -> Vector:
    return unit(x + numbers.gauss(0, spread / math.sqrt(len(centre))) for x in centre)


def exact(one: Vector, other: Vector) -> float:
    return math.fsum(x * y for x, y in zip(one, other, strict=True))


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    for number in range(FILES):
        parts = "\n\n".join(f"## Part {part}\n\nOf {number}, {part}." for part in range(PARTS))
        folder = "hidden" if number % 4 == 3 else "open"
        write(tmp_path / "docs" / folder / f"{number}.md", f"# Page {number}\n\n{parts}\n")
    return tmp_path / "docs"


Given = dict[tuple[int, int], Vector]  # the vectors of passages by file and position


@pytest.fixture
def given_vectors(index: Path) -> Given:
    """Vectors of topics that have much in common, as those of real models do; a file's are in
    several rows of the table."""
    numbers = random.Random(7)
    common = unit(numbers.gauss() for _ in range(DIMENSIONS))
    given: Given = {}
    connection, _ = open_writer(index)
    with closing(connection):
        maker = maker_of(connection, MODEL)
        for file, count in connection.execute("SELECT id, count FROM files").fetchall():
            for first in range(0, count, 6):
                part = [around(common, numbers, 0.6) for _ in range(first, min(first + 6, count))]
                given |= {(file, first + at): vector for at, vector in enumerate(part)}
                connection.execute(
                    "INSERT INTO vectors (file, first, count, maker, steps, keys)"
                    " VALUES (?, ?, ?, ?, ?, x'')",
                    (file, first, len(part), maker, b"".join(map(pack, part))),
                )
    return given


@pytest.fixture
def connection(index: Path, given_vectors: Given) -> Iterator[Connection]:
    with closing(open_reader(index)) as opened:
        yield opened


def scanned(connection: Connection, question: Vector, reach: Reach = EVERYTHING) -> Scan:
    visible = Visible(connection, (), reach)
    return Scan(connection, maker_of(connection, MODEL), question, visible)


def a_question(given: Given) -> Vector:
    return around(next(iter(given.values())), random.Random(8), 0.4)


@pytest.mark.parametrize("chunk", [1, 7, 100, 10_000])
def test_every_passage_comes_once_with_its_cosine_the_nearest_first(
    connection: Connection, given_vectors: Given, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "CHUNK", chunk)
    question = a_question(given_vectors)
    scan = scanned(connection, question)
    near = list(scan.nearest())

    assert sorted((each.file, each.place) for each in near) == sorted(given_vectors)
    cosines = [each.cosine for each in near]
    assert cosines == sorted(cosines, reverse=True)
    for each in near:
        expected = exact(given_vectors[each.file, each.place], question)
        assert each.cosine == pytest.approx(expected, abs=0.01)
        assert scan.cosine(each.file, each.place) == each.cosine
    best = sorted(given_vectors, key=lambda place: -exact(given_vectors[place], question))
    assert len({(each.file, each.place) for each in near[:20]} & set(best[:20])) >= 19


def test_relevance_is_measured_between_the_average_and_the_nearest(
    connection: Connection, given_vectors: Given
) -> None:
    scan = scanned(connection, a_question(given_vectors))
    near = list(scan.nearest())
    best, mean = near[0].cosine, math.fsum(each.cosine for each in near) / len(near)

    assert scan.relevance(best) == 1.0
    assert scan.relevance(mean) == pytest.approx(0.0, abs=1e-5)
    assert scan.relevance((best + mean) / 2) == pytest.approx(0.5, abs=1e-5)
    assert (scan.relevance(best + 0.1), scan.relevance(mean - 0.1)) == (1.0, 0.0)
    file = near[0].file
    assert scan.relevances(file) == {
        each.place: scan.relevance(each.cosine) for each in near if each.file == file
    }


def test_vectors_of_hidden_files_are_not_looked_at(
    connection: Connection, docs: Path, index: Path, given_vectors: Given
) -> None:
    """They say nothing, not even by the average or the nearest, and may be anything."""
    question = a_question(given_vectors)
    reach = Reach((((docs / "hidden").as_uri(), False),))
    before = list(scanned(connection, question, reach).nearest())
    relevances = [scanned(connection, question, reach).relevance(each.cosine) for each in before]
    assert len(before) == FILES * PARTS * 3 // 4 == len({(e.file, e.place) for e in before})
    assert all("/open/" in each.url for each in before)

    writer, _ = open_writer(index)
    with closing(writer):
        writer.execute(
            "UPDATE vectors SET steps = zeroblob(length(steps)) WHERE file IN"
            " (SELECT id FROM files WHERE url LIKE '%/hidden/%')"
        )
    scan = scanned(connection, question, reach)
    assert list(scan.nearest()) == before
    assert [scan.relevance(each.cosine) for each in before] == relevances


def test_a_question_of_another_length_is_near_to_nothing(connection: Connection) -> None:
    scan = scanned(connection, unit([1.0, 2.0]))

    assert list(scan.nearest()) == []
    assert scan.cosine(1, 0) is None
    assert scan.relevances(1) == {}
    assert scan.relevance(0.5) == 0.0


@given(st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=40).filter(lambda v: any(v)))
def test_a_vector_keeps_its_direction(numbers: list[float]) -> None:
    try:
        vector = unit(numbers)
    except ValueError:  # shorter than a float can tell
        return
    steps = [number - 256 if number > 127 else number for number in pack(vector)]

    assert exact(vector, unit(steps)) > 0.999
    assert max(map(abs, steps)) == 127
