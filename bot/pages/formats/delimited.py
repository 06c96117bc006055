"""Converts comma- and tab-separated values (RFC 4180) to a table.

Its header is the first row, or the first one as wide as the table: the exports of banks and
measuring devices begin with names and values of their own. A first row of figures is no header.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from bot.pages.formats.pieces import bounded, write_table
from bot.pages.page import Reading
from bot.pages.page_markdown import Blocks, labelled

_DELIMITERS = ",;\t|"
_SAMPLE_LINES = 50
_LONGEST_LINE = 120_000  # characters; csv rejects longer fields
_DECLARED = re.compile(r"sep=(.)\n")  # the first line of Excel's exports in some locales


def read_delimited(text: str, *, tabs: bool) -> Reading:
    """Read a table that uses "\\n" for its line ends; it has no title of its own.

    ``tabs``: the file's type says that its values are separated by tabs.
    """
    declared = _DECLARED.match(text)
    if declared:
        text = text[declared.end() :]
    delimiter = declared[1] if declared else "\t" if tabs else _delimiter(text)
    blocks = Blocks()
    lines = _Lines(text)
    rows = _rows(lines, delimiter)
    start = list(islice(rows, _SAMPLE_LINES))
    width, above = _table_in(start)
    for row in start[:above]:
        blocks.paragraph(_title(row))
    table = _padded(chain(start[above:], rows), width)
    write_table(blocks, list(islice(table, _SAMPLE_LINES - above)))
    for number, row in enumerate(table, _SAMPLE_LINES):
        if blocks.full:
            blocks.heading(2, f"Rows after {number:,} were not read")
            return Reading("", blocks.text(), lines.share)
        blocks.row(row, first=False)
    return Reading("", blocks.text())


def _table_in(rows: Sequence[Sequence[str]]) -> tuple[int, int]:
    """The width of the table in the first rows of a file, and how many rows are above it.

    The table begins with the first row that fills most of the usual width; those above it are
    narrower.
    """
    widths = Counter(len(row) for row in rows)
    usual = max(widths, key=lambda width: (widths[width], width), default=0)
    if usual > 2 and widths[usual] > 1:
        for number, row in enumerate(rows):
            if len(row) >= usual and 3 * sum(map(bool, row)) > 2 * usual:
                return len(row), number
    return (len(rows[0]) if rows else 0), 0


def _title(row: Sequence[str]) -> str:
    """The words of a row above the table: "Closing balance: 12.804,17 EUR"."""
    name, *values = filter(None, row)
    return labelled(name, " ".join(values))


def _padded(rows: Iterable[list[str]], width: int) -> Iterator[list[str]]:
    return (row + [""] * (width - len(row)) for row in rows)


class _Lines:
    """Iterates over the lines of a text and tracks the share of it that was read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0

    @property
    def share(self) -> float:
        return self.at / max(1, len(self._text))

    def __iter__(self) -> Iterator[str]:
        while self.at < len(self._text):
            end = self._text.find("\n", self.at)
            start, self.at = self.at, len(self._text) if end < 0 else end + 1
            yield self._text[start : self.at][:_LONGEST_LINE]


def _rows(lines: _Lines, delimiter: str) -> Iterator[list[str]]:
    """The non-empty rows."""
    rows = csv.reader(lines, delimiter=delimiter)
    while True:
        start = lines.at
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error:  # an unclosed quotation mark; from here on quotes have no meaning
            lines.at = start
            rows = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
            continue
        cells = bounded(row)
        if cells:
            yield cells


def _delimiter(text: str) -> str:
    """The delimiter that splits most of the first lines into equally many values, two or more."""
    sample = list(islice(_Lines(text), _SAMPLE_LINES))
    best, found = (0, 0), ","
    for delimiter in _DELIMITERS:
        widths = [len(row) for row in csv.reader(sample, delimiter=delimiter) if row]
        if widths and max(widths) > 1:
            usual = max(set(widths), key=widths.count)
            score = (widths.count(usual) if usual > 1 else 0, usual)
            if score > best:
                best, found = score, delimiter
    return found
