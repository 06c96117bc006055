"""Quoted words beside an answer: tables and code keep their lines, and nothing is too long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.rendering.excerpts import Excerpt, excerpts

CODE = "```python\nx = argv[1]\nprint(x)\n```"
TABLE = "| a | b |\n| --- | --- |\n| c[1] | d |"


@pytest.mark.parametrize(
    ("quote", "shown"),
    [
        ("Two\nlines.", [Excerpt("text", "Two lines.")]),
        (CODE, [Excerpt("code", "x = argv[1]\nprint(x)")]),
        ("```\nnever closed", [Excerpt("code", "never closed")]),
        (TABLE, [Excerpt("table", TABLE.replace("[1]", "\\[1\\]"))]),
        ("| c |  d |", [Excerpt("table", "|  |  |\n| --- | --- |\n| c |  d |")]),
        (
            f"Run:\n\n{CODE}\n\nThen stop.",
            [
                Excerpt("text", "Run:"),
                Excerpt("code", "x = argv[1]\nprint(x)"),
                Excerpt("text", "Then stop."),
            ],
        ),
        ("", []),
    ],
)
def test_a_quote_comes_in_pieces_of_one_kind(quote: str, shown: list[Excerpt]) -> None:
    assert list(excerpts(quote, 400)) == shown


def test_long_code_and_long_tables_lose_their_last_lines() -> None:
    code = "\n".join(f"line {n}" for n in range(100))
    (found,) = excerpts(f"```\n{code}\n```", 30)
    assert found == Excerpt("code", "line 0\nline 1\nline 2\nline 3\n…")
    rows = "\n".join(f"| {n} | x |" for n in range(100))
    (found,) = excerpts(f"| a | b |\n| --- | --- |\n{rows}", 50)
    assert found.text.split("\n")[-2:] == ["| 1 | x |", "…"]


def test_rows_too_long_for_a_table_are_running_text() -> None:
    (found,) = excerpts(f"| a | b |\n| --- | --- |\n| {'word ' * 50}| d |", 60)
    assert (found.kind, found.text) == ("text", f"a · b · {'word ' * 10}…")


@given(st.text(alphabet="ab |`\n-#*1.[]塔", max_size=200), st.integers(0, 100))
def test_a_quote_is_not_much_longer_than_asked(quote: str, longest: int) -> None:
    found = excerpts(quote, longest)
    heads = 40 * sum(piece.kind == "table" for piece in found)
    assert sum(len(piece.text) for piece in found) <= longest + 4 * len(found) + heads


CODE_OF_FOUR = "```\na = 1\nb = 2\nc = 3\nd = 4\n```"
ROWS = "| a | b |\n| --- | --- |\n| 1 | x |\n| 2 | y |\n| 3 | z |"


@pytest.mark.parametrize(
    ("quote", "shown", "kept"),
    [
        (CODE_OF_FOUR, ["b = 2"], [Excerpt("code", "b = 2")]),
        (CODE_OF_FOUR, ["a = 1", "d = 4"], [Excerpt("code", "a = 1\n…\nd = 4")]),
        (
            ROWS,
            ["| a | b |\n| --- | --- |", "| 3 | z |"],
            [Excerpt("table", "| a | b |\n| --- | --- |\n| 3 | z |")],
        ),
        (
            ROWS,
            ["| a | b |\n| --- | --- |\n| 1 | x |", "| 3 | z |"],
            [Excerpt("table", "| a | b |\n| --- | --- |\n| 1 | x |\n| … | … |\n| 3 | z |")],
        ),
        ("One. Two. Three.", ["One.", "Three."], [Excerpt("text", "One. … Three.")]),
        ("- One\n- Two\n- Three", ["- Two"], [Excerpt("text", "- Two")]),
        (f"Run:\n\n{CODE_OF_FOUR}", ["c = 3"], [Excerpt("code", "c = 3")]),
    ],
)
def test_only_the_proof_is_shown(quote: str, shown: list[str], kept: list[Excerpt]) -> None:
    proof = [(quote.index(each), quote.index(each) + len(each)) for each in shown]
    assert list(excerpts(quote, 400, proof=proof)) == kept
