"""Passages that stand for a whole page."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.pages.choosing import representatives, spread
from bot.pages.passages import split
from bot.text.terms import estimate

LONG = "\n\n".join(
    f"## Part {n}\n\nPart {n} of the harbour almanac tells of quay {n}. "
    + "The harbour almanac describes quays and cranes at length. " * 12
    for n in range(30)
)


def test_a_page_that_fits_comes_whole() -> None:
    text = "One.\n\nTwo is here."
    assert spread(split(text), 1_000) == split(text)


def test_the_passages_lie_all_over_the_page_and_fit() -> None:
    chosen = spread(split(LONG), 900)
    assert sum(estimate(passage.text) for passage in chosen) <= 900
    assert chosen[0].start == split(LONG)[0].start
    assert [p.start for p in chosen] == sorted(p.start for p in chosen)
    gaps = [b.start - a.end for a, b in pairwise(chosen)]
    assert max([*gaps, len(LONG) - chosen[-1].end]) < len(LONG) / 3


def test_what_was_shown_does_not_come_again() -> None:
    first = spread(split(LONG), 900)
    again = spread(split(LONG), 900, skip={(p.start, p.end) for p in first})
    assert not {p.start for p in first} & {p.start for p in again}


def test_a_passage_on_the_pages_own_topic_is_preferred_to_an_aside() -> None:
    topic = "The harbour almanac lists quays, cranes and tides of every harbour."
    passages = split("\n\n".join([topic, "Zebras sleep.", f"{topic} " * 5, topic]))
    assert "Zebras sleep." not in [p.text for p in representatives(passages, 2)]


@settings(max_examples=50)
@given(st.text(max_size=2_000), st.integers(0, 300))
def test_any_text_and_budget_are_taken(text: str, budget: int) -> None:
    chosen = spread(split(text), budget)
    assert set(chosen) <= set(split(text))
    assert len(chosen) <= 1 or sum(estimate(p.text) for p in chosen) <= budget


@given(st.integers(0, 40), st.integers(1, 12))
def test_there_are_as_many_representatives_as_asked_for(sections: int, count: int) -> None:
    passages = split("\n\n".join(f"## S{n}\n\nText {n}." for n in range(sections)))
    assert len(representatives(passages, count)) == min(count, len(passages))
