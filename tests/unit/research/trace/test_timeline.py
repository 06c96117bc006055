"""The timeline of the steps of a run."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.core.answers import StepView
from bot.research.trace import Span, pauses, timeline
from bot.storage.traces import KeptStep
from tests.unit.samples import NOW


def a_step(key: str, ended: float, seconds: float = 1.0, **parts: object) -> KeptStep:
    fields = {"kind": "search", "title": key, "result": "{}", "attempt": 1, **parts}
    return KeptStep(key=key, seconds=seconds, at=NOW + timedelta(seconds=ended), **fields)  # type: ignore[arg-type]


def a_line(id: str, kind: str = "search", **parts: object) -> StepView:
    return StepView(id, kind, id, "done", **parts)  # type: ignore[arg-type]


def by_id(spans: tuple[Span, ...]) -> dict[str, Span]:
    return {span.id: span for span in spans}


def test_a_step_was_at_work_for_its_seconds_until_it_was_kept() -> None:
    (span,) = timeline([], [a_step("a" * 64, 5.0, 2.0)], NOW)
    assert (span.id, span.begin, span.end, span.seconds) == ("a" * 12, 3.0, 5.0, 2.0)


def test_the_plan_tells_what_the_journal_does_not() -> None:
    line = a_line("a" * 12, parent="node-a", detail="no page", sources=("https://e.org",))
    spans = by_id(timeline([a_line("node-a", "node"), line], [a_step("a" * 64, 5.0)], NOW))
    span = spans["a" * 12]
    assert (span.parent, span.detail, span.sources, span.depth) == (
        "node-a",
        "no page",
        ("https://e.org",),
        1,
    )


def test_a_sub_question_was_at_work_from_its_first_step_to_its_last() -> None:
    lines = [
        a_line("node-a", "node", seconds=5.0),
        a_line("a" * 12, parent="node-a"),
        a_line("b" * 12, parent="node-a"),
    ]
    steps = [a_step("a" * 64, 3.0), a_step("b" * 64, 9.0)]
    node = by_id(timeline(lines, steps, NOW))["node-a"]
    assert (node.begin, node.end) == (2.0, 9.0)


def test_a_sub_question_waits_from_the_plan_until_it_begins() -> None:
    lines = [
        a_line("p" * 12, "plan"),
        a_line("node-a", "node"),
        a_line("a" * 12, parent="node-a"),
        a_line("node-b", "node", needs=("node-a",)),
        a_line("b" * 12, parent="node-b"),
    ]
    steps = [
        a_step("p" * 64, 2.0, kind="plan"),
        a_step("a" * 64, 6.0, 4.0),
        a_step("b" * 64, 8.0),
    ]
    spans = by_id(timeline(lines, steps, NOW))
    assert spans["node-a"].waited == 0.0
    assert spans["node-b"].waited == 5.0


def test_lines_come_by_their_begin_each_with_what_stands_under_it() -> None:
    lines = [
        a_line("node-a", "node"),
        a_line("node-b", "node"),
        a_line("b" * 12, parent="node-b"),
        a_line("a" * 12, parent="node-a"),
        a_line("w" * 12, "write"),
        a_line("gone"),
    ]
    steps = [a_step("b" * 64, 2.0), a_step("a" * 64, 4.0), a_step("w" * 64, 9.0)]
    spans = timeline(lines, steps, NOW)
    assert [(span.id[:6], span.depth) for span in spans] == [
        ("node-b", 0),
        ("bbbbbb", 1),
        ("node-a", 0),
        ("aaaaaa", 1),
        ("wwwwww", 0),
        ("gone", 0),
    ]
    assert spans[-1].begin is None


def test_a_step_without_a_title_is_no_line() -> None:
    assert timeline([], [a_step("a" * 64, 1.0, title="")], NOW) == ()


def test_a_step_of_an_earlier_wording_of_the_question_took_no_time_of_this_one() -> None:
    (span,) = timeline([], [a_step("a" * 64, -60.0)], NOW)
    assert (span.begin, span.end) == (0.0, 0.0)


def test_a_line_whose_parent_is_not_there_stands_by_itself() -> None:
    (span,) = timeline([a_line("a", parent="nowhere")], [], NOW)
    assert span.depth == 0


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([], []),
        ([(0, 10), (14, 20)], []),  # 4 s are no long pause
        ([(0, 10), (3_600, 3_610)], [(10, 3_600)]),
        ([(0, 100), (50, 200), (210, 300)], []),  # 10 of 290 s
        ([(30, 31)], [(0, 30)]),  # it waited for its turn
        ([(0, 10), (2, 40), (500, 501), (900, 901)], [(40, 500), (501, 900)]),
    ],
)
def test_long_pauses_are_found(
    times: list[tuple[float, float]], expected: list[tuple[float, float]]
) -> None:
    spans = [Span("s", "search", "S", "done", 1.0, begin, end) for begin, end in times]
    assert [(pause.begin, pause.end) for pause in pauses(spans)] == expected
