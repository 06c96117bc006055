"""How a plan looks in a terminal."""

from __future__ import annotations

from adapters.terminal.format import ended_lines, plan_lines
from bot.answers import StepView
from tests.unit.samples import A_GRAPH

A_LOOP = (
    StepView("1", "rewrite", "Understand the question", "done", 1.5),
    StepView("2", "search", "tower", "done", 0.4),
    StepView("3", "search", "tower height", "done", 0.3),
    StepView("4", "read", "The Tower", "running"),
)


def drawn(steps: tuple[StepView, ...]) -> list[str]:
    return [f"{'~' if running else ' '}{line.plain}" for line, running in plan_lines(steps)]


def test_steps_of_a_kind_that_follow_each_other_are_one_line() -> None:
    assert drawn(A_LOOP) == [
        " ✓ Understand the question  1.5 s",
        " ✓ Search tower · tower height  0.4 s",
        "~Read The Tower",
    ]


def test_sub_questions_are_lines_with_their_work_summed_up_and_what_is_being_done_below() -> None:
    assert drawn(A_GRAPH) == [
        " ✓ Plan the sub-questions  2.0 s",
        " ✓ Who directed Jaws?  6.0 s  2 searches · 2 pages",
        "~Who directed Alien?  1 search",
        "     Read Alien",
        " · When was the director of Jaws born?  after “Who directed Jaws?”",
        " ✗ Where is Amity? — The model is away.  1 page",
    ]


def test_where_nothing_can_be_drawn_over_only_lines_that_ended_are_told() -> None:
    assert [(id, line.plain) for id, line in ended_lines(A_GRAPH)] == [
        ("plan", "✓ Plan the sub-questions  2.0 s"),
        ("node-a", "✓ Who directed Jaws?  6.0 s  2 searches · 2 pages"),
        ("node-d", "✗ Where is Amity? — The model is away.  1 page"),
    ]
