"""Simplifies HTML tables to one cell for each row and column, as in Markdown.

Spans become cells of their own, several header rows one, and a cell's content one line of text. A
table used only for layout yields no grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from bot.pages.inline import CELLS, HEADINGS, ROWS, classes_of, inline_text, tag_of
from bot.pages.literal import CODE_END, CODE_START

MOST_COLUMNS = 100  # columns that spans may create; the HTML standard allows 1,000 per cell
MOST_SPANNED = 1_000_000  # characters that a table's spans may add; plus one per cell
MOST_HEADER_ROWS = 4
_WIDEST_CELL = 1_000  # characters; a cell that holds more is used for layout
_WIDEST_UNDER_HEADER = 4_000  # the same for a table with headers for its columns or rows

_PARTS = ("thead", "tbody", "tfoot", "tr")
_REMARKS = frozenset({"note", "tip", "important", "caution", "warning", "admonitionblock"})
_BOXES = {"two-column-summary": 2, "three-column-summary": 3, "four-column-summary": 4}
_UNMARKED = str.maketrans("", "", CODE_START + CODE_END)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table; ``is_head``: it names its row or column."""

    text: str
    is_head: bool = False


def grid_of(table: Any) -> list[list[Cell]]:
    """The cells of a table by row and column; empty for a table used only for layout.

    All rows have the same length; several header rows become one. ``Cell.text`` is on one line,
    with inline code marked as ``bot.pages.literal`` expects it.
    """
    if _is_layout(table):
        return []
    rows = ([cell for cell in row if tag_of(cell) in CELLS] for row in table.iter(*ROWS))
    elements = [cells for cells in rows if cells]
    has_heads = any(_is_head(cell) for cells in elements for cell in cells)
    widest = _WIDEST_UNDER_HEADER if has_heads else _WIDEST_CELL
    if any(_width(cell) > widest for cells in elements for cell in cells):
        return []
    if max(map(len, elements), default=0) < 2 and not any(
        _span(cell, "colspan") > 1 for cells in elements for cell in cells
    ):
        return []
    if any(cell.get("colspan") or cell.get("rowspan") for cells in elements for cell in cells):
        grid = _spread_out(elements)
    else:
        width = max(map(len, elements))
        grid = [
            [_cell(cell) for cell in cells] + [Cell("")] * (width - len(cells))
            for cells in elements
        ]
    grid = _with_one_header(grid)
    grid = [row for row in grid if any(cell.text for cell in row)]
    grid = _without_empty_columns(grid)
    return grid if grid and len(grid[0]) > 1 else []


def grid_of_boxes(box: Any) -> list[list[Cell]]:
    """Like ``grid_of``, for Javadoc's boxes laid out as a table; empty for any other element."""
    columns = next((_BOXES[name] for name in classes_of(box) if name in _BOXES), 0)
    if not columns or len(box) % columns:
        return []
    cells = [Cell(inline_text(each), is_head="table-header" in classes_of(each)) for each in box]
    return [cells[start : start + columns] for start in range(0, len(cells), columns)]


def is_record(grid: list[list[Cell]]) -> bool:
    """True if a table is a record: each row holds the name of something and its value.

    Title rows that span both columns are allowed.
    """
    return any(not row[-1].is_head for row in grid) and all(
        len(row) == 2 and row[0].is_head and (not row[1].is_head or is_title(row)) for row in grid
    )


def is_title(row: list[Cell]) -> bool:
    """True if a row is one header over all columns."""
    return row[0].is_head and all(cell == row[0] for cell in row)


def make_plain(tree: Any) -> None:
    """Rewrite all tables of an HTML tree for a reader that does not support spans and captions.

    Tables used for layout become boxes, a caption becomes a paragraph before its table.
    """
    for table in list(tree.iter("table")):
        grid = grid_of(table)
        if grid:
            _free_caption(table)
            _rewrite(table, grid)
        else:
            unfold(table)


def unfold(table: Any) -> None:
    """Turn a layout table into boxes."""
    for element in table.iterchildren("caption", "colgroup", "col", *_PARTS):
        for inside in [element, *element.iterchildren(*_PARTS)]:
            for cell in inside.iterchildren(*CELLS):
                cell.tag = "div"
            inside.tag = "div"
    table.tag = "div"


def _is_layout(table: Any) -> bool:
    for inside in table.iterdescendants("table", *HEADINGS):
        if inside is not table:
            return True
    for pre in table.iterdescendants("pre"):
        if "\n" in "".join(pre.itertext()).strip():
            return True  # a cell becomes one line, and code would lose its line breaks
    parent = table.getparent()
    return parent is not None and not _REMARKS.isdisjoint(classes_of(parent))


