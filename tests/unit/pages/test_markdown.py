"""Markdown files keep their text and lose what does not read as words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.markdown import read_markdown


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("See [the wiki](https://a.example/x).", "See the wiki."),
        ('[a](x "title") and [b](<y z>)', "a and b"),
        ("[Kiel](https://a.example/Kiel_(city))", "Kiel"),
        ("[`run()`](api.md) and [**bold**](x)", "`run()` and **bold**"),
        ("[nested [brackets]](x)", "nested [brackets]"),
        ("[ref][1] and [ref][]", "ref and ref"),
        ("[1]: https://a.example 'Title'\nText", "Text"),
        ("![logo](logo.png)Text", "Text"),
        ("![logo][img]Text", "Text"),
        ("[![build](b.svg)](https://ci.example) Text", " Text"),
        ("<https://a.example/x> and <mailto:ann@a.example>",
         "https://a.example/x and ann@a.example"),
        ("one<br>two<br />three", "one\ntwo\nthree"),
        ("<p align=center>Text <kbd>K</kbd></p>", "Text K"),
        ("a<!-- ignore all\nprevious -->b", "ab"),
        ("a<!-- never closed", "a"),
        ("Title\n=====\n\nText", "# Title\n\nText"),
        ("Part\n---\nText", "## Part\nText"),
        # what must stay as it is
        ("`[in](code)` and ``a ` [b](c)``", "`[in](code)` and ``a ` [b](c)``"),
        ("```\n[in](code) <!-- kept -->\n# no heading\n```\n",
         "```\n[in](code) <!-- kept -->\n# no heading\n```\n"),
        ("~~~ py\n```\n[x](y)\n~~~\n[x](y)", "~~~ py\n```\n[x](y)\n~~~\nx"),
        ("````\n```\n[x](y)\n```\n````\n", "````\n```\n[x](y)\n```\n````\n"),
        ("```\nnever closed [x](y)", "```\nnever closed [x](y)"),
        ("| a | b |\n| --- | --- |\n| [x](y) | 2 |", "| a | b |\n| --- | --- |\n| x | 2 |"),
        ("- item\n---\n", "- item\n---\n"),
        ("Text\n\n---\n\nText", "Text\n\n---\n\nText"),
        ("- [ ] todo [^1] arr[0] [link]", "- [ ] todo [^1] arr[0] [link]"),
        ("[^1]: a footnote", "[^1]: a footnote"),
        ("a < b and List<String> and <placeholder>", "a < b and List<String> and <placeholder>"),
        ("*emphasis* and **strong** and snake_case", "*emphasis* and **strong** and snake_case"),
        (r"\[not a link\](x)", r"\[not a link\](x)"),
    ],
)  # fmt: skip
def test_the_words_stay_and_the_machinery_goes(source: str, text: str) -> None:
    assert read_markdown(source)[1] == text


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("# A *title* with `code`\n\n## Part", "A title with code"),
        ("Text first\n\n## Part ##\n", "Part"),
        ("Title\n=====\nText", "Title"),
        ("# [Linked](x) title", "Linked title"),
        ("---\ntitle: From the front\n---\n# Heading", "From the front"),
        ("---\nlayout: x\ntitle: \"Quoted: title\"\n---\n", "Quoted: title"),
        ("+++\ntitle = 'TOML'\n+++\nText", "TOML"),
        ("---\nlayout: x\n---\n# Heading", "Heading"),
        ("```\n# comment\n```\n# Heading", "Heading"),
        ("no heading, #hashtag", ""),
    ],
)  # fmt: skip
def test_the_title_is_the_front_matters_or_the_first_heading(source: str, title: str) -> None:
    assert read_markdown(source)[0] == title


def test_front_matter_is_not_text() -> None:
    assert read_markdown("---\ntitle: T\ntags: [a]\n---\nText")[1] == "Text"
    assert read_markdown("---\nno end\n\nText")[1] == "---\nno end\n\nText"


@given(st.text(st.sampled_from("[]()!`<>-=#\n ab\\:^~"), max_size=80))
def test_no_text_breaks_the_reader_and_code_is_kept(text: str) -> None:
    read_markdown(text)
    fenced = f"```\n{text.replace('`', '')}\n```\n"
    assert read_markdown(fenced)[1] == fenced


@pytest.mark.parametrize(
    "unit", ["[", "[a", "[a](", "![a](", "`a", "<!--", "<a ", "---\n", "a\n", "[\\"]
)
def test_a_pathological_file_is_read_in_linear_time(unit: str) -> None:
    read_markdown(unit * (60_000 // len(unit)))
