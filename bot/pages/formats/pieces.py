"""Writes the paragraphs, tables and sheets of office documents as page text.

People lay out tables on a sheet with titles above and empty rows between. Rows are processed one at
a time, because there may be a million of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from bot.pages.formats.packages import whole
from bot.pages.page_markdown import (
    CHECKED,
    UNCHECKED,
    WIDEST_CELL,
    Blocks,
    labelled,
    one_line,
    without_marks,
)
from bot.pages.plain import is_prose

Kind = Literal["paragraph", "heading", "item", "code", "table"]

_SIMPLE_NUMBER = re.compile(r"\d{1,3}[.)]")
MOST_SPANNED = 100  # columns or rows that one cell may span
ROWS_AT_ONCE = 200
"""The most rows of a table kept in memory; the first of them determine its form."""


FIXED_WIDTH = re.compile(
    r"courier|consolas|menlo|monaco|lucida console|typewriter|\bmono\b|mono$|code|fixed",
    re.IGNORECASE,
)
"""Names of fonts used for code."""
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_LARGEST_ROMAN = 3_999
_LETTERS = 26
_MOST_REPEATED = 20  # letters of a number such as "aaa", which grows by one every 26 numbers


@dataclass(slots=True)
class Piece:
    """A paragraph, heading, list item, line of code or table.

    ``level`` is that of a heading, from 1, or of an item, from 0. ``marker`` precedes an item: "-",
    or a number such as "3.".
    """

    kind: Kind
    text: str = ""
    level: int = 0
    marker: str = ""
    rows: list[list[Cell]] = field(default_factory=list)

    def words(self) -> str:
        """The words of the piece, as part of a line."""
        if self.kind == "table":
            return " ".join(cell.words() for row in self.rows for cell in row if not cell.goes_on)
        if self.kind == "item" and self.marker != "-":
            return f"{self.marker} {self.text}"
        return self.text


_WINGDINGS = dict.fromkeys((0x6F, 0x71, 0x72, 0xA8), UNCHECKED) | {0xFB: "✗", 0xFC: "✓"}
_SIGNS = {
    "wingdings": _WINGDINGS | dict.fromkeys((0x78, 0xFD, 0xFE), CHECKED),
    "wingdings 2": dict.fromkeys((0x2A, 0x30, 0x35, 0xA3), UNCHECKED)
    | dict.fromkeys((0x51, 0x52, 0x53, 0x54), CHECKED)
    | {0x4F: "✗", 0x50: "✓"},
    "webdings": {0x61: "✓", 0x63: UNCHECKED},
}


def signs(text: str, font: str) -> str:
    """Text with the signs that it stands for if its font has signs in place of letters."""
    known = _SIGNS.get(font.casefold())
    if known is None:
        return text
    is_letter = (ord(each) < 0x100 or 0xF000 <= ord(each) < 0xF100 for each in text)
    return "".join(
        known.get(ord(each) & 0xFF, "" if each.strip() else each) if in_font else each
        for each, in_font in zip(text, is_letter, strict=True)
    )


def chart(root: Any) -> Iterator[Piece]:
    """A chart's title, and its values as a table; ``root`` is the root element of its part."""
    title = one_line(" ".join(t.text or "" for t in root.iterfind("{*}chart/{*}title//{*}t")))
    rows: dict[int, list[str]] = {-1: [""]}
    for number, series in enumerate(root.iterfind("{*}chart/{*}plotArea/*/{*}ser"), 1):
        rows[-1].append(" ".join(_points(series, "tx").values()))
        names = _points(series, "cat") or _points(series, "xVal")
        for place, value in (_points(series, "val") or _points(series, "yVal")).items():
            row = rows.setdefault(place, [names.get(place, "")])
            row += [""] * (number - len(row)) + [value]
        if number >= MOST_SPANNED:
            break
    if title:
        yield Piece("paragraph", title)
    if len(rows) > 1:
        table = [rows[place] for place in sorted(rows)]
        cells = [[Cell([Piece("paragraph", words)]) for words in row] for row in table]
        yield Piece("table", rows=cells)


