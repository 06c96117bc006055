"""Bytes become a title and clean text, or an error that names the document."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import PageUnreadable
from bot.pages.extract import MAX_TITLE, from_bytes
from bot.pages.page import Reading
from tests.bench import extraction
from tests.fakes.web import FILES


def read(text: str, name: str = "notes.txt", media_type: str | None = None) -> Reading:
    return from_bytes(text.encode("utf-8", "surrogatepass"), media_type, name)


# ---------------------------------------------------------------- kinds


@pytest.mark.parametrize(
    ("name", "source", "title", "text"),
    [
        ("guide.md", "# Guide\n\nSee [x](y).\n", "Guide", "# Guide\n\nSee x."),
        ("guide.md", "Just text.\n", "guide", "Just text."),
        ("docs/notes.txt", "Opening hours\n\n9 to 5\n", "Opening hours", "Opening hours\n\n9 to 5"),
        ("docs/notes.txt", f"{'word ' * 60}\n\nmore", "notes", f"{('word ' * 60).strip()}\n\nmore"),
        ("a.json", '{"name": "Kiel", "x": [1, "é"]}', "Kiel",
         "```\nname: Kiel\nx: 1, é\n```"),
        ("a.json", "[1, 2]", "a", "```\n1: 1\n2: 2\n```"),
        ("a.json", '{"title": 5}\n{"title": 6}', "a", "| title |\n| --- |\n| 5 |\n| 6 |"),
        ("a.json", "not json", "a", "not json"),
        ("page.html", "<title>T</title><p>Words in it.</p>", "T", "Words in it."),
        ("https://a.example/some/B%C3%BCcher.html?x=1", "<p>Words in it.</p>",
         "Bücher.html", "Words in it."),
        ("https://a.example/", "<p>Words in it.</p>", "a.example", "Words in it."),
        (r"C:\docs\hello.md", "Text", "hello", "Text"),
    ],
)  # fmt: skip
def test_every_kind_gives_title_and_text(name: str, source: str, title: str, text: str) -> None:
    assert read(source, name) == Reading(title, text)


def test_the_label_of_the_transport_decides_where_there_is_one() -> None:
    assert read("# A\n[x](y)", "x", "text/markdown").text == "# A\nx"
    assert read("# A\n[x](y)", "x", "text/plain; charset=utf-8").text == "\\# A\n`[x](y)`"


def test_a_guessed_encoding_is_counted() -> None:
    assert from_bytes("Łódź".encode("cp1250"), None, "a.csv").omitted == {"guessed encoding": 1}
    assert from_bytes("会議室,定員\n富士,12".encode("cp932"), None, "a.csv").omitted == {}


@pytest.mark.parametrize("data", [b"", b"  \n\t", b"\xef\xbb\xbf", "\u200b\u00ad\ufeff".encode()])
def test_an_empty_file_is_unreadable(data: bytes) -> None:
    with pytest.raises(PageUnreadable, match=r"^docs/empty\.md is empty"):
        from_bytes(data, None, "docs/empty.md")


@pytest.mark.parametrize("kind", ["png", "zip", "bytes"])
@pytest.mark.parametrize("name", ["docs/a.md", "docs/a.txt", "docs/a.html", "a"])
def test_a_binary_file_is_unreadable_whatever_its_name(kind: str, name: str) -> None:
    with pytest.raises(PageUnreadable, match=rf"^{name} is a"):
        from_bytes(FILES[kind], None, name)


def test_a_wall_of_nested_json_does_not_grow() -> None:
    bomb = '{"a":' * 900 + "1" + "}" * 900
    assert len(read(bomb, "a.json").text) <= 10 * len(bomb)
    assert read("[" * 100_000, "a.json").text


# ---------------------------------------------------------------- clean text


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html"])
@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("a\u0007b\u009bc\u007fd", "abcd"),
        ("soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"),
        ("right\u202eto\u202c left\u200f", "rightto left"),
        ("seen\U000e0049\U000e0067 only", "seen only"),
        ("no\u00a0break\u202fspaces", "no break spaces"),
        ("Cafe\u0301 \u1100\u1161", "Café 가"),
        ("کتاب\u200cها 👩\u200d🚀", "کتاب\u200cها 👩\u200d🚀"),
        ("full\ufffewidth\ufdd0", "fullwidth"),
    ],
)
def test_what_nobody_sees_is_taken_out(name: str, dirty: str, clean: str) -> None:
    words = "Some words go before and after it. " * 5
    tags = ("<p>", "</p>") if name.endswith("html") else ("", "")
    assert (
        read(f"{tags[0]}{words}{dirty} {words}{tags[1]}", name).text
        == f"{words}{clean} {words}".strip()
    )


def test_a_page_may_hold_nul_characters_and_its_text_does_not() -> None:
    assert read("<html><p>Some\0 words\0.</p>", "x", "text/html").text == "Some words."


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\u2028", "\u0085", "\x0c"])
def test_all_line_ends_are_one(end: str) -> None:
    assert read(f"one  {end}two\t{end}{end}{end}{end}three").text == "one\ntwo\n\nthree"


@given(
    st.text(st.characters(codec=None), max_size=300),
    st.sampled_from(["a.txt", "a.md", "a.json", "a.html"]),
)
def test_any_text_comes_out_clean_or_is_unreadable(source: str, name: str) -> None:
    try:
        result = read(source, name)
    except PageUnreadable:
        return
    assert unicodedata.is_normalized("NFC", result.text)
    assert result.text == result.text.strip("\n") != ""
    assert "\n\n\n" not in result.text
    result.text.encode("utf-8")
    assert not any(
        unicodedata.category(c) == "Cc" for c in result.text.replace("\n", "").replace("\t", "")
    )
    assert 0 < len(result.title) <= MAX_TITLE
    assert "\n" not in result.title
    json.dumps(result.title)


@given(
    st.binary(max_size=500), st.none() | st.sampled_from(["text/html", "text/plain; charset=gbk"])
)
def test_any_bytes_are_read_or_unreadable(data: bytes, media_type: str | None) -> None:
    try:
        result = from_bytes(data, media_type, "https://a.example/x")
    except PageUnreadable:
        return
    assert result.text


# ---------------------------------------------------------------- how much of an article is kept


@pytest.mark.shared
def test_articles_are_kept_as_well_as_by_trafilatura_itself() -> None:
    """On every twelfth page of the benchmark; ``tests.bench.extraction`` measures them all."""
    ours = extraction.score(extraction.ours, every=12)
    theirs = extraction.score(extraction.trafilatura_default, every=12)
    assert ours.f1 > theirs.f1 - 0.005
    assert ours.f1 > 0.93
