"""Cutting pages into citable pieces and choosing those that matter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.passages import FULL, HEADING_SEPARATOR, Passage, rank, select, split
from bot.text.sentences import blocks, sentences
from bot.text.terms import keywords
from bot.text.tokens import estimate

SENTENCE = st.sampled_from(
    [
        "The harbour was built in 1887 by the town.",
        "It holds 1,200 boats.",
        "Mr. Lee runs it.",
        "这座港口建于1887年。",
        "它能停1200艘船。",
        "Why?",
    ]
)
BLOCK = st.one_of(
    st.lists(SENTENCE, min_size=1, max_size=9).map(" ".join),
    st.lists(SENTENCE.map("- {}".format), min_size=1, max_size=9).map("\n".join),
    st.lists(SENTENCE.map("| a | {} |".format), min_size=1, max_size=9).map("\n".join),
    st.lists(SENTENCE, min_size=1, max_size=5).map(lambda s: "```\n" + "\n".join(s) + "\n```"),
    st.sampled_from(["# Top", "## Harbour", "### Boats and piers", "The list:"]),
)
PAGES = st.one_of(st.lists(BLOCK, max_size=12).map("\n\n".join), st.text())


def texts(passages: list[Passage]) -> list[str]:
    return [passage.text for passage in passages]


# ---------------------------------------------------------------- splitting


@given(PAGES)
def test_passages_are_verbatim_and_do_not_overlap(text: str) -> None:
    end = 0
    for passage in split(text):
        assert end <= passage.start < passage.end <= len(text)
        assert passage.text == text[passage.start : passage.end] == passage.text.strip()
        end = passage.end


@given(PAGES)
def test_all_text_is_in_a_passage_or_in_a_heading_path(text: str) -> None:
    passages = split(text)
    rest = list(text)
    for passage in passages:
        rest[passage.start : passage.end] = " " * len(passage.text)
    paths = "\n".join(passage.heading for passage in passages)
    for block in blocks(text):
        if "".join(rest[block.start : block.end]).strip():
            assert block.kind == "heading"
            assert " ".join(text[block.start : block.end].strip("#").split()) in paths


@given(PAGES)
def test_sentences_rows_and_fences_stay_whole(text: str) -> None:
    boundaries = {p.start for p in split(text)} | {p.end for p in split(text)}
    for sentence in sentences(text):
        assert not any(sentence.start < at < sentence.end for at in boundaries)


@given(PAGES)
def test_passages_are_small(text: str) -> None:
    for passage in split(text):
        own = [s for s in sentences(passage.text) if s.kind != "heading"]
        assert estimate(passage.text) <= 2 * FULL + len(own) or len(own) == 1


def test_headings_become_the_path() -> None:
    text = (
        "# Oslo\n\nA city.\n\n## History ##\n\nOld.\n\n### Early\n\nVery old.\n\n## Sights\n\nMany."
    )
    assert [(p.heading, p.text) for p in split(text)] == [
        ("Oslo", "A city."),
        (HEADING_SEPARATOR.join(["Oslo", "History ##"]).removesuffix(" ##"), "Old."),
        ("Oslo › History › Early", "Very old."),
        ("Oslo › Sights", "Many."),
    ]


def test_a_heading_with_nothing_below_is_a_passage() -> None:
    text = "# Oslo\n\n## Phone: 555\n\n## History\n\nOld.\n\n## See also"
    assert [(p.heading, p.text) for p in split(text)] == [
        ("Oslo", "## Phone: 555"),
        ("Oslo › History", "Old."),
        ("Oslo", "## See also"),
    ]


def test_long_paragraphs_are_cut_after_a_few_sentences() -> None:
    text = " ".join(f"This is sentence number {n} of a long paragraph." for n in range(20))
    passages = split(text)
    assert all(1 <= len(sentences(p.text)) <= 4 for p in passages)
    assert len(passages) == 5


def test_short_paragraphs_share_a_passage_and_long_ones_do_not() -> None:
    short, long = "A short one.", "A much longer paragraph " * 12 + "ends."
    assert texts(split(f"{short}\n\n{short}\n\n{long}")) == [f"{short}\n\n{short}", long]


def test_a_lead_in_stays_with_its_list() -> None:
    text = "It needs:\n\n- a key\n- a lock\n\nThen it opens."
    assert texts(split(text)) == ["It needs:\n\n- a key\n- a lock", "Then it opens."]


def test_rows_are_grouped_and_never_cut() -> None:
    row = "| " + " | ".join(["value"] * 20) + " |"
    for passage in split("\n".join([row] * 30)):
        assert set(passage.text.split("\n")) == {row}


def test_a_fence_is_a_passage_of_its_own() -> None:
    text = "Before.\n\n```\na\n\nb\n```\n\nAfter."
    assert texts(split(text)) == ["Before.", "```\na\n\nb\n```", "After."]


def test_chinese_passages_hold_fewer_characters() -> None:
    passages = split("这座港口建于一八八七年，至今仍在使用，每天有许多船只进出。" * 40)
    assert all(40 < len(p.text) <= FULL for p in passages[:-1])


# ---------------------------------------------------------------- choosing

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


def test_rank_counts_headings_and_prefers_early_passages() -> None:
    passages = split(
        "# A\n\n## Harbour\n\nIt is old.\n\n## Food\n\nIt is good.\n\n## Rain\n\nA harbour."
    )
    scores = rank(keywords("harbour"), passages)
    assert scores[1] == 0 < scores[0] < scores[2]
    same = split("A harbour here.\n\n# B\n\nSome town.\n\n# C\n\nA harbour here.")
    first, none, last = rank(keywords("harbour"), same)
    assert none == 0 < last < first


def test_rank_of_nothing_is_zero() -> None:
    assert rank([], split("A text.")) == [0.0]
    assert rank(["x"], []) == []


@pytest.mark.parametrize("unit", ["x", "x ", "。", "# a\n", "- a\n", "```\n", "| a |\n"])
def test_an_endless_page_takes_linear_time(unit: str) -> None:
    assert select("a question", unit * (600_000 // len(unit)), 100)
