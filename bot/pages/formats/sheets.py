"""Excel workbooks (.xlsx) to page text: a heading for each sheet ("## Sheet Prices"), and tables.

openpyxl reads the rows as a stream. Cells have what they show on the screen, formulas their last
result. Hidden sheets are left out: a reader could not look up what is quoted from there.
"""

from __future__ import annotations

import re
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
MOST_ROWS = 1_048_576  # of a sheet: Excel's own limit; a damaged file may name any number
_LARGEST_STRINGS = 50_000_000
"""Bytes of the texts that cells share, which openpyxl keeps in memory."""
_CHUNK = 1_000_000  # bytes
_ROW = re.compile(rb"<(?:\w{1,20}:)?row\b")


def read_sheets(data: bytes, name: str) -> Reading:
    """Title and text of a workbook; ``name`` is what errors call it.

    Raises ``PageUnreadable`` for one that is damaged, locked or too large.
    """
    with opened(data, name, _A_WORKBOOK) as package:
        _check(package)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of features that openpyxl leaves out
                reader = _Reader(data)
                reader.read()
        except PageUnreadable:
            raise
        except Exception as error:  # noqa: BLE001 - a library at work on hostile input
            raise broken(name, _A_WORKBOOK, error) from None
        kept = reader.rows / max(reader.rows, _rows(package)) if reader.is_full else 1.0
    return Reading(reader.title, reader.blocks.text(), kept)


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


def _rows(package: Package) -> int:
    """The number of rows of all sheets; the share of them that was read tells how much was kept."""
    count = 0
    for part in package.names():
        if "/worksheets/" in part and part.endswith(".xml"):
            with package.stream(part) as file:
                while chunk := file.read(_CHUNK):
                    count += len(_ROW.findall(chunk))
    return count


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._book = openpyxl.load_workbook(
            BytesIO(data), read_only=True, data_only=True, keep_links=False
        )
        self.title = said_title(self._book.properties.title or "")
        self.blocks = Blocks()
        self.rows = 0
        self._cells = 0

    @property
    def is_full(self) -> bool:
        return self.blocks.full or self._cells >= MOST_CELLS

    def read(self) -> None:
        sheets = [s for s in self._book.worksheets if s.sheet_state == "visible"]
        for number, sheet in enumerate(sheets):
            if self.is_full:
                names = ", ".join(each.title for each in sheets[number:])
                self.blocks.heading(2, f"Not read: {names}")
                break
            self._sheet(sheet)

    def _sheet(self, sheet: Any) -> None:
        sheet.reset_dimensions()  # which may be wrong, and make each row 16,384 cells wide
        self.blocks.heading(2, f"Sheet {sheet.title}")
        writer = GridWriter(self.blocks)
        for count, row in enumerate(sheet.iter_rows(), 1):
            self.rows += bool(row)
            self._cells += len(row)
            writer.add(_shown(row))
            if self.is_full or count >= MOST_ROWS:
                writer.end()
                rest = f"Rows after {count:,} of sheet {sheet.title}"
                self.blocks.heading(2, f"{rest} were not read")
                return
        writer.end()


def _shown(row: tuple[Any, ...]) -> Iterator[str]:
    for cell in row:
        value = cell.value
        if value is None:
            yield ""
        else:
            form = cell.number_format if isinstance(value, int | float) else None
            yield shown(value, form)
