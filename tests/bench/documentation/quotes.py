"""Tells whether quotes stand in their documents, as the documents are rendered independently."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from tests.bench.documentation import rendering
from tests.bench.documentation.kept import words

_FENCE = re.compile(r"(?:```+|~~~+)[\w+-]*")  # with the name of a language
_LIST_MARK = re.compile(r"^\s*(?:\d+[.)]|[-*+]|#+)\s+")
_LINK_TARGET = re.compile(r"(?<=\])\([^()\s]*(?: \"[^\"]*\")?\)")


def stands(quote: str, file: Path) -> bool:
    """Return True if every line of a quote stands in the document word for word, and the lines in
    this order (between them there may be what the quote leaves out, such as rows of a table).

    Of a row of a table every cell must stand in the document: one that spans several rows is
    repeated in each.
    """
    text = _words_of(file)
    if file.suffix.lower() in rendering.MARKDOWN:
        quote = _LINK_TARGET.sub("", quote)
    place = 0
    for line in _FENCE.sub("\n", quote).splitlines():
        if line.lstrip().startswith("|"):
            if any(text.find(_spoken(cell)) < 0 for cell in line.split("|")):
                return False
            continue
        found = text.find(_spoken(_LIST_MARK.sub("", line)), place)
        if found < 0:
            return False
        place = found
    return True


def _spoken(line: str) -> str:
    """The words of a line between spaces; one space where there is none."""
    return f" {' '.join(words([line]))} ".replace("  ", " ")


@lru_cache(maxsize=64)
def _words_of(file: Path) -> str:
    """All words of a document in their order, each between two spaces."""
    found = rendering.read(file)
    return _spoken(found[1] if found else "")
