"""SVG drawings: the graph of sub-questions, the bars of a run's steps, and scales.

All input is escaped. Elements have classes instead of style attributes, which the content security
policy forbids; a style sheet defines their appearance.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from bot.core.messages import StepState
from bot.research.trace import Pause, Span, pauses
from bot.text.terms import without_controls

MARKS: dict[StepState, str] = {"waiting": "○", "running": "◐", "done": "✓", "failed": "✗"}


def element(name: str, *children: Markup, **attributes: str | float) -> Markup:
    """Return an element. ``class_`` is the attribute "class", and "_" within a name becomes "-";
    numbers have at most two decimals."""
    written = "".join(
        f' {_attribute(key)}="{_value(value)}"' for key, value in attributes.items() if value != ""
    )
    return Markup(f"<{name}{written}>{''.join(children)}</{name}>")  # noqa: S704 - all is escaped


def words(text: str) -> Markup:
    """Escape text as an element's content."""
    return escape(without_controls(text, " "))


def _attribute(key: str) -> str:
    return "viewBox" if key == "view_box" else key.rstrip("_").replace("_", "-")


def _value(value: str | float) -> Markup:
    if isinstance(value, str):
        return words(value)
    return Markup(f"{value:.2f}".rstrip("0").rstrip(".") or "0")  # noqa: S704 - a number


# ---------------------------------------------------------------- the graph of sub-questions

COLUMNS = 3  # nodes side by side
WIDTH, HEIGHT = 216.0, 78.0  # of a node
PASSAGE = 16.0  # width of the place of an edge that crosses a row
BESIDE, BETWEEN = 24.0, 40.0  # from node to node, from row to row
MARGIN = 6.0
TEXT_LEFT, TEXT_RIGHT = 34.0, 14.0  # margins of a node's text


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
    """Return the positions of all nodes and edges: each node below those it needs. Needs that are
    missing or form a cycle get no edge.

    Layers as in Sugiyama, Tagawa and Toda, Methods for Visual Understanding of Hierarchical System
    Structures, IEEE Transactions on Systems, Man, and Cybernetics 11(2), 1981: an edge that crosses
    a row gets a place of its own in it, and each row is sorted by the mean position of what its
    places need in the row above.
    """
    row_of = _rows(nodes, columns)
    edges = sorted(
        {
            (need, node.id)
            for node in nodes
            for need in node.needs
            if need in row_of and row_of[need] < row_of[node.id]
        },
        key=lambda edge: (row_of[edge[0]], row_of[edge[1]], edge),
    )
    rows = _ordered(nodes, row_of, edges)
    widths = [sum(map(_wide, row)) + BESIDE * max(0, len(row) - 1) for row in rows]
    total = max(widths, default=0.0)
    centres: dict[tuple[int, _Place], float] = {}
    for level, row in enumerate(rows):
        x = MARGIN + (total - widths[level]) / 2
        for place in row:
            centres[level, place] = x + _wide(place) / 2
            x += _wide(place) + BESIDE
    return Layout(
        tuple(
            Box(node, centres[row_of[node.id], node.id] - WIDTH / 2, _top(row_of[node.id]))
            for node in nodes
        ),
        tuple(_edge(above, below, row_of, centres) for above, below in edges),
        total + 2 * MARGIN,
        2 * MARGIN + len(rows) * HEIGHT + max(0, len(rows) - 1) * BETWEEN,
    )


def _rows(nodes: Sequence[GraphNode], columns: int) -> dict[str, int]:
    """Return the row of each node: the first one with room below its needs."""
    ids = {node.id for node in nodes}
    left = {node.id: [n for n in node.needs if n in ids and n != node.id] for node in nodes}
    row_of: dict[str, int] = {}
    taken: Counter[int] = Counter()
    while left:
        free = next((id for id, needs in left.items() if all(n in row_of for n in needs)), None)
        id = free if free is not None else next(iter(left))  # a cycle: begin anywhere
        row = 1 + max((row_of[n] for n in left.pop(id) if n in row_of), default=-1)
        while taken[row] >= columns:
            row += 1
        row_of[id] = row
        taken[row] += 1
    return row_of


def _ordered(
    nodes: Sequence[GraphNode], row_of: dict[str, int], edges: Sequence[tuple[str, str]]
) -> list[list[_Place]]:
    """Return the places of each row from left to right."""
    rows: list[list[_Place]] = [[] for _ in range(1 + max(row_of.values(), default=-1))]
    for node in nodes:
        rows[row_of[node.id]].append(node.id)
    above: dict[tuple[int, _Place], list[_Place]] = {}  # a place → what it needs in the row above
    for edge in edges:
        first, last = row_of[edge[0]], row_of[edge[1]]
        for level in range(first + 1, last):
            rows[level].append(edge)
        for level in range(first + 1, last + 1):
            place: _Place = edge[1] if level == last else edge
            above.setdefault((level, place), []).append(edge[0] if level == first + 1 else edge)
    for level, row in enumerate(rows[1:], start=1):
        where = {place: index for index, place in enumerate(rows[level - 1])}
        means = {}
        for index, place in enumerate(row):
            joined = [where[each] for each in above.get((level, place), ())]
            means[place] = sum(joined) / len(joined) if joined else index
        row.sort(key=means.__getitem__)
    return rows


def _wide(place: _Place) -> float:
    return WIDTH if isinstance(place, str) else PASSAGE


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


