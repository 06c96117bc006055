"""The vectors of passages in the index, and the scan that compares them with a question's.

A row of ``vectors`` has those of consecutive passages of one file: one signed byte for each number,
scaled by the vector's largest (symmetric quantisation, as in B. Jacob et al., Quantization and
Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference, CVPR 2018, section 2,
with zero at zero); only the direction of a vector counts. Its ``keys`` identify the model and the
texts, so that a text that is found again, in whatever file and position, keeps its vector.

Ranking passages by meaning as well as by words.

On test sets in which people ask in their own words, the mean of the scaled BM25 score and the
scaled cosine (from the lowest to the highest of the candidates) found more than either alone, for
every model tried. No cosine threshold fits two models, so none is used. A passage without a vector
keeps its rank by words.
"""

from __future__ import annotations

import sqlite3
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from cachetools import LRUCache

from bot.core.errors import FootnoteError
from bot.core.logs import get_logger
from bot.search.embedder import Embedder, Vector, fingerprint
from bot.search.index_file import Visible

KEY_BYTES = 16
STEPS = 127
CHUNK = 256  # vectors converted to floats at once, so that they fit into the processor's cache


def maker_of(connection: sqlite3.Connection, model: str) -> str:
    """The ``maker`` of vectors that can be used: those made by this ``model`` of an ``Embedder``,
    of passages as the index splits them now."""
    query = "SELECT value FROM meta WHERE key = 'fingerprint'"
    return fingerprint(model, *connection.execute(query).fetchone())


def key_of(model: str, text: str) -> bytes:
    return bytes.fromhex(fingerprint(model, text))


def text_of(title: str, heading: str, text: str) -> str:
    """The text of a passage for an embedder: its headings, then its own text."""
    above = heading if heading.startswith(title) else "\n".join(filter(None, (title, heading)))
    return f"{above}\n{text}" if above else text


def pack(vector: Vector) -> bytes:
    """A vector of length 1 in its stored form."""
    import numpy as np  # only installations with an embedder have it

    numbers = np.asarray(vector, np.float32)
    steps = np.rint(numbers * (STEPS / np.abs(numbers).max())).astype(np.int8)
    return bytes(steps)


@dataclass(frozen=True, slots=True)
class Match:
    """A matching passage; ``place`` is its position in its file.

    ``score`` is by words; higher is better. ``relevance`` is by meaning: 1 for the passage closest
    to the question, 0 for those no closer than the average; None without a vector. ``cosine`` is
    the one to the question, if it was found by meaning.
    """

    file: int
    url: str
    place: int
    score: float = 0.0
    relevance: float | None = None
    cosine: float = 0.0


class _Row(NamedTuple):
    """A row of ``vectors``; ``start`` is the position of its first passage in the scan."""

    file: int
    url: str
    text_digest: bytes
    first: int
    length: int
    start: int


class Scan:
    """The cosines of a question to all passages with a vector in the visible files.

    Vectors of another length than the question's are left out.
    """

    def __init__(
        self, connection: sqlite3.Connection, maker: str, question: Vector, visible: Visible
    ) -> None:
        import numpy as np

        self._visible = visible
        self._rows: list[_Row] = []
        self._starts: list[int] = []
        self._by_file: defaultdict[int, list[_Row]] = defaultdict(list)
        asked = np.asarray(question, np.float32)
        cosines = [np.empty(0, np.float32)]
        start = 0
        for chunk in _chunks(connection, maker, len(question), visible):
            for file, url, text_digest, first, count, _ in chunk:
                row = _Row(file, url, text_digest, first, count, start)
                self._rows.append(row)
                self._starts.append(start)
                self._by_file[file].append(row)
                start += count
            steps = np.frombuffer(b"".join(row[-1] for row in chunk), np.int8)
            numbers = steps.reshape(-1, len(question)).astype(np.float32)
            cosines.append(numbers @ asked / np.sqrt(np.einsum("ij,ij->i", numbers, numbers)))
        self._cosines = np.concatenate(cosines)
        self._mean = float(self._cosines.mean()) if start else 0.0
        self._best = float(self._cosines.max()) if start else 0.0

    def nearest(self) -> Iterator[Match]:
        """The passages of files that are shown, the nearest first."""
        for at in (-self._cosines).argsort(kind="stable").tolist():
            row = self._rows[bisect_right(self._starts, at) - 1]
            if self._visible.is_shown(row.file, row.text_digest):
                place = row.first + at - row.start
                yield Match(row.file, row.url, place, cosine=float(self._cosines[at]))

    def cosine(self, file: int, place: int) -> float | None:
        """The cosine of one passage; None if it has no vector."""
        for row in self._by_file.get(file, ()):
            if row.first <= place < row.first + row.length:
                return float(self._cosines[row.start + place - row.first])
        return None

    def relevances(self, file: int) -> dict[int, float]:
        """The ``relevance`` of the passages of a file, by position."""
        return {
            row.first + at: self.relevance(cosine)
            for row in self._by_file.get(file, ())
            for at, cosine in enumerate(self._cosines[row.start : row.start + row.length].tolist())
        }

    def relevance(self, cosine: float) -> float:
        """Convert a cosine to a scale that does not depend on the model's range: 1 for the nearest
        of all these passages, 0 for those that are no nearer than the average."""
        if self._best <= self._mean:
            return 0.0
        return min(1.0, max(0.0, (cosine - self._mean) / (self._best - self._mean)))


_Found = tuple[int, str, bytes, int, int, bytes]


def _chunks(
    connection: sqlite3.Connection, maker: str, dimensions: int, visible: Visible
) -> Iterator[list[_Found]]:
    """The rows of ``vectors`` of the visible files, with about ``CHUNK`` passages at once."""
    chunk: list[_Found] = []
    passages = 0
    # CROSS JOIN: the files come first, so that no vector of another file is looked at.
    for row in connection.execute(
        "SELECT files.id, url, text_digest, vectors.first, vectors.count, steps"  # noqa: S608 - our own column names
        " FROM files CROSS JOIN vectors ON vectors.file = files.id AND maker = ?"
        f" WHERE files.count > 0 AND length(steps) = vectors.count * ? AND {visible.condition.sql}",
        (maker, dimensions, *visible.condition.values),
    ):
        chunk.append(row)
        passages += row[4]
        if passages >= CHUNK:
            yield chunk
            chunk, passages = [], 0
    if chunk:
        yield chunk


log = get_logger()

REST_SECONDS = 30.0  # for which an embedder is not called after a failure
QUESTIONS = 512  # questions whose vectors are cached

Place = tuple[int, int]
"""A passage: its file and its position in it."""


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
        """Compare a question with all passages of the visible files."""
        return Scan(connection, maker_of(connection, self._embedder.model), question, visible)


def ranked(scan: Scan, by_words: Sequence[Match], most: int) -> list[Match]:
    """Merge the best passages by words with the ``most`` nearest by meaning, best first."""
    candidates: dict[Place, Match] = {}
    cosines: dict[Place, float] = {}
    for match in islice(scan.nearest(), most):
        candidates[match.file, match.place] = match
        cosines[match.file, match.place] = match.cosine
    for match in by_words:
        candidates[match.file, match.place] = match
        if (known := scan.cosine(match.file, match.place)) is not None:
            cosines[match.file, match.place] = known
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
