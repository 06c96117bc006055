"""Prefetched pages that plainly fit are shown; others are not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.page import Page
from bot.pages.validity import HOLDS, Validity
from bot.reasoning.evidence import NumberedHit, QueryResult, SubQuestion
from bot.research.selection import matching, merge_sources, named_apart, to_open
from bot.search.provider import Hit
from bot.text.terms import terms
from tests.unit.reasoning.samples import a_source
from tests.unit.samples import NOW

QUESTION = "Where was the composer of the Forth Suite born?"
ASKED = SubQuestion(QUESTION)


def a_page(title: str, text: str) -> Page:
    return Page(f"https://example.org/{title}", title, text, NOW)


@pytest.mark.parametrize(
    ("title", "text", "fits"),
    [
        ("Forth Suite", "A work in four movements.", True),  # named in the question
        ("Ada Byron", "The composer of the Forth Suite was born in Leith.", True),
        ("Suite", "A work in several movements.", True),
        ("Leith", "A port on the Firth of Forth.", False),
        ("American", "Of the Americas.", False),
        ("", "", False),
    ],
)
def test_a_page_fits_if_it_is_named_or_speaks_of_what_is_wanted(
    title: str, text: str, fits: bool
) -> None:
    page = a_page(title, text)
    assert matching([QUESTION], [page], {}, question=ASKED) == ([page.url] if fits else [])


def test_a_correction_that_was_found_comes_first_whatever_another_page_says() -> None:
    page = a_page("Ada Byron", "The composer of the Forth Suite was born in Leith.")
    words = Page("correction:/slack%3AT1/r1", "Correction by Ann", "No, in Crail.", NOW)
    hits = [NumberedHit(n, Hit(p.title, p.url, "", "")) for n, p in enumerate((page, words), 1)]
    assert to_open([QueryResult(QUESTION, tuple(hits))], 2) == [2, 1]
    assert matching([QUESTION], [page, words], {}) == [page.url, words.url]


def test_a_page_that_a_correction_names_fits_whatever_it_says() -> None:
    page, named = a_page("Forth Suite", "A suite."), a_page("Policy", "Of the suite.")
    assert matching([QUESTION], [page, named], {}) == [page.url]
    assert set(matching([QUESTION], [page, named], {}, (), [named.url])) == {page.url, named.url}


def test_words_of_one_passage_count_and_not_those_scattered_over_a_page() -> None:
    other = "Much else is said. " * 30
    apart = "\n\n".join(f"{word}. {other}" for word in ("Composer", "Forth", "Suite", "Born"))
    assert matching([QUESTION], [a_page("All", apart)], {}) == []


def test_rare_words_count_for_more() -> None:
    rarity = {
        "": 9.0,
        "compos": 1.0,
        "composer": 1.0,
        "forth": 8.0,
        "suit": 8.0,
        "suite": 8.0,
        "born": 1.0,
        "bear": 1.0,
    }
    page = a_page("Music", "On the Forth Suite.")
    assert matching([QUESTION], [page], rarity) == [page.url]
    assert matching([QUESTION], [a_page("Music", "A composer was born.")], rarity) == []


def test_a_page_beside_a_much_better_one_is_left_shut() -> None:
    whole = a_page("All", "The composer of the Forth Suite was born in Fife.")
    assert matching([QUESTION], [a_page("Half", "A composer of a suite."), whole], {}) == [
        whole.url
    ]
    # unless it is the best for other words
    assert len(matching([QUESTION, "composer"], [a_page("Half", "A composer."), whole], {})) == 2


@pytest.mark.parametrize(
    ("title", "text", "fits"),
    [
        # The name alone is what another page is about.
        ("Kintyre Airport", "Kintyre Airport is a place in the state of Leith.", False),
        ("Airport", "A place with runways.", False),
        # The rest is what the question goes on to.
        ("Leith", "The population of each state, Kintyre.", True),
    ],
)
@pytest.mark.parametrize("shown", [True, False])
def test_beside_a_page_that_is_named_others_have_the_rest_of_the_words(
    title: str, text: str, fits: bool, shown: bool
) -> None:
    question = "What is the population of the state of Crail Kintyre Airport?"
    named, other = a_page("Crail Kintyre Airport", "A place."), a_page(title, text)
    pages, titles = ([other], [named.title]) if shown else ([named, other], [])
    found = matching([question], pages, {}, titles, question=SubQuestion(question))
    assert (other.url in found) is fits
    assert (named.url in found) is not shown


def test_the_page_of_a_query_has_its_rarest_word() -> None:
    rarity = {"": 9.0, "drake": 4.0, "film": 3.0, "star": 3.0, "actor": 3.0}
    query = "film starring actor Drake"
    page, other = (
        a_page("A", "A film starring an actor."),
        a_page("B", "An actor, Drake, in a film."),
    )
    assert matching([query], [page, other], rarity, question=ASKED) == [other.url]
    assert matching([query], [page], {}) == [page.url]  # no word is known to be rare
    assert matching([query], [page], rarity, question=SubQuestion(query)) == [
        page.url
    ]  # of several things


@pytest.mark.parametrize(
    ("query", "text", "fits"),
    [
        ("Tom Drake actor", "Tom Brown and Oliver Drake.", False),
        ("Tom Drake actor", "With Tom Drake.", True),
        ("Jackson County seat", "A county seat. Jackson lived there, in Leith County.", True),
        ("Jackson County rank", "A county. Its seat is Leith. Jackson lived there.", False),
        ("tom drake actor", "Tom Brown and Oliver Drake.", True),  # nothing tells the names
    ],
)
def test_the_page_of_a_query_has_its_names_as_they_are_written(
    query: str, text: str, fits: bool
) -> None:
    rarity = {"": 9.0, "jackson": 4.0, "county": 3.0, "drake": 4.0, "tom": 3.9}
    rarity |= {"actor": 3.0, "seat": 3.5, "rank": 3.5}
    page = a_page("Page", text)
    assert matching([query], [page], rarity) == ([page.url] if fits else [])


def test_in_german_capitals_tell_no_names() -> None:
    rarity = {"": 9.0, "einwohner": 4.0, "stadt": 3.0, "bremen": 5.0, "zahl": 5.0}
    page = a_page("Norden", "Die Zahl derer, die in Bremen wohnen.")
    query, asked = "Einwohner Zahl Stadt Bremen", "Wie viele Menschen leben dort?"
    assert matching([query], [page], rarity, question=SubQuestion(asked, "de-AT")) == [page.url]
    assert matching([query], [page], rarity, question=SubQuestion(asked, "en")) == []


def test_a_rare_word_of_a_question_brings_the_best_page_that_has_it() -> None:
    question = "Which explorer mapped the continent of the first greenhouses and the area of WINEP?"
    rarity = {"": 10.0, "winep": 9.0, "greenhous": 8.0, "explorer": 5.0, "continent": 5.0}
    rarity |= {"map": 4.0, "area": 3.0, "first": 1.0}
    asked = SubQuestion(question)
    winep = a_page("Near East", "WINEP, which has an area.")
    glass = a_page("Sun", "The first greenhouses were of glass.")
    only = a_page("Glass", "Greenhouses are of it.")
    both, other = a_page("A", "WINEP has greenhouses."), a_page("Africa", "A continent.")
    assert matching([question], [other, only, glass, winep], rarity, question=asked) == [
        winep.url,
        glass.url,
    ]
    assert matching([question], [winep, glass, both], rarity, question=asked) == [both.url]
    assert matching([question], [winep], rarity) == []  # a query is about one thing
    assert matching([question], [], rarity, question=asked) == []


def test_of_namesakes_one_is_named() -> None:
    pages = [a_page("Midway, Iowa", "A place."), a_page("Midway, Ohio", "A place.")]
    assert matching(["Who lives in Midway, near McRae?"], pages, {}) == [pages[0].url]


def test_the_best_come_first() -> None:
    good, better = a_page("A", "The composer of a suite, born."), a_page("Forth Suite", "A suite.")
    assert matching([QUESTION], [good, better], {}) == [better.url, good.url]


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=200), st.booleans())
def test_any_text_is_taken(wanted: str, title: str, text: str, is_there: bool) -> None:
    page = a_page(title, text)
    assert set(matching([wanted, ""], [page], {})) <= {page.url}
    rarity = {"": 9.0, **dict.fromkeys(terms(wanted), 8.0)}
    pages, asked = [page] * is_there, SubQuestion(wanted)
    assert set(matching([wanted, title], pages, rarity, question=asked)) <= {page.url}


@pytest.mark.parametrize(
    ("titles", "apart"),
    [
        (["Midway, Iowa", "Midway, Ohio", "McRae, Iowa"], ["Midway, Iowa", "McRae, Iowa"]),
        (["Leith", ""], []),  # not named
        (["Radio Norwood", "Norwood (town)"], ["Radio Norwood"]),  # within an earlier name
    ],
)
def test_things_named_apart_are_those_with_other_words(titles: list[str], apart: list[str]) -> None:
    text = "Is Midway, near McRae, in the state of Radio Norwood?"
    assert named_apart(text, titles) == apart


def test_a_page_that_another_one_replaces_is_marked() -> None:
    old = a_source(1, title="Travel policy 2023")
    new = a_source(2, title="Travel policy 2025")
    new = replace(new, validity=Validity(replaces=" the travel policy 2023"))
    merged = merge_sources([old, new])
    assert [source.validity.state for source in merged] == ["replaced", ""]
    assert merged[0].validity.words == "Travel policy 2025"
    asked = replace(old, validity=Validity(is_asked=True))  # "in 2023"
    assert merge_sources([asked, new])[0].validity.state == ""
    draft = replace(new, validity=replace(new.validity, state="draft"))
    assert merge_sources([old, draft])[0].validity == HOLDS  # a draft replaces nothing
