"""Renders a tree of HTML elements as page text, with Markdown headings, lists and tables.

Supports the elements of HTML and those of trafilatura's own vocabulary (``head``, ``item``,
``row``, ``lb``). The tree is walked iteratively, so deep nesting does not exhaust the stack. Tables
get one cell for each row and column: spans become cells of their own, several header rows one, and
a cell's content one line of text; a table used only for layout yields no grid.

Converters such as markdownify or html2text produce Markdown for editing: they escape characters
wherever one might be markup, mark emphasis, keep link targets. Quotes are cut from this text, so
the words stay as they are on the page, and only text that Markdown would change is marked (see
``bot.pages.page_markdown``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from bot.pages.page_markdown import (
    CODE_END,
    CODE_START,
    fenced,
    literal,
    table_row,
    with_tildes,
    without_breaks_in_cjk,
)
from bot.pages.plain import is_prose, set_plain

# ---------------------------------------------------------------- inline content


HEADINGS = frozenset({"head", "h1", "h2", "h3", "h4", "h5", "h6"})
LISTS = frozenset({"list", "ul", "ol", "dl", "menu", "dir"})
ITEMS = frozenset({"item", "li", "dt", "dd"})
ROWS = frozenset({"row", "tr"})
CELLS = frozenset({"cell", "td", "th"})
BREAKS = frozenset({"lb", "br"})
CODE = frozenset({"code", "kbd", "samp", "tt"})
QUOTATIONS = frozenset({"q", "quote"})
SILENT = frozenset({"graphic", "img", "picture", "source", "script", "style", "template", "title"})
"""Elements without text of their own, or without visible text."""
# fmt: off
CONTAINERS = frozenset({
    "address", "article", "aside", "blockquote", "body", "center", "details", "div", "fieldset",
    "figure", "footer", "form", "header", "hgroup", "html", "main", "nav", "quote", "search",
    "section",
})
BLOCKS = CONTAINERS | HEADINGS | LISTS | ITEMS | ROWS | CELLS | {
    "caption", "figcaption", "hr", "label", "legend", "p", "pre", "summary", "table", "tbody",
    "tfoot", "thead",
}
# fmt: on
OVER_A_BOX = "admonition-title"
"""Class of a box's title, as Docutils writes it; also assigned to the titles of tabs."""


def tag_of(element: Any) -> str:
    """The element's name; "" for comments and processing instructions."""
    return element.tag if isinstance(element.tag, str) else ""


def classes_of(element: Any) -> list[str]:
    """The element's classes."""
    return (element.get("class") or "").split()


_BREAK = "\x04"  # stands for <br> until white space is collapsed
_AROUND_BREAK = re.compile(f"(?:(?<! ) ++)?{_BREAK} *+")
_LETTER = re.compile(r"[^\W\d_]")
_EXPONENT = re.compile(r"[-+\u2212\u2013]?\d{1,4}|[ijkmnxy]")


