"""SVG drawings: the graph of sub-questions, the bars of a run's steps, and columns for days.

All input is escaped. Elements have classes instead of style attributes, which the content security
policy forbids; a style sheet defines their appearance.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from bot.core.answers import StepState
from bot.research.trace.timeline import Pause, Span, pauses
from bot.text.control import without_controls


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


def number(value: float) -> str:
    """Format a coordinate for a path."""
    return str(_value(value))


# Fractions of the font size in a common sans serif; actual widths differ by up to a tenth.
NARROW, COMMON, CAPITAL, WIDE = 0.32, 0.54, 0.68, 1.0

LONGEST = 1_000  # characters of a text that are broken into lines; no label has room for more
CLOSING = frozenset("，。？！：；、）」』》〉】’”")  # a line does not begin with these


def width(text: str, size: float = 1.0) -> float:
    """Estimate the width of a line, in the unit of its font size ``size``."""
    return size * sum(_width(char) for char in text)


def lines(text: str, room: float, most: int, size: float = 1.0) -> tuple[str, ...]:
    """Break the text into at most ``most`` lines no wider than ``room``, shortened with "…".

    Lines break between words, and within words that are wider than a line or are Chinese or
    Japanese.
    """
    found: list[str] = []
    line = ""
    for word in _words(" ".join(text.split())):
        if not line or width(line + word.rstrip(), size) <= room:
            line += word
        else:
            found.append(line.rstrip())
            line = word
        while width(line.rstrip(), size) > room:
            fits = _fitting(line, room, size)
            found.append(line[:fits].rstrip())
            line = line[fits:].lstrip()
    if line.strip():
        found.append(line.rstrip())
    if len(found) > most:
        last = found[most - 1]
        while last and width(f"{last}…", size) > room:
            last = last[:-1]
        found = [*found[: most - 1], f"{last.rstrip()}…"]
    return tuple(found)


def _words(text: str) -> list[str]:
    """Split text into pieces between which a line may break; a space stays with the piece before
    it."""
    found: list[str] = []
    piece = ""
    for char in text[:LONGEST]:
        if char in CLOSING and not piece and found:
            found[-1] += char
        elif _is_wide(char):
            found += [piece, char] if piece else [char]
            piece = ""
        else:
            if piece.endswith(" ") and char != " ":
                found.append(piece)
                piece = ""
            piece += char
    return [*found, piece] if piece else found


def _fitting(text: str, room: float, size: float) -> int:
    """Return the number of characters that fit, at least one."""
    total = 0.0
    for count, char in enumerate(text):
        total += _width(char) * size
        if total > room:
            return max(count, 1)
    return len(text)


def _width(char: str) -> float:
    if unicodedata.combining(char):
        return 0.0
    if _is_wide(char):
        return WIDE
    if char in "iljtfI.,:;'|!()[] ":
        return NARROW
    return CAPITAL if char.isupper() or char in "mwMW@%—" else COMMON


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in ("W", "F")


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
    power = 1.0
    while power > value:
        power /= 10
    while power * 10 <= value:
        power *= 10
    return next((power * step for step in (1, 2, 5) if power * step >= value), power * 10)


PLOT_WIDTH, PLOT_HEIGHT = 720.0, 220.0
LEFT, RIGHT, TOP, BOTTOM = 44.0, 8.0, 12.0, 26.0
PLOT_FONT = 12.0
PLOT_LINES = 4  # approximate number of lines of the scale
FILLED = 0.72  # share of a column's room that its bar fills


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a column; ``name`` is its class in the style sheet, ``said`` its description."""

    name: str
    value: float
    said: str


@dataclass(frozen=True, slots=True)
class Column:
    """One day, with its parts from the bottom up."""

    label: str
    parts: tuple[Part, ...]

    @property
    def total(self) -> float:
        return sum(part.value for part in self.parts)


@dataclass(frozen=True, slots=True)
class Block:
    """The position of a part."""

    column: Column
    part: Part
    x: float
    y: float
    width: float
    height: float


def scale(columns: Sequence[Column], whole: bool = True) -> tuple[float, ...]:
    """Return the values of the scale's lines, 0 first; no column is above the last."""
    highest = max((column.total for column in columns), default=0.0)
    step = rounded(highest / PLOT_LINES) if highest > 0 else 1.0
    if whole:
        step = max(step, 1.0)
    found = [0.0]
    while found[-1] < highest or len(found) < 2:
        found.append(round(len(found) * step, 6))
    return tuple(found)


def blocks(columns: Sequence[Column], highest: float) -> tuple[Block, ...]:
    """Return the positions of all parts that are not zero."""
    room = (PLOT_WIDTH - LEFT - RIGHT) / max(1, len(columns))
    height = PLOT_HEIGHT - TOP - BOTTOM
    found: list[Block] = []
    for place, column in enumerate(columns):
        base = PLOT_HEIGHT - BOTTOM
        for part in column.parts:
            high = height * part.value / highest
            if high > 0:
                x = LEFT + room * (place + (1 - FILLED) / 2)
                found.append(Block(column, part, x, base - high, room * FILLED, high))
            base -= high
    return tuple(found)


def draw_plot(
    columns: Sequence[Column], label: str, *, unit: str = "", whole: bool = True
) -> Markup:
    """Draw the plot as an SVG element; ``label`` describes it, ``unit`` precedes values."""
    lines = scale(columns, whole)
    return element(
        "svg",
        *(_line(value, lines[-1], unit) for value in lines),
        *(_rect(block) for block in blocks(columns, lines[-1])),
        *_labels(columns),
        class_="plot",
        view_box=f"0 0 {number(PLOT_WIDTH)} {number(PLOT_HEIGHT)}",
        role="img",
        aria_label=label,
    )


def _line(value: float, highest: float, unit: str) -> Markup:
    y = PLOT_HEIGHT - BOTTOM - (PLOT_HEIGHT - TOP - BOTTOM) * value / highest
    text = f"{unit}{value:g}"
    return element(
        "g",
        element("line", x1=LEFT, x2=PLOT_WIDTH - RIGHT, y1=y, y2=y),
        element("text", words(text), x=LEFT - 6, y=y + PLOT_FONT / 3, text_anchor="end"),
        class_="scale",
    )


def _rect(block: Block) -> Markup:
    told = element("title", words(f"{block.column.label}: {block.part.said}"))
    return element(
        "rect",
        told,
        x=block.x,
        y=block.y,
        width=block.width,
        height=block.height,
        class_=f"part {block.part.name}",
    )


def _labels(columns: Sequence[Column]) -> list[Markup]:
    """Draw as many of the columns' labels as fit, always including the last one."""
    room = (PLOT_WIDTH - LEFT - RIGHT) / max(1, len(columns))
    widest = max((width(column.label, PLOT_FONT) for column in columns), default=0.0)
    every = max(1, -int(-(widest + PLOT_FONT) // room))
    found = []
    for place, column in enumerate(columns):
        if (len(columns) - 1 - place) % every == 0:
            middle = LEFT + room * (place + 0.5)
            half = width(column.label, PLOT_FONT) / 2
            x = min(max(middle, half), PLOT_WIDTH - half)
            found.append(
                element("text", words(column.label), x=x, y=PLOT_HEIGHT - 8, text_anchor="middle")
            )
    return found


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


def draw_graph(nodes: Sequence[GraphNode], label: str) -> Markup:
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
