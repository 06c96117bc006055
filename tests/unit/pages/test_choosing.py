"""Choosing the passages of a page that matter for a question."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.errors import PageUnreadable
from bot.pages import choosing
from bot.pages import choosing as chooser_module
from bot.pages.choosing import INDEXED, Chooser, rank, spread, study
from bot.pages.page import Page
from bot.pages.passages import MOST_PASSAGES, Passage, Weight, split
from bot.pages.processes import DEFAULT
from bot.text.terms import estimate
from tests.unit.pages.children import asked, replying
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


def test_rank_of_nothing_is_zero() -> None:
    assert rank("", study(split("A text."))) == [0.0]
    assert rank("x", study([])) == []


@pytest.mark.parametrize("unit", ["x", "x ", "。", "# a\n", "- a\n", "```\n", "| a |\n"])
def test_an_endless_page_takes_linear_time(unit: str) -> None:
    assert select("a question", unit * (200_000 // len(unit)), 100)


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


# ---------------------------------------------------------------- a page as a whole

LONG = "\n\n".join(
    f"## Part {n}\n\nPart {n} of the harbour almanac tells of quay {n}. "
    + "The harbour almanac describes quays and cranes at length. " * 12
    for n in range(30)
)


def test_a_page_that_fits_is_spread_whole() -> None:
    text = "One.\n\nTwo is here."
    assert spread(split(text), 1_000) == split(text)


def test_the_passages_lie_all_over_the_page_and_fit() -> None:
    chosen = spread(split(LONG), 900)
    assert sum(estimate(passage.text) for passage in chosen) <= 900
    assert chosen[0].start == split(LONG)[0].start
    assert [p.start for p in chosen] == sorted(p.start for p in chosen)
    gaps = [b.start - a.end for a, b in pairwise(chosen)]
    assert max([*gaps, len(LONG) - chosen[-1].end]) < len(LONG) / 3


def test_what_was_shown_is_not_spread_again() -> None:
    first = spread(split(LONG), 900)
    again = spread(split(LONG), 900, skip={(p.start, p.end) for p in first})
    assert not {p.start for p in first} & {p.start for p in again}


def test_a_passage_on_the_pages_own_topic_is_preferred_to_an_aside() -> None:
    topic = "The harbour almanac lists quays, cranes and tides of every harbour."
    passages = split("\n\n".join([topic, "Zebras sleep.", f"{topic} " * 5, topic]))
    assert "Zebras sleep." not in [p.text for p in spread(passages, 60)]


@settings(max_examples=50)
@given(st.text(max_size=2_000), st.integers(0, 300))
def test_any_text_is_spread_within_any_budget(text: str, budget: int) -> None:
    chosen = spread(split(text), budget)
    assert set(chosen) <= set(split(text))
    assert len(chosen) <= 1 or sum(estimate(p.text) for p in chosen) <= budget


# ---------------------------------------------------------------- long pages, off the event loop


QUESTION = "Which harbour holds 84 boats?"
OpenChooser = Callable[..., Chooser]


def page_of(text: str) -> Page:
    return Page("https://a.example/", "A", text, datetime(2026, 11, 1, tzinfo=UTC))


def harbours(count: int) -> str:
    return "\n\n".join(f"Harbour {n} holds {n * 7} boats. " * 8 for n in range(count))


SHORT, USUAL, LONG_PAGE, LONGER = (page_of(harbours(count)) for count in (30, 200, 500, 2_500))


@pytest.fixture
async def open_chooser() -> AsyncIterator[OpenChooser]:
    async with AsyncExitStack() as stack:

        def opened(**options: Any) -> Chooser:
            chooser = Chooser(**options)
            stack.push_async_callback(chooser.aclose)
            return chooser

        yield opened


def processes(chooser: Chooser) -> list[int]:
    return [child.pid for child in chooser._pool.children]


@pytest.mark.parametrize(
    "page", [SHORT, USUAL, LONG_PAGE, LONGER], ids=["short", "usual", "long", "longer"]
)
async def test_what_is_chosen_is_the_same_as_here(page: Page, open_chooser: OpenChooser) -> None:
    chooser = open_chooser()
    passages = split(page.text)
    expected = choosing.select(QUESTION, study(passages), 200)
    assert "84 boats" in " ".join(each.text for each in expected)
    for _ in range(2):  # the second time from what was kept
        assert await chooser.choose(QUESTION, page, 200) == expected
    skip = {(each.start, each.end) for each in expected}
    assert not set(expected) & set(await chooser.choose(QUESTION, page, 200, skip=skip))
    assert await chooser.survey(page, 200) == spread(passages, 200)
    assert len(processes(chooser)) == (0 if page in (SHORT, USUAL) else 1)


async def test_a_page_of_usual_length_is_studied_off_the_event_loop(
    open_chooser: OpenChooser, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []

    def noting(passages: Iterable[Passage]) -> choosing.Study:
        threads.append(threading.current_thread())
        return study(passages)

    monkeypatch.setattr(chooser_module, "study", noting)
    chooser = open_chooser()
    for page in (SHORT, USUAL, USUAL):
        await chooser.choose(QUESTION, page, 200)
    assert [each is threading.main_thread() for each in threads] == [True, False]


def test_the_longer_page_is_one_without_an_index() -> None:
    assert study(split(LONG_PAGE.text)).places is not None
    assert len(LONGER.text) > INDEXED
    assert study(split(LONGER.text)).places is None


async def test_rarity_and_weights_reach_the_choice_of_a_long_page(
    open_chooser: OpenChooser,
) -> None:
    near = split(LONG_PAGE.text)[-1]
    weights = [Weight(near.start, near.end, 1.0)]
    chosen = await open_chooser().choose("谁？", LONG_PAGE, 200, weights=weights)
    assert [each.relevance for each in chosen if each.start == near.start] == [1.0]
    rarity = {"": 9.0, "harbour": 0.0, "84": 5.0, "boat": 0.1}
    chosen = await open_chooser().choose(QUESTION, LONG_PAGE, 200, rarity=rarity)
    studied = study(split(LONG_PAGE.text))
    assert chosen == choosing.select(QUESTION, studied, 200, rarity=rarity)


async def test_a_page_is_sent_and_studied_once_for_all_who_ask(open_chooser: OpenChooser) -> None:
    chooser = open_chooser()
    await chooser.choose(QUESTION, LONG_PAGE, 200)
    sent: list[int] = []
    ask = chooser._pool.ask

    async def noting(head: Any, data: bytes, *rest: Any) -> Any:
        sent.append(len(data))
        return await ask(head, data, *rest)

    chooser._pool.ask = noting  # type: ignore[method-assign,assignment]
    one, other = await asyncio.gather(
        chooser.choose(QUESTION, LONG_PAGE, 200),
        chooser.choose(QUESTION, page_of(LONG_PAGE.text), 200),
    )
    assert one == other
    assert sent == [0, 0]


async def test_the_event_loop_goes_on_while_a_long_page_is_studied(
    open_chooser: OpenChooser,
) -> None:
    task = asyncio.create_task(open_chooser().choose(QUESTION, LONGER, 200))
    turns = 0
    while not task.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns > 3
    assert task.result()


async def test_a_page_that_takes_too_long_is_named_and_the_next_is_chosen_from(
    open_chooser: OpenChooser,
) -> None:
    stuck = asked("time.sleep(600)")
    with pytest.raises(PageUnreadable, match=r"^https://a\.example/ is too long, or made in a way"):
        await open_chooser(seconds=0.2, command=stuck).choose(QUESTION, LONG_PAGE, 200)


@pytest.mark.parametrize(
    "reply",
    [
        "{'passages': [[0, 10 ** 9, '', None, False]]}",
        "{'passages': [[5, 5, '', None, False]]}",
        "{'passages': [['0', 3, '', None, False]]}",
        "{'lacks': 'memory'}",
        "[]",
    ],
)
async def test_a_reply_that_means_nothing_is_refused(reply: str, open_chooser: OpenChooser) -> None:
    with pytest.raises(PageUnreadable):
        await open_chooser(command=replying(reply)).choose(QUESTION, LONG_PAGE, 200)


HOSTILE = {
    "short sentences": "A. " * 400_000,
    "headings": "\n".join(f"{'#' * (1 + at % 6)} A{at}" for at in range(100_000)),
    "rows": "\n".join(f"|{at}|2|" for at in range(100_000)),
    "items": "- a\n" * 100_000,
    "fences": "```\na\n" * 100_000,
    "paragraphs": "a\n\n" * 150_000,
    "different words": " ".join(f"w{at:x}" for at in range(700_000)),
    "an emoji": "\U0001f600" + "北京。" * 1_600_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTILE)
async def test_a_page_that_is_made_to_be_slow_takes_little(
    kind: str, open_chooser: OpenChooser
) -> None:
    page = page_of(HOSTILE[kind])
    chooser = open_chooser(seconds=10.0)
    assert await chooser.choose("What is w1 in 北京?", page, 200)
    assert await chooser.survey(page, 200)
    (pid,) = processes(chooser)
    status = Path(f"/proc/{pid}/status").read_text("ascii", "replace")
    assert int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) * 1_024 < DEFAULT.choosing + 30_000_000


def test_a_page_has_no_more_passages_than_can_be_weighed() -> None:
    assert len(split("a\n\n" * 2 * MOST_PASSAGES)) <= MOST_PASSAGES
