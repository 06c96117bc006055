"""Excel workbooks (.xlsx) to page text: a heading for each sheet ("## Sheet Prices"), and tables.

openpyxl reads the rows as a stream. Cells have what they show on the screen, formulas their last
result. Hidden sheets are left out: a reader could not look up what is quoted from there.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import openpyxl  # type: ignore[import-untyped]

from bot.errors import PageUnreadable
from bot.pages.formats.blocks import Blocks, Reading
from bot.pages.formats.grid import MOST_CELLS, GridWriter
from bot.pages.formats.number_formats import shown
from bot.pages.formats.packages import LARGEST_PART, LARGEST_TREE, Package, broken, opened
from bot.pages.properties import said_title

_A_WORKBOOK = "an Excel workbook"
_LARGEST_STRINGS = 50_000_000
"""Bytes of the texts that cells share, which openpyxl keeps in memory."""


def read_sheets(data: bytes, name: str) -> Reading:
    """Title and text of a workbook; ``name`` is what errors call it.

    Raises ``PageUnreadable`` for one that is damaged, locked or too large.
    """
    with opened(data, name, _A_WORKBOOK) as package:
        _check(package)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of features that openpyxl leaves out
            return _Reader(data).read()
    except PageUnreadable:
        raise
    except Exception as error:  # noqa: BLE001 - a library at work on hostile input
        raise broken(name, _A_WORKBOOK, error) from None


def _check(package: Package) -> None:
    """Refuse parts that openpyxl should not meet."""
    for part in package.names():
        if part.endswith((".xml", ".rels")):
            most = LARGEST_TREE
            if "/worksheets/" in part:
                most = LARGEST_PART
            elif part.lower().endswith("sharedstrings.xml"):
                most = _LARGEST_STRINGS
            package.check(part, most)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._book = openpyxl.load_workbook(
            BytesIO(data), read_only=True, data_only=True, keep_links=False
        )
        self._blocks = Blocks()
        self._cells = 0

    def read(self) -> Reading:
        sheets = [s for s in self._book.worksheets if s.sheet_state == "visible"]
        done = 0.0
        for number, sheet in enumerate(sheets):
            if self._is_full():
                names = ", ".join(each.title for each in sheets[number:])
                self._blocks.heading(2, f"Not read: {names}")
                break
            done += self._sheet(sheet)
        title = said_title(self._book.properties.title or "")
        return Reading(title, self._blocks.text(), done / len(sheets) if sheets else 1.0)

    def _is_full(self) -> bool:
        return self._blocks.full or self._cells >= MOST_CELLS

    def _sheet(self, sheet: Any) -> float:
        """Write a sheet; the share of its rows that was read."""
        said_rows = sheet.max_row or 0
        sheet.reset_dimensions()  # which may be wrong, and make each row 16,384 cells wide
        self._blocks.heading(2, f"Sheet {sheet.title}")
        writer = GridWriter(self._blocks)
        for count, row in enumerate(sheet.iter_rows(), 1):
            self._cells += len(row) + 1
            writer.add(_shown(row))
            if self._is_full():
                writer.end()
                self._blocks.heading(
                    2, f"Rows after {count:,} of sheet {sheet.title} were not read"
                )
                return count / max(count + 1, said_rows)
        writer.end()
        return 1.0


def _shown(row: tuple[Any, ...]) -> Iterator[str]:
    for cell in row:
        value = cell.value
        form = cell.number_format if isinstance(value, int | float) else None
        yield shown(value, form)