def draw_graph(nodes: Sequence[GraphNode], label: str) -> Markup:
    """Draw the graph as an SVG element; ``label`` describes it to screen readers."""
    laid = layout(nodes)
    return element(
        "svg",
        *map(_path, laid.edges),
        *map(_node, laid.boxes),
        class_="subquestions",
        view_box=f"0 0 {_value(laid.width)} {_value(laid.height)}",
        width=laid.width,
        height=laid.height,
        role="group",
        aria_label=label,
    )


def _path(edge: Edge) -> Markup:
    (x, y), *rest = edge.points
    parts = [f"M{_value(x)} {_value(y)}"]
    for x2, y2 in rest:
        middle = _value((y + y2) / 2)
        parts.append(f"C{_value(x)} {middle} {_value(x2)} {middle} {_value(x2)} {_value(y2)}")
        x, y = x2, y2
    return element("path", class_="edge", d="".join(parts))


def _node(box: Box) -> Markup:
    node = box.node
    inner = (
        element("title", words(f"{node.title} – {node.said or node.state}")),
        element("rect", x=box.x, y=box.y, width=WIDTH, height=HEIGHT, rx=8),
        element(
            "text",
            words(MARKS[node.state]),
            x=box.x + TEXT_LEFT / 2,
            y=box.y + HEIGHT / 2 + 5,
            class_="state",
            text_anchor="middle",
        ),
        element(  # the browser breaks its lines, and the style sheet shortens them
            "foreignObject",
            element("div", element("p", words(node.title)), class_="label"),
            x=box.x + TEXT_LEFT,
            y=box.y,
            width=WIDTH - TEXT_LEFT - TEXT_RIGHT,
            height=HEIGHT,
        ),
    )
    name = f"node {node.state}"
    if node.href:
        return element("a", *inner, class_=name, href=node.href, data_node=node.id)
    return element("g", *inner, class_=name, data_node=node.id)


# ---------------------------------------------------------------- the steps of a run

SCALE = 1_000.0  # the width of all bars
THINNEST = 4.0  # the least width of a bar, so that it is visible
BREAK = 24.0  # the width of a shortened pause, if there are few
TICKS = 5
SHORTEST = 1e-6  # seconds of all steps together; less counts as nothing


@dataclass(frozen=True, slots=True)
class Bar:
    """A span with its position; both widths are 0 if its times are unknown."""

    span: Span
    x: float = 0.0
    width: float = 0.0
    wait_x: float = 0.0
    wait_width: float = 0.0


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of the scale at ``x``, ``seconds`` after the question was accepted."""

    x: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Break:
    """A shortened pause, from ``x`` to ``x + width``."""

    x: float
    width: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Waterfall:
    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    breaks: tuple[Break, ...]


def waterfall(spans: Sequence[Span]) -> Waterfall:
    """Return the bars of all spans, in order."""
    scale = _Scale(pauses(spans), max((s.end for s in spans if s.end is not None), default=0.0))
    bars = tuple(_bar(span, scale) for span in spans)
    return Waterfall(bars, scale.ticks(), scale.breaks())


class _Scale:
    """Converts seconds to positions. A long pause has the width of a break."""

    def __init__(self, cut: Sequence[Pause], end: float) -> None:
        self._cut = cut
        self._end = end
        self._shown = end - sum(pause.end - pause.begin for pause in cut)
        self._break = min(BREAK, SCALE / 3 / max(1, len(cut)))
        room = SCALE - self._break * len(cut)
        self._a_second = room / self._shown if self._shown > SHORTEST else 0.0

    def at(self, seconds: float) -> float:
        place = seconds * self._a_second
        for pause in self._cut:
            inside = min(max(seconds - pause.begin, 0.0), pause.end - pause.begin)
            place += inside * (self._break / (pause.end - pause.begin) - self._a_second)
        return min(max(place, 0.0), SCALE)

    def ticks(self) -> tuple[Tick, ...]:
        """Return ticks at round seconds, none within a break."""
        if self._shown <= SHORTEST:
            return ()
        step = rounded(self._shown / TICKS)
        found: list[Tick] = []
        seconds = 0.0
        count = 0
        while seconds <= self._end and len(found) < 2 * TICKS:
            pause = next((p for p in self._cut if p.begin < seconds < p.end), None)
            if pause is None:
                found.append(Tick(self.at(seconds), seconds))
                count += 1
            else:  # continue after the break
                count = int(pause.end / step) + 1
            seconds = count * step
        return tuple(found)

    def breaks(self) -> tuple[Break, ...]:
        return tuple(Break(self.at(p.begin), self._break, p.end - p.begin) for p in self._cut)


def _bar(span: Span, scale: _Scale) -> Bar:
    if span.begin is None or span.end is None:
        return Bar(span)
    x, end = scale.at(span.begin), scale.at(span.end)
    width = max(end - x, THINNEST)
    x = min(x, SCALE - width)
    wait_x = min(scale.at(span.begin - span.waited), x)
    return Bar(span, x, width, wait_x, x - wait_x if span.waited else 0.0)


def rounded(value: float) -> float:
    """Return the smallest of 1, 2 or 5 times a power of ten that is not below ``value``."""
    power = 10.0 ** math.floor(math.log10(value))
    return next((power * step for step in (1, 2, 5) if power * step >= value), power * 10)


LINES = 3  # approximate number of lines of a scale


def scale(highest: float, whole: bool = True) -> list[float]:
    """Return the values of a scale's lines, 0 first; the last is not below ``highest``. ``whole``
    tells that values are whole numbers."""
    step = rounded(highest / LINES) if highest > 0 else 1.0
    step = max(step, 1.0) if whole else step
    found = [0.0]
    while found[-1] < highest or len(found) < 2:
        found.append(round(len(found) * step, 6))
    return found
