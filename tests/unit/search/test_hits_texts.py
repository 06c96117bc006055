"""Texts that engines gave with their hits: found by the page, bounded, for a while."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.extract import from_bytes
from bot.search.engines import KEPT_CHARACTERS, KEPT_SECONDS, LONGEST, SuppliedTexts


def test_spellings_of_an_address_are_one_page() -> None:
    texts = SuppliedTexts("Tavily")
    texts.keep("https://www.a.example/page?utm_source=x", "A", "words")
    found = texts.of("https://a.example/page")
    assert found is not None
    assert (found.text, found.by) == ("words", "Tavily")
    assert texts.of("https://a.example/other") is None
    assert texts.of("no address") is None


@pytest.mark.parametrize("url", [None, 7, "", "ftp://a.example/", "https://me:x@a.example/"])
def test_what_is_no_address_is_not_kept(url: object) -> None:
    texts = SuppliedTexts("Tavily")
    texts.keep(url, "A", "words")
    assert len(texts._texts) == 0


def test_the_newest_texts_are_kept_and_none_for_ever() -> None:
    now = [0.0]
    texts = SuppliedTexts("Tavily", clock=lambda: now[0])
    count = KEPT_CHARACTERS // LONGEST + 5
    for number in range(count):
        texts.keep(f"https://a.example/{number}", "", "x" * (2 * LONGEST))
    assert texts.of("https://a.example/0") is None
    newest = texts.of(f"https://a.example/{count - 1}")
    assert newest is not None
    assert len(newest.text) == LONGEST
    now[0] = KEPT_SECONDS + 1
    assert texts.of(f"https://a.example/{count - 1}") is None


@given(st.lists(st.text("ab #*_`|-+>[]1.\\=~"), min_size=2, max_size=4))
def test_excerpts_stay_the_words_they_were(excerpts: list[str]) -> None:
    said = [" ".join(each.split()) for each in excerpts]
    texts = SuppliedTexts("Brave")
    texts.keep_excerpts("https://a.example/", "A", said)
    found = texts.of("https://a.example/")
    distinct = list(dict.fromkeys(filter(None, said)))
    if len(distinct) < 2:
        assert found is None
        return
    assert found is not None
    read = from_bytes(found.text.encode(), found.media_type, "https://a.example/")
    # Marks may become structure, as in any plain text; no word is lost or added.
    assert _words(read.text) == _words("\n\n".join(distinct))


def _words(text: str) -> str:
    return "".join(filter(str.isalnum, text))
