"""The names in a question, and the page titles that it means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reasoning.extractive.words import (
    asks_by_relation,
    holds,
    mentions,
    named,
    term_tuple,
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who designed the Forth Bridge?", ["Forth Bridge"]),
        ("Where did Hello Love's performer die?", ["Hello Love"]),
        ("Who made Songs I Wrote with Amy?", ["Songs I Wrote with Amy", "Songs I Wrote", "Amy"]),
        ("Is the University of Oslo in Norway?", ["University of Oslo", "Norway",
         "University of Oslo in Norway"]),
        ('Who sang "Thinking Out Loud"?', ["Thinking Out Loud"]),
        ("Was the 1920 Summer Olympics held in Antwerp?", ["1920 Summer Olympics"]),
        ("《红楼梦》的作者是谁？", ["红楼梦"]),
        ("what is in the box", []),
        ("Why? (What was Apple doing?)", ["Apple"]),
        ("", []),
    ],
)  # fmt: skip
def test_names_come_whole_and_in_parts(question: str, expected: list[str]) -> None:
    assert set(expected) <= set(named(question))
    assert named(question)[0:1] != [""]
    if not expected:
        assert named(question) == []


@pytest.mark.parametrize(
    ("question", "title", "sure"),
    [
        ("Who was the author of Brand?", "Brand (play)", True),
        ("Who was the author of brand names?", "Brand (play)", False),
        ("In which country is Oslo?", "Country", False),
        ("Who sang Brother?", "Brother (Pearl Jam song)", True),
        ("Where is the forth bridge?", "Forth Bridge", True),
        ("Where is the Forth Pipeline Bridge?", "Forth Bridge", False),
        ("What is The Who?", "The Who", False),
        ("法国的首都是哪里？", "法国", True),
        ("法国的首都是哪里？", "德国", False),
        ("", "Oslo", False),
    ],
)
def test_a_title_is_named_by_its_words_in_a_row(question: str, title: str, sure: bool) -> None:
    assert (mentions(question, title) > 0.5) is sure


def test_words_in_a_row() -> None:
    assert holds(("a", "b", "c"), ("b", "c"))
    assert not holds(("a", "b", "c"), ("a", "c"))
    assert not holds(("a",), ())


@given(st.text(), st.text())
def test_any_text_is_looked_at(question: str, title: str) -> None:
    assert 0.0 <= mentions(question, title) <= 1.0
    assert len(set(named(question))) == len(named(question))
    assert term_tuple(question) == term_tuple(question)


@pytest.mark.parametrize(
    ("question", "leads_on"),
    [
        ("In which state did the performer of Hello Love die?", True),
        ("Who leads the country where Buyende lies?", True),
        ("Where was the author of “Brand” born?", True),
        ("How do I set the location of the cache?", False),
        ("What does SQLITE_BUSY mean?", False),
        ("Which port does nginx listen on?", False),
        ("法国的首都的人口是多少？", True),
        ("如何设置缓存的位置？", False),
        ("", False),
    ],
)
def test_a_question_asks_by_relation_where_it_names_what_the_answer_relates_to(
    question: str, leads_on: bool
) -> None:
    assert asks_by_relation(question) is leads_on


def test_a_name_that_many_documents_have_is_none_to_start_from() -> None:
    question = "Who made the gates that Harbour opens?"
    assert asks_by_relation(question, {"": 9.0, "harbour": 8.0})
    assert not asks_by_relation(question, {"": 9.0, "harbour": 0.4})
