"""Converts the rows of a sheet to page text: tables, and the text around them.

People lay out tables on a sheet with titles above and empty rows between. Rows are processed one at
a time, because there may be a million of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bot.pages.formats.blocks import Blocks, one_line

MOST_CELLS = 1_000_000
"""The most cells read from a document, including empty ones: openpyxl takes some 8 s for them."""

LONGEST_ROW = 100_000
"""Characters of a row; the rest is left out. A text that is stored once can be shown in thousands
of cells.
"""

_LOOK_AHEAD = 100  # rows from which a table's columns are determined
_DIGIT = re.compile(r"\d")


class GridWriter:
    """Writes the rows of one sheet."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._waiting: list[list[str]] = []  # rows of a table whose columns are not known yet
        self._columns: range | None = None  # of the open table
        self._gap = False  # an empty row followed the last one
        self._had_figures = False  # in the rows of the open table

    def add(self, row: Iterable[str]) -> None:
        cells = bounded(row)
        if not cells:
            self._begin()
            self._gap = True
            return
        if self._columns is not None and self._gap and not self._goes_on(cells):
            self._columns = None
        self._gap = False
        if self._columns is not None:
            self._write(cells, self._columns)
            return
        self._waiting.append(cells)
        if len(self._waiting) >= _LOOK_AHEAD:
            self._begin()

    def end(self) -> None:
        self._begin()
        self._columns = None

    def _begin(self) -> None:
        """Write the waiting rows: lines of text, then a table."""
        rows, self._waiting = self._waiting, []
        while rows and _filled(rows[0]) == 1:
            self._blocks.paragraph(" ".join(rows.pop(0)))
        if not rows:
            return
        used = [i for row in rows for i, cell in enumerate(row) if cell]
        self._columns = range(min(used), max(used) + 1)
        self._had_figures = False
        for number, row in enumerate(rows):
            self._write(row, self._columns, first=number == 0)

    def _write(self, row: Sequence[str], columns: range, *, first: bool = False) -> None:
        before = " ".join(filter(None, row[: columns.start]))
        cells = list(row[columns.start :])
        cells += [""] * (len(columns) - len(cells))
        if before:
            cells[0] = f"{before} {cells[0]}".strip()
        self._had_figures = self._had_figures or (not first and _has_figures(row))
        self._blocks.row(cells, first=first)

    def _goes_on(self, row: Sequence[str]) -> bool:
        """True if a row after an empty one belongs to the same table, rather than being a title or
        the header of the next table.
        """
        if _filled(row) < 2 or self._columns is None or len(row) > self._columns.stop:
            return False
        return _has_figures(row) or not self._had_figures


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
