"""Paragraphs and tables of a word processor's document on their way to page text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from bot.pages.formats.blocks import WIDEST_CELL, Blocks, one_line, without_marks
from bot.pages.plain import is_prose

Kind = Literal["paragraph", "heading", "item", "code", "table"]

MOST_SPANNED = 100  # columns or rows that one cell may span


@dataclass(slots=True)
class Piece:
    """A paragraph, heading, list item, line of code or table.

    ``level`` is that of a heading, from 1, or of an item, from 0. ``marker`` stands before an item:
    "-", or a number such as "3.".
    """

    kind: Kind
    text: str = ""
    level: int = 0
    marker: str = ""
    rows: list[list[Cell]] = field(default_factory=list)

    def words(self) -> str:
        """What the piece says, as part of a line."""
        if self.kind == "table":
            return " ".join(cell.words() for row in self.rows for cell in row if not cell.goes_on)
        if self.kind == "item" and self.marker != "-":
            return f"{self.marker} {self.text}"
        return self.text


@dataclass(slots=True)
class Cell:
    """What stands in one place of a table: the columns it spans, and whether it goes on from the
    row above."""

    pieces: list[Piece]
    span: int = 1
    goes_on: bool = False

    def words(self) -> str:
        return one_line(" ".join(piece.words() for piece in self.pieces))


class PieceWriter:
    """Writes pieces as blocks; lines of code that follow each other become one block."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._code: list[str] = []

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
                self._table(piece.rows)

    def put_all(self, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            self.put(piece)

    def notes(self, notes: Iterable[tuple[int, Iterable[Piece]]]) -> None:
        """Footnotes by number, in Markdown's form, below what refers to them."""
        for number, pieces in notes:
            self.flush()
            words = one_line(" ".join(piece.words() for piece in pieces))
            self._blocks.paragraph(f"[^{number}]: {words}")

    def flush(self) -> None:
        lines, self._code = self._code, []
        text = without_marks("\n".join(lines))
        if is_prose(text):  # a letter that was typed
            for line in lines:
                self._blocks.paragraph(without_marks(line))
        else:
            self._blocks.code(text)

    def _table(self, rows: list[list[Cell]]) -> None:
        if _is_layout(rows):
            for row in rows:
                for cell in row:
                    if not cell.goes_on:
                        self.put_all(cell.pieces)
        else:
            self._blocks.table(_grid(rows))


def _is_layout(rows: list[list[Cell]]) -> bool:
    """Whether a table only arranges the page: one column, or cells that hold whole pages."""
    if all(len(row) < 2 for row in rows):
        return True
    return any(len(cell.words()) > WIDEST_CELL for row in rows for cell in row)


def _grid(rows: list[list[Cell]]) -> list[list[str]]:
    """The words of a table by row and column. What spans rows stands in each of them, what spans
    columns in the first."""
    grid: list[list[str]] = []
    for row in rows:
        above = grid[-1] if grid else []
        line: list[str] = []
        for cell in row:
            goes_on = cell.goes_on and len(line) < len(above)
            line.append(above[len(line)] if goes_on else cell.words())
            line += [""] * (min(cell.span, MOST_SPANNED) - 1)
        grid.append(line)
    return grid
