"""HTML elements by kind, and the text of inline content: a paragraph, heading or cell."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from bot.pages.formats.blocks import without_breaks_in_cjk
from bot.pages.literal import CODE_END, CODE_START

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
    """Collects text. Inline code is enclosed in the marks that ``bot.pages.literal`` expects.

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
