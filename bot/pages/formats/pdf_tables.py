"""Finds the tables of a PDF page, and puts the page's words into their cells.

The edges of a page's paths (lines, thin rectangles, backgrounds) that cross each other are a grid
(Nurminen, Algorithmic Extraction of Data in Tables in PDF Documents, 2013; pdfplumber does the same
on pdfminer's objects). Where the edge between two of its cells is missing, they are
one. A page without edges costs nothing but a look at the kinds of its objects.

Where columns are not ruled, they are what gaps that go down through all lines leave (camelot's
"stream" does the same). Its rows are what is between horizontal edges, as rules and striped
backgrounds have them, and what the document writes from left to right before it goes back to an
earlier column: programs write cell by cell. What remains uncertain is no table.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice, pairwise
from statistics import median
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]
from pypdfium2 import PdfMatrix

from bot.pages.formats.pdf_typesetting import continued
from bot.pages.formats.pdf_words import Span
from bot.pages.page_markdown import WIDEST_CELL, table_row

_MOST_OBJECTS = 20_000  # of a page; on one with more, such as a map, no table is looked for
_MOST_SEGMENTS = 20_000
_DEEPEST = 8  # forms (pages of their own) within each other
_UNMOVED = PdfMatrix()
_MOST_CELLS = 5_000
_SNAP = 3.0  # points: edges nearer than that are one
_SHORTEST = 5.0  # points: of an edge
_COLUMN_GAP = 0.7  # line heights
_TABLE_GAP = 3.0  # line heights, at most, between two lines of a table
_ROW_GAP = 1.25  # times the distance of lines in a cell; lines further apart are of two rows
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

    def close(self) -> None:
        """Set ``table`` to the Markdown of the grid; it stays "" for a frame or a diagram."""
        cells: dict[tuple[int, int], list[Word]] = {}
        owners = self._owners()
        for word in self.words:
            cells.setdefault(owners[self._place(word.x, word.y)], []).append(word)
        texts = {owner: _text(words) for owner, words in cells.items()}
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


def _text(words: Sequence[Word]) -> str:
    text = words[0].text
    for above, word in pairwise(words):
        if word.line == above.line:
            text += f" {word.text}"
        else:
            text = continued(text, word.text, hyphen=above.is_divided, known=Counter())
    return text


def grids_of(across: list[Edge], down: list[Edge]) -> list[Grid]:
    """The grids of ruled cells, without words."""
    if len(across) < 2 or len(down) < 3:
        return []
    found = []
    for lines, columns in _connected(_joined(across), _joined(down)):
        xs, ys = _places(columns), _places(lines)
        if len(ys) > 2 and len(xs) > 2 and len(ys) * len(xs) <= _MOST_CELLS:
            found.append(Grid(xs, ys, lines, columns))
    return found


def grids_by_gaps(across: list[Edge], spans: Sequence[Span]) -> list[Grid]:
    """The grids of the tables without ruled columns, without words; ``spans`` are in the order of
    the document."""
    least = _COLUMN_GAP * median([span.top - span.bottom for span in spans] or [0.0])
    lines = _lines_of(spans)
    gaps = [_gaps(line, least) for line in lines]
    joined = _joined(across)
    free = [True] * len(lines)
    found = []
    for seed in sorted(range(len(lines)), key=lambda at: -len(gaps[at])):
        if not gaps[seed]:
            break
        if not free[seed]:
            continue
        first, last = _reach(lines, free, seed, gaps[seed], least)
        free[first : last + 1] = [False] * (last + 1 - first)
        words = sorted(
            (span for line in lines[first : last + 1] for span in line), key=lambda span: span.first
        )
        if grid := _grid_by_gaps(joined, words, least):
            found.append(grid)
    return found


def _lines_of(spans: Sequence[Span]) -> list[list[Span]]:
    """The words of each height, from the top of the page."""
    lines: list[list[Span]] = []
    upper = 0.0
    for span in sorted(spans, key=lambda span: -span.bottom - span.top):
        middle = (span.bottom + span.top) / 2
        if lines and upper - middle < 0.3 * (span.top - span.bottom):
            lines[-1].append(span)
        else:
            upper = middle
            lines.append([span])
    return lines


def _gaps(spans: Sequence[Span], least: float) -> list[tuple[float, float]]:
    """The gaps, from left to right, that no word of a line or table reaches into."""
    ordered = sorted((span.left, span.right) for span in spans)
    ends = accumulate((right for _, right in ordered), max)
    return [
        (end, left)
        for end, (left, _) in zip(ends, ordered[1:], strict=False)
        if left - end >= least
    ]


def _reach(
    lines: Sequence[Sequence[Span]],
    free: Sequence[bool],
    seed: int,
    gaps: list[tuple[float, float]],
    least: float,
) -> tuple[int, int]:
    """The first and the last of the lines around one that leave its gaps free."""
    ends = [seed, seed]
    for side, step in ((0, -1), (1, 1)):
        while 0 <= ends[side] + step < len(lines) and free[ends[side] + step]:
            last, line = lines[ends[side]][0], lines[ends[side] + step]
            height = line[0].top - line[0].bottom
            left = [_left_free(gap, line) for gap in gaps]
            if abs(last.middle[1] - line[0].middle[1]) > _TABLE_GAP * height or any(
                end - start < least for start, end in left
            ):
                break
            gaps = left
            ends[side] += step
    return ends[0], ends[1]


def _left_free(gap: tuple[float, float], line: Sequence[Span]) -> tuple[float, float]:
    """The widest part of a gap that no word of a line is in."""
    start, end = gap
    words = sorted(
        (span.left, min(span.right, end)) for span in line if span.right > start and span.left < end
    )
    ends = accumulate((right for _, right in words), max, initial=start)
    lefts = [*(left for left, _ in words), end]
    return max(zip(ends, lefts, strict=True), key=lambda part: part[1] - part[0])


def _grid_by_gaps(across: Sequence[Edge], words: Sequence[Span], least: float) -> Grid | None:
    """The grid of words with gaps through all of them, if their rows are certain."""
    gaps = [(start + end) / 2 for start, end in _gaps(words, least)]
    left, right = min(span.left for span in words), max(span.right for span in words)
    xs = [left - 1, *gaps, right + 1]
    if not gaps or len(words) > _MOST_CELLS:
        return None
    top, bottom = max(span.top for span in words), min(span.bottom for span in words)
    borders = [
        edge.at
        for edge in across
        if bottom - 2 * least < edge.at < top + 2 * least
        and edge.start < left + _SNAP and edge.end > gaps[-1]
    ]  # fmt: skip
    borders = _places([Edge(at, 0, 0) for at in borders])
    column = {span: bisect_right(gaps, span.middle[0]) for span in words}
    # the document goes from the end of a cell up to the next one, and so writes cell by cell
    by_cell = any(
        column[a] < column[b] and b.middle[1] - a.middle[1] > (a.top - a.bottom) / 2
        for a, b in pairwise(words)
    )
    if len(gaps) < 2 and not (borders or by_cell):
        return None
    bands: dict[int, list[Span]] = {}
    for span in words:
        bands.setdefault(bisect_right(borders, span.middle[1]), []).append(span)
    pitch = _pitch(words, column)
    rows: list[list[Span]] = []
    for band in sorted(bands, reverse=True):
        parts = _written_rows(bands[band], column, pitch)
        is_full = all(len({column[span] for span in part}) == len(gaps) + 1 for part in parts)
        if borders and band == len(borders):
            parts = parts[-1:]
        elif borders and band == 0:
            parts = parts[:1]
        elif borders and not (by_cell or is_full):
            if len(borders) < 3:
                return None
            parts = [bands[band]]
        rows += parts
    while rows and len({column[span] for span in rows[0]}) < 2:
        rows.pop(0)
    while rows and len({column[span] for span in rows[-1]}) < 2:
        rows.pop()
    is_certain = by_cell or len(borders) > 0 or _only_last_wraps(rows, column, len(gaps))
    if len(rows) < (2 if borders else 3) or not is_certain:
        return None
    ys = [min(span.bottom for span in rows[-1]) - 1]
    for above, below in reversed(list(pairwise(rows))):
        low = min(span.middle[1] for span in above)
        high = max(span.middle[1] for span in below)
        if high >= low:
            return None
        ys.append((low + high) / 2)
    ys.append(max(span.top for span in rows[0]) + 1)
    return Grid(xs, ys, [Edge(y, xs[0], xs[-1]) for y in ys], [Edge(x, ys[0], ys[-1]) for x in xs])


def _only_last_wraps(rows: Sequence[Sequence[Span]], column: dict[Span, int], last: int) -> bool:
    """Whether all rows are full and some have more lines: those of their last cells."""
    return all(len({column[span] for span in row}) == last + 1 for row in rows) and any(
        row[0].middle[1] > row[-1].top for row in rows
    )


def _pitch(words: Sequence[Span], column: dict[Span, int]) -> float:
    """The distance of lines in a cell, or about that if no cell has two lines."""
    found = [
        a.middle[1] - b.middle[1]
        for a, b in pairwise(words)
        if column[a] == column[b] and a.middle[1] - b.middle[1] > (a.top - a.bottom) / 2
    ]
    return min([*found, 1.5 * (words[0].top - words[0].bottom)])


def _written_rows(words: Sequence[Span], column: dict[Span, int], pitch: float) -> list[list[Span]]:
    """The words that the document writes before it goes back to an earlier column."""
    rows = [[words[0]]]
    lowest = words[0].middle[1]
    for before, span in pairwise(words):
        if column[span] < column[before] or lowest - span.middle[1] > _ROW_GAP * pitch:
            rows.append([])
            lowest = span.middle[1]
        rows[-1].append(span)
        lowest = min(lowest, span.middle[1])
    return rows


def edges_on(page: Any) -> tuple[list[Edge], list[Edge]]:
    """The horizontal and the vertical edges of the paths of a page."""
    across: list[Edge] = []
    down: list[Edge] = []
    count = pdfium.FPDFPage_CountObjects(page)
    left = _MOST_SEGMENTS if count <= _MOST_OBJECTS else 0
    x, y = ctypes.c_float(), ctypes.c_float()
    items = [pdfium.FPDFPage_GetObject(page, number) for number in range(count if left else 0)]
    for item, is_path, matrix in islice(_objects(items), _MOST_OBJECTS):
        if not is_path:
            continue
        segments = pdfium.FPDFPath_CountSegments(item)
        left -= segments
        if left < 0:
            break
        start = last = (0.0, 0.0)
        for at in range(segments):
            segment = pdfium.FPDFPath_GetPathSegment(item, at)
            kind = pdfium.FPDFPathSegment_GetType(segment)
            pdfium.FPDFPathSegment_GetPoint(segment, x, y)
            point = matrix.on_point(x.value, y.value)
            if kind == pdfium.FPDF_SEGMENT_MOVETO:
                start = point
            elif kind == pdfium.FPDF_SEGMENT_LINETO:
                _add(last, point, across, down)
            if pdfium.FPDFPathSegment_GetClose(segment):
                _add(point, start, across, down)
            last = point
    return across, down


def _objects(
    items: Sequence[Any], outer: PdfMatrix = _UNMOVED, depth: int = 0
) -> Iterator[tuple[Any, bool, PdfMatrix]]:
    """The objects of a page and of the forms on it, whether each is a path, and its matrix. A form
    with text of its own beside other text is a figure and left out."""
    for item in items:
        kind, raw, matrix = pdfium.FPDFPageObj_GetType(item), pdfium.FS_MATRIX(), outer
        is_form = kind == pdfium.FPDF_PAGEOBJ_FORM and depth < _DEEPEST
        if is_form or kind == pdfium.FPDF_PAGEOBJ_PATH:
            pdfium.FPDFPageObj_GetMatrix(item, raw)
            matrix = PdfMatrix.from_raw(raw).multiply(outer)
        yield item, kind == pdfium.FPDF_PAGEOBJ_PATH, matrix
        if is_form:
            count = min(pdfium.FPDFFormObj_CountObjects(item), _MOST_OBJECTS)
            inside = [pdfium.FPDFFormObj_GetObject(item, number) for number in range(count)]
            if not (_has_text(items) and _has_text(inside)):
                yield from _objects(inside, matrix, depth + 1)


def _has_text(items: Sequence[Any]) -> bool:
    return any(pdfium.FPDFPageObj_GetType(item) == pdfium.FPDF_PAGEOBJ_TEXT for item in items)


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
