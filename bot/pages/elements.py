"""The elements of HTML, and of trafilatura's own vocabulary, by what they are to a writer."""

from __future__ import annotations

from typing import Any

HEADINGS = frozenset({"head", "h1", "h2", "h3", "h4", "h5", "h6"})
LISTS = frozenset({"list", "ul", "ol", "dl", "menu", "dir"})
ITEMS = frozenset({"item", "li", "dt", "dd"})
ROWS = frozenset({"row", "tr"})
CELLS = frozenset({"cell", "td", "th"})
BREAKS = frozenset({"lb", "br"})
CODE = frozenset({"code", "kbd", "samp", "tt"})
QUOTATIONS = frozenset({"q", "quote"})
SILENT = frozenset({"graphic", "img", "picture", "source", "script", "style", "template", "title"})
"""What has no words of its own, or none that a reader sees."""
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
"""Class of the title of a box, as Docutils writes it; also given to the titles of tabs."""


def tag_of(element: Any) -> str:
    """The element's name; "" for comments and processing instructions."""
    return element.tag if isinstance(element.tag, str) else ""


def classes_of(element: Any) -> list[str]:
    """The element's classes."""
    return (element.get("class") or "").split()
