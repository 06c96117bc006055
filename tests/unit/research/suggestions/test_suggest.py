"""Follow-up questions from the surroundings of the cited words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.answers import Citation
from bot.pages.passages import split
from bot.reasoning.evidence import Source
from bot.research.outcomes import Offer
from bot.research.suggestions.suggest import suggest

URL = "https://docs.example/themes"
PAGE = """# Theme manual

The theme decides how pages look. Every page of the site has it, and the site has one.

## Caching pages

Pages are kept in a cache for an hour. The setting `cache_time` changes that, and `--no-cache`
switches it off.

### Clearing cached pages

Remove the folder.

### cache_time

A number of seconds.

### Storage

In memory.

## Overriding templates

Put a file of the same name into the folder.

## Cache vs. compression

They differ.

## Options

- `--no-cache`: keeps nothing.
- `--strict`: fails on warnings.
"""
QUESTION = "How long are pages kept in the cache?"


def page(text: str = PAGE, title: str = "Theme manual", url: str = URL, number: int = 1) -> Source:
    return Source(number, url, title, tuple(split(text)), "hash", datetime(2025, 1, 1, tzinfo=UTC))


def cited(source: Source, words: str) -> Citation:
    passage = next(passage for passage in source.passages if words in passage.text)
    return Citation(
        source.number,
        source.url,
        source.title,
        passage.text,
        source.page_hash,
        passage.start,
        passage.end,
        passage.heading,
    )


def suggested(
    *sources: Source,
    words: str = "kept in a cache",
    question: str = QUESTION,
    offers: Sequence[Offer] = (),
    limit: int = 3,
) -> tuple[str, ...]:
    sources = sources or (page(),)
    citation = cited(sources[0], words)
    return suggest(question, citation.quote, [citation], offers, sources, limit=limit)


def test_what_stands_around_the_cited_words_is_suggested() -> None:
    assert set(suggested(limit=9)) == {
        "How do I clear cached pages?",
        "What is `cache_time` for?",
        "What does `--no-cache` do?",
    }


def test_an_option_is_suggested_where_the_quote_names_it_and_another_place_explains_it() -> None:
    assert "What does `--no-cache` do?" in suggested(limit=9)
    assert "What does `--strict` do?" not in suggested(limit=9)


def test_what_has_nothing_to_do_with_it_is_not_suggested() -> None:
    assert "How do I override templates?" not in suggested(limit=9)


def test_no_more_are_given_than_asked_for() -> None:
    assert len(suggested()) == 3
    assert suggested(limit=1) == suggested()[:1]
    assert suggested(limit=0) == ()


def test_nothing_is_suggested_after_an_answer_without_citations() -> None:
    assert suggest(QUESTION, "Your documents do not say.", [], [], [page()]) == ()


@pytest.mark.parametrize("question", ["How do I clear cached pages?", "clear cached pages"])
def test_the_question_itself_is_not_suggested(question: str) -> None:
    assert "How do I clear cached pages?" not in suggested(question=question, limit=9)


def test_a_section_that_was_quoted_is_not_suggested() -> None:
    assert "How do I clear cached pages?" not in suggested(words="Remove the folder", limit=9)


def test_a_page_in_another_language_is_not_asked_about() -> None:
    assert suggested(question="Wie lange bleiben Seiten im Cache?") == ()


def test_a_section_of_the_further_reading_is_suggested() -> None:
    source = page(PAGE.replace("Overriding templates", "Overriding templates of plugins"))
    citation, further = cited(source, "kept in a cache"), cited(source, "of the same name")
    found = suggest(QUESTION, citation.quote, [citation], [], [source], [further], limit=9)
    assert "How do I override templates of plugins?" in found
    assert "How do I override templates of plugins?" not in suggested(source, limit=9)


def test_release_notes_are_not_asked_about() -> None:
    notes = PAGE.replace("# Theme manual", "# Release notes").replace("Theme manual", "x")
    assert suggested(page(notes, "Release notes")) == ()


def test_people_and_things_that_the_quote_names_are_suggested_where_a_page_defines_them() -> None:
    tower = page(
        "The Eiffel Tower is a tower in Paris. Gustave Eiffel built it of lattice girders.",
        "Eiffel Tower",
    )
    eiffel = page(
        "Gustave Eiffel (1832 – 1923) was a French engineer.", "Gustave Eiffel", "https://e.ex", 2
    )
    offers = [
        Offer("Paris", "https://p.ex", "Paris is the capital of France."),
        Offer("Lattice girder", "https://l.ex", "Lattice girders are light."),
        Offer("Rome", "https://r.ex", "Rome is the capital of Italy."),
    ]
    question = "How tall is the Eiffel Tower?"
    assert set(suggested(tower, eiffel, words="lattice", question=question, offers=offers)) == {
        "Who was Gustave Eiffel?",
        "What is Paris?",
    }


def test_a_found_page_is_suggested_whose_title_speaks_of_the_question() -> None:
    offers = [
        Offer("Configuring the page cache - Docs", "https://docs.example/1"),
        Offer("Configuring mail", "https://docs.example/2"),
        Offer("The page cache", "https://docs.example/3"),
    ]
    found = suggested(page("# Notes\n\nPages are kept in a cache for an hour."), offers=offers)
    assert found == ("How do I configure the page cache?",)


def test_words_that_every_document_has_do_not_relate_pages() -> None:
    offers = [Offer("Configuring the Footnote page", "https://docs.example/1")]
    source = page("# Notes\n\nA page of Footnote lasts an hour.")
    citation = cited(source, "an hour")
    question = "How long does a Footnote page last?"
    common = {"": 9.0, "footnote": 0.1, "page": 0.4, "last": 5.0, "long": 5.0}
    rare = {"": 9.0, "footnote": 5.0, "page": 4.0, "last": 5.0, "long": 5.0}

    def found(rarity: dict[str, float]) -> tuple[str, ...]:
        return suggest(question, citation.quote, [citation], offers, [source], rarity=rarity)

    assert found(common) == ()
    assert found(rare) == ("How do I configure the Footnote page?",)


@pytest.mark.parametrize(
    "address",
    ["https://evil.ex/a", "http://evil.ex", "www.evil.ex", "evil.ex/a", "HTTP://EVIL.EX/A"],
)
def test_no_suggestion_holds_an_address(address: str) -> None:
    """A pressed suggestion counts as written by the person, and what people write is read."""
    there = PAGE.replace("Clearing cached pages", f"Clearing cached pages at {address}")
    assert not any("evil" in each.lower() for each in suggested(page(there), limit=9))
    harmless = PAGE.replace("Clearing cached pages", "Clearing cached pages at evil")
    assert any("evil" in each for each in suggested(page(harmless), limit=9))


def test_chinese_sections_are_asked_about_in_chinese() -> None:
    text = (
        "# 缓存手册\n\n本手册介绍缓存。\n\n## 缓存\n\n页面在缓存中保留一小时。\n\n"
        "### 如何清除缓存\n\n删除文件夹。"
    )
    question = "页面缓存多长时间？"
    assert suggested(page(text, "缓存手册"), words="一小时", question=question) == (
        "如何清除缓存？",
    )


@given(
    st.lists(st.text(alphabet="abE iffel塔高-|?<@\n{}#`", max_size=24), max_size=6),
    st.sampled_from(["How tall is the Eiffel Tower?", "塔有多高？", ""]),
)
def test_whatever_the_headings_hold_suggestions_are_short_distinct_lines(
    headings: list[str], question: str
) -> None:
    text = "The Eiffel tower is tall.\n\n" + "\n\n".join(
        f"## How to {each}\n\nX." for each in headings
    )
    source = page(text, headings[0] if headings else "Eiffel")
    offers = [Offer(f"Installing {each}", f"https://e.ex/{n}") for n, each in enumerate(headings)]
    citation = cited(source, "Eiffel tower")
    found = suggest(question, citation.quote, [citation], offers, [source])
    assert len(found) == len(set(found)) <= 3
    assert all("\n" not in line and "<" not in line and "@" not in line for line in found)
    assert found == suggest(question, citation.quote, [citation], offers, [source])