class Inline:
    """Collects text. Inline code is enclosed in the marks that ``bot.pages.page_markdown`` expects.

    ``only_links``: all words so far are in links.
    """

    def __init__(self) -> None:
        self.only_links = False
        self._words: list[str] = []
        self._code: Any = None  # the outermost open element of inline code
        self._links = 0
        self._plain = False

    @property
    def in_code(self) -> bool:
        return self._code is not None

    def __bool__(self) -> bool:
        return any(not text.isspace() for text in self._words)

    def say(self, text: str | None) -> None:
        if text:
            self._words.append(text)
            if not self._links and not self._plain and _LETTER.search(text):
                self._plain = True

    def open(self, tag: str, element: Any) -> None:
        """Begin an inline element."""
        if tag == "a":
            self._links += 1
        elif tag in BREAKS:
            self._words.append(" " if self._code is not None else _BREAK)
        elif self._code is not None:
            if tag in BLOCKS:
                self._words.append(" ")
        elif tag in CODE:
            if not any(tag_of(inside) in BLOCKS for inside in element.iterdescendants()):
                self.begin_code(element)
        elif is_inline_quotation(tag, element):
            self._words.append("“")
        elif tag == "sup" and self._is_exponent(element):
            self._words.append("^")

    def close(self, tag: str, element: Any) -> None:
        if element is self._code:
            self._words.append(CODE_END)
            self._code = None
        elif tag == "a":
            self._links = max(0, self._links - 1)
        elif self._code is not None:
            if tag in BLOCKS:
                self._words.append(" ")
        elif is_inline_quotation(tag, element):
            self._words.append("”")

    def begin_code(self, element: Any) -> None:
        """Treat all of an element's text as inline code."""
        self._code = element
        self._words.append(CODE_START)

    def take(self) -> str:
        """Return the text collected so far and clear it; each <br> becomes a line break."""
        text = "".join(self._words)
        self._words.clear()
        if not text.isascii():
            text = without_breaks_in_cjk(text)
        text = " ".join(text.split())
        if _BREAK in text:
            text = _AROUND_BREAK.sub("\n", text)
        self.only_links = not self._plain and _LETTER.search(text) is not None
        self._plain = False
        return text.strip(" \n")

    def _is_exponent(self, element: Any) -> bool:
        """True if a superscript changes the value of the text before it, as in 2³¹."""
        text = element.text or ""
        if len(element) or not _EXPONENT.fullmatch(text.strip()):
            return False
        before = self._words[-1][-1:] if self._words else ""
        return before.isalnum() or before in (")", CODE_END)


def inline_text(root: Any) -> str:
    """The text of an element on one line, whatever blocks it contains."""
    inline = Inline()
    inline.say(root.text)
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if element is root:
            continue
        tag = tag_of(element)
        if event == "end":
            inline.close(tag, element)
            if tag in BLOCKS:
                inline.say(" ")
            inline.say(element.tail)
        elif not tag or tag in SILENT:
            walk.skip_subtree()
        else:
            if tag in BLOCKS:
                inline.say(" ")
            inline.open(tag, element)
            inline.say(element.text)
    return " ".join(inline.take().split())


def is_inline_quotation(tag: str, element: Any) -> bool:
    """True for <q>; trafilatura's tree uses one name for it and for block quotations."""
    if tag not in QUOTATIONS:
        return False
    parent = element.getparent()
    return tag == "q" or (parent is not None and tag_of(parent) == "p")


# ---------------------------------------------------------------- tables


MOST_COLUMNS = 100  # columns that spans may create; the HTML standard allows 1,000 per cell
MOST_SPANNED = 1_000_000  # characters that a table's spans may add; plus one per cell
MOST_HEADER_ROWS = 4
_WIDEST_CELL = 1_000  # characters; a cell that holds more is used for layout
_WIDEST_UNDER_HEADER = 4_000  # the same for a table with headers for its columns or rows

_PARTS = ("thead", "tbody", "tfoot", "tr")
_REMARKS = frozenset({"note", "tip", "important", "caution", "warning", "admonitionblock"})
_SUMMARY_BOXES = {"two-column-summary": 2, "three-column-summary": 3, "four-column-summary": 4}
_UNMARKED = str.maketrans("", "", CODE_START + CODE_END)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table; ``is_head``: it names its row or column."""

    text: str
    is_head: bool = False


def grid_of(table: Any) -> list[list[Cell]]:
    """The cells of a table by row and column; empty for a table used only for layout.

    All rows have the same length; several header rows become one. ``Cell.text`` is on one line,
    with inline code marked as ``bot.pages.page_markdown`` expects it.
    """
    if _is_layout(table):
        return []
    rows = ([cell for cell in row if tag_of(cell) in CELLS] for row in table.iter(*ROWS))
    elements = [cells for cells in rows if cells]
    has_heads = any(_is_head(cell) for cells in elements for cell in cells)
    widest = _WIDEST_UNDER_HEADER if has_heads else _WIDEST_CELL
    texts = ("".join(cell.itertext()) for cells in elements for cell in cells)
    if any(len(" ".join(text.split())) > widest for text in texts):
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
    if grid:  # without columns that only hold pictures or spacing
        kept = [x for x in range(len(grid[0])) if any(row[x].text for row in grid)]
        grid = [[row[x] for x in kept] for row in grid]
    return grid if grid and len(grid[0]) > 1 else []


def grid_of_boxes(box: Any) -> list[list[Cell]]:
    """Like ``grid_of``, for Javadoc's boxes laid out as a table; empty for any other element."""
    columns = next((_SUMMARY_BOXES[name] for name in classes_of(box) if name in _SUMMARY_BOXES), 0)
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
            caption = table.find("caption")
            text = "" if caption is None else inline_text(caption).translate(_UNMARKED)
            if text and table.getparent() is not None:
                paragraph = etree.Element("p")
                paragraph.text = text
                table.addprevious(paragraph)
                caption.drop_tree()
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


