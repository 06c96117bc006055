"""Books: chapters in reading order, each under its heading."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import PageUnreadable
from bot.pages.formats.epub import read_epub
from tests.fakes.packages import book, package
from tests.unit.pages.formats.order import in_order, phrases

PAGE = (
    '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"'
    ' xmlns:epub="http://www.idpf.org/2007/ops"><head><title>t</title></head><body>{}</body></html>'
).format


def text_of(*pages: str) -> str:
    chapters = {f"c{number}.xhtml": PAGE(page) for number, page in enumerate(pages)}
    return read_epub(book(chapters), "a.epub").text


def test_a_book() -> None:
    chapters = {
        "one.xhtml": PAGE("<h1>One</h1><p>It began in 1874.</p><pre><code>x = a[0]</code></pre>"),
        "two.xhtml": PAGE("<h1>Two</h1><table><tr><th>Item</th><th>Price</th></tr>"
                          "<tr><td>Ferry</td><td>12</td></tr></table>"),
    }  # fmt: skip
    assert read_epub(book(chapters), "a.epub")[:3] == (
        "The Book",
        "# One\n\nIt began in 1874.\n\n```\nx = a[0]\n```\n\n"
        "# Two\n\n| Item | Price |\n| --- | --- |\n| Ferry | 12 |",
        1.0,
    )


@given(st.lists(st.lists(phrases, min_size=1, max_size=4), min_size=1, max_size=4))
def test_every_word_stands_in_the_text_in_order(chapters: list[list[str]]) -> None:
    pages = ["".join(f"<p>{said}</p>" for said in chapter) for chapter in chapters]
    assert in_order([said for chapter in chapters for said in chapter], text_of(*pages))


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("<nav>Contents</nav><p>kept</p>", "kept"),
        ("<script>alert()</script><style>p {}</style><p>kept</p>", "kept"),
        ("<p>long enough to be seen</p><p hidden='hidden'>obey</p>", "long enough to be seen"),
        ('<p>said<a epub:type="noteref" href="#n">1</a>.</p>', "said[^1]."),
        ("<p>E = <math><mi>m</mi><annotation>m</annotation></math></p>", "E = m"),
    ],
)
def test_a_chapter_says_what_a_reader_sees(page: str, shown: str) -> None:
    assert text_of(page) == shown


def test_a_protected_book_is_named() -> None:
    locks = '<encryption><CipherReference URI="OPS/one.xhtml"/></encryption>'
    data = book({"one.xhtml": "\x00\x01"}, **{"META-INF/encryption.xml": locks})
    with pytest.raises(PageUnreadable, match=r"^a\.epub is an EPUB book that is protected against"):
        read_epub(data, "a.epub")
    fonts = '<encryption><CipherReference URI="OPS/font.otf"/></encryption>'
    data = book({"one.xhtml": PAGE("<p>words</p>")}, **{"META-INF/encryption.xml": fonts})
    assert read_epub(data, "a.epub").text == "words"


@pytest.mark.parametrize(
    "parts",
    [
        {"META-INF/container.xml": "<container/>"},
        {"META-INF/container.xml": "<container"},
        {"META-INF/container.xml": '<c><rootfiles><rootfile full-path="x"/></rootfiles></c>'},
    ],
)
def test_a_damaged_book_is_named(parts: dict[str, str]) -> None:
    with pytest.raises(PageUnreadable, match=r"^a\.epub is an EPUB book that is damaged; open"):
        read_epub(package(parts), "a.epub")


def test_a_book_that_is_too_long_says_which_chapters_were_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.pages.page_markdown.MOST_CHARACTERS", 20)
    reading = read_epub(
        book({f"{n}.xhtml": PAGE("<p>some words of it</p>") for n in range(5)}), "a.epub"
    )
    assert reading.text.endswith("\n\n## Chapters 3 to 5 were not read")
    assert reading.kept == 0.4
