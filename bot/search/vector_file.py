"""The file of passage vectors next to the index: append-only, memory-mapped, scanned as a whole.

A header of 64 bytes is followed by records of equal size: the passage's key (16 bytes), the scale
(32-bit float) and the numbers (signed bytes). Everything is little-endian. The header contains the
number of complete records, which is updated only after they are on the disk. A process killed at
any moment thus leaves a valid file, at worst with uncounted bytes at its end, which the next writer
overwrites. A file belongs to one model; another model's vectors go into a new file.

The file contains derived data: unusable files are discarded, and their vectors are made again.

Each vector is scaled by its own largest number (symmetric quantisation, as in B. Jacob et al.,
Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference, CVPR
2018, section 2, with zero at zero).
"""

from __future__ import annotations

import array
import math
import mmap
import os
import secrets
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import mul
from pathlib import Path

from bot.search.embedding.embedder import Vector, fingerprint

MAGIC = b"FNVECT01"
KEY_BYTES = 16
MOST_DIMENSIONS = 16_384
_HEADER = struct.Struct("<8sII16s16sQ8x")  # magic, dimensions, 0, id, model, count
_COUNT = struct.Struct("<Q")
_COUNT_AT = _HEADER.size - 16
_SCALE = struct.Struct("<f")


class Unfit(Exception):
    """The file does not contain usable vectors."""


@dataclass(frozen=True, slots=True)
class Header:
    """``id`` is unique to the file; ``model`` is the ``model`` of an ``Embedder`` (hexadecimal)."""

    dimensions: int
    id: str
    model: str
    count: int

    @property
    def record(self) -> int:
        """The size of a record in bytes."""
        return KEY_BYTES + _SCALE.size + self.dimensions

    def start(self, row: int) -> int:
        """The offset of a record."""
        return _HEADER.size + row * self.record


def vectors_path(index: Path) -> Path:
    """The path of the vectors that belong to an index."""
    return index.with_suffix(".vectors")


def key_of(model: str, title: str, heading: str, text: str) -> bytes:
    """The key of a passage's vector: a digest of everything that determines the vector."""
    return bytes.fromhex(fingerprint(model, title, heading, text))


def read_header(path: Path) -> Header:
    """Raises ``FileNotFoundError``, ``Unfit`` or ``OSError``."""
    with open(path, "rb") as file:
        return _header(file.read(_HEADER.size), os.fstat(file.fileno()).st_size)


def _header(data: bytes, size: int) -> Header:
    if len(data) < _HEADER.size:
        raise Unfit("it is too short")
    magic, dimensions, _, id, model, count = _HEADER.unpack_from(data)
    header = Header(dimensions, id.hex(), model.hex(), count)
    if magic != MAGIC or not 0 < dimensions <= MOST_DIMENSIONS:
        raise Unfit("it is not a file of vectors of this version")
    if size < header.start(count):
        raise Unfit("its end is missing")
    return header


# ---------------------------------------------------------------- reading


class VectorMap:
    """The vectors of a file as they were when it was opened, memory-mapped; thread-safe."""

    def __init__(self, path: Path) -> None:
        """Raises ``FileNotFoundError``, ``Unfit`` or ``OSError``."""
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if status.st_size < _HEADER.size:
                raise Unfit("it is too short")
            self.memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.inode = status.st_ino
        self.header = _header(self.memory[: _HEADER.size], status.st_size)

    @property
    def count_now(self) -> int:
        """The number of records in the file now; those after ``header.count`` are not mapped."""
        return int(_COUNT.unpack_from(self.memory, _COUNT_AT)[0])

    def keys(self) -> Iterator[bytes]:
        """All keys in the order of their rows."""
        for row in range(self.header.count):
            start = self.header.start(row)
            yield self.memory[start : start + KEY_BYTES]

    def vector(self, row: int) -> tuple[float, array.array[int]]:
        """Scale and signed bytes of a row. Raises ``Unfit`` for a row that is not mapped."""
        if not 0 <= row < self.header.count:
            raise Unfit(f"it has no row {row}")
        start = self.header.start(row) + KEY_BYTES
        end = start + _SCALE.size + self.header.dimensions
        return (
            _SCALE.unpack_from(self.memory, start)[0],
            array.array("b", self.memory[start + _SCALE.size : end]),
        )


# ---------------------------------------------------------------- writing


class VectorWriter:
    """Appends vectors; only one writer at a time per file (see ``writing``)."""

    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        self.header = header
        self._file = open(path, "r+b", buffering=0)  # noqa: SIM115 - closed by ``close``

    def append(self, vectors: Sequence[tuple[bytes, Vector]]) -> range:
        """Add vectors under their keys; returns their rows, after writing them to the disk.

        Raises ``OSError``, and ``ValueError`` for a vector whose length differs from the others.
        """
        rows = range(self.header.count, self.header.count + len(vectors))
        records = bytearray()
        for key, vector in vectors:
            if len(vector) != self.header.dimensions:
                raise ValueError(f"{len(vector)} numbers instead of {self.header.dimensions}")
            scale, steps = quantize(vector)
            records += key + _SCALE.pack(scale) + steps
        self._put(self.header.start(rows.start), records)
        self._put(_COUNT_AT, _COUNT.pack(rows.stop))
        self.header = Header(self.header.dimensions, self.header.id, self.header.model, rows.stop)
        return rows

    def close(self) -> None:
        self._file.close()

    def _put(self, start: int, data: bytes | bytearray) -> None:
        self._file.seek(start)
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) or 0 :]
        os.fsync(self._file.fileno())


def new_file(
    path: Path,
    model: str,
    dimensions: int,
    old: VectorMap | None = None,
    rows: Sequence[int] = (),
) -> Header:
    """Create a new file and atomically replace an existing one.

    It begins with ``rows`` of ``old``, in that order. Raises ``OSError``.
    """
    header = Header(dimensions, secrets.token_hex(16), model, len(rows))
    beside = path.with_name(path.name + ".new")
    with open(beside, "wb") as file:
        ids = bytes.fromhex(header.id), bytes.fromhex(model)
        file.write(_HEADER.pack(MAGIC, dimensions, 0, *ids, len(rows)))
        if old is not None:
            for row in rows:
                file.write(old.memory[old.header.start(row) : old.header.start(row + 1)])
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
    return header


@contextmanager
def writing(path: Path) -> Iterator[bool]:
    """Hold the lock of the file's only writer; yields False if another process holds it.

    The lock is SQLite's, on an empty database: it works wherever SQLite does, and ends with the
    process. Raises ``sqlite3.Error``.
    """
    lock = sqlite3.connect(f"{path}.lock", timeout=0.0, isolation_level=None)
    try:
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise
            yield False
            return
        yield True
    finally:
        lock.close()


STEPS = 127


def quantize(vector: Vector) -> tuple[float, bytes]:
    """A scale and signed bytes: ``scale * byte`` approximates each number; the result has length 1.

    Raises ``ValueError`` for a vector of zeros, or with a number that is not finite.
    """
    largest = max(map(abs, vector), default=0.0)
    if not 0.0 < largest < math.inf:
        raise ValueError("a vector without a direction")
    steps = array.array("b", [round(STEPS * number / largest) for number in vector])
    return 1.0 / math.sqrt(sum(map(mul, steps, steps))), steps.tobytes()


def cosine(question: Sequence[float], scale: float, steps: Sequence[int]) -> float:
    """The cosine of a vector of length 1 and a quantized one (its bytes as signed numbers)."""
    return scale * float(sum(map(mul, question, steps)))
