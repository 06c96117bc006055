"""Vectors as bytes: how little is lost."""

from __future__ import annotations

import array
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.search.embedding.embedder import Vector, unit
from bot.search.vector_file import cosine, quantize

numbers = st.floats(-1e6, 1e6, width=32)


def vectors(size: int) -> st.SearchStrategy[Vector]:
    """Vectors of length 1."""
    return (
        st.lists(numbers, min_size=size, max_size=size)
        .filter(lambda values: any(abs(value) > 1e-6 for value in values))
        .map(unit)
    )


pairs = st.integers(1, 200).flatmap(lambda size: st.tuples(vectors(size), vectors(size)))


@given(pairs)
def test_a_cosine_is_off_by_little(pair: tuple[Vector, Vector]) -> None:
    one, other = pair
    scale, steps = quantize(other)

    exact = math.fsum(x * y for x, y in zip(one, other, strict=True))

    # A step is 1/127 of the greatest number, and rounding is off by half a step at most.
    bound = math.sqrt(len(one)) * max(map(abs, other)) / 127
    assert cosine(one, scale, array.array("b", steps)) == pytest.approx(exact, abs=bound + 1e-5)


@given(st.integers(300, 400).flatmap(vectors))
def test_a_vector_is_nearly_its_own_copy(vector: Vector) -> None:
    scale, steps = quantize(vector)

    assert cosine(vector, scale, array.array("b", steps)) > 0.99


@given(st.integers(1, 100).flatmap(vectors))
def test_the_copy_has_length_1(vector: Vector) -> None:
    scale, steps = quantize(vector)

    assert len(steps) == len(vector)
    assert scale**2 * sum(step**2 for step in array.array("b", steps)) == pytest.approx(1.0)


@pytest.mark.parametrize("wrong", [[], [0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0]])
def test_what_has_no_direction_is_refused(wrong: list[float]) -> None:
    with pytest.raises(ValueError, match="without a direction"):
        unit(wrong)
    with pytest.raises(ValueError, match="without a direction"):
        quantize(array.array("f", wrong))
