"""Whether a finished model call was paid for again: what a fake Claude was asked, against what the
store kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.storage.journal import step_key
from tests.fakes.claude import Recorded


@dataclass(frozen=True, slots=True)
class Kept:
    """A step as the store has it; ``at`` is from just before it was kept."""

    run: str
    key: str
    kind: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Paid:
    """``again`` tells of calls that came after the same one had been kept; ``known`` counts the
    calls that a step tells of."""

    again: Sequence[str]
    known: int


def paid(requests: Iterable[Recorded], steps: Iterable[Kept]) -> Paid:
    """The body that is sent is what the key of its step is made of."""
    kept = {step.key: step for step in steps}
    kinds = {step.kind for step in kept.values()}
    again, known = [], 0
    for request in requests:
        body = {name: value for name, value in request.body.items() if name != "stream"}
        keys = (step_key(kind, body) for kind in kinds)
        step = next((kept[key] for key in keys if key in kept), None)
        if step is None:
            continue
        known += 1
        late = request.at - step.at.timestamp()
        if late > 0:
            again.append(f"{step.kind} of run {step.run}, {late:.2f} s after it was kept")
    return Paid(again, known)
