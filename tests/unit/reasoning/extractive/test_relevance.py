"""Scores of passages for what a question asks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reasoning.evidence import Source
from bot.reasoning.extractive.relevance import (
    Cue,
    WeightedQuestion,
    asked_in,
    candidates,
    follow,
    scores,
    wanted_terms,
)
from bot.text.terms import keywords
from tests.unit.pages.test_passages import PAGES
from tests.unit.reasoning.harbour import SOURCES
from tests.unit.reasoning.samples import a_page_read, a_source, rarity_in


def asked(question: str, *sources: Source, passages: int = 1_000) -> WeightedQuestion:
    sources = sources or SOURCES
    return asked_in(question, sources, rarity_in(sources, question, passages=passages))


# ---------------------------------------------------------------- the question


@pytest.mark.parametrize(
    ("question", "cue"),
    [
        ("How many boats does it hold?", "figure"),
        ("When was the harbour built?", "figure"),
        ("What is the default fee?", "figure"),
        ("港口建于哪年？", "figure"),
        ("How do I open the gate?", "steps"),
        ("如何打开大门？", "steps"),
        ("What is a harbour?", "definition"),
        ("什么是港口？", "definition"),
    ],
)
def test_the_words_of_a_question_tell_what_kind_of_answer_it_wants(question: str, cue: Cue) -> None:
    assert cue in asked(question).cues


def test_a_question_that_wants_no_kind_has_no_cue() -> None:
    assert asked("Who built the harbour?").cues == frozenset()


def test_addresses_have_no_words() -> None:
    assert wanted_terms("Is https://example.org/soup about boats?") == {"boat"}
    assert asked("https://example.org/soup").weights == {}


def test_terms_weigh_as_they_are_rare_in_the_documents() -> None:
    rarity = {"": 9.0, "harbour": 1.0, "kroner": 6.0}
    weights = asked_in("harbour kroner", SOURCES, rarity).weights
    assert weights["kroner"] > weights["harbour"]


def test_where_rarity_is_not_known_they_weigh_as_they_are_rare_in_what_was_read() -> None:
    weights = asked_in("Which boats pay 90 kroner for soup?", SOURCES, {}).weights
    assert weights["90"] > weights["kroner"]


def test_what_stands_for_what_is_asked_weighs_little() -> None:
    for rarity in ({}, {"": 9.0, "country": 5.0, "harbour": 5.0}):
        weights = asked_in("Which country has the harbour?", SOURCES, rarity).weights
        assert weights["countri" if "countri" in weights else "country"] < weights["harbour"]


def test_a_name_that_a_page_has_is_not_unknown() -> None:
    """Pages of the web are not among the documents whose words are counted."""
    question = "Where was Ingrid Dahl born?"
    none = {"": 9.0} | dict.fromkeys(keywords(question), 9.0)
    assert asked_in(question, SOURCES[:1], none).unknown == ()
    assert asked_in(question, SOURCES[2:], none).unknown == ("Ingrid", "Dahl")


# ---------------------------------------------------------------- what it leaves open


@pytest.mark.parametrize("passages", [12, 60, 1_000, 100_000])
@pytest.mark.parametrize(
    ("question", "is_open"),
    [
        ("How do I open it?", True),
        ("Can I open this?", True),
        ("Why?", False),  # a whole question, though not one that anything answers
        ("What fee is it that large boats pay?", False),
        ("When is salt added to the soup?", False),
        ("怎么修改？", True),
        ("它是什么意思？", True),
        ("什么是港口？", False),
        ("港口的渡轮费用是多少？", False),
        ("怎么使用 ferry？", False),
    ],
)
def test_a_pronoun_and_nothing_else_leaves_open_what_is_asked(
    passages: int, question: str, is_open: bool
) -> None:
    page = a_page_read(4, "港口", "什么意思都可以修改。港口的渡轮费用是90克朗。请使用渡轮。")
    assert asked(question, *SOURCES, page, passages=passages).is_open is is_open


def test_nothing_is_open_where_rarity_is_not_known() -> None:
    assert not asked_in("How do I make it work?", SOURCES, {}).is_open


# ---------------------------------------------------------------- the passages


def test_a_term_counts_whole_in_the_passage_and_less_around_it() -> None:
    source = a_source(1, "A bell.", "A gate.", title="Harbour", heading="Fees")
    bell, gate = candidates(asked("Is there a harbour bell, gate or fee?", source), (source,))
    assert bell.shares["bell"] == gate.shares["gate"] == 1
    assert 0 < bell.shares["gate"] < bell.shares["harbour"] <= bell.shares["fee"] < 1
    assert bell.passage.text == "A bell."


def test_what_is_left_out_between_passages_parts_them() -> None:
    source = a_page_read(1, "Harbour", "A bell.\n\n# B\n\n" + "Fog. " * 300 + "\n\n# C\n\nA gate.")
    first, *_, last = source.passages
    apart = replace(source, passages=(first, last))
    assert not follow(apart, 0, 1)
    assert follow(source, 0, 1)
    assert not follow(source, 0, -1)
    bell, _ = candidates(asked("bell gate", apart), (apart,))
    assert "gate" not in bell.shares


def test_the_passage_that_has_more_of_the_question_scores_higher() -> None:
    question = asked("What fee do large boats pay?")
    found = scores(question, question.weights, SOURCES)
    every = candidates(question, SOURCES)
    assert len(found) == len(every)
    assert "25 kroner" in every[found.index(max(found))].passage.text


def test_half_of_a_score_is_meaning_where_that_is_known() -> None:
    near, far = (
        replace(each, relevance=share)
        for each, share in zip(a_source(1, "Fog.", "Mist.").passages, (1.0, 0.0), strict=True)
    )
    source = replace(a_source(1), passages=(near, far))
    question = asked("When does the bell ring?", source)
    first, second = scores(question, question.weights, (source,))
    assert first > second == 0


QUESTIONS = st.one_of(
    st.text(max_size=30),
    st.lists(st.sampled_from(["harbour", "boats", "1887", "Zorro", "it", "港口", "?"])).map(
        " ".join
    ),
)


@given(PAGES, QUESTIONS, st.booleans())
def test_any_page_can_be_rated(text: str, question: str, known: bool) -> None:
    sources = (a_page_read(9, "A page", text), *SOURCES)
    rarity = rarity_in(sources, question) if known else {}
    what = asked_in(question, sources, rarity)
    every = candidates(what, sources)
    rated = scores(what, what.weights, sources)
    assert rated == scores(what, what.weights, sources)
    assert len(rated) == len(every) == sum(len(source.passages) for source in sources)
    for each, score in zip(every, rated, strict=True):
        assert 0 <= each.covered(what) <= 1 + 1e-9
        assert score >= 0
        if each.covered(what):
            assert score > 0
