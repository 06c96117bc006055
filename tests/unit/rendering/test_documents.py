"""Sources as BibTeX and CSL-JSON: each once, dated, and with nothing that ends its field."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.messages import Answer, Citation
from bot.rendering.documents import as_bibtex, as_csl, references

READ = datetime(2026, 3, 9, 23, 30, tzinfo=UTC)


def cited(url: str, title: str = "The tower", number: int = 1, page: str = "h") -> Citation:
    return Citation(number, url, title, "quote", page, 0, 5)


def an_answer(*citations: Citation) -> Answer:
    return Answer("answered", "Tall [1].", "How tall?", "r1", citations)


def test_each_page_is_one_reference_in_order_of_its_first_citation() -> None:
    first = an_answer(cited("https://b.example/x"), cited("https://a.example/y", number=2))
    second = an_answer(cited("https://b.example/x"), cited("https://c.example/"))
    found = references([first, second], {("https://b.example/x", "h"): READ})
    names = ["bexample-1", "aexample-2", "cexample-3"]
    assert [one.name for one in found] == names
    assert [one.read_at for one in found] == [READ, None, None]


def test_a_document_has_no_address() -> None:
    (one,) = references([an_answer(cited("file:///srv/secret/manual.pdf", "Manual"))], {})
    assert (one.url, one.site) == ("", "")
    assert as_bibtex([one]).startswith("@misc{document-1,")
    assert "secret" not in as_bibtex([one]) + as_csl([one])
    assert json.loads(as_csl([one])) == [
        {"id": "document-1", "type": "document", "title": "Manual"}
    ]


def test_a_page_of_the_web_says_when_it_was_read() -> None:
    url = "https://a.example/50%25#top"
    found = references([an_answer(cited(url, "50 % & more_"))], {(url, "h"): READ})
    text = as_bibtex(found)
    assert text.startswith("@online{aexample-1,\n")
    assert r"title = {{50 \% \& more\_}}," in text
    assert r"url = {https://a.example/50\%25\#top}," in text
    assert "urldate = {2026-03-09}," in text
    (item,) = json.loads(as_csl(found))
    assert item["accessed"] == {"date-parts": [[2026, 3, 9]]}
    assert (item["URL"], item["container-title"]) == (url, "a.example")


@pytest.mark.parametrize("title", ["", "\n", " \t"])
def test_a_page_without_a_title_is_called_by_its_site(title: str) -> None:
    (one,) = references([an_answer(cited("https://a.example/x", title))], {})
    assert one.title == "a.example"


@given(st.text(max_size=60))
def test_no_title_ends_its_field(title: str) -> None:
    text = as_bibtex(references([an_answer(cited("https://a.example/x", title))], {}))
    bare = text.replace(r"\textbackslash{}", "").replace(r"\textasciicircum{}", "")
    bare = bare.replace(r"\textasciitilde{}", "").replace(r"\{", "").replace(r"\}", "")
    depth = 0
    for place, letter in enumerate(bare.rstrip()):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        assert depth > 0 or place in (*range(8), len(bare.rstrip()) - 1)
    assert depth == 0
