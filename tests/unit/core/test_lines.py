"""Foreign text on one line, no longer than there is room."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.lines import cluster_start, one_line, shortened


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\n\tb  c", "a b c"),
        (" a\x1b[31mred\x1b[0m ", "a red"),
        ("a\u202eb\u2028c\x00", "a b c"),
        ("", ""),
    ],
)
def test_foreign_text_is_one_harmless_line(text: str, line: str) -> None:
    assert one_line(text) == line


@pytest.mark.parametrize(
    ("text", "longest", "short"),
    [
        ("short", 10, "short"),
        ("exactly ten", 11, "exactly ten"),
        ("The tower is tall", 12, "The tower …"),
        ("The tower is tall", 11, "The tower …"),
        ("The tower is tall", 10, "The …"),
        ("塔高三百三十米。", 6, "塔高三百…"),
        ("塔高 330 米，建于 1889 年", 9, "塔高 330 …"),
        ("Donaudampfschiff", 8, "Donaud…"),
        ("x 👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 8, "x …"),
        ("anything", 1, "…"),
    ],
)
def test_what_is_too_long_is_cut_where_a_reader_pauses(text: str, longest: int, short: str) -> None:
    assert shortened(text, longest) == short


@given(st.text(max_size=60), st.integers(1, 40))
def test_no_line_is_longer_than_asked(text: str, longest: int) -> None:
    short = shortened(text, longest)
    assert len(short) <= longest
    assert one_line(text).startswith(short.removesuffix("…").rstrip())


@pytest.mark.parametrize(
    ("text", "at", "place"),
    [
        ("abc", 2, 2),
        ("e\u0301e\u0301", 3, 2),
        ("🇫🇷🇩🇪", 1, 0),
        ("🇫🇷🇩🇪", 2, 2),
        ("🇫🇷🇩🇪", 3, 2),
        ("a👍🏽", 2, 1),
        ("a👩‍🚀b", 3, 1),
        ("a❤️b", 2, 1),
        ("\r\n", 1, 0),
        ("नमस्ते", 3, 2),
        ("abc", 3, 3),
    ],
)
def test_letters_keep_their_marks_and_emoji_their_parts(text: str, at: int, place: int) -> None:
    assert cluster_start(text, at) == (place or at)


@given(st.text(alphabet="ae\u0301\u200d👍🏽🇫🇷", min_size=1, max_size=30), st.data())
def test_a_cut_never_takes_a_mark_from_its_letter(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(1, len(text)))
    place = cluster_start(text, at)
    assert 0 < place <= at
    if place < at:
        assert not unicodedata.combining(text[place])
