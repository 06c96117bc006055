"""How a plan and an answer look in a terminal."""

from __future__ import annotations

import pytest

from adapters.terminal.format import ended_lines, plain, plan_lines
from bot.answers import Answer, Citation, StepView
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


def test_what_befell_a_page_is_said_of_its_address_once() -> None:
    url = "https://e.org/gone"
    detail = f"{url} does not exist (status 404); check the address."
    assert drawn((StepView("1", "read", url, "failed", 0.1, detail),)) == [
        f" ✗ Read {url} does not exist (status 404); check the address."
    ]


def test_steps_that_failed_for_different_reasons_are_told_apart() -> None:
    steps = (
        StepView("1", "read", "The Tower", "failed", 0.1, "a.org does not answer."),
        StepView("2", "read", "The Bridge", "failed", 0.1, "b.org does not answer."),
        StepView("3", "read", "The Pier", "failed", 0.1, "b.org does not answer."),
    )
    assert drawn(steps) == [
        " ✗ Read The Tower — a.org does not answer.",
        " ✗ Read The Bridge · The Pier — b.org does not answer.",
    ]


@pytest.mark.parametrize(
    ("heading", "shown"),
    [
        ("", "“It is tall.”"),
        ("The Tower", "“It is tall.”"),
        ("The Tower › Height", "“It is tall.” — Height"),
        ("Page 7", "“It is tall.” — Page 7"),
        ("The Towers › Height", "“It is tall.” — The Towers › Height"),
    ],
)
def test_a_quote_says_where_it_stands_without_the_title_above_it(heading: str, shown: str) -> None:
    citation = Citation(1, "https://e.org/t", "The Tower", "It is tall.", "", 0, 11, heading)
    answer = Answer("answered", "It is [1].", "How tall?", "r1", (citation,))
    assert plain(answer).splitlines()[-1].strip() == shown
