"""Finds the tables of a PDF page whose cells are ruled, and puts the page's words into the cells.

The edges of a page's paths (lines, thin rectangles, backgrounds) that cross each other are a grid
(Nurminen, Algorithmic Extraction of Data in Tables in PDF Documents, 2013; pdfplumber does the same
on pdfminer's objects). Where the edge between two of its cells is missing, they are
one. A page without edges costs nothing but a look at the kinds of its objects.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from bot.pages.page_markdown import WIDEST_CELL, table_row

_MOST_OBJECTS = 20_000  # of a page; on one with more, such as a map, no table is looked for
_MOST_SEGMENTS = 20_000
_MOST_CELLS = 5_000
_SNAP = 3.0  # points: edges nearer than that are one
_SHORTEST = 5.0  # points: of an edge
_FEWEST_FILLED = 0.4  # share of the cells of a table that hold words; in a diagram they are few


class Edge(NamedTuple):
    """A ruling: ``at`` is its place across its direction, from ``start`` to ``end`` along it."""

    at: float
    start: float
    end: float


@dataclass(slots=True)
class Word:
    """A word, its middle and the number of its line, whose last word may be divided."""

    text: str
    x: float
    y: float
    line: int
    is_divided: bool


@dataclass(slots=True)
class Grid:
    """A ruled table: the places of its columns and rows, from left to right and from the bottom."""

    xs: list[float]
    ys: list[float]
    across: list[Edge]
    down: list[Edge]
    words: list[Word] = field(default_factory=list)
    table: str = ""

    def holds(self, x: float, y: float) -> bool:
        return self.xs[0] < x < self.xs[-1] and self.ys[0] < y < self.ys[-1]

    def put(self, text: str, x: float, y: float) -> None:
        """Put a field of a form into its cell: before the word to its right, else at the end."""
        place = self._place(x, y)
        for at, word in enumerate(self.words):
            if word.x > x and self._place(word.x, word.y) == place:
                self.words.insert(at, Word(text, x, y, word.line, False))
                return
        self.words.append(Word(text, x, y, -1, False))

    def close(self, join: Callable[[str, str, bool], str]) -> None:
        """Set ``table`` to the Markdown of the grid; it stays "" for a frame or a diagram.

        ``join`` continues a text with its next line, whose first word may be the rest of a divided
        one.
        """
        cells: dict[tuple[int, int], list[Word]] = {}
        owners = self._owners()
        for word in self.words:
            cells.setdefault(owners[self._place(word.x, word.y)], []).append(word)
        texts = {owner: _text(words, join) for owner, words in cells.items()}
        rows = []
        for row in reversed(range(len(self.ys) - 1)):
            shown = []
            for column in range(len(self.xs) - 1):
                owner = owners[row, column]
                # a cell that spans columns is in the first of them, one that spans rows in each
                shown.append(texts.get(owner, "") if owner[1] == column else "")
            rows.append(shown)
        used = [i for i in range(len(self.xs) - 1) if any(row[i] for row in rows)]
        rows = [[row[i] for i in used] for row in rows if any(row)]
        if (
            min(len(rows), len(used)) >= 2
            and len(texts) >= _FEWEST_FILLED * len(set(owners.values()))
            and max(map(len, texts.values())) <= WIDEST_CELL
        ):
            rows.insert(1, ["---"] * len(used))
            self.table = "\n".join(map(table_row, rows))

    def _place(self, x: float, y: float) -> tuple[int, int]:
        """The row and the column of a place in the grid."""
        return bisect_right(self.ys, y) - 1, bisect_right(self.xs, x) - 1

    def _owners(self) -> dict[tuple[int, int], tuple[int, int]]:
        """The cell that each cell, by row and column, is part of: that at the top left of both."""
        owners: dict[tuple[int, int], tuple[int, int]] = {}
        for row in reversed(range(len(self.ys) - 1)):
            middle = (self.ys[row] + self.ys[row + 1]) / 2
            for column in range(len(self.xs) - 1):
                centre = (self.xs[column] + self.xs[column + 1]) / 2
                owner = row, column
                if column and not _crosses(self.down, self.xs[column], middle):
                    owner = owners[row, column - 1]
                elif row < len(self.ys) - 2 and not _crosses(self.across, self.ys[row + 1], centre):
                    owner = owners[row + 1, column]
                owners[row, column] = owner
        return owners


def _crosses(edges: Sequence[Edge], at: float, place: float) -> bool:
    return any(abs(e.at - at) <= _SNAP and e.start - _SNAP <= place <= e.end + _SNAP for e in edges)


def _text(words: Sequence[Word], join: Callable[[str, str, bool], str]) -> str:
    text = words[0].text
    for above, word in pairwise(words):
        if word.line == above.line:
            text += f" {word.text}"
        else:
            text = join(text, word.text, above.is_divided)
    return text


def grids_on(page: Any) -> list[Grid]:
    """The grids of the rulings of a page, without words."""
    across, down = _edges_on(page)
    if len(across) < 2 or len(down) < 3:
        return []
    found = []
    for lines, columns in _connected(_joined(across), _joined(down)):
        xs, ys = _places(columns), _places(lines)
        if len(ys) > 2 and len(xs) > 2 and len(ys) * len(xs) <= _MOST_CELLS:
            found.append(Grid(xs, ys, lines, columns))
    return found


def _edges_on(page: Any) -> tuple[list[Edge], list[Edge]]:
    """The horizontal and the vertical edges of the paths of a page."""
    across: list[Edge] = []
    down: list[Edge] = []
    count = pdfium.FPDFPage_CountObjects(page)
    left = _MOST_SEGMENTS if count <= _MOST_OBJECTS else 0
    x, y, matrix = ctypes.c_float(), ctypes.c_float(), pdfium.FS_MATRIX()
    for number in range(count if left else 0):
        item = pdfium.FPDFPage_GetObject(page, number)
        if pdfium.FPDFPageObj_GetType(item) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        segments = pdfium.FPDFPath_CountSegments(item)
        left -= segments
        if left < 0 or not pdfium.FPDFPageObj_GetMatrix(item, matrix):
            break
        start = last = (0.0, 0.0)
        for at in range(segments):
            segment = pdfium.FPDFPath_GetPathSegment(item, at)
            kind = pdfium.FPDFPathSegment_GetType(segment)
            pdfium.FPDFPathSegment_GetPoint(segment, x, y)
            point = (
                matrix.a * x.value + matrix.c * y.value + matrix.e,
                matrix.b * x.value + matrix.d * y.value + matrix.f,
            )
            if kind == pdfium.FPDF_SEGMENT_MOVETO:
                start = point
            elif kind == pdfium.FPDF_SEGMENT_LINETO:
                _add(last, point, across, down)
            if pdfium.FPDFPathSegment_GetClose(segment):
                _add(point, start, across, down)
            last = point
    return across, down


def _add(
    one: tuple[float, float], other: tuple[float, float], across: list[Edge], down: list[Edge]
) -> None:
    (x, y), (to_x, to_y) = one, other
    if abs(y - to_y) < 1 and abs(x - to_x) >= _SHORTEST:
        across.append(Edge(y, min(x, to_x), max(x, to_x)))
    elif abs(x - to_x) < 1 and abs(y - to_y) >= _SHORTEST:
        down.append(Edge(x, min(y, to_y), max(y, to_y)))


def _joined(edges: list[Edge]) -> list[Edge]:
    """The edges with those that continue each other as one, each at the first one's place."""
    found: list[Edge] = []
    at = float("-inf")
    snapped = []
    for edge in sorted(edges):
        at = edge.at if edge.at - at > _SNAP else at
        snapped.append(Edge(at, edge.start, edge.end))
    for edge in sorted(snapped):
        last = found[-1] if found else None
        if last is not None and last.at == edge.at and edge.start - last.end <= _SNAP:
            found[-1] = Edge(last.at, last.start, max(last.end, edge.end))
        else:
            found.append(edge)
    return found


def _connected(across: list[Edge], down: list[Edge]) -> list[tuple[list[Edge], list[Edge]]]:
    """The groups of edges that cross each other."""
    groups: list[tuple[list[Edge], list[Edge]]] = []
    for edge in across:
        met = [group for group in groups if any(_meets(edge, other) for other in group[1])]
        columns = [other for other in down if _meets(edge, other)]
        rest = [group for group in groups if not any(group is each for each in met)]
        lines = [edge, *(line for group in met for line in group[0])]
        known = [other for group in met for other in group[1]]
        groups = [*rest, (lines, list(dict.fromkeys([*known, *columns])))]
    return groups


def _meets(line: Edge, column: Edge) -> bool:
    return (
        line.start - _SNAP <= column.at <= line.end + _SNAP
        and column.start - _SNAP <= line.at <= column.end + _SNAP
    )


def _places(edges: list[Edge]) -> list[float]:
    found = sorted({edge.at for edge in edges})
    return found[:1] + [b for a, b in pairwise(found) if b - a > _SNAP]
