"""Control characters go, and nothing else does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.terms import without_controls


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("red \x1b[31mtext\x1b[0m", "red text"),
        ("\x1b]8;;https://evil.example\x07link\x1b]8;;\x07", "link"),
        ("bell\x07, null\x00, escape\x1b", "bell, null, escape"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("长城 🗼 naïve", "长城 🗼 naïve"),
        ("half \ud83d", "half "),
    ],
)
def test_control_sequences_and_characters_go(text: str, left: str) -> None:
    assert without_controls(text) == left


@given(st.text())
def test_what_is_left_can_be_printed_and_encoded(text: str) -> None:
    left = without_controls(text)
    left.encode()
    assert not any(char in left for char in "\x1b\x07\x00\x9b")
    assert without_controls(left) == left
