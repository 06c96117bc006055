"""The small print under an answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.messages import Answer, Doubt, Usage
from bot.core.texts import LOCALES, texts_for
from bot.rendering.remarks import DOUBT, NOTE, remarks, summary

EN = texts_for("en")


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
    said = summary(an_answer(usage=usage), texts_for(locale))
    for figure in ("4.2 ", "7", "3", "0.05", "run1"):
        assert figure in said