def _span(cell: Any, name: str) -> int:
    value = (cell.get(name) or "").strip()
    return max(1, int(value)) if value.isascii() and value.isdigit() and len(value) < 5 else 1


def _with_one_header(grid: list[list[Cell]]) -> list[list[Cell]]:
    """Merge several header rows into one: "2019" over "boats" is "2019 boats"."""
    heads = 0
    while heads < len(grid) - 1 and all(cell.is_head or not cell.text for cell in grid[heads]):
        heads += 1
    if not 1 < heads <= MOST_HEADER_ROWS:
        return grid
    columns = zip(*grid[:heads], strict=True)
    merged = [
        Cell(" ".join(dict.fromkeys(cell.text for cell in column if cell.text)), is_head=True)
        for column in columns
    ]
    return [merged, *grid[heads:]]


# ---------------------------------------------------------------- blocks


_DEEPEST_INDENT = 6  # list levels; deeper levels are not indented further
_LONGEST_TERMS = 100  # characters of several terms on one line
_WHOLE_PAGE = 0.5  # of a page's text; a larger <pre> is the page and not a piece of code
_LONG_PRE = 1_500  # characters; a shorter <pre> is always a piece of code

_SIGNATURES = frozenset({"sig", "sig-object", "member-signature", "type-signature", "math"})
"""Classes of code that Sphinx, Javadoc and MathJax do not mark with an element for code."""
_BOXES = frozenset(
    {"admonition", "note", "tip", "important", "caution", "warning", "danger", "hint", "sidebar"}
)
"""Classes of boxes beside the text: their heading does not apply to the text that follows."""
_LISTINGS = re.compile(
    r"code|highlight|listing|screen|source|synopsis|verbatim|example|literal|pretty|lang|terminal"
)

_TITLES = re.compile(rf"{OVER_A_BOX}|admonitionHeading|(?:alert|callout)-(?:title|heading)")

_SPACE = re.compile(r"\s+")
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_NEEDS_COLON = re.compile(r"[^:：.?!…。？！,;]$")


def written(root: Any) -> str:
    """The text of an element in the form of ``Page.text``."""
    writer = _Writer(root)
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "start":
            if not writer.start(element):
                walk.skip_subtree()
        else:
            writer.end(element)
            if element is not root:
                writer.inline.say(element.tail)
    return writer.text()


@dataclass(slots=True)
class _List:
    """An open list: whether it is numbered, and the number of its last item."""

    numbered: bool
    items: int = 0


