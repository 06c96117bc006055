"""Chooses the passages of pages to show; long pages are processed in a separate process.

Splitting a long page and counting its words takes seconds and ten times its size in memory, and a
page can be built to take more. That must neither block the event loop nor fill the memory of the
main process. The process caches its studies, since the next question often concerns the same pages.
A page of ordinary length is studied in a thread: starting a process takes longer than that, and the
beginning of such pages is split in a thread anyway to check whether it is relevant
(``bot.research.selection``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from cachetools import LRUCache

from bot.core.errors import PageUnreadable
from bot.pages.choosing import Study, select, spread, study
from bot.pages.page import Page
from bot.pages.passages import Passage, Weight, split
from bot.pages.pool import COMMAND, Pool, TaskFailed
from bot.pages.processes import DEFAULT, Answer, Shares, Work, data_of, text_of
from bot.pages.urls import display_url

SHORT = 20_000  # characters of a page that is studied directly, within a few milliseconds
ORDINARY = 60_000  # ... in a thread: 0.02 s, or 0.2 s for a page built to be slow
KEPT_HERE = 1_000_000  # characters of short pages with cached studies; ten times that in bytes
KEPT_THERE = 6_000_000  # ... and of long pages, as far as memory allows
SECONDS = 20.0  # limit for choosing among a long page's passages; usually below one
IDLE_SECONDS = 60.0

_UNKNOWN = {"lacks": "text"}

Spans = Collection[tuple[int, int]]


class Chooser:
    """Chooses among the passages of pages. Belongs to one event loop; close it when done."""

    def __init__(
        self,
        shares: Shares = DEFAULT,
        seconds: float = SECONDS,
        command: Sequence[str] = COMMAND,
    ) -> None:
        self._seconds = seconds
        self._pool = Pool("choose", 1, shares.choosing, idle_seconds=IDLE_SECONDS, command=command)
        self._studies: LRUCache[str, Study] = _kept_studies(KEPT_HERE)

    async def choose(
        self,
        question: str,
        page: Page,
        budget_tokens: int,
        *,
        skip: Spans = (),
        rarity: Mapping[str, float] | None = None,
        weights: Iterable[Weight] = (),
    ) -> list[Passage]:
        """Run ``choosing.select`` on a page.

        Raises ``PageUnreadable`` for a page that takes too much time or memory, ``Unavailable`` if
        no process can be started.
        """
        if len(page.text) <= ORDINARY:
            studied = await self._study(page)
            chosen = partial(
                select, question, studied, budget_tokens, skip=skip, rarity=rarity, weights=weights
            )
            return chosen() if len(page.text) <= SHORT else await asyncio.to_thread(chosen)
        head = {
            "question": question,
            "rarity": dict(rarity or {}),
            "weights": [(each.start, each.end, each.relevance) for each in weights],
        }
        return await self._ask(head, page, budget_tokens, skip)

    async def survey(self, page: Page, budget_tokens: int, *, skip: Spans = ()) -> list[Passage]:
        """Run ``choosing.spread`` on a page. Raises like ``choose``."""
        if len(page.text) <= ORDINARY:
            chosen = partial(spread, (await self._study(page)).passages, budget_tokens, skip=skip)
            return chosen() if len(page.text) <= SHORT else await asyncio.to_thread(chosen)
        return await self._ask({}, page, budget_tokens, skip)

    def is_whole(self, page: Page, shown: Spans) -> bool:
        """True if all passages of a page were shown; always False for a long page."""
        if len(page.text) > SHORT:
            return False
        return all((each.start, each.end) in shown for each in self._studied(page).passages)

    async def aclose(self) -> None:
        """Stop the process."""
        await self._pool.aclose()

    async def _study(self, page: Page) -> Study:
        if len(page.text) > SHORT and page.hash not in self._studies:
            self._studies[page.hash] = await asyncio.to_thread(_study_of, page.text)
        return self._studied(page)

    def _studied(self, page: Page) -> Study:
        studied = self._studies.get(page.hash)
        if studied is None:
            studied = self._studies[page.hash] = _study_of(page.text)
        return studied

    async def _ask(
        self, head: dict[str, Any], page: Page, budget_tokens: int, skip: Spans
    ) -> list[Passage]:
        head |= {"hash": page.hash, "budget": budget_tokens, "skip": list(skip)}
        understood = partial(_understood, page)
        try:
            passages = await self._pool.ask(head, b"", self._seconds, understood)
            if passages is None:
                data = data_of(page.text)
                passages = await self._pool.ask(head, data, self._seconds, understood)
        except TaskFailed as failed:
            raise PageUnreadable(
                f"{display_url(page.url)} is too long, or made in a way that takes too long, to"
                " find passages in it; paste the part that matters.",
                detail=str(failed),
            ) from None
        return passages or []


def _understood(page: Page, reply: Any, _: bytes) -> list[Passage] | None:
    """The passages in a reply; None if the page's text must be sent first."""
    match reply:
        case {"passages": list(found)}:
            return [_passage(page, each) for each in found]
        case dict() if reply == _UNKNOWN:
            return None
        case _:
            raise ValueError("an invalid reply")


def _passage(page: Page, entry: Any) -> Passage:
    match entry:
        case [int(start), int(end), str(heading), int() | float() | None as near, bool(in_code)]:
            if 0 <= start < end <= len(page.text):
                return Passage(start, end, page.text[start:end], heading, near, in_code)
    raise ValueError("an invalid reply")


def _study_of(text: str) -> Study:
    return study(split(text))


def _kept_studies(characters: int) -> LRUCache[str, Study]:
    return LRUCache(
        characters, getsizeof=lambda kept: sum(len(each.text) for each in kept.passages)
    )


# ---------------------------------------------------------------- in the child process


def open_choice(_: int) -> Work:
    """Return the work of a process, which keeps the studies of pages."""
    studies = _kept_studies(KEPT_THERE)

    def work(asked: dict[str, Any], data: bytes) -> Answer:
        text = text_of(data) if data else ""
        del data
        return _again(studies, asked, text), b""

    return work


def _again(studies: LRUCache[str, Study], head: dict[str, Any], text: str) -> dict[str, Any]:
    """Reply to a request; if memory runs out, clear the cache and retry. Raises ``MemoryError``."""
    try:
        return _reply(studies, head, text)
    except MemoryError:
        studies.clear()
    return _reply(studies, head, text)


def _reply(studies: LRUCache[str, Study], head: dict[str, Any], text: str) -> dict[str, Any]:
    studied = studies.get(head["hash"])
    if studied is None:
        if not text:
            return _UNKNOWN
        studied = _study_of(text)
        if studies.getsizeof(studied) <= studies.maxsize:
            studies[head["hash"]] = studied
    skip = [(start, end) for start, end in head["skip"]]
    if "question" in head:
        passages = select(
            head["question"],
            studied,
            head["budget"],
            skip=skip,
            rarity=head["rarity"],
            weights=[Weight(*each) for each in head["weights"]],
        )
    else:
        passages = spread(studied.passages, head["budget"], skip=skip)
    return {
        "passages": [
            (each.start, each.end, each.heading, each.relevance, each.in_code) for each in passages
        ]
    }
