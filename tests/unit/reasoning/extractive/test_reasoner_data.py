"""The extractive reasoner on public data: floors far under what the benches print."""

from __future__ import annotations

import pytest

from tests.bench import multihop, paragraphs, rewriting

pytestmark = pytest.mark.shared


async def test_hops_read_more_of_what_is_needed_than_one_search_does() -> None:
    rows = {(row.way, row.pages): row for row in await multihop.in_memory(40)}
    for pages in (4, 8):
        ours, search = rows["extractive, BM25", pages], rows["one search", pages]
        hop = rows["naive hop", pages]
        assert ours.all_gold > max(search.all_gold, hop.all_gold) + 0.1
        assert ours.recall > max(search.recall, hop.recall) + 0.08
    best = rows["extractive, BM25", 8]
    assert best.answered is not None
    assert best.answered > 0.3
    assert best.doubted is not None
    assert best.doubted <= 2


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_the_page_that_answers_is_read_and_quoted(language: str) -> None:
    row = await paragraphs.run(language, every=40)
    assert row.read >= 0.85
    assert row.answered >= 0.75
    assert row.doubted == 0


def test_follow_ups_carry_their_topic_and_others_stay_as_they_are() -> None:
    rows = {
        (data, label): rewriting.score(data, label, turns, questions)
        for data, load in (("2019", rewriting.cast_2019), ("2020", rewriting.cast_2020))
        for label, turns, questions in rewriting.without_model(load())
    }
    ours, first = rows["2019", "extractive"], rows["2019", "raw + first turn"]
    assert ours.all_words > first.all_words
    assert ours.recall > first.recall
    assert ours.rouge > rows["2019", "raw turn"].rouge > first.rouge
    assert ours.idle < first.idle
    assert ours.unchanged >= 0.85
    assert ours.invented == 0
    assert rows["2020", "extractive"].recall >= 0.3
