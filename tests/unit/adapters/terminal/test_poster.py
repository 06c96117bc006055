"""The look of a plan and an answer in a terminal."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from adapters.terminal.plain import bare, ended_lines, plain
from adapters.terminal.screen import plan_lines, rendered
from bot.core.messages import Answer, Citation, StepView
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
    assert [(id, bare(line)) for id, line in ended_lines(A_GRAPH)] == [
        ("plan", "✓ Plan the sub-questions  2.0 s"),
        ("node-a", "✓ Who directed Jaws?  6.0 s  2 searches · 2 pages"),
        ("node-d", "✗ Where is Amity? — The model is away.  1 page"),
    ]


def test_a_line_that_took_no_time_has_none() -> None:
    assert drawn((StepView("price", "price", "Up to 150 searches.", "done"),)) == [
        " ✓ Up to 150 searches."
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


# ---------------------------------------------------------------- the answer

CODE = "```\nx = argv[1]\nprint(x)\n```"
TABLE = "| Year | Height |\n| --- | --- |\n| 1889 | 312 |"


def an_answer(text: str = "It is tall [1].", *quotes: str, **changes: object) -> Answer:
    cited = tuple(
        Citation(1, "https://e.org/t", "The Tower", quote, "", 0, len(quote), "The Tower › Use")
        for quote in quotes
    )
    values: dict[str, object] = {"status": "answered", "question": "?", "run": "r1"}
    return Answer(text=text, citations=cited, **{**values, **changes})  # type: ignore[arg-type]


def on_screen(answer: Answer) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=80, color_system=None).print(rendered(answer))
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_no_further_reading_no_heading() -> None:
    assert "More from" not in plain(an_answer())


def test_a_quote_that_stands_in_the_answer_leaves_only_where_it_stands() -> None:
    answer = an_answer("Use argv\\[7\\] now [1].", "Use argv[7] now.")
    assert plain(answer).splitlines() == [
        "Use argv[7] now [1].",
        "",
        "Sources:",
        "[1] The Tower — https://e.org/t",
        "    — Use",
    ]


def test_code_and_tables_of_sources_keep_their_lines() -> None:
    answer = an_answer("It is so [1].", f"Run:\n\n{CODE}", TABLE)
    assert plain(answer).splitlines()[4:] == [
        "    “Run:”",
        "    x = argv[1]",
        "    print(x)",
        "    — Use",
        "    | Year | Height |",
        "    | --- | --- |",
        "    | 1889 | 312 |",
        "    — Use",
    ]
    shown = [line.strip() for line in on_screen(answer)]
    assert "x = argv[1]" in shown
    assert not any("| 1889" in line for line in shown)  # a table is drawn


def test_code_in_an_answer_keeps_its_lines_and_its_mark_is_a_link() -> None:
    lines = on_screen(an_answer(f"{CODE}\n[1]", "x"))
    assert [line.strip() for line in lines if line.strip()][:3] == [
        "x = argv[1]",
        "print(x)",
        "[1]",
    ]


def test_a_link_to_another_page_shows_where_it_leads() -> None:
    text = "> See [The guide](<file:///srv/my%20docs/guide.html>) or [this](https://e.org/u)."
    pages = ((2, "file:///srv/my docs/guide.html"), (3, "https://e.org/u"))
    lines = " ".join(on_screen(replace(an_answer(text), linked=pages)))
    assert "The guide (/srv/my docs/guide.html)" in lines
    assert "this (https://e.org/u)" in lines


def test_what_looks_like_html_is_shown() -> None:
    assert "List<T> and <b>" in " ".join(on_screen(an_answer("List<T> and <b>")))
