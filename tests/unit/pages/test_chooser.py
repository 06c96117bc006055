"""Choosing passages of long pages elsewhere: as good as here, within limits, one page's cost its
own."""

from __future__ import annotations

import asyncio
import re
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.core.errors import PageUnreadable
from bot.pages import choosing
from bot.pages import choosing as chooser_module
from bot.pages.choosing import INDEXED, Chooser, spread, study
from bot.pages.page import Page
from bot.pages.passages import MOST_PASSAGES, Passage, Weight, split
from bot.pages.processes import DEFAULT
from tests.unit.pages.children import asked, replying

QUESTION = "Which harbour holds 84 boats?"
OpenChooser = Callable[..., Chooser]


def page_of(text: str) -> Page:
    return Page("https://a.example/", "A", text, datetime(2026, 11, 1, tzinfo=UTC))


def harbours(count: int) -> str:
    return "\n\n".join(f"Harbour {n} holds {n * 7} boats. " * 8 for n in range(count))


SHORT, USUAL, LONG, LONGER = (page_of(harbours(count)) for count in (30, 200, 500, 2_500))


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
    "page", [SHORT, USUAL, LONG, LONGER], ids=["short", "usual", "long", "longer"]
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
    assert study(split(LONG.text)).places is not None
    assert len(LONGER.text) > INDEXED
    assert study(split(LONGER.text)).places is None


async def test_rarity_and_weights_reach_the_choice_of_a_long_page(
    open_chooser: OpenChooser,
) -> None:
    near = split(LONG.text)[-1]
    weights = [Weight(near.start, near.end, 1.0)]
    chosen = await open_chooser().choose("谁？", LONG, 200, weights=weights)
    assert [each.relevance for each in chosen if each.start == near.start] == [1.0]
    rarity = {"": 9.0, "harbour": 0.0, "84": 5.0, "boat": 0.1}
    chosen = await open_chooser().choose(QUESTION, LONG, 200, rarity=rarity)
    studied = study(split(LONG.text))
    assert chosen == choosing.select(QUESTION, studied, 200, rarity=rarity)


async def test_a_page_is_sent_and_studied_once_for_all_who_ask(open_chooser: OpenChooser) -> None:
    chooser = open_chooser()
    await chooser.choose(QUESTION, LONG, 200)
    sent: list[int] = []
    ask = chooser._pool.ask

    async def noting(head: Any, data: bytes, *rest: Any) -> Any:
        sent.append(len(data))
        return await ask(head, data, *rest)

    chooser._pool.ask = noting  # type: ignore[method-assign,assignment]
    one, other = await asyncio.gather(
        chooser.choose(QUESTION, LONG, 200), chooser.choose(QUESTION, page_of(LONG.text), 200)
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
        await open_chooser(seconds=0.2, command=stuck).choose(QUESTION, LONG, 200)


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
        await open_chooser(command=replying(reply)).choose(QUESTION, LONG, 200)


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
@pytest.mark.skipif(sys.platform != "linux", reason="limits memory")
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
