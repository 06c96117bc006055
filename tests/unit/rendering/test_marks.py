"""Footnote marks: every way they are written is read, one way is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.rendering.marks import normalise, numbers_in, without_marks


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("It is tall [3].", "It is tall [3]."),
        ("It is tall [3, 5].", "It is tall [3][5]."),
        ("It is tall [3][5].", "It is tall [3][5]."),
        ("It is tall [3; 5].", "It is tall [3][5]."),
        ("It is tall [3 and 5].", "It is tall [3][5]."),
        ("It is tall [[3]].", "It is tall [3]."),
        ("It is tall [[3, 5]].", "It is tall [3][5]."),
        ("It is tall [[3]](https://example.org).", "It is tall [3]."),
        ("It is tall [3](https://example.org).", "It is tall [3]."),
        ("It is tall [^3].", "It is tall [3]."),
        ("It is tall [3-5].", "It is tall [3][4][5]."),
        ("它很高【3】。", "它很高[3]。"),
        ("它很高【3，5】。", "它很高[3][5]。"),
        ("它很高【3†来源】。", "它很高[3]。"),
        ("它很高［3］。", "它很高[3]。"),
        ("It is tall [3, 3].", "It is tall [3]."),
    ],
)
def test_every_way_of_writing_a_mark_is_read(written: str, read: str) -> None:
    assert normalise(written, {3, 4, 5}) == read


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("It is tall [9].", "It is tall."),
        ("It is tall [3, 9].", "It is tall [3]."),
        ("It is tall [1-900].", "It is tall."),
        ("它很高【9】。", "它很高。"),
    ],
)
def test_a_number_that_was_never_given_is_dropped(written: str, read: str) -> None:
    assert normalise(written, {3}) == read


@pytest.mark.parametrize(
    "literal",
    [
        "`x[3]`",
        "``a `[3]` b``",
        "```python\nx[3, 5] = y[9]\n```",
        "~~~\n[9]\n~~~",
        "```\nnever closed [9]",
        "$x_{[9]}$",
        "$$\na[9]\n$$",
    ],
)
def test_code_and_math_are_left_alone(literal: str) -> None:
    assert normalise(f"Before [3].\n\n{literal}", {3}) == f"Before [3].\n\n{literal}"


def test_money_is_not_math() -> None:
    text = "It cost $5 [3] and later $6 [9]."
    assert normalise(text, {3}) == "It cost $5 [3] and later $6."


@pytest.mark.parametrize(
    "text",
    ["[a] note", "a [link](https://example.org)", "[12345]", "[]", "[-3]", "3] and [3", "[x3]"],
)
def test_what_is_not_a_mark_stays(text: str) -> None:
    assert normalise(text, {3}) == text


def test_numbers_are_listed_once_in_order() -> None:
    assert numbers_in("a [5][3] b [5] `[9]`") == [5, 3]


def test_a_claim_is_read_without_its_marks() -> None:
    assert without_marks("It is 330 m tall [3][5].") == "It is 330 m tall."


@given(st.text(alphabet="a 1359[]^,-【】`$\n()", max_size=60))
def test_only_given_numbers_are_left_and_reading_twice_is_reading_once(text: str) -> None:
    once = normalise(text, {1, 3})
    assert set(numbers_in(once)) <= {1, 3}
    assert normalise(once, {1, 3}) == once