def _free_caption(table: Any) -> None:
    caption = table.find("caption")
    text = "" if caption is None else inline_text(caption).translate(_UNMARKED)
    if text and table.getparent() is not None:
        paragraph = etree.Element("p")
        paragraph.text = text
        table.addprevious(paragraph)
        caption.drop_tree()


def _rewrite(table: Any, grid: list[list[Cell]]) -> None:
    """Replace a table's cells with plain ones; a table that is already plain stays as it is."""
    rows = [[cell for cell in row if tag_of(cell) in CELLS] for row in table.iter(*ROWS)]
    if [len(row) for row in rows] == [len(row) for row in grid] and not any(
        cell.get("colspan") or cell.get("rowspan") for row in rows for cell in row
    ):
        for row, places in zip(rows, grid, strict=True):
            for cell, place in zip(row, places, strict=True):
                if next(cell.iterdescendants("ul", "ol", "dl", "p", "div"), None) is not None:
                    for child in list(cell):
                        cell.remove(child)
                    cell.text = place.text.translate(_UNMARKED)
        return
    for child in list(table):
        table.remove(child)
    for places in grid:
        row = etree.SubElement(table, "tr")
        for place in places:
            cell = etree.SubElement(row, "th" if place.is_head else "td")
            cell.text = place.text.translate(_UNMARKED)


# ---------------------------------------------------------------- spans and headers


def _spread_out(rows: list[list[Any]]) -> list[list[Cell]]:
    """The cells by row and column, as in https://html.spec.whatwg.org/#forming-a-table.

    A cell that spans rows is repeated in each. One that spans columns is repeated if it is a
    header; otherwise it is put in the first, and the others are empty. Spans that would add more
    than ``MOST_SPANNED`` are ignored.
    """
    taken: dict[tuple[int, int], Cell] = {}
    room = MOST_SPANNED
    for y, row in enumerate(rows):
        x = 0
        for element in row:
            while (y, x) in taken:
                x += 1
            wide = max(1, min(_span(element, "colspan"), MOST_COLUMNS - x))
            high = min(_span(element, "rowspan"), len(rows) - y)
            cell = _cell(element)
            if wide * high > 1:
                added = wide * high * (1 + len(cell.text))
                if added > room:
                    wide = high = 1
                else:
                    room -= added
            for dx in range(wide):
                shown = cell if dx == 0 or cell.is_head else Cell("")
                for dy in range(high):
                    taken[y + dy, x + dx] = shown
            x += wide
    width = max((x for (_, x), cell in taken.items() if cell.text), default=-1) + 1
    empty = Cell("")
    return [[taken.get((y, x), empty) for x in range(width)] for y in range(len(rows))]


def _cell(element: Any) -> Cell:
    return Cell(inline_text(element), _is_head(element))


def _is_head(element: Any) -> bool:
    return bool(element.tag == "th" or element.get("role") == "head")


def _width(element: Any) -> int:
    """The approximate length of a cell's text on one line."""
    return len(" ".join("".join(element.itertext()).split()))


def _span(cell: Any, name: str) -> int:
    value = (cell.get(name) or "").strip()
    return max(1, int(value)) if value.isascii() and value.isdigit() and len(value) < 5 else 1


def _with_one_header(grid: list[list[Cell]]) -> list[list[Cell]]:
    """Merge several header rows into one: "2019" over "boats" is "2019 boats"."""
    heads = 0
    while heads < len(grid) - 1 and _all_heads(grid[heads]):
        heads += 1
    if not 1 < heads <= MOST_HEADER_ROWS:
        return grid
    columns = zip(*grid[:heads], strict=True)
    merged = [
        Cell(" ".join(dict.fromkeys(cell.text for cell in column if cell.text)), is_head=True)
        for column in columns
    ]
    return [merged, *grid[heads:]]


def _all_heads(row: list[Cell]) -> bool:
    return all(cell.is_head or not cell.text for cell in row) and any(c.is_head for c in row)


def _without_empty_columns(grid: list[list[Cell]]) -> list[list[Cell]]:
    """The grid without columns that only hold pictures or spacing."""
    if not grid:
        return grid
    kept = [x for x in range(len(grid[0])) if any(row[x].text for row in grid)]
    return grid if len(kept) == len(grid[0]) else [[row[x] for x in kept] for row in grid]
