"""Drawings: nothing is on top of anything or outside, and hostile text stays text."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.web.html.svg import (
    COLUMNS,
    HEIGHT,
    SCALE,
    THINNEST,
    WIDTH,
    GraphNode,
    draw_graph,
    layout,
    rounded,
    scale,
    waterfall,
)
from adapters.web.templating import environment
from bot.core.messages import StepState
from bot.research.trace import Span

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"

# ---------------------------------------------------------------- the graph of sub-questions

TEXT = st.text(st.characters(codec="utf-8"), max_size=120)


@st.composite
def graphs(draw: st.DrawFn) -> list[GraphNode]:
    """Graphs that a planner can make: up to eight nodes, each needing some of those before it."""
    ids = [f"n{number}" for number in range(draw(st.integers(1, 8)))]
    return [
        GraphNode(id, draw(TEXT), "done", tuple(draw(st.sets(st.sampled_from(ids[:place])))))
        if place
        else GraphNode(id, draw(TEXT), "waiting")
        for place, id in enumerate(ids)
    ]


@settings(max_examples=60)
@given(graphs(), st.integers(1, 4))
def test_nodes_do_not_overlap_and_are_within_the_drawing(
    nodes: list[GraphNode], columns: int
) -> None:
    laid = layout(nodes, columns)
    assert [box.node.id for box in laid.boxes] == [node.id for node in nodes]
    for one, other in combinations(laid.boxes, 2):
        assert abs(one.x - other.x) >= WIDTH or abs(one.y - other.y) >= HEIGHT
    for box in laid.boxes:
        assert 0 <= box.x <= laid.width - WIDTH
        assert 0 <= box.y <= laid.height - HEIGHT
    tops = [box.y for box in laid.boxes]
    assert max(tops.count(top) for top in tops) <= columns


@settings(max_examples=50)
@given(graphs())
def test_every_need_is_an_edge_that_only_goes_down_beside_other_nodes(
    nodes: list[GraphNode],
) -> None:
    laid = layout(nodes)
    assert {(e.above, e.below) for e in laid.edges} == {(n, x.id) for x in nodes for n in x.needs}
    boxes = {box.node.id: box for box in laid.boxes}
    for edge in laid.edges:
        above, below = boxes[edge.above], boxes[edge.below]
        assert edge.points[0] == (above.x + WIDTH / 2, above.y + HEIGHT)
        assert edge.points[-1] == (below.x + WIDTH / 2, below.y)
        for (x, y), (x2, y2) in pairwise(edge.points):
            assert y < y2
            for box in laid.boxes:
                # A curve stays between its ends, and only leaves the free space between two rows
                # where it goes straight down.
                if y < box.y + HEIGHT and box.y < y2:
                    assert max(x, x2) < box.x or min(x, x2) > box.x + WIDTH, (edge, box)


def test_needs_that_do_not_exist_or_lead_in_a_circle_are_drawn_without_an_edge() -> None:
    nodes = [
        GraphNode("a", "A?", "done", ("b", "nowhere", "a")),
        GraphNode("b", "B?", "done", ("a",)),
    ]
    laid = layout(nodes)
    assert len(laid.boxes) == 2
    assert [(edge.above, edge.below) for edge in laid.edges] == [("a", "b")]
    assert layout([]).boxes == ()


def test_edges_cross_only_where_they_have_to() -> None:
    roots = [GraphNode(id, id, "done") for id in "abc"]
    leaves = [GraphNode(id + id, id, "done", (id,)) for id in "cab"]
    assert len(roots) == COLUMNS
    boxes = {box.node.id: box for box in layout([*roots, *leaves]).boxes}
    assert [boxes[id].x for id in "abc"] == [boxes[id + id].x for id in "abc"]


@settings(max_examples=50)
@given(graphs())
def test_the_graph_is_well_formed_whatever_is_asked(nodes: list[GraphNode]) -> None:
    drawn = ElementTree.fromstring(str(draw_graph(nodes, "Sub-questions")))
    assert len(drawn.findall("g")) == len(nodes)


def test_a_hostile_sub_question_stays_text() -> None:
    drawn = str(draw_graph([GraphNode("a", HOSTILE, "failed", href="#a")], HOSTILE))
    assert "<script" not in drawn
    assert "<img" not in drawn
    root = ElementTree.fromstring(drawn)
    assert root.get("aria-label") == HOSTILE
    assert (root.findtext("a/title") or "").startswith(HOSTILE)
    assert root.findtext("a/foreignObject/div/p") == HOSTILE
    assert not [key for element in root.iter() for key in element.attrib if key.startswith("on")]


@pytest.mark.parametrize(
    ("state", "mark"), [("waiting", "○"), ("running", "◐"), ("done", "✓"), ("failed", "✗")]
)
def test_a_state_is_shown_by_a_class_a_mark_and_a_word(state: StepState, mark: str) -> None:
    node = GraphNode("a", "A?", state, said="in words")
    group = ElementTree.fromstring(str(draw_graph([node], ""))).find("g")
    assert group is not None
    assert group.get("class") == f"node {state}"
    assert group.findtext("title") == "A? – in words"
    assert group.findtext("text") == mark


# ---------------------------------------------------------------- the steps of a run

TIMES = st.tuples(st.floats(0, 10_000), st.floats(0, 500), st.floats(0, 100))


def a_span(begin: float | None, seconds: float, waited: float = 0.0) -> Span:
    end = None if begin is None else begin + seconds
    return Span("s", "search", "S", "done", seconds, begin, end, waited)


@given(st.lists(TIMES, max_size=40))
def test_every_bar_is_visible_within_the_drawing_and_in_order(
    times: list[tuple[float, float, float]],
) -> None:
    found = waterfall([a_span(*each) for each in times])
    for bar in found.bars:
        assert bar.x >= 0
        assert bar.x + bar.width <= SCALE + 0.01
        assert bar.width >= THINNEST
        assert 0 <= bar.wait_x <= bar.x
        assert bar.wait_width >= 0
    bars = sorted(found.bars, key=lambda bar: bar.span.begin or 0)
    # A bar that would be too thin at the right edge is moved to the left to be seen.
    assert all(one.x <= other.x + THINNEST for one, other in pairwise(bars))
    assert all(0 <= tick.x <= SCALE for tick in found.ticks)
    assert all(
        one.x <= other.x and one.seconds < other.seconds for one, other in pairwise(found.ticks)
    )


def test_bars_are_as_long_as_their_steps_took_after_their_waiting() -> None:
    bars = waterfall([a_span(0, 5), a_span(5, 5, waited=4), a_span(0, 10)]).bars
    assert [(bar.x, bar.width) for bar in bars] == [(0, 500), (500, 500), (0, 1_000)]
    assert (bars[1].wait_x, bars[1].wait_width) == (100, 400)


def test_the_night_between_a_crash_and_the_next_attempt_is_cut_short() -> None:
    found = waterfall([a_span(0, 10), a_span(30_000, 10)])
    assert [pause.seconds for pause in found.breaks] == [29_990]
    first, second = found.bars
    assert first.width == pytest.approx(second.width)
    assert first.width > 400
    assert all(tick.seconds <= 10 or tick.seconds >= 30_000 for tick in found.ticks)


def test_a_step_without_times_has_no_bar() -> None:
    (bar,) = waterfall([a_span(None, 3.0)]).bars
    assert bar.width == 0
    assert waterfall([]).ticks == ()


@pytest.mark.parametrize(
    ("value", "expected"), [(0.03, 0.05), (1, 1), (1.1, 2), (3, 5), (7, 10), (10, 10), (11, 20)]
)
def test_scales_have_round_steps(value: float, expected: float) -> None:
    assert rounded(value) == pytest.approx(expected)


# ---------------------------------------------------------------- columns for days

PLOT: Any = environment().get_template("overview_plot.html").module
WIDE, HIGH, LEFT, TOP, BOTTOM = 480.0, 170.0, 44.0, 12.0, 26.0
VALUES = st.lists(st.lists(st.integers(0, 500), min_size=4, max_size=4), min_size=1, max_size=90)


@given(VALUES)
def test_parts_are_stacked_in_proportion_within_the_plot(values: list[list[int]]) -> None:
    names = ("answered", "not_found", "failed", "stopped")
    days = [
        (f"{day:02d}-01", list(zip(names, each, names, strict=True)))
        for day, each in enumerate(values, 1)
    ]
    lines = scale(max(map(sum, values)))
    root = ElementTree.fromstring(PLOT.plot("Questions", days, lines))
    highest = lines[-1]
    rects = iter(root.findall("rect"))
    for each in values:
        base = HIGH - BOTTOM
        for value in filter(None, each):
            at = {key: float(found) for key, found in next(rects).items() if key != "class"}
            assert at["x"] >= LEFT
            assert at["x"] + at["width"] <= WIDE + 0.01
            assert at["y"] >= TOP - 0.01
            assert at["y"] + at["height"] == pytest.approx(base, abs=0.02)
            share = value / highest
            assert at["height"] == pytest.approx(share * (HIGH - TOP - BOTTOM), abs=0.02)
            base = at["y"]
    assert next(rects, None) is None
    labels = root.findall("text")
    assert labels[-1].text == f"{len(values):02d}-01"
    places = [float(label.get("x", "")) for label in labels]
    assert all(other - one > 38 for one, other in pairwise(places))


@given(st.integers(0, 100_000))
def test_the_scale_has_few_lines_and_reaches_every_column(highest: int) -> None:
    lines = scale(highest)
    assert lines[0] == 0
    assert lines[-1] >= highest
    assert 2 <= len(lines) <= 7


def test_hostile_labels_stay_text() -> None:
    columns = [(HOSTILE, [("answered", 1, HOSTILE)])]
    drawn = PLOT.plot(HOSTILE, columns, [0, 1], HOSTILE)
    assert "<script" not in drawn
    assert ElementTree.fromstring(drawn).get("aria-label") == HOSTILE
