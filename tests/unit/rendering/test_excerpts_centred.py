"""A line that is too long is cut around what matters in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.rendering.excerpts import centred, flattened

LONG = "The bridge was planned by many hands over the years and in 1998 it was opened by the king."


def strong(text: str, *words: str) -> list[tuple[int, int]]:
    return [(text.index(each), text.index(each) + len(each)) for each in words]


@pytest.mark.parametrize(
    ("words", "longest", "shown"),
    [
        (["1998"], 200, LONG),
        (["1998"], 40, "… years and in 1998 it was opened …"),
        (["bridge"], 30, "The bridge was planned by …"),
        (["king"], 30, "… it was opened by the king."),
        (["bridge", "king"], 60, "The bridge was planned by many … it was opened by the king."),
        ([], 30, "The bridge was planned by …"),
    ],
)
def test_what_matters_stays(words: list[str], longest: int, shown: str) -> None:
    text, spans = centred(LONG, strong(LONG, *words), longest)
    assert text == shown
    assert [text[start:end] for start, end in spans] == words


def test_chinese_is_cut_between_characters_without_spaces() -> None:
    line = "这座桥由许多人在多年间设计，并于1998年由国王正式开放通车，至今仍在使用。"
    text, spans = centred(line, strong(line, "1998"), 16)
    assert (text[0], text[-1]) == ("…", "…")
    assert " " not in text
    assert [text[start:end] for start, end in spans] == ["1998"]


def test_pieces_are_joined_by_an_ellipsis() -> None:
    assert flattened([("One\nline. ", [(0, 3)]), ("Three.", [])]) == (
        "One line. … Three.",
        ((0, 3),),
    )
    assert flattened([("第一。", []), ("第三。", [(0, 2)])]) == ("第一。…第三。", ((4, 6),))


@given(
    st.lists(
        st.text(alphabet="ab1 .,塔é\u0301…", min_size=1, max_size=12), min_size=1, max_size=30
    ),
    st.sets(st.integers(0, 29), max_size=4),
    st.integers(0, 90),
)
def test_a_cut_line_is_short_enough_and_says_nothing_new(
    pieces: list[str], chosen: set[int], longest: int
) -> None:
    text = "".join(pieces)
    edges = [sum(map(len, pieces[:place])) for place in range(len(pieces) + 1)]
    words = [n for n in sorted(chosen) if n < len(pieces) and pieces[n] == pieces[n].strip()]
    line, spans = flattened([(text, [(edges[n], edges[n + 1]) for n in words])])
    shown, left = centred(line, spans, longest)
    assert len(shown) <= longest or shown == line
    for piece in shown.split("…"):
        assert piece.strip() in line
    allowed = {line[start:end] for start, end in spans}
    assert all(shown[start:end] in allowed for start, end in left)
