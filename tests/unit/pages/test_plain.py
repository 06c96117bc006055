"""Plain text is shown as it is: nothing in it is markup."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.plain import read_plain, set_plain
from bot.text.sentences import blocks


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("One line\nand another.\n\n\n\nMore.", "One line\nand another.\n\nMore."),
        ("# Not a heading\nbut a comment", "\\# Not a heading\nbut a comment"),
        ("- a key\n- a lock", "- a key\n- a lock"),
        ("Call __init__ and matrix[3][4].", "Call `__init__` and matrix[3][4]."),
        ("Set `name` as ``code``.", "Set `name` as ``code``."),
        ("  Indented a little,\n  as some do.", "  Indented a little,\n  as some do."),
        ("Type this:\n\n    make install\n    ./run --all\n\nand wait.",
         "Type this:\n\n```\nmake install\n./run --all\n```\n\nand wait."),
        ("Said he:\n\n    This is what he said to them, and he said it\n    in many words.",
         "Said he:\n\n    This is what he said to them, and he said it\n    in many words."),
        ("x = 1;\n\n\ny = f(x);\n", "```\nx = 1;\n\ny = f(x);\n```"),
        ("# Comment\nPort = 22\nListen = yes\n", "```\n# Comment\nPort = 22\nListen = yes\n```"),
        ("Port      Boats\nOslo         12\nBergen      140",
         "```\nPort      Boats\nOslo         12\nBergen      140\n```"),
        ("+----+----+\n| ab | cd |\n+----+----+",
         "```\n+----+----+\n| ab | cd |\n+----+----+\n```"),
        ("A justified  line  of\ntext, as manual  pages\nhave them.",
         "A justified  line  of\ntext, as manual  pages\nhave them."),
    ],
)  # fmt: skip
def test_prose_stays_and_what_is_set_by_spaces_keeps_them(source: str, text: str) -> None:
    assert set_plain(source) == text


def test_a_manual_page_has_headings_in_capitals() -> None:
    page = "NAME\n       cat - print files\n\nSEE ALSO\n\n       tac(1), and NASA's own page"
    assert set_plain(page, with_headings=True) == (
        "## NAME\n\n       cat - print files\n\n## SEE ALSO\n\n       tac(1), and NASA's own page"
    )


def test_a_script_is_code_from_its_first_line_to_its_last() -> None:
    script = '#!/bin/sh\n# Run it\n\nset -e\nexec ./run "$@"'
    assert read_plain(script) == ("", f"```\n{script}\n```")


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("Opening hours\n\n9 to 5", "Opening hours"),
        ("****\nNotes\n****", "Notes"),
        ("# The  settings #\nx = 1", "The settings"),
        ("/* main.c */\nint x;", "main.c"),
        ("=====\n\n-----", ""),
        ("word " * 60, ""),
    ],
)
def test_the_title_is_the_first_line_with_words(source: str, title: str) -> None:
    assert read_plain(source)[0] == title


LINES = st.lists(
    st.one_of(
        st.sampled_from(
            ["", "", "# {}", "  {}", "\t{} = 1;", "* {}", "| {} |", "{}", "{} and {}", "__{}__",
             "```", "=====", "f({})", "    {}  {}   {}", "\\{}", "> {}", "1. {}", "#{}", "{}:"]
        )
    ),
    max_size=15,
)  # fmt: skip


@given(LINES)
def test_every_word_stays_in_its_place_and_nothing_is_a_heading(lines: list[str]) -> None:
    source = "\n".join(lines)
    for number in range(source.count("{}")):
        source = source.replace("{}", f"w{number}", 1)
    text = set_plain(source)
    assert re.findall(r"\w+", text) == re.findall(r"\w+", source)
    assert not {block.kind for block in blocks(text)} & {"heading", "row"}
