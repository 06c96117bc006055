"""Columns of days."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.web.html.svg import (
    BOTTOM,
    LEFT,
    PLOT_HEIGHT,
    PLOT_WIDTH,
    TOP,
    Column,
    Part,
    blocks,
    draw_plot,
    scale,
)

VALUES = st.lists(st.lists(st.integers(0, 500), min_size=4, max_size=4), min_size=1, max_size=90)


def columns(values: list[list[int]]) -> list[Column]:
    names = ("answered", "not_found", "failed", "stopped")
    return [
        Column(
            f"Nov {day}",
            tuple(Part(n, v, f"{v} {n}") for n, v in zip(names, each, strict=False)),
        )
        for day, each in enumerate(values, 1)
    ]


@given(VALUES)
def test_every_part_is_within_the_drawing_and_none_covers_another(values: list[list[int]]) -> None:
    days = columns(values)
    placed = blocks(days, scale(days)[-1])
    for block in placed:
        assert block.x >= LEFT
        assert block.x + block.width <= PLOT_WIDTH
        assert block.y >= TOP - 0.01
        assert block.y + block.height <= PLOT_HEIGHT - BOTTOM + 0.01
    for day in days:
        own = sorted((b for b in placed if b.column is day), key=lambda b: -b.y)
        tops = [PLOT_HEIGHT - BOTTOM, *(block.y for block in own)]
        for block, base in zip(own, tops, strict=False):
            assert block.y + block.height == pytest.approx(base)


@given(VALUES)
def test_the_scale_reaches_above_every_column(values: list[list[int]]) -> None:
    days = columns(values)
    lines = scale(days)
    assert lines[0] == 0
    assert lines[-1] >= max(day.total for day in days)
    assert 2 <= len(lines) <= 7


def test_heights_are_in_proportion() -> None:
    days = columns([[10, 0, 0, 0], [20, 0, 0, 0]])
    small, large = blocks(days, 20)
    assert large.height == pytest.approx(2 * small.height)


@given(VALUES)
def test_the_drawing_is_well_formed(values: list[list[int]]) -> None:
    root = ElementTree.fromstring(str(draw_plot(columns(values), "Questions")))
    assert len(root.findall("rect")) == sum(value > 0 for each in values for value in each)
    assert root.findall("text")[-1].text == f"Nov {len(values)}"


def test_hostile_labels_stay_text() -> None:
    hostile = '"><script>alert(1)</script>'
    drawn = str(
        draw_plot([Column(hostile, (Part("answered", 1, hostile),))], hostile, unit=hostile)
    )
    assert "<script" not in drawn
    assert ElementTree.fromstring(drawn).get("aria-label") == hostile
