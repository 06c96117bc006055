"""A run's steps as the tasks of a Slack plan."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.format import Link, Task, cut_before, ready, tasks
from adapters.slack.limits import (
    TASK_FIELD_CHARACTERS,
    TASK_SOURCES,
    TASK_TITLE_CHARACTERS,
    TASKS,
)
from bot.core.messages import PlanView, StepState, StepView
from bot.core.texts import texts_for
from tests.unit.samples import A_GRAPH

EN = texts_for("en")
KINDS = ("rewrite", "search", "read", "think", "write", "draft", "something new")
STATES: tuple[StepState, ...] = ("waiting", "running", "done", "failed")


def a_step(
    kind: str,
    title: str = "towers",
    state: StepState = "done",
    *,
    sources: tuple[str, ...] = (),
    detail: str = "",
    parent: str = "",
) -> StepView:
    id = f"{kind}-{title}"
    return StepView(id, kind, title, state, 0.0, detail, sources, parent)


def shown(*steps: StepView, ended: bool = False) -> tuple[Task, ...]:
    return tasks(PlanView("How tall?", steps), EN, ended=ended)


def test_searches_made_together_and_their_reads_are_one_task() -> None:
    (task,) = shown(
        a_step("search", "tower height"),
        a_step("search", "tower metres"),
        a_step("think"),
        a_step("read", "The Tower", sources=("https://example.org/tower",)),
        a_step("read", "https://example.org/x", sources=("https://example.org/x",)),
    )
    assert task.title == "Searching: tower height · and one more step"
    assert task.links == (
        Link("https://example.org/tower", "The Tower"),
        Link("https://example.org/x", "example.org"),
    )


def test_a_search_after_reading_begins_a_new_task() -> None:
    found = shown(
        a_step("search", "tower height"), a_step("read", "Tower"), a_step("search", "tower age")
    )
    assert [task.title for task in found] == ["Searching: tower height", "Searching: tower age"]


def test_steps_of_a_sub_question_belong_to_it() -> None:
    found = shown(
        a_step("question", "Who built it?"),
        a_step("question", "How tall is it?"),
        a_step("search", "builder", parent="question-Who built it?"),
        a_step("read", "Page", sources=("https://e.org/",), parent="question-How tall is it?"),
    )
    assert [(task.title, len(task.links)) for task in found] == [
        ("Who built it?", 0),
        ("How tall is it?", 1),
    ]


def test_a_sub_question_is_one_task_that_is_as_far_as_its_line() -> None:
    found = shown(*A_GRAPH)
    assert [(task.title, task.state) for task in found] == [
        ("Planning the research", "complete"),
        ("Who directed Jaws?", "complete"),
        ("Who directed Alien?", "in_progress"),
        ("When was the director of Jaws born?", "pending"),
        ("Where is Amity?", "error"),
    ]
    assert [task.details for task in found] == [
        "",
        "2 searches · 2 pages",
        "",
        "",
        "1 page · The model is away.",
    ]
    assert found[1].links == (
        Link("https://e.org/jaws", "Jaws"),
        Link("https://e.org/s", "Steven Spielberg"),
    )


def test_what_follows_the_sub_questions_is_a_task_of_its_own() -> None:
    found = shown(*A_GRAPH, a_step("think", "Judge"), a_step("write", state="running"))
    assert [task.title for task in found[5:]] == ["Thinking it through", "Writing the answer"]
    assert len(found[4].details) < 40


@pytest.mark.parametrize(
    ("states", "ended", "state"),
    [
        (("running",), False, "in_progress"),
        (("waiting",), False, "pending"),
        (("done",), False, "in_progress"),  # what it leads to is not known yet
        (("done",), True, "complete"),
        (("running",), True, "complete"),
        (("failed",), False, "error"),
        (("failed",), True, "error"),
        (("failed", "done"), True, "complete"),
    ],
)
def test_a_task_is_as_far_as_its_steps(
    states: tuple[StepState, ...], ended: bool, state: str
) -> None:
    steps = [a_step("search", f"query {n}", state) for n, state in enumerate(states)]
    assert [task.state for task in shown(*steps, ended=ended)] == [state]


def test_only_the_last_task_waits_for_what_follows() -> None:
    found = shown(a_step("rewrite"), a_step("search"), a_step("write", state="running"))
    assert [task.state for task in found] == ["complete", "complete", "in_progress"]


def test_why_a_step_failed_is_told() -> None:
    (task,) = shown(a_step("search", state="failed", detail="Brave did not answer."), ended=True)
    assert "Brave did not answer." in task.details


def test_pages_that_were_not_read_and_files_are_no_links() -> None:
    (task,) = shown(
        a_step("search"),
        a_step("read", "Gone", "failed", sources=("https://example.org/gone",)),
        a_step("read", "File", sources=("file:///etc/passwd",)),
        a_step("read", "Script", sources=("javascript:alert(1)",)),
    )
    assert task.links == ()


def test_more_tasks_than_fit_are_counted() -> None:
    steps = [a_step(kind, f"{kind} {n}") for n in range(30) for kind in ("search", "read")]
    found = shown(*steps)
    assert len(found) == TASKS
    assert found[-1].title == "and 11 more steps"


STEPS = st.builds(
    StepView,
    id=st.text("abc", min_size=1, max_size=2),
    kind=st.sampled_from(KINDS),
    title=st.text(max_size=300),
    state=st.sampled_from(STATES),
    detail=st.text(max_size=400),
    sources=st.lists(
        st.one_of(st.text(max_size=20), st.just("https://example.org/?q=" + "x" * 50)), max_size=12
    ).map(tuple),
    parent=st.text("abc", max_size=2),
)


@given(st.lists(STEPS, max_size=60), st.booleans())
def test_whatever_the_plan_its_tasks_keep_the_limits(steps: list[StepView], ended: bool) -> None:
    found = shown(*steps, ended=ended)
    assert len(found) <= TASKS
    for task in found:
        assert task.id
        assert 0 < len(task.title) <= TASK_TITLE_CHARACTERS
        assert len(task.details) <= TASK_FIELD_CHARACTERS
        assert len(task.links) <= TASK_SOURCES
        assert all(
            link.text and link.url.startswith(("http://", "https://")) for link in task.links
        )
        assert "<" not in task.title + task.details
        assert not ended or task.state in ("complete", "error")


# ---------------------------------------------------------------- the text that is ready


PIECES = st.sampled_from(
    [
        "word ",
        "\n",
        "\n\n",
        "[1]",
        "[2] ",
        "- item",
        "```\n",
        "`",
        "| a | b |\n",
        "# Head\n",
        "　漢字。",
    ]
)
TEXTS = st.lists(PIECES, max_size=40).map("".join)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("It is", ""),
        ("It is tall.\n", ""),  # a footnote may still be put behind its last word
        ("It is tall.\n\n", ""),
        ("It is tall.\n\nIt", "It is tall.\n\n"),
        ("- one\n- two\n- thr", "- one\n- two\n"),
        ("One [1].\n\nTwo [7].\n\nThree", "One [1].\n\n"),  # nobody knows page 7 yet
        ("Look:\n```\na = [7]\n", "Look:\n"),
        ("Look:\n```\na = [7]\n```\nso", "Look:\n```\na = [7]\n```\n"),
        ("~~~\n```\n~~~\nso", "~~~\n```\n~~~\n"),
    ],
)
def test_whole_lines_that_something_follows_are_ready(text: str, shown: str) -> None:
    assert ready(text, {1, 2}) == shown


@given(TEXTS, st.integers(0, 400))
def test_what_was_ready_stays_so(text: str, at: int) -> None:
    early, late = ready(text[:at], {1, 2}), ready(text, {1, 2})
    assert late.startswith(early)
    assert text.startswith(late)


@given(TEXTS, st.integers(0, 300))
def test_a_cut_leaves_no_more_than_there_is_room_for(text: str, room: int) -> None:
    cut = cut_before(text, room)
    assert 0 <= cut <= min(room, len(text))
    if cut:
        assert not text[:cut].splitlines()[-1].strip()


def test_a_cut_is_not_made_in_code() -> None:
    text = "before\n\n```\na\n\nb\n\nc\n```\n\nafter"
    assert text[: cut_before(text, 15)] == "before\n\n"
    assert text[: cut_before(text, len(text) - 2)] == "before\n\n```\na\n\nb\n\nc\n```\n\n"
