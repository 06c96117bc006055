"""Draws the graph of sub-questions: each one below those it needs, without overlaps.

Layers as in Sugiyama, Tagawa and Toda, Methods for Visual Understanding of Hierarchical System
Structures, IEEE Transactions on Systems, Man, and Cybernetics 11(2), 1981: nodes are put into rows
(as a list schedule with ``COLUMNS`` machines, so that no row is wider than a page), an edge that
crosses a row gets a place of its own in it, and each row is sorted by the mean position of its
neighbours in an adjacent row. It is made for graphs with few nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from adapters.web.svg.elements import element, number, words
from adapters.web.svg.labels import lines
from bot.core.messages import StepState

COLUMNS = 3  # nodes side by side
WIDTH, HEIGHT = 216.0, 78.0  # of a node
PASSAGE = 16.0  # width of the place of an edge that crosses a row
BESIDE, BETWEEN = 24.0, 40.0  # from node to node, from row to row
MARGIN = 6.0
FONT, LINE, LINES = 13.0, 17.0, 3  # a node's text; the style sheet sets the same size
TEXT_LEFT, TEXT_RIGHT = 34.0, 22.0  # the right margin leaves room for wide fonts
SWEEPS = 4

MARKS: dict[StepState, str] = {"waiting": "○", "running": "◐", "done": "✓", "failed": "✗"}


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A sub-question. ``needs`` are ids of others, ``href`` is its link, ``said`` its state in
    words."""

    id: str
    title: str
    state: StepState
    needs: tuple[str, ...] = ()
    href: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """The position of a node; ``x, y`` is its upper left corner."""

    node: GraphNode
    x: float
    y: float
    width: float = WIDTH
    height: float = HEIGHT


@dataclass(frozen=True, slots=True)
class Edge:
    """The points of a line from a node to one that needs it."""

    above: str
    below: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Layout:
    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    width: float
    height: float


# A place in a row: a node's id, or the edge (above, below) that crosses it.
_Place = str | tuple[str, str]


def layout(nodes: Sequence[GraphNode], columns: int = COLUMNS) -> Layout:
    """Return the positions of all nodes and edges. Needs that are missing, or form a cycle, get no
    edge."""
    row_of = _rows(nodes, columns)
    needs = {
        (need, node.id)
        for node in nodes
        for need in node.needs
        if need in row_of and row_of[need] < row_of[node.id]
    }
    edges = sorted(needs, key=lambda edge: (row_of[edge[0]], row_of[edge[1]], edge))
    rows = _ordered(nodes, row_of, edges)
    widths = [_width_of(row) for row in rows]
    total = max(widths, default=0.0)
    centres: dict[tuple[int, _Place], float] = {}
    for level, row in enumerate(rows):
        x = MARGIN + (total - widths[level]) / 2
        for place in row:
            wide = WIDTH if isinstance(place, str) else PASSAGE
            centres[level, place] = x + wide / 2
            x += wide + BESIDE
    boxes = tuple(
        Box(node, centres[row_of[node.id], node.id] - WIDTH / 2, _top(row_of[node.id]))
        for node in nodes
    )
    return Layout(
        boxes,
        tuple(_edge(above, below, row_of, centres) for above, below in edges),
        total + 2 * MARGIN,
        2 * MARGIN + len(rows) * HEIGHT + max(0, len(rows) - 1) * BETWEEN,
    )


def draw(nodes: Sequence[GraphNode], label: str) -> Markup:
    """Draw the graph as an SVG element; ``label`` describes it to screen readers."""
    laid = layout(nodes)
    return element(
        "svg",
        *(_path(edge) for edge in laid.edges),
        *(_group(box) for box in laid.boxes),
        class_="subquestions",
        view_box=f"0 0 {number(laid.width)} {number(laid.height)}",
        width=laid.width,
        height=laid.height,
        role="group",
        aria_label=label,
    )


# ---------------------------------------------------------------- rows


def _rows(nodes: Sequence[GraphNode], columns: int) -> dict[str, int]:
    """Return the row of each node: the first one with room below its needs."""
    ids = {node.id for node in nodes}
    left = {node.id: [n for n in node.needs if n in ids and n != node.id] for node in nodes}
    row_of: dict[str, int] = {}
    taken: dict[int, int] = {}
    while left:
        free = next((id for id, needs in left.items() if all(n in row_of for n in needs)), None)
        id = free if free is not None else next(iter(left))  # a cycle: begin anywhere
        row = 1 + max((row_of[n] for n in left.pop(id) if n in row_of), default=-1)
        while taken.get(row, 0) >= columns:
            row += 1
        row_of[id] = row
        taken[row] = taken.get(row, 0) + 1
    return row_of


