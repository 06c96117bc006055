"""Estimates of how many tokens a text takes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.terms import estimate


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 1),
        ("word", 1),
        ("words and words", 4),
        ("水水水", 3),
        ("水 and", 2),
        ("привет", 3),
        ("서울", 2),
        ("東京タワー", 5),
        ("café", 1),
    ],
)
def test_estimates_follow_the_script(text: str, expected: int) -> None:
    assert estimate(text) == expected


@given(st.text(), st.text())
def test_more_text_never_takes_fewer_tokens(one: str, other: str) -> None:
    assert estimate(one + other) >= max(estimate(one), estimate(other))


@given(st.text(min_size=1))
def test_no_text_is_free(text: str) -> None:
    assert 1 <= estimate(text) <= len(text)
