"""A fetched document as the rest of Footnote sees it."""

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
