"""Answers as the console shows them."""

from __future__ import annotations

from adapters.web.html.replies import markdown_of, reply_of
from bot.core.messages import Answer, Citation
from bot.core.texts import texts_for

EN = texts_for("en")
URL = "https://e.org/t"


def an_answer(text: str, *quotes: str, url: str = URL) -> Answer:
    cited = tuple(
        Citation(2, url, "The Tower", quote, "h", 0, len(quote), "The Tower › Use › Year | Height")
        for quote in quotes
    )
    return Answer("answered", text, "?", "r1", cited)


def test_a_quoted_table_is_a_table_below_the_names_of_its_columns() -> None:
    (source,) = reply_of(an_answer("So [2].", "| 1889 | <b>312 |"), EN, {}).sources
    (quote,) = source.quotes
    assert '<th class="right">Year</th>' in quote.html
    assert "<td>&lt;b&gt;312</td>" in quote.html
    assert (quote.heading, source.heading) == ("Use", "Use")


def test_quoted_code_keeps_its_lines_and_nothing_in_it_is_html() -> None:
    (source,) = reply_of(an_answer("So [2].", "Run:\n\n```\nx = <b>\ny[2]\n```"), EN, {}).sources
    (quote,) = source.quotes
    assert quote.html == '<p>Run:</p>\n<pre tabindex="0"><code>x = &lt;b&gt;\ny[2]\n</code></pre>\n'


def test_a_quote_in_the_answer_stands_in_the_card_over_its_mark_too() -> None:
    (source,) = reply_of(an_answer("It is tall [2].", "It is tall."), EN, {}).sources
    (quote,) = source.quotes
    shown = (quote.html, source.title, source.href)
    assert shown == ("<p>It is tall.</p>\n", "The Tower", URL)


def test_a_local_file_leads_to_our_copy() -> None:
    (source,) = reply_of(an_answer("So [2].", "q", url="file:///srv/x.md"), EN, {}).sources
    assert source.href == "/runs/r1/pages/2"


def test_what_is_copied_has_its_sources() -> None:
    copied = markdown_of(an_answer("Tall [2].", "q"))
    assert copied == f"Tall [2].\n\n[2] The Tower, Use › Year | Height, {URL}"
