"""A tree of HTML elements written as page text: blocks with headings, lists and tables in Markdown.

Understands the elements of HTML and those of trafilatura's own vocabulary (``head``, ``item``,
``row``, ``lb``). The tree is walked, not descended into, so that deep nesting costs no stack.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

_HEADINGS = frozenset({"head", "h1", "h2", "h3", "h4", "h5", "h6"})
_LISTS = frozenset({"list", "ul", "ol", "dl", "menu"})
_ITEMS = frozenset({"item", "li", "dt", "dd"})
_ROWS = frozenset({"row", "tr"})
_CELLS = frozenset({"cell", "td", "th"})
_BREAKS = frozenset({"lb", "br"})
_CODE = frozenset({"code", "pre"})
_QUOTATIONS = frozenset({"q", "quote"})
_PICTURES = frozenset({"graphic", "img", "picture", "source"})
# fmt: off
_CONTAINERS = frozenset({
    "address", "article", "blockquote", "body", "center", "details", "div", "fieldset", "figure",
    "footer", "form", "header", "hgroup", "html", "main", "nav", "quote", "section",
})
_BLOCKS = _CONTAINERS | _HEADINGS | _LISTS | _ITEMS | _ROWS | _CELLS | {
    "caption", "figcaption", "hr", "p", "pre", "summary", "table", "tbody", "tfoot", "thead",
}
# fmt: on

_DEEPEST_INDENT = 6  # list levels; what is nested deeper stays at that indent
_WIDEST_CELL = 1_000  # characters; a cell that holds more is layout

_SPACES = re.compile(r" {2,}")
_SPACE = re.compile(r"\s+")
_AROUND_BREAK = re.compile(r" *\n *")
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_SYMBOL = re.compile(r"[{}()\[\];=<>$|\\/_#&*+@]")


def written(root: Any) -> str:
    """The text of an element in the form that ``Page.text`` has."""
    writer = _Writer()
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "start":
            if not writer.start(element):
                walk.skip_subtree()
        else:
            writer.end(element)
            if element is not root:
                writer.say(element.tail)
    return writer.text()


@dataclass(slots=True)
class _List:
    """An open list: whether it is numbered, and how many items it has had."""

    numbered: bool
    items: int = 0


class _Writer:
    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._words: list[str] = []  # of the paragraph, item or heading that is open
        self._heading = 0
        self._lists: list[_List] = []
        self._lines: list[str] = []  # of the outermost open list
        self._marker = ""  # of the item that has said nothing yet
        self._term = False  # the last line is a term that waits for its definition

    def text(self) -> str:
        self._flush()
        return "\n\n".join(self._blocks)

    def say(self, text: str | None) -> None:
        if text:
            self._words.append(_SPACE.sub(" ", text))

    def start(self, element: Any) -> bool:
        """Open an element; false if its inside is written already, or is not to be written."""
        tag = _tag(element)
        if not tag or tag in _PICTURES:
            return False
        if tag in _CODE and self._is_code_block(tag, element):
            self._code("".join(element.itertext()))
            return False
        if tag == "table" and (rows := data_rows(element)):
            self._emit(_table(rows))
            return False
        if tag in _BREAKS:
            self._words.append("\n")
        elif _is_inline_quotation(tag, element):
            self._words.append("“")
        elif tag in _BLOCKS:
            self._open(tag, element)
        self.say(element.text)
        return True

    def end(self, element: Any) -> None:
        tag = _tag(element)
        if _is_inline_quotation(tag, element):
            self._words.append("”")
        elif tag in _BLOCKS:
            self._flush()
            self._heading = 0
            if tag in _LISTS and self._lists:
                self._lists.pop()
                if not self._lists:
                    self._emit("\n".join(self._lines))
                    self._lines.clear()

    def _open(self, tag: str, element: Any) -> None:
        self._flush()
        if tag in _LISTS:
            self._lists.append(_List("ol" in (tag, element.get("rend"))))
        elif tag in _ITEMS:
            self._open_item((element.get("rend") or tag)[:2])
        elif tag in _HEADINGS:
            self._heading = _level(tag, element)

    def _open_item(self, kind: str) -> None:
        if kind == "dd" and self._term:
            self._marker = ""
            return
        self._term = False
        self._marker = "- "
        if self._lists:
            self._lists[-1].items += 1
            if self._lists[-1].numbered:
                self._marker = f"{self._lists[-1].items}. "
        if kind == "dt":
            self._term = True

    def _flush(self) -> None:
        """Close the open paragraph: it becomes a block, a heading, or a line of the open list."""
        text = _AROUND_BREAK.sub("\n", _SPACES.sub(" ", "".join(self._words))).strip()
        self._words.clear()
        if not text:
            return
        if self._lists:
            self._line(text.replace("\n", " "))
        elif self._heading:
            self._emit(f"{'#' * self._heading} {_SPACE.sub(' ', text)}")
        elif self._marker:
            self._emit(f"- {_SPACE.sub(' ', text)}")
            self._marker = ""
        else:
            for paragraph in _BLANK_LINES.split(text):
                self._emit(paragraph)

    def _line(self, text: str) -> None:
        around = self._lists[:-1][:_DEEPEST_INDENT]
        indent = "".join("   " if each.numbered else "  " for each in around)
        if self._marker:
            self._lines.append(f"{indent}{self._marker}{text}")
            self._marker = ""
        elif self._term and self._lines:
            self._lines[-1] += f": {text}"
            self._term = False
        else:
            self._lines.append(f"{indent}  {text}")

    def _emit(self, block: str) -> None:
        """Add a finished block; inside a list it interrupts the list."""
        if self._words:
            self._flush()
        if self._lines and self._lists:
            self._blocks.append("\n".join(self._lines))
            self._lines.clear()
        if block:
            self._blocks.append(block)

    def _is_code_block(self, tag: str, element: Any) -> bool:
        if tag == "pre":
            return True
        if "\n" in "".join(element.itertext()).strip():
            return True
        alone = not "".join(self._words).strip() and not (element.tail or "").strip()
        parent = element.getparent()
        return alone and (parent is None or _tag(parent) in _CONTAINERS)

    def _code(self, text: str) -> None:
        """Code in a fence; prose that was only set in fixed width as paragraphs."""
        text = text.replace("\r\n", "\n").strip("\n").rstrip()
        if not text.strip():
            return
        if len(_SYMBOL.findall(text)) * 6 < len(_WORD.findall(text)):
            for paragraph in _BLANK_LINES.split(text):
                self._emit("\n".join(line.strip() for line in paragraph.splitlines()).strip())
            return
        longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
        fence = "`" * max(3, longest + 1)
        self._emit(f"{fence}\n{text}\n{fence}")


def _tag(element: Any) -> str:
    """The element's name; "" for comments and processing instructions."""
    return element.tag if isinstance(element.tag, str) else ""


