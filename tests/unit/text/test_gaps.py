"""Statements of an answer that something was not found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.sentences import says_gap, without_gaps


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        (
            "It joins the Lahn near Lollar; where it rises was not found.",
            "It joins the Lahn near Lollar",
        ),
        (
            "Which of the two is longer could not be found, as no length turned up for either.",
            "",
        ),
        ("Its height could not be determined.", ""),
        ("No page says when it was built.", ""),
        ("Nothing was found on its owner.", ""),
        (
            "35, if he still lived in Tennessee, which could not be shown.",
            "35, if he still lived in Tennessee",
        ),
        ("It has 30 rooms but its architect is not named.", "It has 30 rooms"),
        ("它位于黑森州，没有找到其源头。", "它位于黑森州"),
        ("Sie mündet in die Lahn; wo sie entspringt, wurde nicht gefunden.", None),
        ("The wreck was not found until 1985.", None),
        ("The bomb was not found by the police.", None),
        ("The tower is 330 m tall.", None),
        ("It was never completed.", None),
    ],
)
def test_what_was_not_found_is_left_out(sentence: str, left: str | None) -> None:
    shown = without_gaps(sentence)
    if left is not None:
        assert shown == left
    elif "nicht gefunden" in sentence:
        assert "nicht gefunden" not in shown
    else:
        assert shown == sentence


@given(st.text(max_size=200))
def test_any_text_is_taken(text: str) -> None:
    assert set(without_gaps(text)) <= {*text, " "}


def test_that_a_question_leaves_it_open_is_a_gap() -> None:
    said = 'What to change cannot be said, because your question does not say what "it" is.'
    assert without_gaps(said) == ""
    assert says_gap(said)
    assert not says_gap("The nginx page outlines the basics.")
