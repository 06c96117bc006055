"""Extracts, snippets, disambiguation lists, and the titles a query names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.search.mediawiki_text import (
    Entry,
    by_weight,
    content_words,
    entries_of,
    page_text,
    possible_titles,
    readable_title,
    search_words,
    snippet_text,
    title_in,
)

# ---------------------------------------------------------------- extracts


@pytest.mark.parametrize(
    ("extract", "text"),
    [
        ("", ""),
        ("One line.", "One line."),
        ("First paragraph.\nSecond one.", "First paragraph.\n\nSecond one."),
        ("Lead.\n\n\n== Life ==\nBorn.", "Lead.\n\n## Life\n\nBorn."),
        ("\n\n== A ==\nx.\n\n\n=== B ===\ny.", "## A\n\nx.\n\n### B\n\ny."),
        ("L.\n\n\n====== Deep ======\nx.", "L.\n\n###### Deep\n\nx."),
        # what is left of lists
        ("Works:\n\nOne (1990)\nTwo (1991)", "Works:\n\n- One (1990)\n- Two (1991)"),
        ("Works:\nOne\nTwo\nThat is all.", "Works:\n\n- One\n- Two\n\nThat is all."),
        ("A caption\n\nA sentence.", "A caption\n\nA sentence."),
        ("他出生于北京。\n他去了上海。", "他出生于北京。\n\n他去了上海。"),
        # sections without text
        ("L.\n\n\n== References ==\n\n\n== External links ==", "L."),
        ("L.\n\n\n== Empty ==\n\n\n== Full ==\nx.", "L.\n\n## Full\n\nx."),
        ("L.\n\n\n== A ==\n\n\n=== B ===\nx.", "L.\n\n## A\n\n### B\n\nx."),
        ("L.\n\n\n== A ==\n\n\n=== B ===\n\n\n== C ==\nx.", "L.\n\n## C\n\nx."),
        # the article's own marks
        ("Text\n== not a heading ==\nmore text.", None),
        ("# first line of a script.", "\\# first line of a script."),
        ("#hashtag is fine.", "#hashtag is fine."),
        ("x  =\n   \n    y.", "x =\n\ny."),
        ("\r\nWindows.\r\nLines.", "Windows.\n\nLines."),
    ],
)
def test_an_extract_becomes_page_text(extract: str, text: str | None) -> None:
    if text is None:
        assert "## " not in page_text(extract)
        assert "== not a heading ==" in page_text(extract)
    else:
        assert page_text(extract) == text


LINES = st.lists(
    st.sampled_from(["", "== A ==", "=== B ===", "A sentence.", "item", "# x", "他来了。", "  "])
)


@given(LINES)
def test_page_text_is_blocks_between_single_empty_lines(lines: list[str]) -> None:
    text = page_text("\n".join(lines))
    assert text == text.strip()
    assert "\n\n\n" not in text
    for block in text.split("\n\n"):
        assert block.count("\n") == 0 or all(line.startswith("- ") for line in block.split("\n"))


@given(st.text())
def test_any_extract_keeps_its_words(extract: str) -> None:
    text = page_text(extract)
    for word in ("".join(c if c.isalnum() else " " for c in text)).split():
        assert word in extract


# ---------------------------------------------------------------- snippets


@pytest.mark.parametrize(
    ("snippet", "text"),
    [
        ("", ""),
        ('the <span class="searchmatch">moon</span> &amp; the sea', "the moon & the sea"),
        ("&#039;&#039;&#039;<span class='searchmatch'>C</span>++&#039;&#039;&#039; is", "C++ is"),
        ("may be:\n* [[<span class='searchmatch'>A</span> (b)]], the c", "may be: A (b), the c"),
        ("born in [[Stone Town|the old town]] of", "born in the old town of"),
        ("a {{convert|3|km}} walk {{x|{{y}}}} on", "a walk on"),
        ("[[File:Moon.jpg|thumb|The moon]] rises", "rises"),
        ("see [https://example.org the site] and [https://example.org]", "see the site and"),
        ("a&lt;ref name=x&gt;Smith 1990&lt;/ref&gt; b&lt;br /&gt;c", "a bc"),
        ("== History ==\n: indented", "History indented"),
        ("#REDIRECT [[<span class='searchmatch'>Mercury</span> (element)]]\n", ""),
        ("__DISAMBIG__ text __TOC__", "text"),
        ("cut at the edge of a &lt;span class=\"x", "cut at the edge of a"),
        ("1 &lt; 2 and 3 &gt; 2", "1 < 2 and 3 > 2"),
    ],
)  # fmt: skip
def test_a_snippet_becomes_plain_text(snippet: str, text: str) -> None:
    assert snippet_text(snippet) == text


@given(st.text(alphabet="ab <>&;[]{}|'=*#\n", max_size=60))
def test_any_snippet_is_one_line(snippet: str) -> None:
    text = snippet_text(snippet)
    assert text == " ".join(text.split())


# ---------------------------------------------------------------- disambiguation


def test_meanings_are_the_first_article_links_of_the_items_with_their_lines() -> None:
    body = """
    <p><b>Mercury</b> may refer to <a href="/wiki/X" title="X">not this</a>:</p>
    <ul><li><a href="/wiki/P" title="Mercury (planet)">Mercury</a>, the <b>innermost</b> planet
      of the <a href="/wiki/S" title="Solar System">Solar System</a></li>
    <li>A metal &amp; element, <a href="/wiki/E" title="Mercury (element)">Hg</a>
      <ul><li><a href="/wiki/O" title="Mercury ore">its ore</a></li></ul></li>
    <li><a href="/w/i?redlink=1" class="new" title="Nobody (page does not exist)">Nobody</a></li>
    <li><a class="extiw" title="wikt:mercury" href="https://x">in the dictionary</a></li>
    <li><a href="/wiki/P" title="Mercury (planet)">again</a></li></ul>
    """
    assert entries_of(body) == [
        Entry("Mercury (planet)", "Mercury, the innermost planet of the Solar System"),
        Entry("Mercury (element)", "A metal & element, Hg"),
        Entry("Mercury ore", "its ore"),
    ]


@pytest.mark.parametrize("body", ["", "<ul><li>", "<li><a title='A'>a", "<p>none</p>", "<![x"])
def test_broken_html_gives_what_there_is(body: str) -> None:
    assert [each.title for each in entries_of(body)] == (["A"] if "title" in body else [])


# ---------------------------------------------------------------- queries


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("who is it?", "who is it"),
        ("intitle:mercury -planet", "intitle mercury planet"),
        ('"exact phrase" more', '"exact phrase" more'),
        ("“curly phrase” more", '"curly phrase" more'),
        ('one " quote', "one quote"),
        ("C++ and C#", "C++ and C#"),
        ("well-known AT&T", "well-known AT&T"),
        ("a | b [c] {d} ~e* !f", "a b c d e f"),
        ("???", ""),
    ],
)
def test_search_words_mean_nothing_to_the_search_engine(query: str, words: str) -> None:
    assert search_words(query) == words


def test_content_words_are_as_written_without_function_words() -> None:
    query = "Who was the first president of the US, and of AC/DC's C++ club?"
    assert content_words(query) == ["first", "president", "US", "AC/DC's", "C++", "club"]


def test_names_and_figures_weigh_more_than_common_words() -> None:
    query = "Which publisher printed the Journal of Tides in 1971?"
    assert by_weight(query) == ["Journal", "Tides", "1971", "publisher", "printed"]


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("mercury", "Mercury"),
        ("Who wrote The Lord of the Rings?", "Lord of the Rings"),
        ("who wrote the lord of the rings?", "Lord of the Rings"),
        ("the capital of the state of new york?", "New York"),
        ("When was AC/DC formed?", "AC/DC"),
        ("is it C++?", "C++"),
        ('What? & "Why"', 'What? & "Why"'),
        ("长城在哪里", "长城"),
        ("秦始皇统一中国后修筑了什么", "秦始皇"),
        ("東京タワーの高さは？", "東京タワー"),
    ],
)
def test_a_query_names_titles(query: str, title: str) -> None:
    assert title in possible_titles(query, 50)


def test_the_whole_query_is_the_first_title() -> None:
    assert possible_titles("journal of tides", 50)[:2] == ["journal of tides", "Journal of Tides"]


@given(st.text(max_size=300), st.integers(1, 50))
def test_titles_are_few_and_allowed(query: str, most: int) -> None:
    titles = possible_titles(query, most)
    assert len(titles) <= most
    assert len(set(titles)) == len(titles)
    for title in titles:
        assert title.strip()
        assert len(title.encode("utf-8", "surrogatepass")) <= 255
        assert not set("|#<>[]{}_\n") & set(title)


# ---------------------------------------------------------------- titles in addresses


@pytest.mark.parametrize(
    ("path", "article_path", "title"),
    [
        ("/wiki/Stone_Town", "/wiki/$1", "Stone Town"),
        ("/wiki/AC/DC", "/wiki/$1", "AC/DC"),
        ("/wiki/C%2B%2B", "/wiki/$1", "C++"),
        ("/Stone_Town", "/$1", "Stone Town"),
        ("/a/Stone_Town/view", "/a/$1/view", "Stone Town"),
        ("/other/Stone_Town", "/wiki/$1", ""),
        ("/wiki/", "/wiki/$1", ""),
    ],
)
def test_titles_are_found_in_paths(path: str, article_path: str, title: str) -> None:
    assert title_in(path, article_path) == title


@pytest.mark.parametrize(
    ("encoded", "title"),
    [("%E9%95%BF%E5%9F%8E", "长城"), ("%ff", "\ufffd"), ("_a__b_", "a b"), ("100%25", "100%")],
)
def test_titles_are_decoded(encoded: str, title: str) -> None:
    assert readable_title(encoded) == title
