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
    """The places of the calls on that chain, in their order, each with its seconds on it: those
    until it had decided, for one that the next call did not wait the end of."""
    longest: list[float] = []
    before: list[int | None] = []

    def given(at: int, to: Call) -> float:
        """When what a call rests on was there, on the longest chain that leads to it."""
        waited_for = 0.0 < calls[at].ended <= to.began or not calls[at].decided
        return longest[at] if waited_for else longest[at] - calls[at].seconds + calls[at].decided

    for call in calls:  # in the order they began, so that what a call rests on comes before it
        last = max(call.rests_on, key=lambda at: given(at, call), default=None)
        longest.append(call.seconds + (given(last, call) if last is not None else 0.0))
        before.append(last)
    at = max(range(len(calls)), key=lambda at: calls[at].ended, default=None)
    found: list[tuple[int, float]] = []
    end = longest[at] if at is not None else 0.0
    while at is not None:
        begun = longest[at] - calls[at].seconds
        found.append((at, end - begun))
        end, at = begun, before[at]
    return found[::-1]
