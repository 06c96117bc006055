"""Which words of a page's content Footnote's reading keeps, and which of its navigation."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.errors import PageUnreadable
from bot.pages import extract
from tests.bench.documentation.baseline import CJK
from tests.bench.documentation.generators import HIDDEN, Generator, generator_of
from tests.bench.documentation.rendering import HTML, parsed, visible_text
from tests.bench.documentation.sets import DocumentationSet

SHORTEST = 20  # words of content; a page of fewer is a stub or a redirection
LISTS = frozenset({"genindex", "search", "py-modindex", "modindex", "index-all"})
"""Stems of pages that are made of links alone."""

_REDIRECTION = re.compile(rb"""http-equiv=["']?refresh""", re.IGNORECASE)
_TOKEN = re.compile(f"[{CJK}]|[^\\W{CJK}]+")
_NO_WIDTH = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")


@dataclass(frozen=True, slots=True)
class Page:
    """One page as it was read: counts of words of the content, of those kept of them, of all that
    was read, and of navigation in it; the words that were lost most often, and those that were
    read and are nowhere on the page (numbers aside: items of lists are counted)."""

    set: str
    generator: str
    path: str
    content: int
    kept: int
    read: int
    navigation: int
    lost: tuple[tuple[str, int], ...] = ()
    strange: tuple[str, ...] = ()

    @property
    def kept_share(self) -> float:
        """Of the words of the content, those that were read."""
        return self.kept / self.content

    @property
    def navigation_share(self) -> float:
        """Of the words that were read, those that are navigation."""
        return self.navigation / self.read if self.read else 0.0


def pages(docs: DocumentationSet, root: Path, most: int) -> Iterator[Page]:
    """The HTML pages of a set as Footnote reads them, ``most`` of them evenly chosen (0: all)."""
    files = [
        file
        for file in sorted(root.rglob("*"))
        if file.suffix.lower() in HTML
        and file.is_file()
        and file.stem not in LISTS
        and not _REDIRECTION.search(file.read_bytes()[:4096])
    ]
    step = max(1, len(files) // most) if most else 1
    for file in files[::step]:
        data = file.read_bytes()
        tree = parsed(data) if data.strip() else None
        generator = None if tree is None else generator_of(tree, docs.generators)
        if generator is not None:
            page = measured(data, tree, generator, docs.name, file.relative_to(root).as_posix())
            if page.content >= SHORTEST:
                yield page


def measured(data: bytes, tree: Any, generator: Generator, name: str, path: str) -> Page:
    """Compare what Footnote reads with the page's content, as multisets of words."""
    content, navigation, neither = parts(tree, generator)
    try:
        found = extract.from_bytes(data, "text/html", path)
        text, title = found.text, found.title
    except PageUnreadable:
        text = title = ""
    read = Counter(words([text]))
    lost = content - read - Counter(words([title]))
    beside = read - content - neither
    return Page(
        set=name,
        generator=generator.name,
        path=path,
        content=content.total(),
        kept=content.total() - lost.total(),
        read=read.total(),
        navigation=(beside & navigation).total(),
        lost=tuple(lost.most_common(8)),
        strange=tuple(
            word
            for word in sorted(read.keys() - content.keys() - navigation.keys() - neither.keys())
            if not word.isdigit()
        ),
    )


def parts(tree: Any, generator: Generator) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """The words of the content, of the navigation, and those that do not count. Takes the tree
    apart."""
    neither = _taken_out(tree, HIDDEN) + _taken_out(tree, generator.neither)
    inner = _taken_out(tree, generator.navigation)
    content = tree.xpath(generator.content)
    words_of_content = Counter(words(visible_text(each) for each in content))
    for each in content:
        if each.getparent() is not None and each.tag != "body":
            each.drop_tree()
    outer = [] if any(each.tag == "body" for each in content) else [tree]
    navigation = Counter(words([*inner, *(visible_text(each) for each in outer)]))
    return words_of_content, navigation, Counter(words(neither))


def _taken_out(tree: Any, path: str) -> list[str]:
    if not path:
        return []
    elements = tree.xpath(path)
    texts = [visible_text(each) for each in elements]
    for each in elements:
        if each.getparent() is not None:
            each.drop_tree()
    return texts


def words(texts: Iterable[str]) -> Iterator[str]:
    """Runs of letters, digits and underscores, without case; a CJK character is a word.

    Underscores around a word do not count: they may be Markdown.
    """
    for text in texts:
        plain = unicodedata.normalize("NFKC", _NO_WIDTH.sub("", text)).casefold()
        yield from filter(None, (token.strip("_") for token in _TOKEN.findall(plain)))
