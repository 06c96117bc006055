"""Disagreements of sources are told; apparent ones are not."""

from __future__ import annotations

from itertools import count

import pytest

from bot.pages.passages import split
from bot.reasoning.evidence import Source
from bot.research.checking import dissent
from tests.unit.samples import NOW


def a_source(number: int, title: str, text: str) -> Source:
    return Source(number, f"https://example.org/{number}", title, tuple(split(text)), "h", NOW)


TOWER = a_source(1, "Eiffel Tower", "The Eiffel Tower in Paris is 330 metres tall.")
numbers = count(2)


def other(title: str, text: str) -> Source:
    return a_source(next(numbers), title, text)


CLAIM = "The Eiffel Tower in Paris is 330 metres tall."


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        (CLAIM, other("Sights of Paris", "The Eiffel Tower in Paris is 324 metres tall.")),
        (CLAIM, other("Eiffel Tower facts", "In Paris it is 300 metres tall, the tower says.")),
        (
            "Eiffel Tower tickets cost €29 in summer.",
            other("Tickets", "Eiffel Tower tickets cost €35 in summer."),
        ),
        (
            "The Eiffel Tower opened to the public in 1889.",
            other("Openings", "The Eiffel Tower opened to the public in 1887."),
        ),
    ],
)
def test_another_figure_for_the_same_thing_is_a_disagreement(claim: str, source: Source) -> None:
    found = dissent(claim, [TOWER], [TOWER, source])
    assert found is not None
    assert found.source is source
    assert found.sentence in found.passage.text


def test_chinese_sources_may_disagree_too() -> None:
    claim = "埃菲尔铁塔高330米，位于巴黎。"
    cited = a_source(1, "埃菲尔铁塔", claim)
    found = dissent(claim, [cited], [cited, other("巴黎", "埃菲尔铁塔高324米，位于巴黎。")])
    assert found is not None


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        (CLAIM, other("Sights", "The Eiffel Tower in Paris is 330 metres tall.")),
        (CLAIM, other("Sights", "The Eiffel Tower in Paris is 1,083 feet tall.")),
        (CLAIM, other("Blackpool Tower", "The tower in Blackpool is 158 metres tall.")),
        (CLAIM, other("Sights", "The Eiffel Tower in Paris is 276 metres tall at level 3.")),
        (CLAIM, other("Sights", "The Eiffel Tower is 324 metres. In Paris it is 330 metres.")),
        (CLAIM, other("Sights", "The Eiffel Tower in Paris is tall.")),
        ("It is 330 metres tall.", other("Bridge", "It is 120 metres tall.")),
        ("It opened in 1889.", other("Louvre", "It opened in 1793.")),
        (
            "The Eiffel Tower opened to the public in 1889.",
            other("Openings", "The Eiffel Tower opened to the public on 15 May 1889."),
        ),
        ("The Eiffel Tower is in Paris.", other("Texas", "The Eiffel Tower is in Paris, Texas.")),
    ],
)
def test_what_only_looks_like_one_is_none(claim: str, source: Source) -> None:
    assert dissent(claim, [TOWER], [TOWER, source]) is None


def test_a_page_that_is_cited_too_does_not_disagree() -> None:
    source = other("Sights of Paris", "The Eiffel Tower in Paris is 324 metres tall.")
    assert dissent(CLAIM, [TOWER, source], [TOWER, source]) is None


def test_the_span_is_of_the_words_that_disagree() -> None:
    text = "Paris has sights.\n\nThe Louvre is large. The Eiffel Tower in Paris is 324 metres tall."
    found = dissent(CLAIM, [TOWER], [other("Sights", text)])
    assert found is not None
    assert text[found.start : found.end] == "The Eiffel Tower in Paris is 324 metres tall."
