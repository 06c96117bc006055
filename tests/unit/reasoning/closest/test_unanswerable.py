"""Questions that documents cannot answer: unknown names, and no topic."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.relevance import weigh
from bot.reasoning.closest_passages import is_open, unknown, unknown_names
from tests.unit.reasoning.harbour import SOURCES
from tests.unit.reasoning.samples import a_source, rarity_in

RARITY = {
    "": 9.0,
    "harbour": 4.0,
    "gate": 3.0,
    "open": 2.0,
    "work": 2.0,
    "zorro": 9.0,
    "zor2ro": 9.0,
}


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("When did Zorro build the harbour?", ["Zorro"]),
        ("Is it Zorro's harbour?", ["Zorro"]),
        ("Does the harbour open?", []),
        ("Zorro opens it?", []),  # any first word has a capital
        ("Does the bell ring in Bergen?", []),  # of which nothing is known
        ("Where is zorro_open set?", []),  # "open" is known, "zorro" is the longer word
        ("Wie lange dauert die Fahrt nach Zorro?", []),  # nouns have capitals in German
        ("What does zor2ro do in the harbour?", ["zor2ro"]),
        ("港口的 Zorro 在哪里？", ["Zorro"]),
        ("港口的 gate 在哪里？", []),
        ("", []),
    ],
)
def test_names_that_no_document_has_are_told_as_they_are_written(
    question: str, names: list[str]
) -> None:
    expected = ["zorro_open"] if "zorro_open" in question else names
    assert unknown_names(question, RARITY) == expected
    assert unknown_names(question, {}) == []


@given(st.text(max_size=60))
def test_unknown_names_are_words_of_the_question(question: str) -> None:
    assert all(name in question for name in unknown_names(question, RARITY))


def test_a_name_that_a_page_has_which_was_read_is_known() -> None:
    question = "What does Zorro do in the harbour?"
    assert unknown(question, SOURCES, RARITY) == ("Zorro",)
    assert unknown(question, (*SOURCES, a_source(4, "Zorro rides.")), RARITY) == ()
    assert unknown(question, SOURCES, {}) == ()


@pytest.mark.parametrize(
    ("url", "names"),
    [
        ("file:///team/zorro/README.md", ()),
        ("file:///team/ada/zorro.md", ()),
        ("file:///zorro/team/README.md", ("Zorro",)),
        ("https://example.org/zorro/page", ("Zorro",)),
    ],
)
def test_a_name_may_be_that_of_a_documents_file_or_folder(url: str, names: tuple[str]) -> None:
    from dataclasses import replace

    page = replace(a_source(1, "It listens on port 9300."), url=url)
    assert unknown("Which port does Zorro open?", [page], RARITY) == names


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How do I make it work?", True),
        ("Why does this happen?", True),
        ("How do I open the harbour gate?", False),
        ("What is a harbour?", False),
        ("它打不开，怎么办？", True),
        ("什么是港口？", False),
    ],
)
def test_a_question_without_a_topic_is_open(question: str, expected: bool) -> None:
    rarity = rarity_in(SOURCES, question) | {"make": 3.0, "work": 3.0, "happen": 3.0}
    assert is_open(question, weigh(question, rarity), rarity) is expected
