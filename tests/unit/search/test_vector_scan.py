"""Finding the nearest vectors, with numpy and without."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from bot.search import vector_scan
from bot.search.embedding.embedder import Vector, unit
from bot.search.vector_file import Unfit, VectorWriter, cosine, new_file
from bot.search.vector_scan import FIRST, Vectors

MODEL = "cd" * 16
DIMENSIONS = 96


@pytest.fixture(params=["numpy", "signs"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "signs":
        monkeypatch.setattr(vector_scan, "_numpy", lambda: None)
    return str(request.param)


def around(centre: Vector, numbers: random.Random, spread: float) -> Vector:
    return unit(x + numbers.gauss(0, spread / math.sqrt(len(centre))) for x in centre)


def topics(count: int, numbers: random.Random) -> list[Vector]:
    """Topics that have much in common, as the vectors of real models do: most of their numbers
    have the same sign."""
    common = unit(numbers.gauss() for _ in range(DIMENSIONS))
    return [around(common, numbers, 0.4) for _ in range(count)]


def a_file(path: Path, vectors: list[Vector]) -> Path:
    writer = VectorWriter(path, new_file(path, MODEL, DIMENSIONS))
    writer.append([(row.to_bytes(16, "big"), vector) for row, vector in enumerate(vectors)])
    writer.close()
    return path


def test_the_nearest_come_first(tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = random.Random(7)
    centres = topics(60, numbers)
    vectors = [around(centres[row % 60], numbers, 0.25) for row in range(6_000)]
    found = Vectors(a_file(tmp_path / "v", vectors), MODEL)
    monkeypatch.setattr(vector_scan, "BY_SIGNS", 300)  # a twentieth
    agreeing = 0
    for centre in centres[:10]:
        question = around(centre, numbers, 0.2)
        exact = sorted(
            range(len(vectors)),
            key=lambda row: -math.fsum(map(float.__mul__, vectors[row], question)),
        )
        nearest = [row for row, _ in next(iter(found.scan(question).nearest()))]
        agreeing += len(set(nearest[:20]) & set(exact[:20]))

    assert agreeing >= 10 * 20 * (0.97 if way == "numpy" else 0.9), agreeing


def test_every_row_comes_once_with_its_cosine(tmp_path: Path, way: str) -> None:
    numbers = random.Random(8)
    vectors = topics(2_400, numbers)
    found = Vectors(a_file(tmp_path / "v", vectors), MODEL)
    question = around(vectors[5], numbers, 0.5)

    lists = list(found.scan(question).nearest())

    assert sorted(row for ranked in lists for row, _ in ranked) == list(range(len(vectors)))
    for ranked in lists:
        cosines = [value for _, value in ranked]
        assert cosines == sorted(cosines, reverse=True)
        assert ranked[0][1] == pytest.approx(found.cosine(question, ranked[0][0]), abs=1e-5)
    assert len(lists[0]) >= FIRST


def test_the_mean_is_that_of_all(tmp_path: Path, way: str) -> None:
    numbers = random.Random(9)
    vectors = topics(3_000, numbers)
    found = Vectors(a_file(tmp_path / "v", vectors), MODEL)

    exact = sum(found.cosine(vectors[0], row) for row in range(3_000)) / 3_000

    assert found.scan(vectors[0]).mean == pytest.approx(exact, abs=0.02)


def test_an_empty_file_has_nothing_near(tmp_path: Path, way: str) -> None:
    scan = Vectors(a_file(tmp_path / "v", []), MODEL).scan(unit([1.0] * DIMENSIONS))

    assert [row for ranked in scan.nearest() for row in ranked] == []
    assert scan.mean == 0.0


def test_a_question_of_another_length_does_not_fit(tmp_path: Path, way: str) -> None:
    found = Vectors(a_file(tmp_path / "v", topics(3, random.Random(1))), MODEL)

    with pytest.raises(Unfit):
        found.scan(unit([1.0, 2.0]))
    with pytest.raises(Unfit):
        found.cosine(unit([1.0, 2.0]), 0)


def test_vectors_of_another_model_do_not_fit(tmp_path: Path) -> None:
    path = a_file(tmp_path / "v", topics(3, random.Random(1)))

    with pytest.raises(Unfit, match="another model"):
        Vectors(path, "00" * 16)


def test_more_rows_and_another_file_are_noticed(tmp_path: Path) -> None:
    path = a_file(tmp_path / "v", topics(3, random.Random(1)))
    found = Vectors(path, MODEL)
    assert found.is_current()
    writer = VectorWriter(path, found.map.header)
    writer.append([(b"k" * 16, unit([1.0] * DIMENSIONS))])
    writer.close()
    assert not found.is_current()

    found = Vectors(path, MODEL)
    new_file(path, MODEL, DIMENSIONS, found.map, [0, 1])
    assert not found.is_current()


def test_both_ways_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = random.Random(4)
    vectors = topics(800, numbers)  # fewer than are looked at by their signs
    path = a_file(tmp_path / "v", vectors)
    question = around(vectors[3], numbers, 0.5)
    with_numpy = next(iter(Vectors(path, MODEL).scan(question).nearest()))
    monkeypatch.setattr(vector_scan, "_numpy", lambda: None)
    without = next(iter(Vectors(path, MODEL).scan(question).nearest()))

    assert [row for row, _ in without[:FIRST]] == [row for row, _ in with_numpy]
    assert [value for _, value in without[:FIRST]] == pytest.approx(
        [value for _, value in with_numpy], abs=1e-5
    )
    assert cosine(question, *Vectors(path, MODEL).map.vector(3)) == pytest.approx(
        dict(with_numpy)[3], abs=1e-5
    )
