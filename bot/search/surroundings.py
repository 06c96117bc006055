"""Passages found by their words, rated anew with what stands around them in their files."""

from __future__ import annotations

import re
import sqlite3
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bot.pages.relevance import (
    BESIDE,
    literal_scores,
    pair_scores,
    pairs_in,
    relevance,
)
from bot.search.index_file import count_spans, unpack_span, unpack_text
from bot.search.meaning import Match
from bot.text.literals import literals
from bot.text.terms import terms


@dataclass(frozen=True, slots=True)
class Opened:
    """A page that has candidates: its title, its text, and the packed spans of its passages."""

    title: str
    text: str
    spans: bytes

    def passage(self, place: int) -> str:
        """The text of the passage at a place; "" before the first and after the last."""
        if not 0 <= place < count_spans(self.spans):
            return ""
        start, end = unpack_span(self.spans, place)
        return self.text[start:end]


_HEADING_LINE = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.+)$", re.MULTILINE)
_FENCE = "\n```"
_MOST_HEADINGS = 3  # that are looked for above a passage


class Headings:
    """The headings of a page's text, to be asked which stand above a place."""

    def __init__(self, text: str) -> None:
        self._text = f"\n{text}"
        self._fences: list[int] = []
        at = self._text.find(_FENCE)
        while at >= 0:
            self._fences.append(at)
            at = self._text.find(_FENCE, at + 1)

    def above(self, start: int) -> list[str]:
        """The nearest headings above, of rising rank, nearest first."""
        found: list[str] = []
        level = 7
        at = start + 1
        while len(found) < _MOST_HEADINGS and level > 1:
            at = self._text.rfind("\n#", 0, at)
            if at < 0:
                break
            line = _HEADING_LINE.match(self._text, at + 1)
            # "# Install" in a fence that is still open is a comment.
            is_code = bisect_left(self._fences, at) % 2 == 1
            if line is not None and len(line[1]) < level and not is_code:
                level = len(line[1])
                found.append(line[2].strip("# "))
        return found


def opened(connection: sqlite3.Connection, file: int) -> Opened:
    """The page of a file of the index. Raises ``Damaged`` and ``sqlite3.Error``."""
    title, text, spans = connection.execute(
        "SELECT title, text, spans FROM pages WHERE file = ?", (file,)
    ).fetchone()
    return Opened(title, unpack_text(text), spans)


def rated(
    question: str,
    weights: Mapping[str, float],
    matches: Sequence[Match],
    pages: Mapping[int, Opened],
) -> list[Match]:
    """The matches with their score by ``bot.pages.relevance``, best first.

    ``weights`` are those of the question's terms, ``pages`` the files of the matches.
    """
    counted: dict[tuple[int, int], list[str]] = {}

    def words_of(file: int, place: int) -> list[str]:
        key = file, place
        if key not in counted:
            counted[key] = terms(pages[file].passage(place))
        return counted[key]

    reach = len(BESIDE)
    pairs = pairs_in(question)
    exact = literals(question)
    titles = {file: frozenset(terms(page.title)) for file, page in pages.items()}
    headings = {file: Headings(page.text) for file, page in pages.items()}
    found = []
    for match in matches:
        page = pages[match.file]
        places = range(match.place - reach, match.place + reach + 1)
        words = [words_of(match.file, place) for place in places]
        start, _ = unpack_span(page.spans, match.place)
        heading = frozenset(terms("\n".join(headings[match.file].above(start))))
        scores = relevance(
            weights,
            [Counter(each) for each in words],
            [len(each) for each in words],
            [heading] * len(words),
            titles[match.file],
        )
        (bound,) = pair_scores(weights, pairs, [words[reach]])
        (added,) = literal_scores(weights, exact, [page.passage(match.place)])
        found.append(replace(match, score=scores[reach] + bound + added))
    order = sorted(range(len(found)), key=lambda i: (-found[i].score, i))
    return [found[i] for i in order]
