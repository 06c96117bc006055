"""Choosing the passages of a page that matter for a question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages import choosing
from bot.pages.choosing import rank, study
from bot.pages.passages import Passage, Weight, split
from bot.text.terms import estimate
from tests.unit.pages.test_passages import PAGES


def select(question: str, text: str, budget: int, **options: object) -> list[Passage]:
    return choosing.select(question, study(split(text)), budget, **options)  # type: ignore[arg-type]


PAGE = "\n\n".join(
    ["Oslo is the capital of Norway, a city by a fjord."]
    + [f"Filler about nothing at all, paragraph {n}, " + "with many words " * 20 for n in range(30)]
    + ["## Harbour", "The harbour was built in 1887 by Ingrid Dahl. " * 2]
    + [f"More filler about nothing, paragraph {n}, " + "with many words " * 20 for n in range(30)]
)


def test_the_passage_that_answers_is_chosen_wherever_it_stands() -> None:
    chosen = select("Who built the harbour?", PAGE, 100)
    assert any("Ingrid Dahl" in passage.text for passage in chosen)


def test_passages_come_in_page_order_within_the_budget() -> None:
    chosen = select("Who built the harbour in the capital with many words?", PAGE, 400)
    assert [p.start for p in chosen] == sorted(p.start for p in chosen)
    assert 200 < sum(estimate(p.text) for p in chosen) <= 400


def test_the_opening_is_given_when_nothing_matches() -> None:
    assert select("zebra?", PAGE, 100) == split(PAGE)[:1]


@pytest.mark.parametrize(("budget", "comes"), [(100, True), (30, False)])
def test_the_opening_comes_beside_the_best_passage_where_there_is_room(
    budget: int, comes: bool
) -> None:
    chosen = select("Who built the harbour?", PAGE, budget)
    assert "Ingrid Dahl" in chosen[-1].text
    assert (chosen[0] == split(PAGE)[0]) is comes


def test_a_page_that_fits_is_given_whole() -> None:
    text = "One thing.\n\n## Other\n\nAnother thing."
    assert select("zebra?", text, 100) == split(text)


def test_what_was_shown_does_not_come_again() -> None:
    first = select("harbour", PAGE, 100)
    again = select("harbour", PAGE, 100, skip={(p.start, p.end) for p in first})
    assert again
    assert not set(first) & set(again)


def test_everything_shown_leaves_nothing() -> None:
    assert select("harbour", PAGE, 100, skip=[(0, len(PAGE))]) == []
    assert select("harbour", "", 100) == []


def test_a_best_passage_beyond_the_budget_still_comes() -> None:
    assert "Dahl" in select("Who built the harbour?", PAGE, 1)[0].text


@given(PAGES, st.text(max_size=30), st.integers(1, 300))
def test_choosing_is_deterministic_and_verbatim(text: str, question: str, budget: int) -> None:
    chosen = select(question, text, budget)
    assert chosen == select(question, text, budget)
    assert all(text[p.start : p.end] == p.text for p in chosen)
    assert bool(chosen) == bool(split(text))
    assert len(chosen) <= 1 or sum(estimate(p.text) for p in chosen) <= budget


@given(PAGES, st.lists(st.tuples(st.integers(0, 300), st.integers(1, 80)), max_size=5))
def test_nothing_chosen_overlaps_what_is_skipped(text: str, spans: list[tuple[int, int]]) -> None:
    skip = [(start, start + length) for start, length in spans]
    for passage in select("harbour boats", text, 60, skip=skip):
        assert not any(s < passage.end and passage.start < e for s, e in skip)


FILLER = "\n\n# Food\n\n" + "\n\n".join("Some town. " * 30 for _ in range(6))


def test_rank_counts_headings_and_prefers_early_passages() -> None:
    text = f"# A\n\n## Harbour\n\nIt is old.{FILLER}\n\n## Rain\n\nA harbour."
    first, *others, last = rank("harbour", study(split(text)))
    assert first > 0
    assert last > 0
    assert 0 in others
    same = split(f"A harbour here.{FILLER}\n\n# C\n\nA harbour here.")
    first, *others, last = rank("harbour", study(same))
    assert min(others) == 0 < last < first


def test_rank_counts_what_stands_beside_a_passage() -> None:
    passages = split(f"A harbour here.\n\n# B\n\nIt is old.{FILLER}")
    own, beside, *others = rank("harbour", study(passages))
    assert own > beside > others[-1] == 0


def test_rank_weighs_terms_by_their_rarity_in_all_documents() -> None:
    passages = study(split(f"The boats.{FILLER}\n\n# C\n\nThe quay."))
    boats, *_, quay = rank("boats quay", passages, {"boat": 0.5, "quai": 7.0, "": 9.0})
    assert quay > boats
    boats, *_, quay = rank("boats quay", passages, {"boat": 7.0, "quai": 0.5, "": 9.0})
    assert boats > quay


def test_rank_of_nothing_is_zero() -> None:
    assert rank("", study(split("A text."))) == [0.0]
    assert rank("x", study([])) == []


@pytest.mark.parametrize("unit", ["x", "x ", "。", "# a\n", "- a\n", "```\n", "| a |\n"])
def test_an_endless_page_takes_linear_time(unit: str) -> None:
    assert select("a question", unit * (200_000 // len(unit)), 100)


# ---------------------------------------------------------------- off the event loop


# ---------------------------------------------------------------- by meaning


def weights_of(text: str, near: str, relevance: float = 1.0) -> list[Weight]:
    """Every passage is far, but for the one with these words."""
    return [
        Weight(each.start, each.end, relevance if near in each.text else 0.1)
        for each in split(text)
    ]


def test_a_passage_that_is_near_by_meaning_is_chosen_without_a_common_word() -> None:
    question = "谁建造了港口？"
    weights = weights_of(PAGE, "Ingrid Dahl")

    chosen = select(question, PAGE, 60, weights=weights)

    assert not any("Ingrid Dahl" in each.text for each in select(question, PAGE, 60))
    assert any("Ingrid Dahl" in each.text for each in chosen)


def test_words_and_meaning_count_alike() -> None:
    text = "\n\n".join(
        f"## Part {n}\n\n{words * 12}"
        for n, words in enumerate(
            ("The harbour was built. ", "It was made by Dahl. ", "The sea is blue. ")
        )
    )
    both = weights_of(text, "The harbour", 0.6)
    far = weights_of(text, "The sea")

    assert "harbour" in select("Who built the harbour?", text, 70, weights=both)[0].text
    assert "harbour" in select("Who built the harbour?", text, 70, weights=far)[0].text
    assert "sea" in select("zebra?", text, 70, weights=far)[-1].text


@given(PAGES, st.integers(1, 300), st.data())
def test_chosen_passages_carry_their_relevance(text: str, budget: int, data: st.DataObject) -> None:
    passages = split(text)
    known = data.draw(st.sets(st.sampled_from(passages))) if passages else set()
    weights = [
        Weight(p.start, p.end, data.draw(st.floats(0, 1)))
        for p in sorted(known, key=lambda p: p.start)
    ]

    chosen = select("harbour tower", text, budget, weights=weights)

    expected = {(each.start, each.end): each.relevance for each in weights}
    assert [each.relevance for each in chosen] == [
        expected.get((each.start, each.end)) for each in chosen
    ]
    assert set(chosen) <= set(passages), "relevance does not make another passage of one"
