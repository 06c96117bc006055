"""Page text is shown letter for letter: what a Markdown renderer makes of it is the same text."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.rendering.marks import normalise, numbers_in
from bot.rendering.safety import defuse
from bot.rendering.verbatim import as_markdown, as_words
from bot.text.struck import STRUCK

_parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])

ALPHABET = "ab1 7*_~[](){}<>#!&;$\\-+=.:/|@\"'`^?\n\t中。【】é"
WORDS = st.text(alphabet=ALPHABET, max_size=60)
PHRASES = st.lists(
    st.sampled_from(
        [
            *("argv[7]", "sys.exc_info()[1]", "2000*1024 bytes", "__init__", "<T>", "~a~", "~~b~~"),
            *("#include <stdio.h>", "_x_", "a_b_c", "*args", "**kwargs", "2**3**4", "$x$", "$HOME"),
            *("&lt;", "&amp;", "C:\\x\\_y", "[a](b)", "![p](q)", "[x]: y", "<!-- c -->", "a || b"),
            *(
                "https://e.org/_a_*b",
                "<https://e.org>",
                ">>> f(x)",
                "\n",
                "\n\n",
                "---",
                "===",
                "5.",
            ),
            *(
                "x | y",
                "\\",
                "\\[",
                "\\(x\\)",
                "【3】",
                "[^1]",
                ":tada:",
                "@here",
                "end.",
                "`c[1]`",
            ),
        ]
    ),
    max_size=12,
).map(" ".join)
# Bold, struck-out text, and structure or an escape of ``bot.pages.page_markdown`` at the beginning
# of a line.
_STRUCTURE = re.compile(
    r"^[ \t]*(?:(?:[-+*]|\d{1,9}[.)]|#{1,6})(?:[ \t]|$)|\\[#|+])|\*\*\S.*\S\*\*"
    rf"|{STRUCK.pattern}",
    re.M | re.DOTALL,
)


def shown(markdown: str) -> str:
    """The text a reader sees."""
    out: list[str] = []
    for token in _parser.parse(markdown):
        if token.type in ("fence", "code_block"):
            out.append(token.content)
        for child in token.children or ():
            assert child.type not in ("html_inline", "link_open", "image", "em_open", "s_open")
            is_break = child.type in ("softbreak", "hardbreak")
            out.append("\n" if is_break else child.content)
        assert token.type not in ("html_block", "hr", "blockquote_open")
        out.append("\n" if token.type.endswith("_close") else "")
    return "".join(out)


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("It is ~~49 euros~~ 39 euros.", "It is ~~49 euros~~ 39 euros."),
        ("~~a_b [1]~~ c_d", "~~a_b \\[1\\]~~ c_d"),
        ("| Fee |\n| --- |\n| ~~49~~ 39 |", "| Fee |\n| --- |\n| ~~49~~ 39 |"),
        ("from ~~ to ~~ there", "from \\~\\~ to \\~\\~ there"),
        ("~~one\n\ntwo~~", "\\~\\~one\n\ntwo\\~\\~"),
    ],
)
def test_struck_out_text_stays_struck(text: str, markdown: str) -> None:
    assert as_markdown(text) == markdown


@given(st.one_of(WORDS, PHRASES))
def test_every_character_is_shown(text: str) -> None:
    assume(
        "`" not in text.replace("`c[1]`", "") and "|" not in text and not _STRUCTURE.search(text)
    )
    expected = text.replace("`c[1]`", "c[1]")
    assert squeezed(shown(as_markdown(text))) == squeezed(expected)


@given(st.one_of(WORDS, PHRASES))
def test_every_character_is_shown_behind_other_words(text: str) -> None:
    assume(not set(text) & set("`|") and "**" not in text and not text.startswith(" "))
    assume(not _STRUCTURE.search("¶" + text))
    markdown = "- x: " + as_markdown(text, begins_line=False)
    assert squeezed(shown(markdown)) == squeezed(f"x: {text}")


@given(st.one_of(WORDS, PHRASES))
def test_nothing_in_it_is_a_mark_or_a_link(text: str) -> None:
    markdown = as_markdown(text)
    assert numbers_in(markdown) == []
    assert defuse(markdown, {}) == markdown
    assert normalise(markdown.replace("【", ""), {1, 7}) == markdown.replace("【", "")


@given(st.one_of(WORDS, PHRASES))
def test_the_words_come_back(text: str) -> None:
    assume("|" not in text and "\t" not in text and not re.search(r"^ {4}", text, re.M))
    assume(not re.search(r"^ *\\[#+]", text, re.M))  # how pages have a line that is no heading
    words = as_words(as_markdown(text))
    assert squeezed(words.replace("`", "")) == squeezed(text.replace("`", ""))


@given(st.text(alphabet=ALPHABET, max_size=60))
def test_code_is_shown_as_it_is(text: str) -> None:
    assume("`" not in text)
    block = f"Before.\n\n```\n{text}\n```\n\nAfter [1]."
    fences = [token for token in _parser.parse(as_markdown(block)) if token.type == "fence"]
    assert [fence.content for fence in fences] == [f"{text}\n"]


CELL = st.text(alphabet=ALPHABET.replace("\n", "").replace("`", ""), max_size=12).map(
    lambda cell: " ".join(cell.split())
)


@given(st.lists(st.lists(CELL, min_size=2, max_size=2), min_size=1, max_size=4), st.booleans())
@example([["", "\\#"]], False)
def test_every_cell_of_a_table_is_shown(rows: list[list[str]], with_head: bool) -> None:
    """As ``bot.pages.writing`` writes tables."""
    assume(
        not any("**" in cell or cell.endswith("\\") or "\\|" in cell for r in rows for cell in r)
    )
    assume(all(any(re.search(r"[^-:|\s]", cell) for cell in row) for row in rows))
    lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in r)} |" for r in rows]
    table = [lines[0], "| --- | --- |", *lines[1:]] if with_head else lines
    cells = [
        squeezed("".join(child.content for child in token.children or ()))
        for token in _parser.parse(as_markdown("\n".join(table)))
        if token.type == "inline"
    ]
    wanted = [squeezed(cell) for row in rows for cell in row]
    assert [cell for cell in cells if cell] == [cell for cell in wanted if cell]


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("Use **bold** words.", "Use **bold** words."),
        ("请**注意**这里。", "请**注意**这里。"),
        ("f(**a, **b)", r"f(\*\*a, \*\*b)"),
        ("x**2 + y**2", r"x\*\*2 + y\*\*2"),
        ("a_b and __init__", r"a_b and \_\_init\_\_"),
        ("1 < 2 and List<T>", r"1 < 2 and List\<T>"),
        ("AT&T &lt; $HOME", r"AT&T \&lt; \$HOME"),
        ("- argv[7]\n- `argv[7]`", "- argv\\[7\\]\n- `argv[7]`"),
        ("1. one\n2. two", "1. one\n2. two"),
        ("2. two\n5. five", "2\\. two\n\n5\\. five"),
        ("Tell it.\n4. Call it\n5. End", "Tell it.\n\n4. Call it\n5. End"),
        ("Tell it.\n• one\n• two", "Tell it.\n\n• one\n\n• two"),
        (">>> x[1]", r"\>>> x\[1\]"),
        ("Title\n=====", "Title\n\\====="),
        ("a\n\n* * *\n\nb", "a\n\n\\* \\* \\*\n\nb"),
        ("#", r"\#"),
        ("Title\n~~~~~\n\nText[1]", "Title\n\\~\\~\\~\\~\\~\n\nText\\[1\\]"),
        ("~~~\nx[1]\n~~~", "~~~\nx[1]\n~~~"),
        ("    int x[3];", "```\nint x[3];\n```"),
        ("Run:\n\n    a\n\n    b `c`", "Run:\n\n```\na\n\nb `c`\n```"),
        ("```\nx[1]", "```\nx[1]\n```"),
        ("see https://e.org/a_b.", "see `https://e.org/a_b`."),
        ("| a[1] | b\\|c |", "|  |  |\n| --- | --- |\n| a\\[1\\] | b\\|c |"),
        ("cat x | grep y", "cat x | grep y"),
        ("C:\\Users\\_x", r"C:\Users\\\_x"),
    ],
)
def test_what_is_written(text: str, markdown: str) -> None:
    assert as_markdown(text) == markdown
