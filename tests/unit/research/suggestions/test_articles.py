"""The subjects of encyclopedic articles."""

from __future__ import annotations

import pytest

from bot.research.suggestions.articles import about_chinese_section, about_section, subject_of


@pytest.mark.parametrize(
    ("title", "opening", "question"),
    [
        (
            "Gustave Eiffel",
            "Gustave Eiffel (15 December 1832 – 27 December 1923) was a French civil engineer.",
            "Who was Gustave Eiffel?",
        ),
        (
            "Ada Lovelace - Wikipedia",
            "**Ada Lovelace** (born Byron; 1815 – 1852) was an English mathematician and writer.",
            "Who was Ada Lovelace?",
        ),
        ("Bubye River", "The Bubye River is a river in Zimbabwe.", "What is the Bubye River?"),
        ("Mercury (planet)", "Mercury is the first planet from the Sun.", "What is Mercury?"),
        (
            "Pearl Jam",
            "Pearl Jam is an American rock band formed in Seattle.",
            "What is Pearl Jam?",
        ),
    ],
)
def test_an_article_is_asked_about_as_it_defines_its_subject(
    title: str, opening: str, question: str
) -> None:
    subject = subject_of(title, opening)
    assert subject is not None
    assert subject.question == question


@pytest.mark.parametrize(
    ("title", "opening"),
    [
        ("Installation", "Run the installer and follow its steps."),
        ("Access", "Access to the console is limited to some people."),
        ("Someone", "Someone (1 May 1920 – 3 June 1980) was a friend of the king's cousin."),
        ("", "Is a page without a title."),
        ("Page", ""),
    ],
)  # fmt: skip
def test_other_pages_have_no_subject(title: str, opening: str) -> None:
    assert subject_of(title, opening) is None


def test_sections_are_asked_about_with_their_subject() -> None:
    tower = subject_of("Eiffel Tower", "The Eiffel Tower is a lattice tower in Paris.")
    person = subject_of("Jane Roe", "Jane Roe (born 1970) is a British singer.")
    assert tower is not None
    assert person is not None
    assert about_section(tower, "History") == "What is the history of the Eiffel Tower?"
    assert about_section(person, "Early life") == "What was the early life of Jane Roe like?"
    assert about_section(person, "Climate") == ""
    assert about_section(tower, "Restaurants") == ""
    assert (
        about_chinese_section("长城", "长城是中国古代的军事工程。", "历史")
        == "长城的历史是怎样的？"
    )
    assert about_chinese_section("长城", "本页介绍长城。", "历史") == ""
