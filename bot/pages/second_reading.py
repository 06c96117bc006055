"""A second reading of a document: all its words, without the rules of the reader that it checks.

It knows no layout, so that it cannot lose words in the way that a reader can. Words that a reader
leaves out by rule, like navigation and running headers, do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from bot.pages.formats.packages import Package, local, open_package
from bot.pages.page import LOST_NOTE, LOST_WORD

_PARTS = (
    (re.compile(r"word/document\.xml|ppt/slides/slide\d+\.xml|content\.xml"), LOST_WORD),
    (re.compile(r"xl/sharedStrings\.xml"), LOST_WORD),
    (re.compile(r"word/(?:foot|end)notes\.xml|ppt/notesSlides/notesSlide\d+\.xml"), LOST_NOTE),
)
# copies, deletions, comments, page numbers, phonetic guides, codes
_ASIDE = frozenset(("Fallback", "del", "moveFrom", "fld", "annotation", "tracked-changes", "rPh"))
_ASIDE |= {"instrText", "page-number"}
_BREAKS = frozenset(("br", "cr", "tab", "s", "line-break"))
_TAGS = tuple(f"{{*}}{name}" for name in ("p", "h", "si", *_ASIDE))
_UNSEEN = (
    *("head", "script", "style", "noscript", "template", "nav", "header", "footer", "aside"),
    *("button", "select", "svg"),
)


def of_package(data: bytes, name: str) -> Iterator[tuple[str, str]]:
    """The text of all paragraphs of an Office or OpenDocument file; ``name`` is its name in errors.

    Numbers in cells do not count, because their text depends on formats.
    """
    with open_package(data, name, "a document") as package:
        for pattern, what in _PARTS:
            for part in filter(pattern.fullmatch, package.names()):
                yield what, "\n".join(_paragraphs(package, part))


def _paragraphs(package: Package, part: str) -> Iterator[str]:
    for element in package.elements(part, _TAGS):
        if local(element) in _ASIDE:
            element.clear(keep_tail=True)
        elif not any(local(each) in _ASIDE for each in element.iterancestors()):
            yield "".join(map(_text_of, element.iter()))
            package.forget(element)


def _text_of(element: Any) -> str:
    """The element's own text, and what follows it if it is one of OpenDocument."""
    name = local(element)
    if name in _BREAKS:
        return f" {element.tail or ''}"
    if ":opendocument:" in str(element.tag):
        return f"{element.text or ''}{element.tail or ''}"
    return element.text or "" if name == "t" else ""


def of_html(tree: Any) -> tuple[str, str, str]:
    """The text of a page's content, and of that the text of what surrounds it, and of links."""
    mains = tree.xpath("//main|//*[@role='main']")
    root = mains[0] if len(mains) == 1 else tree
    return _within([root]), _within(root.iter(*_UNSEEN)), _within(root.iter("a"))


def _within(elements: Iterable[Any]) -> str:
    return " ".join(text for element in elements for text in element.itertext())
