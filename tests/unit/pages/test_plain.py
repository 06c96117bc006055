"""Plain text and markup languages read as text: nothing in it is markup, no word is lost."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.plain import HeadedKind, read_headed, read_log, read_plain, set_plain
from bot.text.sentences import blocks
from tests.unit.pages.formats.order import in_order, phrases


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


# ---------------------------------------------------------------- text with headings


# ruff: noqa: E501 - documents as they are


EXAMPLES: Mapping[HeadedKind, tuple[str, str, str]] = {  # source, title, text
    "rst": (
        "Ferries\n=======\n\n.. _times:\n\nTimes\n-----\n\nThe ferry leaves at noon. For example::\n"
        "\n   $ ferry --now\n\n.. note:: Bring water.\n\n.. code-block:: c\n   :linenos:\n\n   x[1]\n"
        "\nPrices\n======\n\nTwelve euros.\n",
        "Ferries",
        "# Ferries\n\n## Times\n\nThe ferry leaves at noon. For example:\n\n```\n$ ferry --now\n```\n\n"
        "Bring water.\n\n```\nx[1]\n```\n\n# Prices\n\nTwelve euros.",
    ),
    "asciidoc": (
        "= Ferries\n:toc:\n\n== Times\n\nAt noon.\n\n[source,sh]\n----\nferry --now\n----\n\n"
        "ifdef::paid[]\nPrices\n------\nTwelve euros.\nendif::[]\n// not to be seen\n",
        "Ferries",
        "# Ferries\n\n## Times\n\nAt noon.\n\n```\nferry --now\n```\n\n## Prices\n\nTwelve euros.",
    ),
    "org": (
        "#+TITLE: Ferries\n* Times :sea:\n:PROPERTIES:\n:ID: 7\n:END:\nAt noon.\n"
        "#+begin_src sh\nferry --now\n#+end_src\n# not to be seen\n** Prices\nTwelve euros.\n",
        "Ferries",
        "# Times\n\nAt noon.\n\n```\nferry --now\n```\n\n## Prices\n\nTwelve euros.",
    ),
}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_headings_and_code_are_recognized(kind: HeadedKind) -> None:
    source, title, text = EXAMPLES[kind]
    assert read_headed(kind, source)[:2] == (title, text)


@dataclass(frozen=True, slots=True)
class Markup:
    """``forms`` are what a phrase can be set as, ``pieces`` what may be slow when repeated."""

    forms: tuple[str, ...]
    pieces: tuple[str, ...]


MARKUPS: Mapping[HeadedKind, Markup] = {
    "rst": Markup(
        ("{}\n", "{}\n" + "=" * 120 + "\n", "- {}\n", ".. note:: {}\n", "::\n\n   {}\n"),
        ("=", "a\n=\n", "::\n", ".. a::\n", " ::\n\n", ":a:", "==="),
    ),
    "asciidoc": Markup(
        ("{}\n", "== {}\n", "* {}\n", "x:: {}\n", "----\n{}\n----\n", "|===\n|{0} |{0}\n|===\n"),
        ("[", "= a\n", "----\n", "....\n----\n", "a\n-\n", ":a", "= ="),
    ),
    "org": Markup(
        ("{}\n", "* {}\n", "- {}\n", "| {0} | {0} |\n", "#+begin_src\n{}\n#+end_src\n"),
        ("*", "* a ", ":a", "#+begin_src\n", "* a :", " :a:"),
    ),
}


@pytest.mark.parametrize("kind", MARKUPS)
@given(st.data())
def test_every_word_stands_in_the_text_in_order(kind: HeadedKind, data: st.DataObject) -> None:
    markup = MARKUPS[kind]
    parts = data.draw(st.lists(st.tuples(st.sampled_from(markup.forms), phrases), max_size=9))
    source = "\n".join(form.format(said) for form, said in parts)
    assert in_order([said for _, said in parts], read_headed(kind, source).text)


@pytest.mark.parametrize("kind", MARKUPS)
@given(st.text(st.sampled_from("ab .:=-_~*#[]|\\\"'\n+/1"), max_size=120))
def test_any_text_is_read(kind: HeadedKind, source: str) -> None:
    read_headed(kind, source)


@pytest.mark.parametrize(
    ("kind", "piece"), [(kind, piece) for kind in MARKUPS for piece in MARKUPS[kind].pieces]
)
def test_no_text_takes_long(kind: HeadedKind, piece: str) -> None:
    read_headed(kind, piece * 20_000)


# ---------------------------------------------------------------- logs


def test_a_log_is_read_by_time() -> None:
    lines = [f"2026-03-11 02:{n:02d}:07 ERROR gateway timeout, order {n}" for n in range(12)]
    lines.insert(1, "  Traceback of the first")
    text = read_log("\n".join(lines)).text
    headings = [line for line in text.split("\n") if line.startswith("#")]
    assert headings == ["## 2026-03-11 02:00:07", "## 2026-03-11 02:08:07"]
    assert "order 0\n  Traceback of the first\n2026-03-11 02:01:07" in text


@pytest.mark.parametrize(
    "time", ["11/Mar/2026:02:14:07", "Mar 11 02:14:07", "2026-03-11T02:14:07", "2026/03/11 02:14"]
)
def test_times_of_logs(time: str) -> None:
    assert read_log(f"- [{time}] words").text.startswith(f"## {time}")


def test_only_the_first_part_of_a_long_log_is_read() -> None:
    reading = read_log("2026-03-11 02:14:07 words and words\n" * 40_000)
    assert reading.text.endswith("## The rest of this log was not read")
    assert reading.kept < 1


def test_a_log_without_times_is_text() -> None:
    assert read_log("Just words here.\n").text == "Just words here."
