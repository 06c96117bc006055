"""The critical path of a run: the longest chain of calls each of which rests on the one before.

It is computed from the peers' log alone: every call weighs the seconds that its peer was told to
take (not what it took), and rests on the calls whose results stand in it or led to it (see
``depth_peers``). A call that merely waited for another one without using what it gave does not rest
on it, so waiting that serves nothing counts as overhead, and so does all that happens between
calls. The path ends with the last call of the run, the writing of its answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.bench.depth_peers import Call


def critical_path(calls: Sequence[Call]) -> float:
    """Seconds of the longest chain that the last call rests on, that call included."""
    return sum(seconds for _, seconds in chain(calls))


def chain(calls: Sequence[Call]) -> list[tuple[int, float]]:
    """The places of the calls on that chain, in their order, each with its seconds."""
    longest: list[float] = []
    before: list[int | None] = []

    for call in calls:  # in the order they began, so that what a call rests on comes before it
        last = max(call.rests_on, key=lambda at: longest[at], default=None)
        longest.append(call.seconds + (longest[last] if last is not None else 0.0))
        before.append(last)
    at = max(range(len(calls)), key=lambda at: calls[at].ended, default=None)
    found: list[tuple[int, float]] = []
    while at is not None:
        found.append((at, calls[at].seconds))
        at = before[at]
    return found[::-1]