def _ordered(
    nodes: Sequence[GraphNode], row_of: dict[str, int], edges: Sequence[tuple[str, str]]
) -> list[list[_Place]]:
    """Return the places of each row from left to right, in an order with few crossing edges."""
    rows: list[list[_Place]] = [[] for _ in range(1 + max(row_of.values(), default=-1))]
    for node in nodes:
        rows[row_of[node.id]].append(node.id)
    for edge in edges:
        for level in range(row_of[edge[0]] + 1, row_of[edge[1]]):
            rows[level].append(edge)
    links = [
        (level, _at(edge, level, row_of), _at(edge, level + 1, row_of))
        for edge in edges
        for level in range(row_of[edge[0]], row_of[edge[1]])
    ]
    best, least = [list(row) for row in rows], _crossings(rows, links)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for level in range(len(rows)) if down else reversed(range(len(rows))):
            other = level - 1 if down else level + 1
            if 0 <= other < len(rows):
                _sort_by_mean(rows, level, other, links)
        crossings = _crossings(rows, links)
        if crossings < least:
            best, least = [list(row) for row in rows], crossings
    return best


def _at(edge: tuple[str, str], level: int, row_of: dict[str, int]) -> _Place:
    """Return the place where an edge meets a row."""
    above, below = edge
    return above if level == row_of[above] else below if level == row_of[below] else edge


_Link = tuple[int, _Place, _Place]  # from a place in this row to one in the next


def _sort_by_mean(rows: list[list[_Place]], level: int, other: int, links: Sequence[_Link]) -> None:
    where = {place: index for index, place in enumerate(rows[other])}
    means: dict[_Place, float] = {}
    for index, place in enumerate(rows[level]):
        joined = [
            where[above if other < level else below]
            for upper, above, below in links
            if upper == min(level, other) and place == (below if other < level else above)
        ]
        # A place without links stays about where it is.
        means[place] = sum(joined) / len(joined) if joined else float(index)
    rows[level].sort(key=lambda place: means[place])


def _crossings(rows: Sequence[Sequence[_Place]], links: Sequence[_Link]) -> int:
    where = [{place: index for index, place in enumerate(row)} for row in rows]
    found = 0
    for i, (level, above, below) in enumerate(links):
        for other, above2, below2 in links[i + 1 :]:
            if other == level:
                a = where[level][above] - where[level][above2]
                b = where[level + 1][below] - where[level + 1][below2]
                found += a * b < 0
    return found


# ---------------------------------------------------------------- places


def _width_of(row: Sequence[_Place]) -> float:
    wide = sum(WIDTH if isinstance(place, str) else PASSAGE for place in row)
    return wide + BESIDE * max(0, len(row) - 1)


def _top(row: int) -> float:
    return MARGIN + row * (HEIGHT + BETWEEN)


def _edge(
    above: str, below: str, row_of: dict[str, int], centres: dict[tuple[int, _Place], float]
) -> Edge:
    first, last = row_of[above], row_of[below]
    points = [(centres[first, above], _top(first) + HEIGHT)]
    for level in range(first + 1, last):
        x = centres[level, (above, below)]
        points += [(x, _top(level)), (x, _top(level) + HEIGHT)]
    return Edge(above, below, (*points, (centres[last, below], _top(last))))


# ---------------------------------------------------------------- elements


def _path(edge: Edge) -> Markup:
    (x, y), *rest = edge.points
    parts = [f"M{number(x)} {number(y)}"]
    for x2, y2 in rest:
        middle = number((y + y2) / 2)
        parts.append(f"C{number(x)} {middle} {number(x2)} {middle} {number(x2)} {number(y2)}")
        x, y = x2, y2
    return element("path", class_="edge", d="".join(parts))


def _group(box: Box) -> Markup:
    node = box.node
    shown = lines(node.title, box.width - TEXT_LEFT - TEXT_RIGHT, LINES, FONT)
    top = box.y + (box.height - LINE * len(shown)) / 2 + LINE * 0.75
    text = [
        element("text", words(line), x=box.x + TEXT_LEFT, y=top + LINE * row, class_="label")
        for row, line in enumerate(shown)
    ]
    mark = element(
        "text",
        words(MARKS[node.state]),
        x=box.x + TEXT_LEFT / 2,
        y=box.y + box.height / 2 + FONT * 0.4,
        class_="state",
        text_anchor="middle",
    )
    told = element("title", words(f"{node.title} – {node.said or node.state}"))
    rect = element("rect", x=box.x, y=box.y, width=box.width, height=box.height, rx=8)
    inner = (told, rect, mark, *text)
    name = f"node {node.state}"
    if node.href:
        return element("a", *inner, class_=name, href=node.href, data_node=node.id)
    return element("g", *inner, class_=name, data_node=node.id)
