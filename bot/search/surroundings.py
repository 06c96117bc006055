"""Re-scores passages that were found by their words, using the text around them in their files."""

from __future__ import annotations

import re
import sqlite3
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from cachetools import LRUCache

from bot.pages.bm25 import BESIDE, relevance
from bot.search.index_file import count_spans, unpack_span, unpack_text
from bot.search.meaning import Match
from bot.text.terms import terms


@dataclass(frozen=True, slots=True)
class OpenedPage:
    """The page of a candidate: its title, its text, and the packed spans of its passages."""

    title: str
    text: str
    spans: bytes

    def passage(self, place: int) -> str:
        """The text of the passage at a place; "" before the first and after the last."""
        if not 0 <= place < count_spans(self.spans):
            return ""
        start, end = unpack_span(self.spans, place)
        return self.text[start:end]


HELD = 4_000_000  # characters of pages that one search keeps in memory
_HEADING_LINE = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.+)$", re.MULTILINE)
_FENCE = "\n```"
_MOST_HEADINGS = 3  # looked up above a passage


class Headings:
    """Finds the headings above a position in a page's text."""

    def __init__(self, text: str) -> None:
        self._text = f"\n{text}"
        self._fences: list[int] = []
        at = self._text.find(_FENCE)
        while at >= 0:
            self._fences.append(at)
            at = self._text.find(_FENCE, at + 1)

    def above(self, start: int) -> list[str]:
        """The nearest headings above, of increasing rank, nearest first."""
        found: list[str] = []
        level = 7
        at = start + 1
        while len(found) < _MOST_HEADINGS and level > 1:
            at = self._text.rfind("\n#", 0, at)
            if at < 0:
                break
            line = _HEADING_LINE.match(self._text, at + 1)
            # "# Install" inside a code fence is a comment.
            is_code = bisect_left(self._fences, at) % 2 == 1
            if line is not None and len(line[1]) < level and not is_code:
                level = len(line[1])
                found.append(line[2].strip("# "))
        return found


def load_page(connection: sqlite3.Connection, file: int) -> OpenedPage:
    """Load the page of a file from the index. Raises ``Damaged`` and ``sqlite3.Error``."""
    title, text, spans = connection.execute(
        "SELECT title, text, spans FROM pages WHERE file = ?", (file,)
    ).fetchone()
    return OpenedPage(title, unpack_text(text), spans)


class Pages:
    """Pages of an index by file, loaded when needed; limited to ``HELD`` characters in memory."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._held: LRUCache[int, OpenedPage] = LRUCache(
            HELD, getsizeof=lambda page: len(page.text)
        )

    def __getitem__(self, file: int) -> OpenedPage:
        """Raises ``Damaged`` and ``sqlite3.Error``."""
        page = self._held.get(file)
        if page is None:
            page = load_page(self._connection, file)
            if len(page.text) <= HELD:
                self._held[file] = page
        return page


def rate_matches(
    weights: Mapping[str, float],
    matches: Sequence[Match],
    pages: Pages | Mapping[int, OpenedPage],
) -> list[Match]:
    """The matches with their score by ``bot.pages.bm25``, best first.

    ``weights`` are those of the question's terms. ``pages`` has the files of the matches, which are
    processed one at a time.
    """
    reach = len(BESIDE)
    found: dict[int, Match] = {}
    by_file = sorted(range(len(matches)), key=lambda i: matches[i].file)
    for file, places_of_matches in groupby(by_file, key=lambda i: matches[i].file):
        page = pages[file]
        title = frozenset(terms(page.title))
        headings = Headings(page.text)
        counted: dict[int, list[str]] = {}
        for i in places_of_matches:
            at = matches[i].place
            around = range(at - reach, at + reach + 1)
            for place in around:
                if place not in counted:
                    counted[place] = terms(page.passage(place))
            words = [counted[place] for place in around]
            start, _ = unpack_span(page.spans, at)
            heading = frozenset(terms("\n".join(headings.above(start))))
            scores = relevance(
                weights,
                [Counter(each) for each in words],
                [len(each) for each in words],
                [heading] * len(words),
                title,
            )
            found[i] = replace(matches[i], score=scores[reach])
    return [found[i] for i in sorted(found, key=lambda i: (-found[i].score, i))]