def _level(tag: str, element: Any) -> int:
    name = element.get("rend") or tag
    return int(name[1]) if name[1:2] in set("123456") else 2


def _is_inline_quotation(tag: str, element: Any) -> bool:
    """<q>; trafilatura's tree has one name for it and for block quotations."""
    if tag not in _QUOTATIONS:
        return False
    parent = element.getparent()
    return tag == "q" or (parent is not None and _tag(parent) == "p")


# ---------------------------------------------------------------- tables


def data_rows(table: Any) -> list[list[str]]:
    """The cells of a table as text; empty for one that only lays out the page."""
    for inside in table.iterdescendants("table", *_HEADINGS):
        if inside is not table:
            return []
    rows = [[cell_text(cell) for cell in row if _tag(cell) in _CELLS] for row in table.iter(*_ROWS)]
    rows = [row for row in rows if any(row)]
    widest = max(map(len, rows), default=0)
    if widest < 2 or any(len(cell) > _WIDEST_CELL for row in rows for cell in row):
        return []
    return [row + [""] * (widest - len(row)) for row in rows]


def cell_text(cell: Any) -> str:
    """The words of a table cell on one line."""
    words: list[str] = []
    walk = etree.iterwalk(cell, events=("start", "end"))
    for event, element in walk:
        tag = _tag(element)
        if tag in _BLOCKS or tag in _BREAKS:
            words.append(" ")
        if event == "start":
            if not tag or tag in _PICTURES:
                walk.skip_subtree()
            else:
                words.append(element.text or "")
        elif element is not cell:
            words.append(element.tail or "")
    return _SPACE.sub(" ", "".join(words)).strip()


def _table(rows: list[list[str]]) -> str:
    """Markdown has no table without a header, so the first row is it."""
    head, *body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
