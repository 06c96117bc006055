"""The choice of passages to quote, and whether they are an answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.passages import split
from bot.reasoning.evidence import Source
from bot.reasoning.extractive.quotes import (
    AFTER,
    LEAST_OF_PAGE,
    MOST_QUOTES,
    Choice,
    choice_of,
    choose,
    findings,
    gist,
    is_bare,
    openings,
)
from bot.reasoning.extractive.relevance import asked_in
from tests.unit.pages.test_passages import PAGES
from tests.unit.reasoning.harbour import SOURCES
from tests.unit.reasoning.samples import a_page_read, rarity_in


def quoted(
    question: str,
    sources: Sequence[Source] = SOURCES,
    rarity: Mapping[str, float] | None = None,
) -> list[str]:
    return [quote.text for quote in choose(question, sources, rarity)]


def judged(question: str, sources: Sequence[Source] = SOURCES) -> Choice:
    """The choice where the sources are a few passages of large documents."""
    return choice_of(asked_in(question, sources, rarity_in(sources, question)), sources)


# ---------------------------------------------------------------- what is quoted first


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("When was the harbour of Oslo built?", "1887"),
        ("How many boats does the harbour of Oslo hold?", "1,200"),
        ("What fee do large boats pay?", "25 kroner"),
        ("Where was Ingrid Dahl born?", "Bergen"),
        ("When is salt added to soup?", "at the end"),
    ],
)
def test_the_most_telling_passage_comes_first(question: str, words: str) -> None:
    assert words in quoted(question)[0]
    assert words in quoted(question, rarity=rarity_in(SOURCES, question))[0]


def test_chinese_questions_find_their_passage() -> None:
    source = a_page_read(1, "奥斯陆港", "奥斯陆港建于1887年。\n\n汤是煮的。" + "汤里要放盐。" * 30)
    question = "奥斯陆港是哪一年建的？"
    assert "1887" in quoted(question, (source,))[0]
    assert "1887" in quoted(question, (source,), rarity_in((source,), question))[0]


def test_passages_that_say_nothing_new_or_nothing_at_all_stay_out() -> None:
    assert not any("Soup" in text for text in quoted("When was the harbour of Oslo built?"))
    twin = a_page_read(4, "Oslo harbour, a copy", "The harbour of Oslo was built in 1887.")
    found = quoted("When was the harbour of Oslo built?", (twin, twin))
    assert found == ["The harbour of Oslo was built in 1887."]


def test_a_passage_on_a_name_that_came_up_is_the_next_hop() -> None:
    texts = quoted("Where was the builder of the harbour of Oslo born?")
    assert any("Bergen" in text for text in texts)


def test_a_heading_or_a_line_of_links_is_worth_less_than_a_sentence() -> None:
    source = a_page_read(
        1, "Gates", "Harbour gates, gate fees\n\n" + "x" * 500 + ".\n\nA gate opens."
    )
    assert quoted("Which gate opens at the harbour?", (source,))[0] == "A gate opens."


def test_numbers_of_sections_are_a_table_of_contents() -> None:
    contents = "Harbour of Oslo:\n- 6. Gates:\n- 6.1. Harbour gates\n- 6.2. Fees\n- 6.3. Boats"
    sources = (
        a_page_read(1, "Contents", contents),
        a_page_read(2, "Gates", "Some gates of the harbour of Oslo never open, as is said."),
    )
    assert quoted("Which gates of the harbour of Oslo never open?", sources)[0].startswith("Some")


def test_a_table_of_contents_is_worth_less_than_what_it_leads_to() -> None:
    contents = "- Harbour gates\n- Harbour fees\n- Harbour boats\n- Harbour rules\n- Harbour food"
    pages = (
        a_page_read(1, "Contents", contents),
        a_page_read(2, "Fees", "The harbour takes fees: 10 kroner for each boat and day."),
    )
    assert "10 kroner" in quoted("What are the harbour fees?", pages)[0]


def test_code_comes_first_where_a_way_of_doing_is_asked_for() -> None:
    text = (
        "A gate of the harbour opens by command.\n\n"
        + "More on another matter. " * 20
        + "\n\n## The gate\n\n```sh\nharbour open --gate 3\n```\n"
    )
    source = a_page_read(1, "Commands", text)
    assert quoted("How do I open the gate of the harbour?", (source,))[0].startswith("```sh")


def test_what_goes_on_about_a_passage_is_quoted_with_it() -> None:
    text = "\n\n".join(f"Gate {n} has its own bell. " * 8 for n in range(3))
    quote = choose("Which bell has gate 1 of the harbour?", (a_page_read(1, "Gates", text),))[0]
    assert len(quote.passages) > 1
    assert quote.passage in quote.passages


# ---------------------------------------------------------------- whether it is an answer


@pytest.mark.parametrize(
    "question",
    [
        "Who invented the Zeppelin airship in Friedrichshafen?",
        "Who salvaged the boats of the Lusitania and the Andrea Doria?",
        "Wie backt man Brot im Ofen?",
        "https://example.org/soup",  # an address has no words
    ],
)
def test_nothing_is_quoted_when_all_of_it_hardly_touches_the_question(question: str) -> None:
    assert quoted(question) == []
    assert not judged(question).answers


@pytest.mark.parametrize("sources", [SOURCES, SOURCES[2:], ()])
def test_without_sources_or_words_there_is_no_answer(sources: Sequence[Source]) -> None:
    assert not judged("", sources).answers
    assert not judged("???", sources).answers
    assert not judged("Who?", ()).answers


@pytest.mark.parametrize(
    "question",
    [
        "When was the harbour of Oslo built?",
        "How do I open the gate of the harbour?",
        "Where was Ingrid Dahl born?",
    ],
)
def test_what_the_documents_say_is_an_answer(question: str) -> None:
    choice = judged(question)
    assert choice.answers
    assert 0 < choice.enough <= choice.covered <= 1
    assert choice.unknown == ()


def test_a_name_that_no_document_has_rules_an_answer_out() -> None:
    choice = judged("When was the harbour of Oslo built by Zorro?")
    assert choice.quotes
    assert choice.unknown == ("Zorro",)
    assert not choice.answers


def test_a_question_that_leaves_open_what_it_is_about_is_answered_by_nothing() -> None:
    choice = judged("Can I open it?")
    assert math.isinf(choice.enough)
    assert not choice.answers


def test_a_choice_without_quotes_is_no_answer() -> None:
    assert not Choice((), covered=1.0).answers


# ---------------------------------------------------------------- what was found and what not


def test_findings_carry_their_page_and_what_no_page_has() -> None:
    found, missing = findings("When was the harbour of Oslo built by Zorro?", SOURCES)
    assert found[0].sources == (1,)
    assert missing == ("Zorro",)
    assert findings("When was the harbour of Oslo built?", SOURCES)[1] == ()


def test_words_that_stand_for_what_is_asked_are_not_missing() -> None:
    assert findings("In which country is the harbour of Oslo?", SOURCES)[1] == ()


# ---------------------------------------------------------------- pages as a whole


def test_openings_are_the_first_passages_of_each_page() -> None:
    found = openings(SOURCES)
    assert [quote.source.number for quote in found] == sorted(q.source.number for q in found)
    assert {quote.source.number for quote in found} == {1, 2, 3}
    assert found[0].passage == SOURCES[0].passages[0]


def test_the_gist_has_something_of_every_page() -> None:
    long = a_page_read(9, "Long", "\n\n".join(f"Fact {n} on boats. " * 12 for n in range(20)))
    found = gist((*SOURCES, long))
    assert {quote.source.number for quote in found} == {1, 2, 3, 9}
    of_long = [quote for quote in found if quote.source is long]
    assert LEAST_OF_PAGE <= len(of_long) < len(long.passages)
    assert [q.passage.start for q in of_long] == sorted(q.passage.start for q in of_long)


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("Harbour gates, fees", True),
        ("The harbour opens.", False),
        ("港口。", False),
        ("Ports:", False),
        ("| a | b |", False),
    ],
)
def test_a_line_that_is_no_sentence_is_bare(text: str, is_so: bool) -> None:
    assert is_bare(split(text)[0]) is is_so


# ---------------------------------------------------------------- what always holds

WORDS = st.lists(
    st.sampled_from(["harbour", "Oslo", "boats", "fee", "Ingrid", "soup", "who", "the", "港"]),
    max_size=8,
).map(" ".join)


@given(WORDS, st.lists(st.sampled_from(SOURCES), unique=True))
def test_quotes_are_passages_as_they_stand_and_come_once(
    question: str, sources: list[Source]
) -> None:
    quotes = choose(question, sources)
    assert len(quotes) <= MOST_QUOTES
    spans = [(quote.source.number, quote.passage.start) for quote in quotes]
    assert len(set(spans)) == len(spans)
    shown = [(q.source.number, passage.start) for q in quotes for passage in q.passages]
    assert len(set(shown)) == len(shown)
    for quote in quotes:
        assert quote.passage in quote.passages
        assert set(quote.passages) <= set(quote.source.passages)
        starts = [passage.start for passage in quote.passages]
        assert starts == sorted(starts)
        assert len(quote.passages) <= AFTER + 2


@given(PAGES, st.one_of(WORDS, st.text(max_size=30)), st.booleans())
def test_any_page_can_be_asked_and_gives_the_same_again(
    text: str, question: str, known: bool
) -> None:
    sources = (a_page_read(1, "A page", text), *SOURCES)
    rarity = rarity_in(sources, question) if known else {}
    asked = asked_in(question, sources, rarity)
    choice = choice_of(asked, sources)
    assert choice == choice_of(asked_in(question, sources, rarity), sources)
    assert 0 <= choice.covered <= 1 + 1e-9
    assert not (choice.answers and choice.unknown)
    if not asked.weights:
        assert not choice.answers
