"""The work of a stage that failed: what was done and spent between two moments of a run."""

from __future__ import annotations

from dataclasses import replace

from bot.core.answers import StepView, Usage
from bot.reasoning.evidence import Source
from bot.research.report import NOTHING_USED, Used
from tests.unit.samples import NOW

EARLIER = Used(
    spent=Usage(1, 2, 3, 4, 5, 6, 7.0, 0.25),
    counted=frozenset({"a"}),
    lines=(StepView("1", "search", "tower", "done"),),
    queries=("tower",),
    sources=(Source(1, "https://a.example/", "A", (), "h", NOW),),
    notes=("It is down.",),
)
LATER = Used(
    spent=Usage(11, 22, 33, 44, 55, 66, 77.0, 1.0),
    counted=frozenset({"a", "b"}),
    lines=(*EARLIER.lines, StepView("2", "search", "bridge", "done")),
    queries=("tower", "bridge"),
    sources=(*EARLIER.sources, Source(2, "https://b.example/", "B", (), "h", NOW)),
    notes=("It is down.", "It is up."),
    is_answered=True,
    unanswered="no",
)


def test_a_stage_used_what_came_after_its_beginning() -> None:
    used = LATER.since(EARLIER)
    assert used.spent == Usage(10, 20, 30, 40, 50, 60, 0.0, 0.75)
    assert used.counted == {"b"}
    assert (used.lines, used.queries, used.sources) == (
        LATER.lines[1:],
        ("bridge",),
        LATER.sources[1:],
    )
    assert (used.notes, used.is_answered, used.unanswered) == (("It is up.",), True, "no")


def test_a_stage_that_did_nothing_used_nothing() -> None:
    assert LATER.since(LATER) == replace(NOTHING_USED, is_answered=True, unanswered="no")
    assert LATER.since(NOTHING_USED) == replace(LATER, spent=replace(LATER.spent, seconds=0.0))
