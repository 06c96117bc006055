"""Ranking passages by meaning as well as by words.

On test sets in which people ask in their own words, the mean of the scaled BM25 score and the
scaled cosine (from the lowest to the highest of the candidates) found more than either alone, for
every model tried. No cosine threshold fits two models, so none is used. A passage without a vector
keeps its rank by words.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cachetools import LRUCache

from bot.errors import FootnoteError
from bot.logs import get_logger
from bot.search import vector_rows
from bot.search.embedding.embedder import Embedder, Vector
from bot.search.vector_file import Unfit, vectors_path
from bot.search.vector_scan import Vectors

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


@dataclass(frozen=True, slots=True)
class Condition:
    """An SQL condition on the table ``files``, with the values of its parameters."""

    sql: str
    values: Sequence[str]


@dataclass(frozen=True, slots=True)
class Near:
    """The passages nearest to a question, the nearest first, each with its cosine.

    ``mean`` is the average cosine of all passages.
    """

    matches: tuple[tuple[Match, float], ...]
    mean: float

    def relevance(self, cosine: float) -> float:
        """Convert a cosine to the scale of ``Match.relevance``, which is the same for all passages
        of the index and does not depend on the model's range."""
        best = self.matches[0][1] if self.matches else cosine
        if best <= self.mean:
            return 0.0
        return min(1.0, max(0.0, (cosine - self.mean) / (best - self.mean)))


class Meaning:
    """Similarity of an index's passages by an embedder's vectors; ``clock`` is in seconds."""

    def __init__(
        self, index: Path, embedder: Embedder, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.embedder = embedder
        self.path = vectors_path(index)
        self._clock = clock
        self._rests_until = 0.0
        self._questions: LRUCache[str, Vector] = LRUCache(QUESTIONS)
        self._lock = threading.Lock()
        self._vectors: Vectors | None = None

    async def vector_of(self, question: str) -> Vector | None:
        """The vector of a question; None while the embedder is unavailable."""
        if (known := self._questions.get(question)) is not None:
            return known
        if self._clock() < self._rests_until or not question.strip() or not self.path.exists():
            return None
        try:
            vector = await self.embedder.embed_question(question)
        except FootnoteError as error:
            self._rests_until = self._clock() + REST_SECONDS
            log.warning("searching_by_words_alone", error=str(error))
            return None
        self._questions[question] = vector
        return vector

    async def aclose(self) -> None:
        await self.embedder.aclose()

    # ------------------------------------------------------------ in a thread, in a transaction

    def ranked(
        self,
        connection: sqlite3.Connection,
        question: Vector,
        by_words: Sequence[Match],
        most: int,
        among: Condition,
    ) -> list[Match]:
        """Merge the best passages by words with the ``most`` nearest by meaning, best first.

        Without usable vectors, the passages by words are returned unchanged.
        """
        vectors = self._current(connection)
        if vectors is None:
            return list(by_words)
        try:
            near = self._near(connection, vectors, question, most, among)
            cosines = {(match.file, match.place): cosine for match, cosine in near.matches}
            for match in by_words:
                row = vector_rows.row_of(connection, match.file, match.place)
                if row is not None and (match.file, match.place) not in cosines:
                    cosines[match.file, match.place] = vectors.cosine(question, row)
        except Unfit as error:
            log.warning("searching_by_words_alone", error=f"the vectors do not fit: {error}")
            return list(by_words)
        candidates = {(match.file, match.place): match for match, _ in near.matches}
        candidates |= {(match.file, match.place): match for match in by_words}
        scores = {(match.file, match.place): match.score for match in by_words}
        return [
            replace(candidates[place], relevance=near.relevance(cosines[place]))
            if place in cosines
            else candidates[place]
            for place in fuse(scores, cosines)
        ]

    def relevances(
        self, connection: sqlite3.Connection, question: Vector, file: int, among: Condition
    ) -> dict[int, float]:
        """The similarity of each passage of a file, by position, as in ``Match.relevance``."""
        vectors = self._current(connection)
        if vectors is None:
            return {}
        try:
            near = self._near(connection, vectors, question, 1, among)
            return {
                place: near.relevance(vectors.cosine(question, row))
                for place, row in vector_rows.rows_of(connection, file).items()
            }
        except Unfit as error:
            log.warning("reading_by_words_alone", error=f"the vectors do not fit: {error}")
            return {}

    def _near(
        self,
        connection: sqlite3.Connection,
        vectors: Vectors,
        question: Vector,
        most: int,
        among: Condition,
    ) -> Near:
        """The ``most`` nearest of the passages that may be found."""
        scan = vectors.scan(question)
        found: list[tuple[Match, float]] = []
        for ranked in scan.nearest():
            cosines = dict(ranked)
            rows = vector_rows.passages_of(connection, list(cosines), among.sql, among.values)
            inside = [(Match(file, url, place), cosines[row]) for row, file, url, place in rows]
            found += sorted(inside, key=lambda pair: (-pair[1], pair[0].file, pair[0].place))
            if len(found) >= most:
                break
        return Near(tuple(found[:most]), scan.mean)

    def _current(self, connection: sqlite3.Connection) -> Vectors | None:
        """The current vectors, if the index refers to them."""
        with self._lock:
            try:
                if self._vectors is None or not self._vectors.is_current():
                    self._vectors = None
                    self._vectors = Vectors(self.path, self.embedder.model)
            except (OSError, Unfit):
                return None  # the index report and ``footnote doctor`` show the reason
            vectors = self._vectors
        if not vector_rows.is_there(connection):
            return None
        return vectors if vector_rows.file_id(connection) == vectors.id else None


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
