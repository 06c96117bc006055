"""The protocol of an embedder."""

from __future__ import annotations

import array
import hashlib
import math
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeAlias

Vector: TypeAlias = "array.array[float]"
"""A vector of unit length as 32-bit floats (type code ``f``)."""


class Embedder(Protocol):
    """A model that converts texts to vectors whose dot product is the cosine of their angle.

    ``model`` identifies it and changes whenever a text would get a different vector. ``name`` is
    its display name. Both methods raise ``Unavailable`` (try again later), ``Refused`` (wrong key,
    rejected request), ``InvalidSetting`` or ``Broken`` (unusable vectors).
    """

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

    async def embed_question(self, text: str) -> Vector:
        """The vector of a question, which should be close to those of passages that answer it."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of passages, in their order. Any number of texts of any length: the embedder
        makes batches, and truncates texts that are too long for the model."""
        ...


def unit(numbers: Iterable[float]) -> Vector:
    """Scale numbers to a vector of length 1. Raises ``ValueError`` if that is impossible."""
    vector = array.array("f", numbers)
    length = math.sqrt(math.fsum(x * x for x in vector))
    if not math.isfinite(length) or length < 1e-12:
        raise ValueError("a vector without a direction")
    return array.array("f", [x / length for x in vector])


def fingerprint(*parts: str) -> str:
    """A short digest that changes when any of the parts changes."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()
