"""Converts paragraphs and tables of word processor documents to page text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from bot.pages.formats.blocks import WIDEST_CELL, Blocks, one_line, without_marks
from bot.pages.plain import is_prose

Kind = Literal["paragraph", "heading", "item", "code", "table"]

_SIMPLE_NUMBER = re.compile(r"\d{1,3}[.)]")
MOST_SPANNED = 100  # columns or rows that one cell may span
ROWS_AT_ONCE = 200
"""The most rows of a table kept in memory; the first of them determine its form."""


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


def labelled_item(text: str, depth: int, label: str) -> Piece:
    """A list item; a label that Markdown lacks, such as "a)", becomes part of the text."""
    if _SIMPLE_NUMBER.fullmatch(label):
        return Piece("item", text, depth, label)
    return Piece("item", f"{label} {text}" if label else text, depth, "-")


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
                self._write_rows(piece.rows)
                self._table = None

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
            self._end_rows()

    def end_table(self) -> None:
        self._end_rows()
        self._table = None
        self.end_notes()

    def _end_rows(self) -> None:
        rows, self._rows = self._rows, []
        if rows:
            self._write_rows(rows)

    def _write_rows(self, rows: list[list[Cell]]) -> None:
        self.flush()
        if self._table is None:
            self._table = _Table(_is_layout(rows))
        if self._table.is_layout:
            for row in rows:
                for cell in row:
                    if not cell.goes_on:
                        self._inside(cell)
            return
        grid = _grid(rows, self._table.last)
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

    def _inside(self, cell: Cell) -> None:
        outer, self._table = self._table, None
        self.put_all(cell.pieces)
        self._table = outer


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
