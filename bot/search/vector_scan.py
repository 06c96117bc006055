"""Finds the vectors of a file that are nearest to a question's, by scanning all of them.

With numpy the cosines are exact: 100,000 vectors of 384 numbers take about 6 ms. Without it,
vectors are first compared by sign bits only: one bit per number, set if it is above the average of
that number over all vectors (the Hamming distance of such bits estimates an angle: M. Charikar,
Similarity Estimation Techniques from Rounding Algorithms, STOC 2002). Cosines are then computed for
the thousand nearest: about 30 ms. The average matters, because all vectors of a model point in
roughly the same direction: on 2,800 passages embedded by multilingual-e5-small, the nearest 2 % by
signs contain 89 % of the ten nearest, but only 46 % if signs are taken around zero.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from bot.search.embedding.embedder import Vector
from bot.search.vector_file import KEY_BYTES, Unfit, VectorMap, cosine

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK = 4_096  # vectors converted to floats at once, so that they fit into the processor's cache
FIRST = 500  # rows per list of the nearest ones
BY_SIGNS = 1_000  # minimum rows whose cosines are computed if numpy is not installed
BY_SIGNS_SHARE = 0.02  # ... or this share of all
SAMPLED = 1_000  # rows from which the average cosine is estimated if numpy is not installed

Ranked = list[tuple[int, float]]
"""Rows with their cosines, the highest first."""


class Scan(Protocol):
    """The rows of a file, ranked by their cosine to a question."""

    @property
    def mean(self) -> float:
        """The average cosine of all rows."""
        ...

    def nearest(self) -> Iterator[Ranked]:
        """All rows, in lists; each list has lower cosines than the ones before it."""
        ...


class Vectors:
    """The vectors of a file as they were when it was opened; thread-safe."""

    def __init__(self, path: Path, model: str) -> None:
        """Raises ``FileNotFoundError``, ``OSError``, or ``Unfit`` if another model made them."""
        self._path = path
        self.map = VectorMap(path)
        if self.map.header.model != model:
            raise Unfit("they were made by another model")
        self._numpy = _numpy()
        self._signs: _Signs | None = None

    @property
    def id(self) -> str:
        return self.map.header.id

    @property
    def count(self) -> int:
        return self.map.header.count

    def is_current(self) -> bool:
        """Return True if the file was not replaced and has no new rows. Raises ``OSError``."""
        return os.stat(self._path).st_ino == self.map.inode and self.map.count_now == self.count

    def cosine(self, question: Vector, row: int) -> float:
        """Raises ``Unfit`` for a row that does not exist, or a question of a different length."""
        scale, steps = self.map.vector(row)
        if len(steps) != len(question):
            raise Unfit("their length differs from that of the question's vector")
        return cosine(question, scale, steps)

    def scan(self, question: Vector) -> Scan:
        """Raises ``Unfit`` for a question of a different length."""
        if len(question) != self.map.header.dimensions:
            raise Unfit("their length differs from that of the question's vector")
        if self._numpy is not None:
            return _ExactScan(self._numpy, self.map, question)
        if self._signs is None:
            self._signs = _Signs(self.map)
        return _SignScan(self, self._signs, question)


def _numpy() -> ModuleType | None:
    try:
        import numpy
    except ImportError:  # it is part of the extra ``[vectors]``
        return None
    return numpy


# ---------------------------------------------------------------- with numpy


class _ExactScan:
    def __init__(self, np: Any, map: VectorMap, question: Vector) -> None:
        self._np = np
        header = map.header
        record = [("key", f"V{KEY_BYTES}"), ("scale", "<f4"), ("steps", "i1", header.dimensions)]
        rows = np.frombuffer(map.memory, np.dtype(record), header.count, header.start(0))
        asked = np.asarray(question, np.float32)
        self._cosines: NDArray[Any] = np.empty(header.count, np.float32)
        numbers = np.empty((CHUNK, header.dimensions), np.float32)
        for start in range(0, header.count, CHUNK):
            steps = rows["steps"][start : start + CHUNK]
            np.copyto(numbers[: len(steps)], steps)
            np.dot(numbers[: len(steps)], asked, out=self._cosines[start : start + CHUNK])
        self._cosines *= rows["scale"]

    @property
    def mean(self) -> float:
        return float(self._cosines.mean()) if len(self._cosines) else 0.0

    def nearest(self) -> Iterator[Ranked]:
        np, cosines = self._np, self._cosines
        first = np.argpartition(-cosines, FIRST)[:FIRST] if len(cosines) > FIRST else slice(None)
        rows = np.arange(len(cosines))[first]
        yield self._ranked(rows[np.lexsort((rows, -cosines[rows]))])
        if len(cosines) > FIRST:
            rest = np.lexsort((np.arange(len(cosines)), -cosines))[FIRST:]
            for start in range(0, len(rest), FIRST):
                yield self._ranked(rest[start : start + FIRST])

    def _ranked(self, rows: NDArray[Any]) -> Ranked:
        return list(zip(rows.tolist(), self._cosines[rows].tolist(), strict=True))


# ---------------------------------------------------------------- without numpy

_HALVED = bytes(((step ^ 0x80) >> 1) for step in range(256))  # signed bytes → 0 to 127, in order
_AS_DIGIT = bytes(ord("1") if bit else ord("0") for bit in range(256))


class _Signs:
    """For each row, bits that tell which of its numbers are above the average.

    All bytes of a row are compared with the averages at once, as two large integers whose bytes
    hold 7 bits each: after subtracting, the eighth bit of a byte is set where the row's byte is not
    less (L. Lamport, Multiple Byte Processing with Full-Word Instructions, CACM 18(8), 1975).
    """

    def __init__(self, map: VectorMap) -> None:
        header = map.header
        sample = [
            map.vector(row) for row in range(0, header.count, max(1, header.count // SAMPLED))
        ]
        size = len(sample) or 1
        averages = [sum(numbers) / size for numbers in zip(*(s for _, s in sample), strict=True)]
        scale = sum(scale for scale, _ in sample) / size
        self._averages = [average * scale for average in averages] or [0.0] * header.dimensions
        limits = bytes(_HALVED[round(average) & 0xFF] for average in averages)
        eighth = int.from_bytes(b"\x80" * header.dimensions, "big")
        limit = int.from_bytes(limits, "big")
        self.rows: list[int] = []
        for row in range(header.count):
            end = header.start(row + 1)
            steps = map.memory[end - header.dimensions : end].translate(_HALVED)
            above = ((int.from_bytes(steps, "big") | eighth) - limit) & eighth
            digits = above.to_bytes(header.dimensions, "big").translate(_AS_DIGIT)
            self.rows.append(int(digits, 2))

    def of(self, question: Vector) -> int:
        """The corresponding bits of a question."""
        pairs = zip(question, self._averages, strict=True)
        return int("".join("1" if number >= average else "0" for number, average in pairs), 2)


class _SignScan:
    def __init__(self, vectors: Vectors, signs: _Signs, question: Vector) -> None:
        self._vectors = vectors
        self._question = question
        asked = signs.of(question)
        self._distances = [(each ^ asked).bit_count() for each in signs.rows]

    @property
    def mean(self) -> float:
        step = max(1, self._vectors.count // SAMPLED)
        found = [self._cosine(row) for row in range(0, self._vectors.count, step)]
        return sum(found) / len(found) if found else 0.0

    def nearest(self) -> Iterator[Ranked]:
        count = self._vectors.count
        size = max(BY_SIGNS, int(count * BY_SIGNS_SHARE))
        yield self._ranked(heapq.nsmallest(size, range(count), key=self._distances.__getitem__))
        rest = sorted(range(count), key=self._distances.__getitem__)[size:]
        for start in range(0, len(rest), size):
            yield self._ranked(rest[start : start + size])

    def _ranked(self, rows: list[int]) -> Ranked:
        return sorted(((row, self._cosine(row)) for row in rows), key=lambda pair: -pair[1])

    def _cosine(self, row: int) -> float:
        return self._vectors.cosine(self._question, row)
