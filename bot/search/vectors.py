"""The vectors of passages in the index, and the scan that compares them with a question's.

A row of ``vectors`` has those of consecutive passages of one file: one signed byte for each number,
scaled by the vector's largest (symmetric quantisation, as in B. Jacob et al., Quantization and
Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference, CVPR 2018, section 2,
with zero at zero); only the direction of a vector counts. Its ``keys`` identify the model and the
texts, so that a text that is found again, in whatever file and position, keeps its vector.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from bot.search.embedding.embedder import Vector, fingerprint
from bot.search.visible import Visible

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
class Near:
    """A passage, by its file and its position in it, and its cosine to the question."""

    file: int
    url: str
    place: int
    cosine: float


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

    def nearest(self) -> Iterator[Near]:
        """The passages of files that are shown, the nearest first."""
        for at in (-self._cosines).argsort(kind="stable").tolist():
            row = self._rows[bisect_right(self._starts, at) - 1]
            if self._visible.is_shown(row.file, row.text_digest):
                place = row.first + at - row.start
                yield Near(row.file, row.url, place, float(self._cosines[at]))

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
