"""Targets of footnote marks: the stored page, at the quote that supports the mark's sentence.

A mark names a page, and a page may be quoted several times. The best quotes are those that share
the most words with the sentence; words count by their length, because common words are short.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from adapters.web.markdown import Place
from bot.core.answers import Answer, Citation

MOST = 2  # quotes shown for one mark

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")


def copies_of(run: str, root: str = "") -> str:
    """Return the path below which the stored pages of a run are shown, by number."""
    return f"{root}/runs/{quote(run)}/pages/"


class AnswerPlaces:
    """Finds the targets of a finished answer's marks."""

    def __init__(self, answer: Answer, root: str = "") -> None:
        self._pages = copies_of(answer.run, root)
        self._quotes: dict[int, list[tuple[str, Citation, set[str]]]] = {}
        for anchor, cited in anchored(answer.citations):
            words = _words(" ".join(cited.proven) or cited.quote)
            self._quotes.setdefault(cited.number, []).append((anchor, cited, words))

    def __call__(self, number: int, sentence: str) -> Place:
        quotes = self._quotes.get(number, [])
        if not quotes:
            return Place(f"{self._pages}{number}")
        wanted = _words(sentence)
        ranked = sorted(
            ((sum(map(len, words & wanted)), anchor, cited) for anchor, cited, words in quotes),
            key=lambda one: -one[0],
        )
        best = ranked[0]
        near = [anchor for score, anchor, _ in ranked[:MOST] if 2 * score >= best[0]]
        return Place(f"{self.page(best[2])}#{best[1]}", tuple(near))

    def page(self, cited: Citation) -> str:
        """Return the URL of the stored copy of a cited page; a number may have several."""
        hashes = {other.page_hash for _, other, _ in self._quotes[cited.number]}
        which = f"?copy={quote(cited.page_hash)}" if len(hashes) > 1 else ""
        return f"{self._pages}{cited.number}{which}"


def anchored(citations: Iterable[Citation]) -> list[tuple[str, Citation]]:
    """Return the citations with the anchors that ``bot.research.trace.quotes_of`` uses."""
    counted: dict[int, int] = {}
    found = []
    for cited in citations:
        counted[cited.number] = counted.get(cited.number, 0) + 1
        found.append((f"q{cited.number}-{counted[cited.number]}", cited))
    return found


def by_number(citations: Iterable[Citation]) -> Mapping[int, list[tuple[str, Citation]]]:
    """Return the anchored citations of each number, in order of the numbers."""
    grouped: dict[int, list[tuple[str, Citation]]] = {}
    for anchor, cited in anchored(citations):
        grouped.setdefault(cited.number, []).append((anchor, cited))
    return dict(sorted(grouped.items()))


def _words(text: str) -> set[str]:
    """Return the words of a text, or its characters in scripts that do not separate words."""
    return set(_WORD.findall(text.lower()))
