"""HTML tables made plain before anything is extracted: one cell for each row and column.

Spans become cells of their own, several header rows one, a caption a paragraph before the table,
and what a cell holds its text: Markdown, the form in which a page keeps tables, knows no more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from bot.pages.writing import cell_text, data_rows

MOST_COLUMNS = 100  # that spans may make; the HTML standard allows 1,000 for one cell
MOST_HEADER_ROWS = 4

_CELLS = ("td", "th")
_PARTS = ("thead", "tbody", "tfoot", "tr")


def make_plain(tree: Any) -> None:
    """Rewrite all tables in a tree of HTML; those that only lay out the page become boxes."""
    for table in list(tree.iter("table")):
        if not data_rows(table):
            _unfold(table)
            continue
        _free_caption(table)
        if next(table.iterdescendants("th", "td"), None) is not None and _is_uneven(table):
            _even_out(table)
        for cell in table.iter(*_CELLS):
            if next(cell.iterdescendants("ul", "ol", "dl", "p", "div"), None) is not None:
                _fill(cell, cell_text(cell))


def _unfold(table: Any) -> None:
    """Make a table of the page's layout what it is: boxes that hold other things."""
    for element in table.iterchildren("caption", "colgroup", "col", *_PARTS):
        for inside in [element, *element.iterchildren(*_PARTS)]:
            for cell in inside.iterchildren(*_CELLS):
                cell.tag = "div"
            inside.tag = "div"
    table.tag = "div"


def _free_caption(table: Any) -> None:
    caption = table.find("caption")
    text = "" if caption is None else cell_text(caption)
    if text and table.getparent() is not None:
        paragraph = etree.Element("p")
        paragraph.text = text
        table.addprevious(paragraph)
        caption.drop_tree()


def _is_uneven(table: Any) -> bool:
    spans = any(cell.get("colspan") or cell.get("rowspan") for cell in table.iter(*_CELLS))
    return spans or _header_rows(_rows(table)) > 1


def _rows(table: Any) -> list[list[Any]]:
    return [[cell for cell in row if cell.tag in _CELLS] for row in table.iter("tr")]


def _header_rows(rows: list[list[Any]]) -> int:
    """How many rows at the top hold nothing but headers."""
    count = 0
    while count < len(rows) - 1 and rows[count] and all(c.tag == "th" for c in rows[count]):
        count += 1
    return count


@dataclass(frozen=True, slots=True)
class _Cell:
    """What stands at one place of the grid."""

    text: str
    tag: str


def _even_out(table: Any) -> None:
    rows = list(table.iter("tr"))
    cells = _rows(table)
    grid = _grid(cells)
    heads = _header_rows(cells)
    if 1 < heads <= MOST_HEADER_ROWS:
        grid[heads - 1] = _merged(grid[:heads])
        for row in range(heads - 1):
            grid[row] = []
    for row, places in zip(rows, grid, strict=True):
        for cell in [cell for cell in row if cell.tag in _CELLS]:
            row.remove(cell)
        for place in places:
            etree.SubElement(row, place.tag).text = place.text
        if not places and row.getparent() is not None:
            row.drop_tree()


def _grid(rows: list[list[Any]]) -> list[list[_Cell]]:
    """The cells by row and column, as https://html.spec.whatwg.org/#forming-a-table has them.

    What spans rows is in each of them. What spans columns is in each of them if it is a header;
    otherwise it stands in the first, and the others are empty.
    """
    taken: dict[tuple[int, int], _Cell] = {}
    for y, row in enumerate(rows):
        x = 0
        for cell in row:
            while (y, x) in taken:
                x += 1
            wide = max(1, min(_span(cell, "colspan"), MOST_COLUMNS - x))
            high = _span(cell, "rowspan")
            text = cell_text(cell)
            for dx in range(wide):
                shown = text if dx == 0 or cell.tag == "th" else ""
                for dy in range(min(high, len(rows) - y)):
                    taken[y + dy, x + dx] = _Cell(shown, cell.tag)
            x += wide
    width = max((x for (_, x), cell in taken.items() if cell.text), default=-1) + 1
    empty = _Cell("", "td")
    return [[taken.get((y, x), empty) for x in range(width)] for y in range(len(rows))]


def _span(cell: Any, name: str) -> int:
    value = (cell.get(name) or "").strip()
    return max(1, int(value)) if value.isascii() and value.isdigit() and len(value) < 5 else 1


def _merged(heads: list[list[_Cell]]) -> list[_Cell]:
    """One header row of several: "2019" over "boats" is "2019 boats"."""
    columns = zip(*heads, strict=True)
    return [
        _Cell(" ".join(dict.fromkeys(cell.text for cell in column if cell.text)), "th")
        for column in columns
    ]


def _fill(cell: Any, text: str) -> None:
    for child in list(cell):
        cell.remove(child)
    cell.text = text
