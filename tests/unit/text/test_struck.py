"""Struck-out text: it holds nothing, and is cut neither by sentences nor by passages."""

from __future__ import annotations

import pytest

from bot.core.texts import texts_for
from bot.pages.page_markdown import code, literal, struck
from bot.pages.passages import Passage, split
from bot.reasoning.evidence import Source
from bot.rendering.footnotes import excerpts
from bot.research.checking import doubt
from bot.text.facts import facts, missing_from
from bot.text.sentences import sentences
from bot.text.struck import is_struck, without_struck
from bot.text.terms import terms
from tests.unit.samples import NOW

FEE = "The monthly fee is ~~49 euros~~ 39 euros."


@pytest.mark.parametrize(
    ("text", "standing"),
    [
        (FEE, "The monthly fee is  39 euros."),
        ("2~~0~~5", "25"),
        ("~~one\ntwo~~ three", " three"),
        ("~~one\n\ntwo~~", "~~one\n\ntwo~~"),  # two paragraphs
        ("~~ one ~~", "~~ one ~~"),
        ("| ~~1 | 2~~ |", "| ~~1 | 2~~ |"),
        (r"\~~one~~", r"\~~one~~"),
        ("~~~\none\n~~~", "~~~\none\n~~~"),  # a fence
        ("~5 km and ~6 km", "~5 km and ~6 km"),
    ],
)
def test_struck_out_words(text: str, standing: str) -> None:
    assert without_struck(text) == standing


@pytest.mark.parametrize(
    "text", ["~~One.~~", "- ~~One.~~ ~~Two.~~", "| ~~1~~ | ~~2~~ |", "## ~~A~~"]
)
def test_a_text_that_is_struck_as_a_whole(text: str) -> None:
    assert is_struck(text)


@pytest.mark.parametrize("text", ["", "...", FEE, "- ☑ ~~Sign the contract~~", "| ~~1~~ | 2 |"])
def test_a_text_that_is_not(text: str) -> None:
    assert not is_struck(text)


def test_what_is_struck_is_no_term_and_no_fact() -> None:
    assert "49" not in terms(FEE)
    assert [fact.text for fact in facts(FEE)] == ["39"]
    assert missing_from(facts("It costs 49 euros."), FEE)
    assert not missing_from(facts("It costs 39 euros."), FEE)


def test_a_claim_of_struck_words_is_doubted() -> None:
    passage = Passage(0, len(FEE), FEE)
    page = Source(1, "https://gym.example/fees", "Fees", (passage,), "x", NOW)
    cited = [(page, passage)]
    texts = texts_for("en")
    assert doubt("The monthly fee is 49 euros 39 euros.", cited, texts)
    assert doubt("The monthly fee is 49 euros.", cited, texts)
    assert not doubt("The monthly fee is 39 euros.", cited, texts)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("~~It is 1 April.~~ It is 15 June.", ["~~It is 1 April.~~", "It is 15 June."]),
        ("The ~~one. Two~~ end.", ["The ~~one. Two~~ end."]),
        ("~~旧规定。~~新规定。", ["~~旧规定。~~新规定。"]),
        ("旧。~~新~~规定。好。", ["旧。", "~~新~~规定。", "好。"]),
    ],
)
def test_sentences_cut_no_struck_text(text: str, found: list[str]) -> None:
    assert [text[one.start : one.end] for one in sentences(text)] == found


def test_no_sentence_is_apart_from_its_tick_box() -> None:
    text = "- ☐ Sprinkler tested. All nozzles work.\n- ☑ Doors closed.\n\nOver 18. ☑ Under 18. ☐"
    assert [text[one.start : one.end] for one in sentences(text)] == [
        "- ☐ Sprinkler tested. All nozzles work.",
        "- ☑ Doors closed.",
        "Over 18. ☑ Under 18. ☐",
    ]


def test_what_is_struck_as_a_whole_is_in_no_passage() -> None:
    text = (
        "# A\n\n~~Old.~~ One is ~~2~~ 3. ~~Gone.~~\n\n~~Two is struck.~~\n\n- a\n- ~~b~~\n- c\n\n"
        "## ~~Past~~\n\nX\n\n| A | B |\n| --- | --- |\n| 1 | ~~2~~ |\n| ~~3~~ | ~~4~~ |\n| 5 | 6 |"
        "\n\n## ~~End~~"
    )
    found = [(passage.heading, passage.text) for passage in split(text)]
    assert found == [
        ("A", "One is ~~2~~ 3."),
        ("A", "- a"),
        ("A", "- c"),
        ("A › ~~Past~~", "X"),
        ("A › ~~Past~~", "| A | B |\n| --- | --- |\n| 1 | ~~2~~ |"),
        ("A › ~~Past~~ › A | B", "| 5 | 6 |"),
    ]
    assert all(passage.text == text[passage.start : passage.end] for passage in split(text))


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        (struck("One is. Two is.") + " End", "~~One is.~~ ~~Two is.~~ End"),
        (struck("a") + struck(" b") + " c", "~~a b~~ c"),
        (struck(" 49 euros ") + "39", " ~~49 euros~~ 39"),
        (struck("__init__") + " x", "~~`__init__`~~ x"),
        (struck(code("a")) + struck(code("b")), "~~`ab`~~"),
        (struck("旧。新"), "~~旧。新~~"),
        (struck("~~a~~"), "~~a~~"),
        (struck(" ") + "a", " a"),
    ],
)
def test_readers_mark_struck_text(text: str, markdown: str) -> None:
    assert literal(text) == markdown


def test_a_footnote_leaves_struck_words_out() -> None:
    assert [each.text for each in excerpts(FEE, 100)] == ["The monthly fee is … 39 euros."]
    assert excerpts("~~Gone.~~", 100) == ()
