"""Limits for one provider: plain values, so that declaring a provider loads nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Policy:
    """The limits for one provider.

    ``rate``: calls a second on average, ``burst``: at once; what is beyond that stands in line for
    at most ``patience`` seconds. ``deadline``: seconds for one search or read once its turn has
    come, retries included. ``attempts``: calls in all. ``failures`` in a row open the circuit
    breaker for ``rest`` seconds. ``ttl``: seconds a search result is remembered, 0 not at all.
    """

    patience: float = 60.0
    deadline: float = 12.0
    attempts: int = 3
    rate: float = math.inf
    burst: int = 1
    failures: float = 5
    rest: float = 30.0
    ttl: float = 900.0
