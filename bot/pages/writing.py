"""Renders a tree of HTML elements as page text, with Markdown headings, lists and tables.

Supports the elements of HTML and those of trafilatura's own vocabulary (``head``, ``item``,
``row``, ``lb``). The tree is walked iteratively, so deep nesting does not exhaust the stack.

Converters such as markdownify or html2text produce Markdown for editing: they escape characters
wherever one might be markup, mark emphasis, keep link targets. Quotes are cut from this text, so
the words stay as they are on the page, and only text that Markdown would change is marked (see
``bot.pages.literal``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from bot.pages.formats.blocks import table_row
from bot.pages.grids import Cell, grid_of, grid_of_boxes, is_record, is_title
from bot.pages.inline import (
    BLOCKS,
    BREAKS,
    CODE,
    CONTAINERS,
    HEADINGS,
    ITEMS,
    LISTS,
    OVER_A_BOX,
    SILENT,
    Inline,
    classes_of,
    inline_text,
    is_inline_quotation,
    tag_of,
)  # fmt: skip
from bot.pages.literal import fenced, literal
from bot.pages.plain import is_prose, set_plain

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
        text = "".join(element.itertext()).replace("\r\n", "\n").strip("\n").rstrip()
        self._flush()
        self._marker = ""
        if not text.strip():
            return
        if self._is_page(element, text):
            self._emit(set_plain(text, with_headings=True))
        elif _is_listing(element) or not is_prose(text):
            self._emit(fenced(text))
        else:
            for paragraph in _BLANK_LINES.split(text):
                lines = "\n".join(line.strip() for line in paragraph.splitlines()).strip()
                self._emit(literal(lines))

    def _is_page(self, element: Any, text: str) -> bool:
        if len(text) < _LONG_PRE or tag_of(element) != "pre" or _is_listing(element):
            return False
        return len(text) > _WHOLE_PAGE * self._length

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
            self._emit(_markdown_table(grid))


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
    """True if the page marks a <pre> as code."""
    parent = element.getparent()
    around = "" if parent is None else parent.get("class") or ""
    return (
        tag_of(element) != "pre"
        or _LISTINGS.search(f"{element.get('class') or ''} {around}") is not None
        or next(element.iterchildren(*CODE), None) is not None
    )


def _named(name: str, value: str) -> str:
    return f"- {name}{':' if _NEEDS_COLON.search(name) else ''} {value}".rstrip()


def _markdown_table(grid: list[list[Cell]]) -> str:
    """A Markdown table; its header is the first row, since Markdown requires one."""
    head, *body = [[cell.text for cell in row] for row in grid]
    return "\n".join(map(table_row, (head, ["---"] * len(head), *body)))
