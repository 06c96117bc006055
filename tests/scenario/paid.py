"""Tells whether a finished model call was paid for again: what a fake Claude was asked, against
what the store kept.

A request and its step are told to belong together by the tokens that the fake counted and the step
has kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.fakes.claude import Recorded

Tokens = tuple[int, ...]
_COUNTED = ("input", "output", "cache_read", "cache_write")


@dataclass(frozen=True, slots=True)
class Kept:
    """A step as the store has it; ``at`` is from just before it was kept, ``result`` its JSON."""

    run: str
    key: str
    kind: str
    at: datetime
    result: str

    @property
    def tokens(self) -> Tokens | None:
        """Those of the model's reply, or of the one behind a stream; None for other steps."""
        kept: Any = json.loads(self.result)
        reply = kept.get("reply", kept) if isinstance(kept, dict) else {}
        if not isinstance(reply, dict) or "stop_reason" not in reply:
            return None
        return tuple(reply[f"{name}_tokens"] for name in _COUNTED)


@dataclass(frozen=True, slots=True)
class Paid:
    """``again`` tells of calls that came after the same one had been kept; ``known`` counts the
    calls that a step tells of."""

    again: Sequence[str]
    known: int


def paid(requests: Iterable[Recorded], steps: Iterable[Kept]) -> Paid:
    """Each step belongs to the last call before it that had its tokens, and so do all calls with
    the same body."""
    made = sorted((r for r in requests if r.usage), key=lambda request: request.at)
    kept: dict[str, Kept] = {}
    for step in sorted(steps, key=lambda step: step.at):
        tokens = step.tokens
        of_it = [r for r in made if r.at < step.at.timestamp() and _tokens(r) == tokens]
        if of_it and tokens is not None:
            kept.setdefault(of_it[-1].key, step)
    late = [
        (kept[request.key], request.at - kept[request.key].at.timestamp())
        for request in made
        if request.key in kept
    ]
    again = [
        f"{step.kind} of run {step.run}, {seconds:.2f} s after it was kept"
        for step, seconds in late
        if seconds > 0
    ]
    return Paid(again, len(late))


def _tokens(request: Recorded) -> Tokens:
    names = ("input", "output", "cache_read_input", "cache_creation_input")
    return tuple(request.usage[f"{name}_tokens"] for name in names)
