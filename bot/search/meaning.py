"""Ranking passages by meaning as well as by words.

On test sets in which people ask in their own words, the mean of the scaled BM25 score and the
scaled cosine (from the lowest to the highest of the candidates) found more than either alone, for
every model tried. No cosine threshold fits two models, so none is used. A passage without a vector
keeps its rank by words.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from cachetools import LRUCache

from bot.core.errors import FootnoteError
from bot.core.logs import get_logger
from bot.search.embedding.embedder import Embedder, Vector
from bot.search.vectors import Scan, maker_of
from bot.search.visible import Visible

log = get_logger()

REST_SECONDS = 30.0  # for which an embedder is not called after a failure
QUESTIONS = 512  # questions whose vectors are cached

Place = tuple[int, int]
"""A passage: its file and its position in it."""


@dataclass(frozen=True, slots=True)
class Match:
    """A matching passage; ``place`` is its position in its file.

    ``score`` is by words; higher is better. ``relevance`` is by meaning: 1 for the passage closest
    to the question, 0 for those no closer than the average; None without a vector.
    """

    file: int
    url: str
    place: int
    score: float = 0.0
    relevance: float | None = None


class Meaning:
    """Similarity of an index's passages by an embedder's vectors; ``clock`` is in seconds."""

    def __init__(self, embedder: Embedder, clock: Callable[[], float] = time.monotonic) -> None:
        self._embedder = embedder
        self._clock = clock
        self._rests_until = 0.0
        self._questions: LRUCache[str, Vector] = LRUCache(QUESTIONS)

    async def vector_of(self, question: str) -> Vector | None:
        """The vector of a question; None while the embedder is unavailable."""
        if (known := self._questions.get(question)) is not None:
            return known
        if self._clock() < self._rests_until or not question.strip():
            return None
        try:
            vector = await self._embedder.embed_question(question)
        except FootnoteError as error:
            self._rests_until = self._clock() + REST_SECONDS
            log.warning("searching_by_words_alone", error=str(error))
            return None
        self._questions[question] = vector
        return vector

    # ------------------------------------------------------------ in a thread, in a transaction

    def has_vectors(self, connection: sqlite3.Connection) -> bool:
        """Return True if any passage of the index has a vector."""
        query = "SELECT 1 FROM vectors WHERE maker = ? LIMIT 1"
        maker = maker_of(connection, self._embedder.model)
        return connection.execute(query, (maker,)).fetchone() is not None

    def scan(self, connection: sqlite3.Connection, question: Vector, visible: Visible) -> Scan:
        return Scan(connection, maker_of(connection, self._embedder.model), question, visible)


def ranked(scan: Scan, by_words: Sequence[Match], most: int) -> list[Match]:
    """Merge the best passages by words with the ``most`` nearest by meaning, best first."""
    near = list(islice(scan.nearest(), most))
    cosines = {(each.file, each.place): each.cosine for each in near}
    for match in by_words:
        cosine = scan.cosine(match.file, match.place)
        if cosine is not None:
            cosines[match.file, match.place] = cosine
    candidates = {(each.file, each.place): Match(each.file, each.url, each.place) for each in near}
    candidates |= {(match.file, match.place): match for match in by_words}
    scores = {(match.file, match.place): match.score for match in by_words}
    return [
        replace(candidates[place], relevance=scan.relevance(cosines[place]))
        if place in cosines
        else candidates[place]
        for place in fuse(scores, cosines)
    ]


def fuse(by_words: Mapping[Place, float], cosines: Mapping[Place, float]) -> list[Place]:
    """Passages by the mean of their scaled score and scaled cosine, best first.

    Scores are scaled by the highest, cosines from the lowest to the highest. A passage that was not
    found by words has a score of 0; one without a cosine is ranked by its score alone.
    """
    best = max(by_words.values(), default=0.0)
    low, high = min(cosines.values(), default=0.0), max(cosines.values(), default=0.0)

    def total(place: Place) -> float:
        words = by_words.get(place, 0.0) / best if best > 0 else 0.0
        if place not in cosines:
            return words
        return (words + ((cosines[place] - low) / (high - low) if high > low else 1.0)) / 2

    # The score itself breaks ties that scaling has created.
    return sorted(
        {**by_words, **cosines},
        key=lambda place: (-total(place), -by_words.get(place, 0.0), place),
    )