class _Writer:
    def __init__(self, root: Any) -> None:
        self.inline = Inline()  # the open paragraph, item or heading
        self._length = len("".join(root.itertext()))
        self._blocks: list[str] = []
        self._heading = 0
        self._lists: list[_List] = []
        self._lines: list[str] = []  # of the outermost open list
        self._marker = ""  # of an item without text so far
        self._terms: list[str] = []  # waiting for their definition
        self._in_term = False
        self._layout = _layout_lists(root)

    def text(self) -> str:
        self._flush()
        self._end_lists()
        return "\n\n".join(self._blocks)

    def start(self, element: Any) -> bool:
        """Open an element; False if its content is already written or not to be written."""
        tag = tag_of(element)
        if not tag or tag in SILENT:
            return False
        if self.inline.in_code:
            self.inline.open(tag, element)
        elif tag == "pre" or (tag in CODE and self._is_code_block(element)):
            self._code(element)
            return False
        elif (tag == "table" and (grid := grid_of(element))) or (
            tag == "div" and (grid := grid_of_boxes(element))
        ):
            self._table(element, grid)
            return False
        elif tag in BLOCKS and not is_inline_quotation(tag, element):
            self._flush()
            if element not in self._layout:
                self._open(tag, element)
        else:
            self.inline.open(tag, element)
        if not (self.inline.in_code or _SIGNATURES.isdisjoint(classes_of(element))):
            self.inline.begin_code(element)
        self.inline.say(element.text)
        return True

    def end(self, element: Any) -> None:
        tag = tag_of(element)
        self.inline.close(tag, element)
        if self.inline.in_code or tag not in BLOCKS or is_inline_quotation(tag, element):
            return
        self._flush()
        self._heading = 0
        if tag == "dt":
            self._in_term = False
        if tag in LISTS and self._lists and element not in self._layout:
            self._write_terms()
            self._lists.pop()
            if not self._lists:
                self._end_lists()

    # ------------------------------------------------------------ blocks and lists

    def _open(self, tag: str, element: Any) -> None:
        if tag in LISTS:
            self._write_terms()
            start = element.get("start") or ""
            before = int(start) - 1 if start.isdecimal() and len(start) < 5 else 0
            self._lists.append(_List("ol" in (tag, element.get("rend")), before))
        elif tag in ITEMS:
            self._open_item((element.get("rend") or tag)[:2])
        elif tag in HEADINGS:
            parent = element.getparent()
            is_over_box = parent is not None and not _BOXES.isdisjoint(classes_of(parent))
            self._heading = _OF_BOX if is_over_box else _level(tag, element)
        elif tag == "summary" or _TITLES.search(element.get("class") or ""):
            self._heading = _OF_BOX

    def _open_item(self, kind: str) -> None:
        self._in_term = kind == "dt"
        if kind == "dt":
            self._marker = ""
        elif kind == "dd":
            self._marker = "- " if self._terms else ""
        else:
            self._write_terms()
            self._marker = "- "
            if self._lists:
                self._lists[-1].items += 1
                if self._lists[-1].numbered:
                    self._marker = f"{self._lists[-1].items}. "

    def _flush(self) -> None:
        """Close the open paragraph: it becomes a block, a heading, or a line of the open list."""
        if not self.inline:
            return
        text = literal(self.inline.take())
        if not text:
            return
        if self._in_term:
            # Texinfo writes an empty category before the colon
            self._terms.append(_SPACE.sub(" ", text).removeprefix(": "))
        elif self._heading == _OF_BOX:
            self._paragraph(f"{text}:" if _NEEDS_COLON.search(text) else text)
        elif self._heading and not self._lists:
            self._emit(f"{'#' * self._heading} {_SPACE.sub(' ', text)}")
        else:
            self._paragraph(text)

    def _paragraph(self, text: str) -> None:
        if self._lists:
            self._line(text)
        elif self._marker or self._terms:  # an item outside any list
            self._line(text)
            self._end_lists()
        else:
            for paragraph in _BLANK_LINES.split(text):
                self._emit(paragraph)

    def _line(self, text: str) -> None:
        around = self._lists[:-1][:_DEEPEST_INDENT]
        indent = "".join("   " if each.numbered else "  " for each in around)
        lead = f"{indent}{self._marker}"
        if self._terms:
            short = sum(map(len, self._terms)) <= _LONGEST_TERMS
            terms = (", " if short else "\n").join(self._terms)
            text = f"{terms}{':' if _NEEDS_COLON.search(terms) else ''} {text}".rstrip(" ")
            lead = f"{indent}- "
            self._terms.clear()
        elif not self._marker:
            lead = f"{indent}  "
        elif self.inline.only_links and self._marker == "- ":
            lead = f"{indent}+ "
        self._lines.append(lead + _BLANK_LINES.sub("\n", text).replace("\n", f"\n{indent}  "))
        self._marker = ""

    def _write_terms(self) -> None:
        """Write terms without a definition, or whose definition does not begin with text."""
        if self._terms:
            self._line("")

    def _end_lists(self) -> None:
        self._write_terms()
        if self._lines:
            self._blocks.append("\n".join(self._lines))
            self._lines.clear()

    def _emit(self, block: str) -> None:
        """Add a finished block; inside a list it interrupts the list."""
        self._end_lists()
        if block:
            self._blocks.append(block)

    # ------------------------------------------------------------ code and tables

    def _is_code_block(self, element: Any) -> bool:
        """True if <code> is used like <pre>: alone, or with line breaks of its own."""
        if next(element.iter(*BREAKS), None) is not None:
            return True
        alone = not self.inline and not (element.tail or "").strip()
        parent = element.getparent()
        return alone and (parent is None or tag_of(parent) in CONTAINERS)

    def _code(self, element: Any) -> None:
        for line_end in element.iter(*BREAKS):
            line_end.text = "\n"
        text = with_tildes("".join(element.itertext()).replace("\r\n", "\n").strip("\n").rstrip())
        self._flush()
        self._marker = ""
        if not text.strip():
            return
        is_listing = _is_listing(element)
        is_page = len(text) >= _LONG_PRE and len(text) > _WHOLE_PAGE * self._length
        if is_page and not is_listing and tag_of(element) == "pre":
            self._emit(set_plain(text, with_headings=True))
        elif is_listing or not is_prose(text):
            self._emit(fenced(text))
        else:
            for paragraph in _BLANK_LINES.split(text):
                lines = "\n".join(line.strip() for line in paragraph.splitlines()).strip()
                self._emit(literal(lines))

    def _table(self, table: Any, grid: list[list[Cell]]) -> None:
        self._flush()
        self._marker = ""
        caption = table.find("caption")
        if caption is not None and (text := literal(inline_text(caption))):
            self._emit(text)
        if is_record(grid):
            for is_over, rows in groupby(grid, is_title):
                texts = [[literal(cell.text) for cell in row] for row in rows]
                self._emit("\n".join(name if is_over else _named(name, of) for name, of in texts))
        else:
            # the header is the first row, since Markdown requires one
            head, *body = [[cell.text for cell in row] for row in grid]
            self._emit("\n".join(map(table_row, (head, ["---"] * len(head), *body))))


_OF_BOX = -1  # the level of a heading of a box beside the text


def _level(tag: str, element: Any) -> int:
    name = element.get("rend") or tag
    return int(name[1]) if name[1:2] in set("123456") else 2


def _layout_lists(root: Any) -> set[Any]:
    """The lists around headings, with their items: they only lay out sections of the page."""
    found: set[Any] = set()
    seen: set[Any] = set()
    for heading in root.iter(*HEADINGS):
        for around in heading.iterancestors():
            if around in seen or around is root:
                break
            seen.add(around)
            if tag_of(around) in LISTS or tag_of(around) in ITEMS:
                found.add(around)
    for each in list(found):
        if tag_of(each) in LISTS:
            found.update(item for item in each if tag_of(item) in ITEMS)
    return found


def _is_listing(element: Any) -> bool:
    parent = element.getparent()
    around = "" if parent is None else parent.get("class") or ""
    return (
        tag_of(element) != "pre"
        or _LISTINGS.search(f"{element.get('class') or ''} {around}") is not None
        or next(element.iterchildren(*CODE), None) is not None
    )


def _named(name: str, value: str) -> str:
    return f"- {name}{':' if _NEEDS_COLON.search(name) else ''} {value}".rstrip()
