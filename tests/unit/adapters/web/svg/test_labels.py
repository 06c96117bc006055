"""Text in lines that fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.web.html.svg import lines, width

ROOM = 10.0


@given(st.text(max_size=200), st.integers(1, 4))
def test_no_line_is_wider_than_there_is_room(text: str, most: int) -> None:
    found = lines(text, ROOM, most)
    assert len(found) <= most
    assert all(width(line) <= ROOM for line in found)


@given(st.lists(st.text("abcdefgh东西", min_size=1, max_size=12), max_size=6))
def test_nothing_is_lost_where_there_are_lines_enough(words: list[str]) -> None:
    found = lines(" ".join(words), ROOM, 100)
    assert "".join("".join(found).split()) == "".join(words)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("one two", ("one two",)),
        ("When was it built, and why?", ("When was it built, and", "why?")),
        ("它是什么时候在哪座城市建成的？", ("它是什么时候在哪座城", "市建成的？")),
        ("在哪座城市建成的它是？", ("在哪座城市建成的它", "是？")),
        ("Donaudampfschifffahrtsgesellschaft", ("Donaudampfschifffahr", "tsgesellschaft")),
    ],
)
def test_lines_break_between_words_or_characters(text: str, expected: tuple[str, ...]) -> None:
    assert lines(text, ROOM, 9) == expected


def test_what_is_cut_says_so() -> None:
    assert lines("one two three four five six seven", ROOM, 1)[0].endswith("…")
