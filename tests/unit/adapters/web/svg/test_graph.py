"""The graph of sub-questions, drawn: nothing on top of anything, everything below what it needs."""

from __future__ import annotations

from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.web.html.svg import COLUMNS, Box, GraphNode, draw_graph, layout

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


def overlap(one: Box, other: Box) -> bool:
    beside = one.x + one.width <= other.x or other.x + other.width <= one.x
    above = one.y + one.height <= other.y or other.y + other.height <= one.y
    return not (beside or above)


@settings(max_examples=60)
@given(graphs(), st.integers(1, 4))
def test_no_two_nodes_overlap_and_all_are_within_the_drawing(
    nodes: list[GraphNode], columns: int
) -> None:
    laid = layout(nodes, columns)
    assert [box.node.id for box in laid.boxes] == [node.id for node in nodes]
    assert not any(overlap(one, other) for one, other in combinations(laid.boxes, 2))
    for box in laid.boxes:
        assert 0 <= box.x <= laid.width - box.width
        assert 0 <= box.y <= laid.height - box.height


@settings(max_examples=50)
@given(graphs())
def test_every_need_is_an_edge_that_only_goes_down(nodes: list[GraphNode]) -> None:
    laid = layout(nodes)
    assert {(e.above, e.below) for e in laid.edges} == {(n, x.id) for x in nodes for n in x.needs}
    boxes = {box.node.id: box for box in laid.boxes}
    for edge in laid.edges:
        assert all(upper[1] < lower[1] for upper, lower in pairwise(edge.points))
        above, below = boxes[edge.above], boxes[edge.below]
        assert edge.points[0] == (above.x + above.width / 2, above.y + above.height)
        assert edge.points[-1] == (below.x + below.width / 2, below.y)


@settings(max_examples=50)
@given(graphs())
def test_no_edge_runs_through_a_node(nodes: list[GraphNode]) -> None:
    laid = layout(nodes)
    for edge in laid.edges:
        for (x, y), (x2, y2) in pairwise(edge.points):
            for box in laid.boxes:
                # A curve stays between its ends, and only leaves the free space between two rows
                # where it goes straight down.
                beside = max(x, x2) < box.x or min(x, x2) > box.x + box.width
                if y < box.y + box.height and box.y < y2:
                    assert beside, (edge, box)


@settings(max_examples=50)
@given(graphs())
def test_no_row_has_more_nodes_than_there_are_columns(nodes: list[GraphNode]) -> None:
    tops = [box.y for box in layout(nodes).boxes]
    assert max(tops.count(top) for top in tops) <= COLUMNS


def test_needs_that_do_not_exist_or_lead_in_a_circle_are_drawn_without_an_edge() -> None:
    nodes = [
        GraphNode("a", "A?", "done", ("b", "nowhere", "a")),
        GraphNode("b", "B?", "done", ("a",)),
    ]
    laid = layout(nodes)
    assert len(laid.boxes) == 2
    assert [(edge.above, edge.below) for edge in laid.edges] == [("a", "b")]


def test_edges_cross_only_where_they_have_to() -> None:
    roots = [GraphNode(id, id, "done") for id in "abc"]
    leaves = [GraphNode(id + id, id, "done", (id,)) for id in "cab"]
    boxes = {box.node.id: box for box in layout([*roots, *leaves]).boxes}
    assert [boxes[id].x for id in "abc"] == [boxes[id + id].x for id in "abc"]


@settings(max_examples=50)
@given(graphs())
def test_the_drawing_is_well_formed_whatever_is_asked(nodes: list[GraphNode]) -> None:
    drawn = ElementTree.fromstring(str(draw_graph(nodes, "Sub-questions")))
    assert len(drawn.findall("g")) == len(nodes)


def test_what_a_hostile_model_calls_its_questions_stays_text() -> None:
    hostile = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    drawn = str(draw_graph([GraphNode("a", hostile, "failed", href="#a")], hostile))
    assert "<script" not in drawn
    assert "<img" not in drawn
    root = ElementTree.fromstring(drawn)
    assert root.get("aria-label") == hostile
    assert (root.findtext("a/title") or "").startswith(hostile)
    assert not [key for element in root.iter() for key in element.attrib if key.startswith("on")]


@pytest.mark.parametrize("state", ["waiting", "running", "done", "failed"])
def test_a_state_is_told_by_a_class_a_mark_and_a_word(state: str) -> None:
    node = GraphNode("a", "A?", state, said="said so")  # type: ignore[arg-type]
    root = ElementTree.fromstring(str(draw_graph([node], "")))
    group = root.find("g")
    assert group is not None
    assert group.get("class") == f"node {state}"
    assert group.findtext("title") == "A? – said so"
    assert (group.findtext("text") or "?") in "○◐✓✗"


def test_nothing_is_drawn_of_nothing() -> None:
    assert layout([]).boxes == ()
