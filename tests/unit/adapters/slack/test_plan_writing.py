"""The part of a growing answer that may be shown for good."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.format import cut_before, ready

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
