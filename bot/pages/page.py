"""A fetched document: as its server sent it (``Document``), and as text (``Page``)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Page:
    """A fetched document.

    ``url`` is the final, canonical address. ``text`` is what quotes are cut from: Markdown with
    ATX headings (``## History``), lists, tables, fenced code and inline code, its blocks separated
    by one empty line. There are no links, and emphasis only where the document itself is Markdown.
    The further paragraphs of a list item are indented, code and tables stand at the margin. An item
    that is nothing but a link, as in a table of contents, begins with "+". ``fetched_at`` is
    timezone-aware. ``hash`` identifies the text: SHA-256, hex. ``via`` is what people call whoever
    gave the text where that was not the site itself ("Tavily"), or "".
    """

    url: str
    title: str
    text: str
    fetched_at: datetime
    hash: str = field(default="")
    via: str = ""

    def __post_init__(self) -> None:
        if not self.hash:
            digest = hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()
            object.__setattr__(self, "hash", digest)


@dataclass(frozen=True, slots=True)
class Document:
    """A server's response: ``url`` is the final canonical address, ``data`` is decompressed."""

    url: str
    content_type: str | None
    data: bytes
    fetched_at: datetime


_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalnum())


def share(text: str, of: str, without: str = "") -> float:
    """The share of a text's letters and digits that another text has, from 0 to 1.

    Only counted, not compared: this is done for every document that is indexed. ``without`` are
    the parts of the whole that do not count.
    """
    whole = _letters(of) - _letters(without)
    return min(1.0, _letters(text) / whole) if whole > 0 else 1.0


def _letters(text: str) -> int:
    """Letters and digits, in bytes; what is not ASCII counts as letters."""
    return len(text.encode("utf-8", "surrogatepass").translate(None, _NO_LETTERS))