def _points(series: Any, kind: str) -> dict[int, str]:
    """The texts or numbers of a series, by position."""
    found = {}
    for number, point in enumerate(series.iterfind(f"{{*}}{kind}//{{*}}pt")):
        words = point.findtext("{*}v") or ""
        with suppress(ValueError):
            words = f"{float(words):.12g}" if kind in ("val", "yVal", "xVal") else words
        found[whole(point.get("idx"), number)] = one_line(words)
    return found


def labelled_item(text: str, depth: int, label: str) -> Piece:
    """A list item; a label that Markdown lacks, such as "a)", becomes part of the text."""
    if _SIMPLE_NUMBER.fullmatch(label):
        return Piece("item", text, depth, label)
    return Piece("item", f"{label} {text}" if label else text, depth, "-")


def formatted(count: int, form: str) -> str:
    """Write a number in one of Word's forms; unknown forms are written in digits."""
    if form in ("lowerRoman", "upperRoman") and 0 < count <= _LARGEST_ROMAN:
        roman, rest = "", count
        for value, letters in _ROMAN:
            roman += letters * (rest // value)
            rest %= value
        return roman if form == "lowerRoman" else roman.upper()
    if form in ("lowerLetter", "upperLetter") and 0 < count <= _LETTERS * _MOST_REPEATED:
        times, letter = divmod(count - 1, _LETTERS)
        letters = chr(ord("a") + letter) * (times + 1)
        return letters if form == "lowerLetter" else letters.upper()
    if form == "decimalZero":
        return f"{count:02d}"
    return str(count)


@dataclass(slots=True)
class Cell:
    """A cell of a table: its content, the number of columns it spans, and whether it continues the
    row above.
    """

    pieces: list[Piece]
    span: int = 1
    goes_on: bool = False

    def words(self) -> str:
        return one_line(" ".join(piece.words() for piece in self.pieces))


class PieceWriter:
    """Writes pieces as blocks; consecutive lines of code become one block.

    Table rows and notes are buffered: rows until there are enough to determine the table's form,
    notes until the paragraph or table that refers to them has ended.
    """

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._code: list[str] = []
        self._table: _Table | None = None
        self._rows: list[list[Cell]] = []
        self.notes: list[tuple[int, Iterable[Piece]]] = []
        self._marks = 0

    def put(self, piece: Piece) -> None:
        if piece.kind == "code":
            self._code.append(piece.text)
            return
        self.flush()
        match piece.kind:
            case "heading":
                self._blocks.heading(piece.level, piece.text)
            case "item":
                self._blocks.item(piece.level, piece.marker, piece.text)
            case "paragraph":
                self._blocks.paragraph(piece.text)
            case "table":
                outer, self._rows = self._rows, piece.rows
                self._write_rows()
                self._table, self._rows = None, outer

    def put_all(self, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            self.put(piece)

    def mark(self, note: Iterable[Piece]) -> str:
        """Store a note and return its mark, in Markdown's form for footnotes."""
        self._marks += 1
        self.notes.append((self._marks, note))
        return f"[^{self._marks}]"

    def end_notes(self) -> None:
        """Write the buffered notes below the text that refers to them."""
        notes, self.notes = self.notes, []
        for number, pieces in notes:
            self.flush()
            words = one_line(" ".join(piece.words() for piece in pieces))
            self._blocks.paragraph(f"[^{number}]: {words}")

    def flush(self) -> None:
        lines, self._code = self._code, []
        text = without_marks("\n".join(lines))
        if is_prose(text):  # a typewritten letter
            for line in lines:
                self._blocks.paragraph(without_marks(line))
        else:
            self._blocks.code(text)

    def row(self, row: list[Cell]) -> None:
        """Add the next row to the table, which is open until ``end_table``."""
        self._rows.append(row)
        if len(self._rows) >= ROWS_AT_ONCE:
            self._write_rows()

    def end_table(self) -> None:
        self._write_rows()
        self._table = None
        self.end_notes()

    def _write_rows(self) -> None:
        rows, self._rows = self._rows, []
        if not rows:
            return
        self.flush()
        if self._table is None:
            self._table = _Table(_is_layout(rows))
        if self._table.is_layout:
            for row in rows:
                for cell in row:
                    if not cell.goes_on:
                        outer, self._table = self._table, None
                        self.put_all(cell.pieces)
                        self._table = outer
            return
        grid = _grid(rows if self._table.last else _with_one_header(rows), self._table.last)
        self._table.last = grid[-1] if grid else []
        filled = [[one_line(cell) for cell in row] for row in grid if any(map(str.strip, row))]
        columns = self._table.columns
        if columns is None:
            width = max((len(row) for row in filled), default=0)
            columns = [i for i in range(width) if any(len(r) > i and r[i] for r in filled)]
        for line in filled:
            shown = [line[i] if i < len(line) else "" for i in columns]
            self._blocks.row(shown, first=self._table.columns is None)
            self._table.columns = columns


_NO_WORDS = re.compile(r"(?:[\W\d_]|\b(?:page|of|seite|von)\b)*", re.IGNORECASE)


def write_running(blocks: Blocks, pieces: Iterable[Piece]) -> None:
    """Add what page headers and footers say, once, at the end; page numbers are left out."""
    said = dict.fromkeys(one_line(piece.words()) for piece in pieces)
    lines = [line for line in said if not _NO_WORDS.fullmatch(line)]
    if lines:
        blocks.heading(2, "Headers and footers")
    for line in lines:
        blocks.paragraph(line)


@dataclass(slots=True)
class _Table:
    """An open table: the words of its last row, and the columns that are not empty."""

    is_layout: bool
    last: list[str] = field(default_factory=list)
    columns: list[int] | None = None


def _is_layout(rows: list[list[Cell]]) -> bool:
    """True if a table only arranges the page: one column, or cells that hold whole pages."""
    if all(len(row) < 2 for row in rows):
        return True
    return any(len(cell.words()) > WIDEST_CELL for row in rows for cell in row)


def _with_one_header(rows: list[list[Cell]]) -> list[list[Cell]]:
    """The rows with one header: a second row names the columns below merged cells of the first, if
    all its other cells continue those above."""
    if len(rows) < 3 or not any(cell.span > 1 for cell in rows[0]):
        return rows
    above = [cell for cell in rows[0] for _ in range(min(cell.span, MOST_SPANNED))]
    below = [cell for cell in rows[1] for _ in range(min(cell.span, MOST_SPANNED))]
    if len(above) != len(below) or any(
        a.span == 1 and not b.goes_on and b.words() for a, b in zip(above, below, strict=True)
    ):
        return rows
    texts = [[a.words(), "" if b.goes_on else b.words()] for a, b in zip(above, below, strict=True)]
    names = [" ".join(dict.fromkeys(filter(None, each))) for each in texts]
    return [[Cell([Piece("paragraph", name)]) for name in names], *rows[2:]]


def _grid(rows: list[list[Cell]], above: list[str]) -> list[list[str]]:
    """The words of a table by row and column. Cells that span rows are repeated in each of them,
    cells that span columns are put in the first.
    """
    grid: list[list[str]] = []
    for row in rows:
        line: list[str] = []
        for cell in row:
            goes_on = cell.goes_on and len(line) < len(above)
            line.append(above[len(line)] if goes_on else cell.words())
            line += [""] * (min(cell.span, MOST_SPANNED) - 1)
        grid.append(line)
        above = line
    return grid


# ---------------------------------------------------------------- sheets


MOST_CELLS = 1_000_000
"""The most cells read from a document, including empty ones: openpyxl takes some 8 s for them."""

LONGEST_ROW = 100_000
"""Characters of a row; the rest is left out. A text that is stored once can be shown in thousands
of cells.
"""

_LOOK_AHEAD = 100  # rows from which a table's columns are determined
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}")
_YEAR = re.compile(r"(?:19|20)\d\d")

Merged = Mapping[int, tuple[int, int]]
"""Cells of a row that are merged with others, by column: how many columns and rows they span."""


def without(columns: Collection[int], merged: Merged) -> Merged:
    """The merged cells of a row from which these columns are gone."""

    def place(at: int) -> int:
        return at - sum(each < at for each in columns)

    spans = {
        place(at): (place(at + width) - place(at), rows) for at, (width, rows) in merged.items()
    }
    return {at: span for at, span in spans.items() if span[0]}


class GridWriter:
    """Writes the rows of one sheet."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._waiting: list[tuple[list[str], Merged]] = []  # rows whose table is not known yet
        self._columns: list[range] = []  # of the open tables, which lie beside each other
        self._aside: list[list[list[str]]] = []  # rows of those that follow the first
        self._below: dict[int, tuple[str, int]] = {}  # texts that go on, and in how many rows
        self._gap = False  # an empty row followed the last one
        self._had_figures = False  # in the rows of the open tables

    def add(self, row: Iterable[str], merged: Merged | None = None) -> None:
        cells = self._with_cells_above(bounded(row), merged or {})
        if not cells:
            self._begin()
            self._gap = True
            return
        if self._columns and self._gap and not self._goes_on(cells):
            self._close()
        self._gap = False
        if self._columns:
            self._write(cells)
            return
        self._waiting.append((cells, merged or {}))
        if len(self._waiting) >= _LOOK_AHEAD:
            self._begin()

    def leave_out(self, row: Iterable[str], merged: Merged) -> None:
        """Pass over a row that is not shown; its merged cells go on below."""
        self._with_cells_above(bounded(row), merged)

    def end(self) -> None:
        self._begin()
        self._close()

    def _with_cells_above(self, cells: list[str], merged: Merged) -> list[str]:
        """A row with the texts of the cells that go on in it from rows above."""
        for column, (text, rows) in list(self._below.items()):
            self._below[column] = text, rows - 1
            if rows == 1:
                del self._below[column]
            if cells:  # a row without others stays empty
                cells += [""] * (column + 1 - len(cells))
                cells[column] = cells[column] or text
        for column, (_, rows) in merged.items():
            if rows > 1 and column < len(cells):
                self._below[column] = cells[column], rows - 1
        return cells

    def _begin(self) -> None:
        waiting, self._waiting = self._waiting, []
        while waiting and (title := title_in(waiting[0][0])):
            self._blocks.paragraph(title)
            del waiting[0]
        if not waiting:
            return
        rows, merged = [cells for cells, _ in waiting], [each for _, each in waiting]
        self._columns = _tables_in(rows)
        self._had_figures = any(map(_has_figures, rows[1:]))
        parts = [self._parts(row) for row in rows]
        tables = [
            [
                row
                for row in _with_one_head([part[i] for part in parts], merged, columns)
                if any(row)
            ]
            for i, columns in enumerate(self._columns)
        ]
        write_table(self._blocks, tables[0])
        self._aside = tables[1:]

    def _write(self, row: list[str]) -> None:
        self._had_figures = self._had_figures or _has_figures(row)
        first, *others = self._parts(row)
        if any(first):
            self._blocks.row(first, first=False)
        for rows, cells in zip(self._aside, others, strict=True):
            if any(cells):
                rows.append(cells)

    def _close(self) -> None:
        for rows in self._aside:
            write_table(self._blocks, rows)
        self._columns, self._aside = [], []

    def _parts(self, row: list[str]) -> list[list[str]]:
        """The cells of a row for each of the tables beside each other."""
        starts = [columns.start for columns in self._columns]
        parts = []
        for columns, end in zip(self._columns, [*starts[1:], len(row)], strict=True):
            cells = row[columns.start : end]
            while len(cells) > len(columns) and not cells[-1]:
                cells.pop()
            parts.append(cells + [""] * (len(columns) - len(cells)))
        before = " ".join(filter(None, row[: starts[0]]))
        if before:
            parts[0][0] = f"{before} {parts[0][0]}".strip()
        return parts

    def _goes_on(self, row: Sequence[str]) -> bool:
        """True if a row after an empty one belongs to the same table, rather than being a title or
        the header of the next table.
        """
        if _filled(row) < 2 or len(row) > self._columns[-1].stop:
            return False
        return _has_figures(row) or not self._had_figures


def _tables_in(rows: Sequence[list[str]]) -> list[range]:
    """The columns of each table of some rows; between two of them there is an empty column."""
    used = sorted({i for row in rows for i, cell in enumerate(row) if cell})
    found = [range(used[0], used[-1] + 1)]
    for last, column in pairwise(used):
        if column - last > 1:
            left, right = range(found[-1].start, last + 1), range(column, used[-1] + 1)
            if _are_apart(rows, left, right):
                found[-1:] = [left, right]
    return found


def _are_apart(rows: Sequence[list[str]], left: range, right: range) -> bool:
    """True if tables beside each other have rows of their own, and names for them."""
    if min(len(left), len(right)) < 2:
        return False
    on_left = [any(row[left.start : left.stop]) for row in rows]
    on_right = [any(row[right.start : right.stop]) for row in rows]
    names = [row[right.start] for row, is_filled in zip(rows, on_right, strict=True) if is_filled]
    return on_left != on_right and all(names) and any(map(_LETTER.search, names[1:]))


def _with_one_head(
    table: list[list[str]], merged: Sequence[Merged], columns: range
) -> list[list[str]]:
    """A table whose head of several rows, with cells that span columns, became one row: "Rate:
    planned", "Rate: actual".
    """
    for spans in merged:
        if len(table) < 2:
            break
        above, below = list(table[0]), table[1]
        under: set[int] = set()
        for start, (width, _) in spans.items():
            if width > 1 and start in columns:
                spanned = range(start, min(start + width, columns.stop))
                under.update(at - columns.start for at in spanned)
                for at in spanned:
                    above[at - columns.start] = table[0][start - columns.start]
        others = [i for i in range(len(columns)) if i not in under]
        is_head = all(below[i] in ("", above[i]) for i in others)
        if not under or not is_head or not (others or not _has_figures(below)):
            break
        pairs = zip(above, below, strict=True)
        table[:2] = [[a if b in ("", a) else labelled(a, b) if a else b for a, b in pairs]]
    return table


def write_table(blocks: Blocks, rows: Sequence[Sequence[str]]) -> None:
    """Write a table; its first row is its head unless it looks like the others."""
    is_headed = not rows or is_head(rows[0], rows[1:])
    for number, row in enumerate(rows):
        blocks.row(row, first=number == 0, is_headed=is_headed)


def is_head(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """True unless a row has a figure of the same kind as those below it, except years and numbers
    that count the columns.
    """
    figures = [cell for cell in first if _kind(cell)]
    if all(map(_YEAR.fullmatch, figures)) or figures == [str(i + 1) for i in range(len(figures))]:
        return True
    for column, cell in enumerate(first):
        below = [row[column] for row in rows if column < len(row) and row[column]]
        if (kind := _kind(cell)) and sum(_kind(each) == kind for each in below) * 2 >= len(below):
            return False
    return True


def _kind(cell: str) -> str:
    """What a cell holds if it is a figure: "date" or "number"; else ""."""
    if not _DIGIT.search(cell) or _LETTER.search(cell):
        return ""
    return "date" if _DATE.match(cell) else "number"


def title_in(row: Sequence[str]) -> str:
    """The text of a row above a table: a title, or a name and its value ("As of: 2026-03-31");
    "" for a row of a table.
    """
    filled = list(filter(None, row))
    if len(filled) == 1:
        return filled[0]
    if len(filled) == 2 and (
        filled[0].endswith(":") or (_kind(filled[1]) and not _kind(filled[0]))
    ):
        return labelled(*filled)
    return ""


def bounded(row: Iterable[str]) -> list[str]:
    """The cells of a row up to the last non-empty one, within ``LONGEST_ROW``."""
    cells: list[str] = []
    length = 0
    for cell in row:
        length += len(cell)
        if length > LONGEST_ROW:
            break
        cells.append(one_line(cell))
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _filled(row: Sequence[str]) -> int:
    return sum(map(bool, row))


def _has_figures(row: Sequence[str]) -> bool:
    return any(_DIGIT.search(cell) for cell in row)
