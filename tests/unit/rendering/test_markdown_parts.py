"""Long Markdown in parts: nothing lost, nothing too long, cut where a reader pauses."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.rendering.markdown_parts import MINIMUM, split

LINK = "[the tower](https://example.org/tower)"
parser = MarkdownIt("commonmark").enable("table")


def visible(text: str) -> str:
    """The text a reader sees, without white space, headers, and the lines of tables."""
    seen: list[str] = []
    for token in parser.parse(text):
        for inner in token.children or [token]:
            if inner.type in ("text", "code_inline", "fence", "code_block", "html_block"):
                seen.append(inner.content)
    return re.sub(r"[\sA-Z|]+", "", "".join(seen))


def lines(count: int, line: str = "line {} of it") -> str:
    return "\n".join(line.format(number) for number in range(count))


# ---------------------------------------------------------------- what stays whole


@pytest.mark.parametrize("text", ["", " \n\n ", "\n"])
def test_nothing_is_no_part(text: str) -> None:
    assert split(text, MINIMUM) == []


def test_what_fits_is_one_part_as_it_is() -> None:
    text = (
        "# Title\n\nWords.\n\n- a\n  - b\n\n> c\n\n```py\nx = 1\n\n\ny\n```\n\n| a |\n|---|\n| b |"
    )
    assert split(f"\n{text}\n\n", 200) == [text]


def test_parts_end_between_blocks() -> None:
    first, second, third = "a" * 40, "- b\n- c", "d" * 60
    assert split(f"{first}\n\n{second}\n\n{third}", 80) == [f"{first}\n\n{second}", third]


def test_a_heading_goes_with_what_follows() -> None:
    assert split(f"{'a' * 60}\n\n## B\n\n{'c' * 40}", 80) == ["a" * 60, f"## B\n\n{'c' * 40}"]


@pytest.mark.parametrize(
    "block",
    [f"```py\n{lines(4)}\n```", "| A | B |\n|---|---|\n| c | d |\n| e | f |", f"> {lines(3)}"],
)
def test_a_block_that_fits_into_a_part_is_not_cut(block: str) -> None:
    assert split(f"{'words ' * 11}\n\n{block}\n\nEnd.", 90) == [
        ("words " * 11).rstrip(),
        f"{block}\n\nEnd.",
    ]


@pytest.mark.parametrize("limit", [-1, 0, MINIMUM - 1])
def test_parts_too_small_for_markdown_are_refused(limit: int) -> None:
    with pytest.raises(ValueError, match="too small"):
        split("text", limit)


# ---------------------------------------------------------------- what has to be cut


def test_a_long_fence_is_closed_and_opened_again_with_its_language() -> None:
    parts = split(f"```python title\n{lines(20)}\n```\n\nEnd.", 100)
    assert all(part.startswith("```python title\nline") for part in parts)
    assert all(part.endswith("\n```") for part in parts[:-1])
    assert parts[-1].endswith("\n```\n\nEnd.")
    code = [re.sub(r"```.*\n?", "", part.removesuffix("\n\nEnd.")).strip() for part in parts]
    assert "\n".join(code) == lines(20)


def test_a_fence_never_closed_is_closed() -> None:
    assert split("Text.\n\n~~~\ncode", 80) == ["Text.\n\n~~~\ncode\n~~~"]
    assert all(part.endswith("```") for part in split(f"```\n{lines(30)}", 80))


def test_code_in_a_list_item_is_code_in_the_next_part_too() -> None:
    parts = split(f"- item\n\n  ```py\n{lines(12, '    line {}')}\n  ```\n- last", 80)
    assert len(parts) > 1
    assert parts[0].startswith("- item\n\n  ```py\n    line 0")
    assert parts[0].endswith("\n  ```")
    assert parts[1].startswith("```py\n  line")


def test_a_long_table_repeats_its_header() -> None:
    header = "| Name | Value |\n|------|------:|"
    rows = [f"| row {number} | {number} |" for number in range(20)]
    parts = split("\n".join([header, *rows]), 100)
    assert all(part.startswith(header + "\n") for part in parts)
    assert [row for part in parts for row in part.split("\n")[2:]] == rows


def test_a_row_that_does_not_fit_under_its_header_stands_alone() -> None:
    long_row = "| b | " + "long " * 30 + "|"
    parts = split(f"| A | B |\n|---|---|\n| a | a |\n{long_row}\n| c | c |", 80)
    assert "| A | B |\n|---|---|\n| a | a |" in parts[0]
    assert "| A | B |\n|---|---|\n| c | c |" in parts[-1]
    assert visible("\n\n".join(parts)).count("long") == 30


@pytest.mark.parametrize("name", [30, 60, 200])
def test_a_header_too_long_to_be_repeated_stands_once(name: int) -> None:
    parts = split(f"| {'a' * name} | B |\n|---|---|\n| c | d |\n| e | f |\n\n{'End. ' * 12}", 80)
    together = "".join(parts)
    assert together.count("a") == name
    assert "| c | d |" in together
    assert not any("---" in visible(part) for part in parts)


def test_a_long_list_is_cut_between_items() -> None:
    items = [f"{number}. item number {number}" for number in range(1, 20)]
    parts = split("\n".join(items), 80)
    assert [item for part in parts for item in part.split("\n")] == items


def test_a_nested_item_at_the_top_of_a_part_is_no_code() -> None:
    text = "- a\n" + "\n".join(f"    - nested {'word ' * 5}{number}" for number in range(9))
    for part in split(text, 80):
        assert "<code>" not in parser.render(part)


def test_the_rest_of_an_item_does_not_swallow_the_item_that_follows() -> None:
    parts = split(f"> 10. {'words ' * 18}\n> 10. last", 80)
    assert parts[-1].endswith("words\n>\n> 10. last")
    rows = "\n".join(f"    | {number} | {'c' * 20} |" for number in range(4))
    parts = split(f"10. | AB | CD |\n    |----|----|\n{rows}\n10. last", 80)
    assert parts[-1].endswith("|\n\n10. last")


def test_an_item_behind_the_rest_of_another_keeps_its_own_margin() -> None:
    code = "```\n{}\n```"
    inner = "\n".join(f"- {code.format(name * 60)}".replace("\n", "\n  ") for name in "ab")
    parts = split("- " + (f"{'w' * 50}\n\n" + inner).replace("\n", "\n  "), 80)
    assert [part for part in parts if "b" in part] == [f"- ```\n  {'b' * 60}\n  ```"]
    short = split("10. - " + "x " * 50 + "\n    - ```\n\n      b\n      ```", 80)
    assert short[-1].endswith("- ```\n\n  b\n  ```")


def test_a_quote_keeps_its_marks() -> None:
    parts = split("> " + "Words of a quote. " * 12 + "\n>\n> > deeper words of it", 80)
    assert len(parts) > 1
    for part in parts:
        assert all(line.startswith(">") for line in part.split("\n"))


def test_a_paragraph_is_cut_between_sentences() -> None:
    sentence = "Dr. Who paid 3.50 for it in the end [1][2]."
    assert split(" ".join([sentence] * 5), 100) == [f"{sentence} {sentence}"] * 2 + [sentence]


def test_a_long_sentence_is_cut_between_words() -> None:
    parts = split("word " * 100, 81)
    assert parts == [("word " * 16).rstrip()] * 6 + [("word " * 4).rstrip()]


def test_chinese_is_cut_between_sentences_and_then_between_characters() -> None:
    sentence = "塔高三百三十米，建于一八八九年，位于巴黎市中心[1]。"
    assert set(split(sentence * 9, 80)) == {sentence * 2, sentence}
    parts = split("塔" * 200, 80)
    assert [len(part) for part in parts] == [80, 80, 40]
    assert not any(part.startswith(("，", "。")) for part in split("塔高米，" * 50, 80))


@pytest.mark.parametrize(
    "whole",
    [
        LINK,
        "`code with spaces in it`",
        "[[1]](https://example.org/tower)",
        "[1][2]",
        "<https://example.org/tower>",
        "$a + b = c$",
        "**words in bold type**",
        "![a picture](https://example.org/p.png)",
    ],
)
@pytest.mark.parametrize("before", range(0, 60, 7))
def test_what_means_something_only_as_a_whole_is_not_cut(whole: str, before: int) -> None:
    parts = split(f"{'a' * before} {whole} " * 12, 80)
    assert sum(part.count(whole) for part in parts) == 12


@pytest.mark.parametrize("text", ["word", "塔高。", "word "])
def test_a_mark_stays_with_the_words_before_it(text: str) -> None:
    assert not any(part.startswith("[") for part in split(f"{text}[1] [2]" * 40, 80))


def test_code_longer_than_a_part_stays_code() -> None:
    for part in split("`" + "code " * 50 + "`", 80):
        assert part[0] == part[-1] == "`"


def test_a_link_longer_than_a_part_keeps_its_words() -> None:
    assert split(f"See [the tower](https://example.org/{'x' * 90}).", 80) == ["See the tower."]


def test_no_word_at_a_cut_becomes_a_bullet_or_a_heading() -> None:
    text = "one two three - four # five 1. six > seven + eight " * 20
    parts = split(text, 80)
    assert visible("\n\n".join(parts)) == visible(
        "one two three - four # five 1. six > seven + eight " * 20
    )


def test_line_ends_of_every_system_are_read() -> None:
    assert split("a\r\n\r\nb\rc", 80) == ["a\n\nb\nc"]


def test_ticks_behind_an_escaped_one_open_no_code() -> None:
    text = "words " * 9 + "\\``` and " + "more " * 9
    assert " ".join(split(text, 80)) == text.strip()


# ---------------------------------------------------------------- always

WORDS = st.text(alphabet="abcdefgh", min_size=1, max_size=12)
INLINE = st.one_of(
    WORDS,
    WORDS,
    st.text(alphabet="塔高三百米建于巴黎", min_size=1, max_size=30),
    st.sampled_from(["[1]", "[1][2]", "**bold words**", "*a b*", "`a b`", "x & y", "a_b", "2 * 3"]),
    st.sampled_from([LINK.lower(), "- ", "1. ", "3.5", "e.g. it", "say “so”.", "对。", "a\\*b"]),
)  # fmt: skip
PARAGRAPH = st.lists(INLINE, min_size=1, max_size=40).map(" ".join).map(str.strip).filter(
    lambda text: not re.match(r"[-+>#\d]|$", text)
)  # fmt: skip
HEADING = st.builds("{} {}".format, st.sampled_from(["#", "###"]), WORDS)
CODE = st.lists(st.text(alphabet="abc _=()*[]塔", max_size=50), max_size=12)
FENCE = st.builds(
    lambda marker, info, code: "\n".join([marker + info, *code, marker]),
    st.sampled_from(["```", "~~~", "````"]),
    st.sampled_from(["", "PY", "SQL title"]),
    CODE,
)
CELL = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)
TABLE = st.lists(st.tuples(CELL, CELL), min_size=1, max_size=12).map(
    lambda rows: "\n".join(["| AB | CD |", "|---|:-:|", *(f"| {a} | {b} |" for a, b in rows)])
)


def indented(text: str, first: str, others: str) -> str:
    return first + text.replace("\n", "\n" + others)


def items(blocks: list[str], bullet: str, between: str) -> str:
    return between.join(indented(block, bullet, " " * len(bullet)) for block in blocks)


def containers(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    lists = st.builds(
        items,
        st.lists(inner, min_size=1, max_size=4),
        st.sampled_from(["- ", "* ", "1. ", "10. "]),
        st.sampled_from(["\n", "\n\n"]),
    )
    quotes = st.lists(inner, min_size=1, max_size=3).map(
        lambda blocks: indented("\n\n".join(blocks), "> ", "> ")
    )
    return lists | quotes


BLOCK = st.recursive(PARAGRAPH | HEADING | FENCE | TABLE, containers, max_leaves=6)
DOCUMENT = st.lists(BLOCK, min_size=1, max_size=6).map("\n\n".join)


@given(DOCUMENT, st.integers(MINIMUM, 200))
def test_a_reader_of_the_parts_misses_nothing_and_each_fence_is_closed(
    text: str, limit: int
) -> None:
    parts = split(text, limit)
    assert all(len(part) <= limit for part in parts)
    for part in parts:
        fences = re.findall(r"^(?:[\s>]|[-*] |\d+\. )*(```+|~~~)", part, re.MULTILINE)
        assert len(fences) % 2 == 0
    assert "".join(visible(part) for part in parts) == visible(text)


@given(DOCUMENT)
def test_what_was_split_is_not_split_again(text: str) -> None:
    parts = split(text, 120)
    assert [again for part in parts for again in split(part, 120)] == parts


@given(
    st.text(alphabet="ab塔 \t\n`*_[]()>#-|~1.&\\<é\u0301👍🏽。", max_size=500),
    st.integers(MINIMUM, 160),
)
def test_whatever_is_written_no_part_is_too_long(text: str, limit: int) -> None:
    assert all(len(part) <= limit for part in split(text, limit))


@given(st.text(alphabet="ab塔 \t\n`*_[]>#-|~1.&\\<é。", max_size=500))
def test_whatever_is_written_every_letter_is_kept(text: str) -> None:
    kept = iter("".join(split(text, MINIMUM)))
    assert all(
        letter in kept for letter in re.findall(r"\w", text.replace("_", "").replace("1", ""))
    )
