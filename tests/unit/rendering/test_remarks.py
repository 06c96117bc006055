"""The plan of a run, and the small print under its answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.messages import (
    Answer,
    Citation,
    Doubt,
    StepView,
    Usage,
    Verification,
    VerifiedSentence,
)
from bot.core.texts import LOCALES, texts_for
from bot.rendering.remarks import (
    DOUBT,
    LINE,
    NOTE,
    SOURCES,
    branches,
    cautions,
    remarks,
    source_line,
    summary,
    work,
)
from tests.unit.samples import A_GRAPH

EN = texts_for("en")


def test_steps_stand_under_their_line_however_deep_and_lines_keep_their_order() -> None:
    steps = (
        StepView("plan", "plan", "Plan", "done"),
        StepView("node-a", "node", "A?", "running"),
        StepView("node-b", "node", "B?", "running"),
        StepView("1", "search", "b", "done", parent="node-b"),
        StepView("2", "think", "Judge", "running", parent="node-a"),
        StepView("3", "read", "deeper", "done", parent="1"),
        StepView("4", "write", "Write", "waiting"),
    )
    found = branches(steps)
    assert [branch.line.id for branch in found] == ["plan", "node-a", "node-b", "4"]
    assert [[step.id for step in branch.steps] for branch in found] == [[], ["2"], ["1", "3"], []]
    assert [step.id for step in found[1].under_way] == ["2"]


def test_a_step_whose_line_is_not_there_stands_by_itself() -> None:
    found = branches((StepView("1", "search", "b", "done", parent="gone"),))
    assert [branch.line.id for branch in found] == ["1"]


def test_what_was_done_is_summed_up() -> None:
    by_id = {branch.line.id: work(branch, EN) for branch in branches(A_GRAPH)}
    assert by_id == {
        "plan": "",
        "node-a": "2 searches · 2 pages",
        "node-b": "1 search",
        "node-c": "",
        "node-d": "1 page",
    }


def test_a_page_that_another_line_has_read_counts_as_well() -> None:
    line = StepView("node-a", "node", "A?", "done", sources=("https://e.org/",))
    assert work(branches((line,))[0], EN) == "1 page"


@pytest.mark.parametrize(("locale", "said"), [("zh-Hans", "搜索 2 次 · 阅读 2 页")])
def test_it_is_said_in_the_readers_language(locale: str, said: str) -> None:
    assert work(branches(A_GRAPH)[1], texts_for(locale)) == said


@given(
    st.lists(
        st.builds(
            StepView,
            id=st.sampled_from("abcdef"),
            kind=st.just("read"),
            title=st.just("t"),
            state=st.just("done"),
            parent=st.sampled_from("abcdef "),
        ),
        unique_by=lambda step: step.id,
    )
)
def test_no_step_is_lost_whatever_stands_under_what(steps: list[StepView]) -> None:
    found = branches(steps)
    shown = [step.id for branch in found for step in (branch.line, *branch.steps)]
    assert sorted(shown) == sorted(step.id for step in steps)


# ---------------------------------------------------------------- remarks


def an_answer(**parts: Any) -> Answer:
    return Answer("answered", "It is tall.", "How tall is it?", "run1", **parts)


def test_an_answer_without_doubts_and_notes_needs_no_remark() -> None:
    assert remarks(an_answer(), EN) == ()


def test_doubts_come_before_notes() -> None:
    answer = an_answer(doubts=(Doubt("It is green.", "no footnote"),), notes=("Slow today.",))
    assert remarks(answer, EN) == (
        "⚠ Unverified: “It is green.” (no footnote)",
        "ⓘ Slow today.",
    )


def test_foreign_words_are_shown_as_the_platform_shows_them_and_ours_as_they_are() -> None:
    answer = an_answer(doubts=(Doubt("a*b", "c*d"),), notes=("e*f",))
    assert remarks(answer, EN, lambda text: text.replace("*", r"\*")) == (
        r"⚠ Unverified: “a\*b” (c\*d)",
        r"ⓘ e\*f",
    )


def test_a_doubted_sentence_is_shown_in_plain_words() -> None:
    doubt = Doubt("- Ask for the **A1 certificate** at `least` 1. four weeks ahead.", "why")
    (told,) = remarks(an_answer(doubts=(doubt,)), EN)
    assert told == "⚠ Unverified: “Ask for the A1 certificate at least 1. four weeks ahead.” (why)"


def test_what_the_text_of_a_failure_says_is_not_said_again() -> None:
    why = "No search provider answered."
    failed = Answer("failed", why, "How tall is it?", "run1", notes=(why, "Slow today."))
    assert remarks(failed, EN) == ("ⓘ Slow today.",)


@pytest.mark.parametrize("note", ["", " \n\t", "\x00"])
def test_a_note_that_says_nothing_is_none(note: str) -> None:
    assert remarks(an_answer(notes=(note,)), EN) == ()


@given(st.text(), st.integers(1, 2_000))
def test_a_remark_is_one_line_of_bounded_length(text: str, times: int) -> None:
    answer = an_answer(doubts=(Doubt(text * times, text * times),), notes=(text * times,))
    doubt, *notes = remarks(answer, EN)
    assert len(doubt) <= 2 * DOUBT + len("⚠ Unverified: “” ()")
    assert all(len(note) <= NOTE + len("ⓘ ") for note in notes)
    assert len("".join((doubt, *notes)).splitlines()) == 1


@pytest.mark.parametrize("locale", LOCALES)
def test_the_summary_names_time_work_cost_and_run(locale: str) -> None:
    usage = Usage(searches=7, pages=3, seconds=4.21, usd=0.05)
    said = summary(an_answer(usage=usage), texts_for(locale)).replace(",", ".")
    for figure in ("4.2 ", "7", "3", "0.05", "run1"):
        assert figure in said


# ---------------------------------------------------------------- remarks short


def cited(number: int, title: str = "", url: str = "", heading: str = "") -> Citation:
    address = url or f"https://example.org/{number}"
    return Citation(number, address, title or f"Page {number}", "It is.", "h", 0, 6, heading)


def answered(text: str = "It is [1].", *citations: Citation, **fields: object) -> Answer:
    made = Answer("answered", text, "Is it?", "r1", citations or (cited(1),))
    return replace(made, **fields)  # type: ignore[arg-type]


def test_the_line_has_the_sources_of_the_text_alone() -> None:
    line = source_line(answered("It is [2] so [1].", cited(1), cited(2), cited(3)))
    assert [(label.number, label.words) for label in line.labels] == [(1, "Page 1"), (2, "Page 2")]
    assert line.more == 0


def test_more_sources_than_fit_are_counted() -> None:
    many = [cited(n) for n in range(1, SOURCES + 4)]
    line = source_line(answered("".join(f"x [{c.number}] " for c in many), *many))
    assert (len(line.labels), line.more) == (SOURCES, 3)


def test_a_source_that_leads_nowhere_has_its_heading() -> None:
    local = cited(1, "The manual", "file:///srv/manual.pdf", "Page 7 › Measures")
    (label,) = source_line(answered("It is [1].", local)).labels
    assert (label.words, label.href) == ("The manual — Page 7 › Measures", "")
    (label,) = source_line(answered("It is [1].", local), "https://f.example/runs/r1").labels
    assert (label.words, label.href) == ("The manual", "https://f.example/runs/r1/pages/1")


@given(st.lists(st.text(min_size=1, max_size=300), min_size=1, max_size=20))
def test_titles_of_any_length_make_a_line(titles: list[str]) -> None:
    many = [cited(n, title) for n, title in enumerate(titles, start=1)]
    line = source_line(answered("".join(f"x [{c.number}] " for c in many), *many))
    assert sum(len(label.words) for label in line.labels) <= LINE + SOURCES
    assert len(line.labels) + line.more == len(many)


def test_an_answer_that_is_plain_needs_no_caution() -> None:
    assert cautions(answered(), EN) == ()


def test_doubts_and_notes_of_an_answer_are_counted() -> None:
    doubts = (Doubt("It is not.", "no source says so"), Doubt("It was.", "nor that"))
    (line,) = cautions(answered(doubts=doubts, notes=("One page was slow.",)), EN)
    assert line.startswith("⚠ 2 sentences")
    assert "One remark" in line


def test_what_is_missing_is_named() -> None:
    shown = cautions(answered(status="partial", missing=("its weight", "its age")), EN)
    assert shown == ("◐ Partly answered. Not found: its weight; its age",)


def test_why_there_is_no_answer_is_told_in_full() -> None:
    shown = cautions(answered(status="not_found", notes=("No search provider answered.",)), EN)
    assert shown == ("ⓘ No search provider answered.",)


def test_what_was_corrected_is_told_once() -> None:
    sentences = (VerifiedSentence("It is.", "contradicted", "", "restated"),)
    verification = Verification("done", sentences)
    answer = answered(verification=verification)
    (line,) = cautions(answer, EN)
    assert "corrected" in line
    told = EN("verify-changed", corrected=1, left=0)
    assert cautions(replace(answer, notes=(told,)), EN) == (line,)


def test_remarks_on_an_answer_without_any_source_are_told_in_full() -> None:
    note = EN("report-not-sourced")
    assert cautions(replace(answered("It is."), citations=(), notes=(note,)), EN) == (f"ⓘ {note}",)


def test_what_the_asker_sent_and_could_not_be_read_is_said_below_the_answer() -> None:
    unread = "I could not read the file rules.rar."
    answer = answered(notes=("One page was slow.", unread), unread=(unread,))
    assert cautions(answer, EN) == ("ⓘ One remark on how this was found", f"ⓘ {unread}")
