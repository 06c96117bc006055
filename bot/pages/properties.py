"""Titles in the properties of a document, which are often a program's and not an author's."""

from __future__ import annotations

import re

_NO_TITLE = re.compile(
    r"\s*(?:untitled|title|unknown|(?:document|presentation|book|sheet)\d*|slide 1"
    r"|powerpoint presentation|word document"
    r"|microsoft (?:word|powerpoint|excel) - .*|[^ ]*\.(?:docx?|pptx?|xlsx?|pdf|tex|dvi|indd|qxd"
    r"|rtf|od[tsp]|html?))?\s*",
    re.IGNORECASE,
)


def said_title(title: str) -> str:
    """The title on one line; "" for what a program put there by itself."""
    line = " ".join(title.split())
    return "" if _NO_TITLE.fullmatch(line) else line
