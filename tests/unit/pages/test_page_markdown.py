"""A Markdown renderer shows exactly the words that were given."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.pages.page_markdown import CODE_END, CODE_START, code_span, fenced, literal
from bot.text.sentences import blocks

RENDERER = MarkdownIt("commonmark", {"html": False}).enable("table")
RENDERER.inline.ruler.disable(["autolink"])  # <https://…> is shown by its address alone


def code(text: str) -> str:
    return f"{CODE_START}{text}{CODE_END}"


def shown(markdown: str) -> str:
    """The text that a reader sees of rendered Markdown, on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", RENDERER.render(markdown))).split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Plain words, 3 of them; snake_case and a_b_c (x) [3] {y}.", None),
        ("*args, **kwargs and 2 * 3", None),
        ("*important* and **very important**", None),
        ("matrix[3][4] costs $5 & more", None),
        (r"C:\Users\x", None),
        ("Use `code` and ``more of it`` here", None),
        ("__init__ is run", "`__init__` is run"),
        ("(see __init__).", "(see `__init__)`."),
        ("2000*1024*8 bytes", "`2000*1024*8` bytes"),
        ("a*b and c*d.", "`a*b` and `c*d`."),
        ("pg_*, my_*", "`pg_*`, `my_*`"),
        ("the _id and the name_", "the `_id` and the `name_`"),
        (r"the \[x\] of it", r"the `\[x\]` of it"),
        ("a GNU `quote' and `another'", "a GNU `` `quote' `` and `` `another' ``"),
        ("f[i](j)", "`f[i](j)`"),
        ("&lt; is <", "`&lt`; is <"),
        ("# a comment", r"\# a comment"),
        ("one\n  ## two\n#three", "one\n  \\## two\n#three"),
        ("| no table", r"\| no table"),
        ("+ no contents", r"\+ no contents"),
        (f"call {code('f()')}", "call `f()`"),
        (f"call {code(' f() ')}now", "call `f()` now"),
        (f"{code('a')}{code('b')}", "`ab`"),
        (f"{code('a`b')} and {code('``')}", "``a`b`` and ` `` `"),
        (f"{code('')}x", "x"),
        (f"__{code('x')}__", "`__x__`"),
    ],
)  # fmt: skip
def test_only_what_markdown_would_change_is_marked(text: str, expected: str | None) -> None:
    assert literal(text) == (text if expected is None else expected)


LITERAL = [
    "a", "word", "3", "__init__", "2*3*4", "a*b", "_x_", "_x", "x_", "x_y", "[a](b)", "[3][4]",
    "\\*", "\\[", "&amp;", "R&D", "(_)", "_,", "'", "é", "北京", "，", "~", "#", "[x]", "\\", "`x'",
]  # fmt: skip
EMPHATIC = ["*args", "**kw", "(*)", "*.txt", "_*", "「*」", "**", "*,", "*bold", "bold*", "*it*"]
WORDS = st.lists(
    st.one_of(
        st.sampled_from(LITERAL),
        st.text(st.sampled_from("ab_\\[]()&;.,'，"), min_size=1, max_size=6),
    ),
    min_size=1,
    max_size=12,
)


@example(["a*b", "c*d"])
@given(WORDS)
def test_a_renderer_shows_every_character(words: list[str]) -> None:
    text = " ".join(["x", *words])
    assert shown(literal(text)) == text


@given(st.lists(st.sampled_from(LITERAL + EMPHATIC), min_size=1, max_size=12))
def test_at_most_the_asterisks_around_words_are_read_as_emphasis(words: list[str]) -> None:
    text = " ".join(["x", *words])
    found = shown(literal(text))
    assert found.replace("*", "") == text.replace("*", "")
    for word in found.split():
        assert word in text
    assert found.count("2*3*4") == words.count("2*3*4")


@given(WORDS)
def test_a_renderer_shows_every_character_of_code(words: list[str]) -> None:
    inside = " ".join(words)
    text = f"call {code(inside)}, then {code('x' + inside + '`')}"
    expected = f"call {inside}, then x{inside}`"
    assert shown(literal(text)) == " ".join(expected.split())
    assert shown(code_span(f"x{inside}`")) == " ".join(f"x{inside}`".split())


@given(st.text(st.sampled_from("ab `~\n"), min_size=1))
def test_a_fence_holds_any_code(inside: str) -> None:
    token = RENDERER.parse(fenced(inside))[0]
    assert token.type == "fence"
    assert token.content == f"{inside}\n"


@given(WORDS, st.sampled_from(["# ", "## ", "| ", "+ ", "### x\n# ", "  # "]))
def test_nothing_becomes_structure(words: list[str], mark: str) -> None:
    text = literal(mark + " ".join(words))
    assert {block.kind for block in blocks(text)} <= {"paragraph"}


@pytest.mark.parametrize("unit", ["*", "_", "a*", "*a ", "`", "`a ", "\\", "&amp;", "](", "x" * 9])
def test_a_pathological_text_is_marked_in_linear_time(unit: str) -> None:
    literal(unit * (60_000 // len(unit)))
