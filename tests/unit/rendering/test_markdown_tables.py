"""Tables where none are rendered: aligned text, or records."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from bot.rendering.markdown_tables import (
    Table,
    aligned,
    plain,
    plain_lines,
    plain_text,
    records,
    with_plain_tables,
)


def test_a_table_becomes_aligned_text_in_a_fence() -> None:
    text = "Before.\n\n| Name | Cost |\n|:--|--:|\n| **ab** [1] | 7 |\n| `c` | 12 |\n\nAfter."
    assert with_plain_tables(text, 40) == (
        "Before.\n\n```\nName   | Cost\n-------+-----\nab [1] |    7\nc      |   12\n```\n\nAfter."
    )


def test_east_asian_characters_take_two_columns() -> None:
    table = Table(("城市", "Ab"), (("巴黎", "c"), ("x", "塔")))
    assert plain(table, 40) == "```\n城市 | Ab\n-----+---\n巴黎 | c\nx    | 塔\n```"


def test_columns_are_aligned_as_the_table_says() -> None:
    text = "| a | b | c |\n|:--|:-:|--:|\n| left | center | right |\n| x | y | z |"
    assert with_plain_tables(text, 40).split("\n")[-2] == "x    |   y    |     z"


def test_a_table_too_wide_becomes_records() -> None:
    text = f"| Name | Note |\n|---|---|\n| **a** | {'long ' * 10}|\n| b |  |"
    assert with_plain_tables(text, 40) == (
        f"**Name**: **a**\n**Note**: {('long ' * 10).strip()}\n\n**Name**: b"
    )


def test_a_block_may_be_just_as_wide_as_asked() -> None:
    table = Table(("ab", "cd"), (("e", "f"),))
    assert plain(table, 7).startswith("```")
    assert plain(table, 6).startswith("**ab**")


@pytest.mark.parametrize(
    "text",
    [
        "No table | here.",
        "```\n| a |\n|---|\n| b |\n```",
        "`| a |`",
        "    | a |\n    |---|",
        "- | a |\n  |---|\n  | b |",
        "",
    ],
)
def test_what_is_no_table_of_its_own_stays_as_it_is(text: str) -> None:
    assert with_plain_tables(text, 40) == text


def test_a_table_in_a_quote_stays_in_the_quote() -> None:
    text = "> | a | b |\n> |---|---|\n> | c | d |\n\nAfter."
    assert with_plain_tables(text, 40) == "> ```\n> a | b\n> --+--\n> c | d\n> ```\n\nAfter."


def test_code_in_a_cell_cannot_close_the_fence() -> None:
    shown = plain(Table(("a",), (("\\`\\`\\`",),)), 40)
    assert shown.startswith("````\n")
    assert shown.endswith("\n````")


def test_a_row_of_nothing_names_its_columns() -> None:
    assert records(Table(("a", "b"), (("", ""),))) == "**a** · **b**"
    assert records(Table(("a", "b"), ())) == "**a** · **b**"


@pytest.mark.parametrize(
    ("text", "wide"),
    [
        ("abc", 3),
        ("塔", 2),
        ("é", 1),
        ("e\u0301", 1),
        ("ｶ", 1),
        ("Ａ", 2),
        ("👍", 2),
        ("\u2060", 0),
    ],
)
def test_a_character_takes_the_columns_of_a_terminal(text: str, wide: int) -> None:
    assert aligned(Table((text,), ()), 9)[1] == "-" * wide


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("**bold** _it_ `code`", "bold it code"),
        ("[label](https://example.org)", "label"),
        ("[[1]](https://example.org)", "[1]"),
        ("a \\| b &amp; c", "a | b & c"),
    ],
)
def test_a_cell_is_read_as_words(cell: str, words: str) -> None:
    assert plain_text(cell) == words


CELL = st.text(alphabet="ab 塔é", max_size=8).map(lambda text: " ".join(text.split()))


@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=5), st.integers(5, 60))
def test_a_block_is_never_wider_than_asked_and_its_bars_align(
    rows: list[tuple[str, str]], width: int
) -> None:
    shown = plain(Table(("a", "b"), tuple(rows)), width)
    if shown.startswith("```"):
        lines = shown.split("\n")[1:-1]
        assert all(cell_len(line) <= width for line in lines)
        assert len({cell_len(line[: line.index("|")]) for line in lines if "|" in line}) <= 1
    for row in rows:
        assert all(cell in shown for cell in row)


def test_words_are_told_without_signs_of_markdown() -> None:
    text = (
        "# The *tower*\n\n- It is **tall**: [330 m](https://example.org).\n- Made of `iron`\n\n"
        "| part | m |\n| --- | ---: |\n| mast | 24 |\n\n```sh\nls -l\n\ndf\n```\n\n> So they say.\n"
    )
    lines = ["The tower", "It is tall: 330 m.", "Made of iron", "part", "m", "mast", "24"]
    assert plain_lines(text) == [*lines, "ls -l", "df", "So they say."]
