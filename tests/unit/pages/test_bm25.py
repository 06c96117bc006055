"""The relevance of passages to a question, each seen with what stands around it."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bot.pages.bm25 import BESIDE, is_unknown, relevance, weigh
from bot.text.terms import terms

RARITY = {
    "": 9.0,
    "harbour": 4.0,
    "gate": 3.0,
    "open": 2.0,
    "work": 2.0,
    "zorro": 9.0,
    "zor2ro": 9.0,
}


# ---------------------------------------------------------------- what a question's terms weigh


def test_a_term_weighs_as_it_is_rare() -> None:
    weights = weigh("Which harbour has a gate?", RARITY)
    assert weights["harbour"] / weights["gate"] == RARITY["harbour"] / RARITY["gate"]


def test_a_word_of_any_question_weighs_less_than_it_is_rare() -> None:
    weights = weigh("Does the gate work, does it open?", RARITY)
    assert 0 < weights["work"] < weights["open"]


@pytest.mark.parametrize(
    ("question", "word", "topic"),
    [
        ("Wann muss ich Hotelrechnungen einreichen?", "wann", "hotelrechnungen"),
        ("Combien coûte le parking de Lyon ?", "combien", "lyon"),
        ("¿Cuándo abre la oficina de Madrid?", "cuando", "oficina"),
        ("Quando apre l'ufficio di Milano?", "quando", "ufficio"),
        ("Wanneer opent het kantoor in Utrecht?", "wanneer", "kantoor"),
        ("Quando abre o escritório de Lisboa?", "quando", "escritorio"),
    ],
)
def test_function_words_of_other_languages_tell_little(
    question: str, word: str, topic: str
) -> None:
    rarity = {"": 9.0, **dict.fromkeys(terms(question), 9.0)}
    weights = weigh(question, rarity)
    assert weights[word] < weights[topic] / 2


def test_a_term_that_no_document_has_weighs_most() -> None:
    weights = weigh("Is Zorro at the harbour gate?", RARITY)
    assert max(weights, key=lambda term: weights[term]) == "zorro"


def test_a_term_of_which_nothing_is_known_weighs_like_the_others() -> None:
    weights = weigh("Is there a bell at the harbour gate?", RARITY)
    assert RARITY["gate"] <= weights["bell"] <= RARITY["harbour"]
    assert not is_unknown("bell", RARITY)


@pytest.mark.parametrize("rarity", [{}, RARITY])
def test_without_a_known_term_there_are_no_weights(rarity: dict[str, float]) -> None:
    assert weigh("", rarity) == {}
    assert weigh("Fjord bells", rarity) == {}


def test_chinese_pairs_that_only_cross_two_words_are_left_out() -> None:
    rarity = {"": 9.0, "文件": 3.0, "件保": 9.0, "存桥": 9.0, "保存": 3.0, "桥梁": 9.0}
    assert set(weigh("文件保存桥梁", rarity)) == {"文件", "保存", "桥梁"}


def test_chinese_characters_that_are_words_of_their_own_tell_little() -> None:
    rarity = {"": 9.0, "桥梁": 5.0, "梁上": 9.0, "上有": 5.0, "写": 9.0, "a": 9.0}
    weights = weigh("桥梁上有写 a", rarity)
    assert "梁上" not in weights  # no document has it, and 上 is a word
    assert weights["上有"] < weights["桥梁"]
    assert "写" not in weigh("桥梁 写 a", rarity)
    assert weigh("写", rarity)  # unless there is nothing else


def test_numbers_of_an_example_tell_little() -> None:
    rarity = {"": 9.0, "exit": 4.0, "77": 9.0, "8": 3.0}
    weights = weigh("exit 77 8", rarity)
    assert weights["77"] < weights["exit"]
    assert weights["8"] == 3.0


@given(st.text(max_size=60), st.dictionaries(st.text(max_size=5), st.floats(0.1, 9), max_size=5))
def test_any_question_can_be_weighed(question: str, rarity: dict[str, float]) -> None:
    rarity = rarity | {"": 10.0} | dict.fromkeys(terms(question)[:3], 3.0)
    weights = weigh(question, rarity)
    assert all(weight > 0 for weight in weights.values())
    assert weights == weigh(question, rarity)
    assert list(weights) == [term for term in dict.fromkeys(terms(question)) if term in weights]


# ---------------------------------------------------------------- passages with their surroundings


def rated(
    weights: dict[str, float], *texts: str, heading: str = "", title: str = ""
) -> list[float]:
    words = [terms(text) for text in texts]
    return relevance(
        weights,
        [Counter(each) for each in words],
        [len(each) for each in words],
        [frozenset(terms(heading))] * len(words),
        frozenset(terms(title)),
    )


HARBOUR = {"harbour": 2.0, "gate": 1.0}


def test_a_term_counts_most_in_the_passage_then_beside_it_then_beyond() -> None:
    own, beside, beyond, far = rated(HARBOUR, "A harbour.", "x", "y", "z")
    assert own > beside > beyond > far == 0
    assert len(BESIDE) == 2


def test_rarer_terms_count_more_and_several_more_than_one() -> None:
    apart = ["", "", ""]
    scores = rated(HARBOUR, "A gate.", *apart, "A harbour.", *apart, "A harbour gate.")
    gate, harbour, both = scores[0], scores[4], scores[8]
    assert gate < harbour < both


def test_a_term_said_again_adds_less_and_less() -> None:
    (once,), (twice,), (often,) = (rated(HARBOUR, "harbour " * n) for n in (1, 2, 3))
    assert once < twice < often
    assert twice - once > often - twice


def test_a_long_passage_is_marked_down_and_a_short_one_is_not_marked_up() -> None:
    (short,), (usual,), (long,) = (rated(HARBOUR, "harbour " + "x " * n) for n in (1, 50, 500))
    assert short == usual > long


def test_headings_and_the_title_count_for_all_that_stands_below() -> None:
    (own,) = rated(HARBOUR, "A harbour.")
    (headed,) = rated(HARBOUR, "x", heading="The harbour")
    (titled,) = rated(HARBOUR, "x", title="The harbour")
    assert 0 < titled < headed <= own
    assert rated(HARBOUR, "A harbour.", heading="The harbour")[0] > own


WEIGHTS = st.dictionaries(
    st.sampled_from(["harbour", "gate", "bell", "港口"]), st.floats(0.01, 10), max_size=4
)
TEXTS = st.lists(
    st.lists(st.sampled_from(["harbour", "gate", "bell", "fog", "港口"]), max_size=6).map(" ".join),
    max_size=9,
)


@given(WEIGHTS, TEXTS, st.sampled_from(["", "gate", "fog"]), st.sampled_from(["", "bell"]))
def test_a_score_is_nothing_where_no_term_is_near(
    weights: dict[str, float], texts: list[str], heading: str, title: str
) -> None:
    scores = rated(weights, *texts, heading=heading, title=title)
    assert scores == rated(weights, *texts, heading=heading, title=title)
    reach = len(BESIDE)
    for place, score in enumerate(scores):
        near = " ".join([*texts[max(0, place - reach) : place + reach + 1], heading, title])
        assert (score > 0) is not weights.keys().isdisjoint(terms(near))
        assert score >= 0


@given(WEIGHTS, TEXTS, st.sampled_from(["harbour", "gate"]))
def test_another_occurrence_never_makes_a_passage_worse(
    weights: dict[str, float], texts: list[str], word: str
) -> None:
    assume(texts)
    more = [f"{texts[0]} {word}", *texts[1:]]
    assert rated(weights, *more)[0] >= rated(weights, *texts)[0]
