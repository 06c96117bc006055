"""The timeline of a run: when each step ran, and how long it waited. Pure.

The journal has the end and duration of each step. A line of the plan that is not a step itself (a
sub-question, a paragraph) lasts from its first step to its last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.core.messages import StepState, StepView
from bot.storage.archive import KeptStep

ID = 12  # characters of a step's key used as its line's id in the plan

# Idle times longer than this many seconds, and than this share of all work, are shortened.
LONGEST_IDLE, IDLE_SHARE = 5.0, 0.25


@dataclass(frozen=True, slots=True)
class Span:
    """A line of the timeline; ``begin`` and ``end`` are seconds after the question was accepted.
    They are None if the journal no longer has the step; ``seconds`` then comes from the plan.
    ``waited`` is the time in seconds from planning the line to its beginning; ``attempt`` is 0 for
    a line that is not a step itself. ``depth`` is the number of its ancestors.
    """

    id: str
    kind: str
    title: str
    state: StepState
    seconds: float
    begin: float | None = None
    end: float | None = None
    waited: float = 0.0
    detail: str = ""
    sources: tuple[str, ...] = ()
    parent: str = ""
    needs: tuple[str, ...] = ()
    attempt: int = 0
    depth: int = 0


def timeline(
    lines: Sequence[StepView], steps: Sequence[KeptStep], accepted_at: datetime
) -> tuple[Span, ...]:
    """Return a span for each line of the plan and each step without a line: children follow their
    parent, siblings are sorted by beginning."""
    spans = {line.id: _of_line(line) for line in lines}
    for step in steps:
        if step.title:  # steps without a title only store a decision
            known = spans.get(step.key[:ID])
            spans[step.key[:ID]] = _of_step(step, known, accepted_at)
    children: dict[str, list[str]] = {}
    for span in spans.values():
        children.setdefault(span.parent if span.parent in spans else "", []).append(span.id)
    for id in _inside_first(children):
        spans[id] = _around(spans[id], [spans[child] for child in children.get(id, ())])
    for span in list(spans.values()):
        spans[span.id] = replace(span, waited=_waited(span, spans))
    return tuple(_in_order(spans, children))


def _of_line(line: StepView) -> Span:
    return Span(
        line.id,
        line.kind,
        line.title,
        line.state,
        line.seconds,
        detail=line.detail,
        sources=line.sources,
        parent=line.parent,
        needs=line.needs,
    )


def _of_step(step: KeptStep, known: Span | None, accepted_at: datetime) -> Span:
    end = (step.at - accepted_at).total_seconds()
    span = known or Span(step.key[:ID], step.kind, step.title, "done", step.seconds)
    # An edited question may reuse steps of the earlier version, which took none of its time.
    begin = max(0.0, end - step.seconds)
    return replace(
        span, seconds=step.seconds, begin=begin, end=max(begin, end), attempt=step.attempt
    )


def _inside_first(children: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the ids of all lines with children, innermost first."""
    found: list[str] = []
    level = list(children.get("", ()))
    while level:
        found += [id for id in level if id in children]
        level = [child for id in level for child in children.get(id, ())]
    return found[::-1]


def _around(span: Span, inside: Sequence[Span]) -> Span:
    """Return a span that is not a step itself, with the times of the spans inside it."""
    begins = [one.begin for one in inside if one.begin is not None]
    ends = [one.end for one in inside if one.end is not None]
    if span.begin is not None or not begins:
        return span
    begin = min(begins)
    return replace(span, begin=begin, end=max(*ends, begin + span.seconds))


def _waited(span: Span, spans: Mapping[str, Span]) -> float:
    """Return how long a sub-question waited for the last of those it needs.

    Measured from the time it was planned, which is the end of the last plan before it.
    """
    if span.begin is None or not span.needs:
        return 0.0
    planned = [
        one.end
        for one in spans.values()
        if one.kind == "plan" and one.end is not None and one.end <= span.begin
    ]
    return span.begin - max(planned) if planned else 0.0


def _in_order(spans: Mapping[str, Span], children: Mapping[str, Sequence[str]]) -> list[Span]:
    """Sort depth first; spans without times stay after the line before them in the plan."""
    found: list[Span] = []

    def visit(ids: Iterable[str], depth: int) -> None:
        known: list[tuple[float, int, str]] = []
        last = 0.0
        for place, id in enumerate(ids):
            begin = spans[id].begin
            last = last if begin is None else begin
            known.append((last, place, id))
        for _, _, id in sorted(known):
            found.append(replace(spans[id], depth=depth))
            visit(children.get(id, ()), depth + 1)

    visit(children.get("", ()), 0)
    return found


# ---------------------------------------------------------------- long breaks


@dataclass(frozen=True, slots=True)
class Pause:
    """A long idle time, such as between a crash and the next attempt."""

    begin: float
    end: float


def pauses(spans: Iterable[Span]) -> tuple[Pause, ...]:
    """Return the idle times that would make the rest of a chart too small to see."""
    busy: list[tuple[float, float]] = []
    for begin, end in sorted(
        (s.begin, s.end) for s in spans if s.begin is not None and s.end is not None
    ):
        if busy and begin <= busy[-1][1]:
            busy[-1] = (busy[-1][0], max(busy[-1][1], end))
        else:
            busy.append((begin, end))
    worked = sum(end - begin for begin, end in busy)
    longest = max(LONGEST_IDLE, IDLE_SHARE * worked)
    before = [(0.0, 0.0), *busy]
    return tuple(
        Pause(earlier[1], later[0])
        for earlier, later in zip(before, busy, strict=False)
        if later[0] - earlier[1] > longest
    )
