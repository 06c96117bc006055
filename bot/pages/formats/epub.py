"""Converts electronic books (EPUB 2 and 3) to page text: the chapters in reading order.

A chapter is an XHTML page; it is rendered whole, because a book has no navigation around its text
(https://www.w3.org/TR/epub-33/).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bot.core.errors import PageUnreadable
from bot.core.texts import said
from bot.pages import charset
from bot.pages.content import remove, with_alternatives, with_state, without_hidden
from bot.pages.formats.packages import Package, attribute, open_package, resolved
from bot.pages.markup import parse_html
from bot.pages.page import Reading
from bot.pages.page_markdown import Blocks
from bot.pages.writing import written
from bot.text.patterns import listed

LARGEST_CHAPTER = 5_000_000
"""Bytes; all of War and Peace has 3.2 million characters."""

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = frozenset({"application/xhtml+xml", "text/html", "text/x-oeb1-document"})
_NO_TEXT = listed("head script style template svg nav audio video iframe annotation annotation-xml")
_NOTE = re.compile(r"\b(?:doc-)?noteref\b")


def read_epub(data: bytes, name: str) -> Reading:
    """Read a book; ``name`` is its name in errors.

    Raises ``PageUnreadable`` for one that is damaged, protected against copying, or too large.
    """
    with open_package(data, name, said("what-epub")) as package:
        at, root = _root(package)
        title = " ".join((root.findtext("{*}metadata/{*}title") or "").split())
        chapters = list(_chapters(package, at, root))
        if _is_locked(package, set(chapters)):
            raise PageUnreadable(said("unread-epub", name=name))
        blocks = Blocks()
        done = hidden = 0
        for part in chapters:
            if blocks.full:
                blocks.heading(2, f"Chapters {done + 1} to {len(chapters)} were not read")
                break
            done += 1
            hidden += _write(package.read(part, LARGEST_CHAPTER), blocks)
        kept = done / len(chapters) if chapters else 1.0
        return Reading(title, blocks.text(), kept, omitted={"hidden text": hidden})


def _root(package: Package) -> tuple[str, Any]:
    container = package.tree(_CONTAINER)
    found = None if container is None else container.find("{*}rootfiles/{*}rootfile")
    at = "" if found is None else found.get("full-path") or ""
    package.check_present(at)
    return at, package.tree(at)


def _chapters(package: Package, at: str, root: Any) -> Iterator[str]:
    items = {each.get("id"): each for each in root.iterfind("{*}manifest/{*}item")}
    for reference in root.iterfind("{*}spine/{*}itemref"):
        item = items.get(reference.get("idref"))
        if item is None or item.get("media-type") not in _PAGES:
            continue
        part = resolved(at, item.get("href") or "")
        is_contents = "nav" in (item.get("properties") or "").split()
        if part in package and not is_contents:
            yield part


def _is_locked(package: Package, chapters: set[str]) -> bool:
    """True if chapters are encrypted; fonts often are, which is harmless."""
    root = package.tree(_ENCRYPTION)
    if root is None:
        return False
    return any(attribute(each, "URI") in chapters for each in root.iter("{*}CipherReference"))


def _write(page: bytes, blocks: Blocks) -> int:
    """Write a page, and return how much of it is hidden."""
    tree = parse_html(charset.decode(page, "utf-8"))
    body = None if tree is None else tree.find(".//body")
    if body is None:
        return 0
    hidden = without_hidden(body)
    with_state(body)
    with_alternatives(body)
    for element in list(body.iter(*_NO_TEXT)):
        if element.getparent() is not None:
            remove(element)
    for link in body.iter("a"):
        if _NOTE.search(f"{link.get('epub:type')} {link.get('role')}") and not len(link):
            link.text = f"[^{(link.text or '').strip('[]')}]"  # Markdown's form
    blocks.page_text(written(body))
    return hidden
