"""Quoted passages marked in a page's text: all of the text, or what is around them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.research.answer.support import AROUND, Piece, Quoted, excerpts, highlighted

TEXT = st.text("ab \n東", max_size=2_000)
SPANS = st.lists(st.tuples(st.integers(-5, 2_100), st.integers(-5, 2_100)), max_size=8)


def quoted(spans: list[tuple[int, int]]) -> list[Quoted]:
    return [Quoted(f"q{number}", start, end) for number, (start, end) in enumerate(spans)]


def within(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [(start, end) for start, end in spans if 0 <= start < end <= len(text)]


def marked(pieces: tuple[Piece, ...]) -> list[bool]:
    """Of each character, whether it is quoted; what is left out is None."""
    found: list[bool] = []
    for piece in pieces:
        found += [False] * piece.gap + [piece.is_quoted] * len(piece.text)
    return found


@given(TEXT, SPANS)
def test_the_whole_text_is_shown_and_exactly_what_is_quoted_is_marked(
    text: str, spans: list[tuple[int, int]]
) -> None:
    pieces = highlighted(text, quoted(spans))
    assert "".join(piece.text for piece in pieces) == text
    inside = within(text, spans)
    expected = [any(start <= at < end for start, end in inside) for at in range(len(text))]
    assert marked(pieces) == expected


@given(TEXT, SPANS)
def test_every_passage_that_is_there_can_be_linked_to_once(
    text: str, spans: list[tuple[int, int]]
) -> None:
    expected = sorted(
        one.anchor for one in quoted(spans) if (one.start, one.end) in within(text, spans)
    )
    for pieces in (highlighted(text, quoted(spans)), excerpts(text, quoted(spans))):
        begins = [anchor for piece in pieces for anchor in piece.begins]
        assert sorted(begins) == expected
        at = 0
        for piece in pieces:
            at += piece.gap
            for anchor in piece.begins:
                assert spans[int(anchor[1:])][0] == at
                assert piece.is_quoted
            at += len(piece.text)


@given(TEXT, SPANS)
def test_excerpts_and_their_gaps_are_the_whole_text(
    text: str, spans: list[tuple[int, int]]
) -> None:
    pieces = excerpts(text, quoted(spans))
    assert sum(piece.gap + len(piece.text) for piece in pieces) == len(text)
    at = 0
    for piece in pieces:
        at += piece.gap
        assert text[at : at + len(piece.text)] == piece.text
        at += len(piece.text)
    assert marked(pieces) == marked(highlighted(text, quoted(spans)))


def test_excerpts_show_what_is_around_a_passage_and_no_more() -> None:
    text = "word " * 1_000
    start = 2_500
    pieces = excerpts(text, [Quoted("q", start, start + 9)])
    shown = "".join(piece.text for piece in pieces)
    assert len(shown) <= 9 + 2 * AROUND
    assert shown.startswith("word")
    assert shown.endswith("word")
    assert [piece.gap for piece in pieces if piece.gap] == [2_180, 2_171]


def test_passages_near_each_other_share_an_excerpt() -> None:
    text = "x" * 3_000
    near = excerpts(text, [Quoted("a", 1_000, 1_010), Quoted("b", 1_100, 1_110)])
    assert sum(piece.gap > 0 for piece in near) == 2  # before and after
    far = excerpts(text, [Quoted("a", 100, 110), Quoted("b", 2_500, 2_510)])
    assert sum(piece.gap > 0 for piece in far) == 2  # between and after: the text begins with one
    for one, other in pairwise(near):
        assert one.is_quoted != other.is_quoted or other.gap


@pytest.mark.parametrize("text", ["", "short"])
def test_of_a_page_without_quotes_nothing_is_excerpted(text: str) -> None:
    assert "".join(piece.text for piece in excerpts(text, [])) == ""
