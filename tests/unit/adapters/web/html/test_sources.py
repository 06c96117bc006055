"""The cards of an answer's sources, and their quotes as they look in the page."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from adapters.web.html.sources import LONGEST_QUOTE, Source, kind_of, quote_html, source_cards
from bot.core.messages import Answer, Citation
from bot.core.texts import texts_for

EN = texts_for("en")
WEB, PAPER = "https://www.example.org/tower", "file:///srv/handbook/pay%20rise.md"


def cited(url: str = WEB, quote: str = "It is 330 m tall.", **more: object) -> Citation:
    made = Citation(1, url, "The tower", quote, "h", 0, len(quote))
    return replace(made, **more)  # type: ignore[arg-type]


def shown(*citations: Citation, **more: object) -> list[Source]:
    answer = Answer("answered", "It is tall [1].", "How tall?", "r1", citations)
    options = {"dates": {}, "collections": {}, **more}
    return [*source_cards(answer, EN, **options)]  # type: ignore[arg-type]


def test_a_page_of_the_web_leads_out_and_has_a_copy_here() -> None:
    (one,) = shown(cited(), root="/footnote")
    assert (one.kind, one.href, one.is_outside) == ("web", WEB, True)
    assert one.copy == "/footnote/runs/r1/pages/1"
    assert (one.place, one.site.letter) == ("example.org", "E")
    assert one.quotes[0].href == "/footnote/runs/r1/pages/1#q1-1"


def test_a_document_names_its_collection_or_folder_and_not_the_disk() -> None:
    (one,) = shown(cited(PAPER))
    assert (one.kind, one.place, one.is_outside) == ("document", "handbook", False)
    assert "/srv" not in f"{one.href} {one.copy} {one.place}"
    (named,) = shown(cited(PAPER), collections={PAPER: "People"})
    assert named.place == "People"


def test_a_source_is_dated_by_its_latest_copy() -> None:
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    both = (cited(), cited(quote="It was built in 1889.", page_hash="h2"))
    (one,) = shown(*both, dates={(WEB, "h"): late, (WEB, "h2"): early})
    assert one.read_at == late
    (undated,) = shown(*both)
    assert undated.read_at is None


def test_equal_quotes_are_shown_once_with_both_anchors() -> None:
    (one,) = shown(cited(), cited(), cited(quote="Another."))
    assert [quote.anchors for quote in one.quotes] == [("q1-1", "q1-2"), ("q1-3",)]


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        (WEB, "web"),
        ("https://de.wikipedia.org/wiki/Turm", "wiki"),
        ("https://notwikipedia.org/", "web"),
        (PAPER, "document"),
    ],
)
def test_kinds_of_sources(url: str, kind: str) -> None:
    assert kind_of(url) == kind


def test_quotes_are_rendered_and_inert() -> None:
    html = quote_html(cited(quote="## Size\n\nIt is **tall** <script>alert(1)</script>."))
    assert "<script" not in html
    assert "<strong>tall</strong>" in html
    assert "##" not in html


def test_code_and_tables_of_a_quote_are_kept_as_such() -> None:
    code = quote_html(cited(quote="```sh\nls -l\n```"))
    assert "<pre" in code
    assert "```" not in code
    table = quote_html(cited(quote="| part | m |\n| --- | --- |\n| mast | 24 |"))
    assert "<table" in table


def test_what_bears_nothing_out_is_left_out_of_a_quote() -> None:
    quote = "It is 330 m tall.\n\nIt rains.\n\nIt was built in 1889."
    end = quote.index("It rains")
    begin = quote.index("It was built")
    proof = ((0, end - 2), (begin, len(quote)))
    html = quote_html(cited(quote=quote, proof=proof))
    assert "rains" not in html
    assert "330" in html
    assert "…" in html


def test_a_long_quote_ends() -> None:
    quote = "\n\n".join(f"| a | b |\n| - | - |\n| {n} | x |\n\nSentence {n}." for n in range(900))
    assert len(quote_html(cited(quote=quote))) < 40 * LONGEST_QUOTE
