"""Chooses the passages of pages to show, by their relevance to a question or to the whole page.

A page is studied once: split, counted and indexed by its terms. That takes about 0.15 s for a
million characters; ranking a studied page takes a few milliseconds. A page can be built to take
more, and ten times its size in memory. That must neither block the event loop nor fill the memory
of the main process, so ``Chooser`` has long pages processed in a separate process. The process
caches its studies, since the next question often concerns the same pages. A page of ordinary length
is studied in a thread: starting a process takes longer than that.
"""

from __future__ import annotations

import asyncio
import math
from array import array
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from cachetools import LRUCache

from bot.core.errors import PageUnreadable
from bot.core.texts import said
from bot.pages.bm25 import idf, relevance, weigh
from bot.pages.page import Page
from bot.pages.passages import Passage, Weight, split
from bot.pages.pool import COMMAND, Pool, TaskFailed
from bot.pages.processes import DEFAULT, Answer, Shares, Work, data_of, text_of
from bot.pages.urls import display_url
from bot.text.terms import STOP_WORDS, estimate, keywords, terms

OPENING = 0.25  # share of the best score added to a page's first passage, which introduces it
OPENING_SHARE = 0.5  # of the budget: an opening that fits it comes right after the best passage
EARLINESS = 0.1  # share of the best score added at most; it falls with distance from the top
INDEXED = 500_000  # characters of a page whose terms are indexed
FLOOR = 0.15  # of the best score: passages below it are not worth their tokens


@dataclass(frozen=True, slots=True)
class Study:
    """The passages of a page in order, each with its cost (estimated tokens) and length (terms).

    ``places`` maps a term to the passage number of each occurrence; None for a page longer than
    ``INDEXED``, whose index would take more memory than its text. ``headings`` maps a heading path
    to its terms.
    """

    passages: tuple[Passage, ...]
    costs: tuple[int, ...]
    lengths: tuple[int, ...]
    places: dict[str, array[int]] | None
    headings: dict[str, frozenset[str]]

    def counts(self, words: Collection[str]) -> list[dict[str, int]]:
        """The number of times that each passage contains these terms, in their order."""
        found: list[dict[str, int]] = [{} for _ in self.passages]
        if self.places is not None:
            for word in words:
                for i, count in Counter(self.places.get(word, ())).items():
                    found[i][word] = count
            return found
        for passage, inside in zip(self.passages, found, strict=True):
            counted = Counter(terms(passage.text))
            inside.update((word, counted[word]) for word in words if word in counted)
        return found


def study(passages: Iterable[Passage]) -> Study:
    """Count and index passages."""
    passages = tuple(passages)
    lengths: list[int] = []
    is_indexed = sum(len(passage.text) for passage in passages) <= INDEXED
    places: dict[str, array[int]] = {}
    for i, passage in enumerate(passages):
        words = terms(passage.text)
        lengths.append(len(words))
        for word in words if is_indexed else ():
            if (found := places.get(word)) is None:
                places[word] = found = array("I")
            found.append(i)
    paths = {passage.heading for passage in passages}
    return Study(
        passages,
        tuple(estimate(passage.text) for passage in passages),
        tuple(lengths),
        places if is_indexed else None,
        {path: frozenset(terms(path)) for path in paths},
    )


def rank(question: str, studied: Study, rarity: Mapping[str, float] | None = None) -> list[float]:
    """The relevance of each passage to a question, in page order; 0 is none.

    Uses ``bot.pages.bm25`` with a small prior for position. Terms are weighted by their
    ``rarity`` in everything that was searched or, if that is unknown, among the page's own
    passages. All values are 0 if no passage contains any of the terms.
    """
    # in the order of the question: sums of floats must be the same in every process
    wanted = keywords(question)
    counts = studied.counts(wanted)
    headings = [studied.headings[passage.heading] for passage in studied.passages]
    weights = weigh(question, rarity or {}) or _rarity_within(wanted, counts, headings)
    scores = relevance(weights, counts, studied.lengths, headings)
    best = max(scores, default=0.0)
    return [
        score + best * EARLINESS / (1 + i / 8) if score > 0 else 0.0
        for i, score in enumerate(scores)
    ]


def _rarity_within(
    wanted: Sequence[str], counts: Sequence[dict[str, int]], headings: Sequence[frozenset[str]]
) -> dict[str, float]:
    """BM25's inverse document frequency over the page's passages and their headings."""
    found_in = {
        word: sum(
            word in count or word in above for count, above in zip(counts, headings, strict=True)
        )
        for word in wanted
    }
    return {word: idf(n, len(counts)) for word, n in found_in.items() if n}


def select(
    question: str,
    studied: Study,
    budget_tokens: int,
    *,
    skip: Collection[tuple[int, int]] = (),
    rarity: Mapping[str, float] | None = None,
    weights: Iterable[Weight] = (),
) -> list[Passage]:
    """Select the passages of a page that matter most for a question, in page order.

    They total at most ``budget_tokens`` (as counted by ``bot.text.terms.estimate``), except that
    the best passage is included whatever its length. ``skip`` are spans shown before; passages that
    overlap them are left out. A page that fits the budget is returned whole. The opening passage is
    included if there is room beside the best one; if nothing matches, it is the only one.
    ``rarity`` is as in ``rank``. If ``weights`` give the similarity in meaning, it counts as much
    as the words do, and passages carry it as their ``relevance``. Deterministic.
    """
    near = {(weight.start, weight.end): weight.relevance for weight in weights}
    passages = [
        replace(each, relevance=near[each.start, each.end])
        if (each.start, each.end) in near
        else each
        for each in studied.passages
    ]
    costs = studied.costs
    left = _not_shown(passages, skip)
    if sum(costs[i] for i in left) <= budget_tokens:
        return [passages[i] for i in left]
    scores = rank(question, studied, rarity)
    if scores:
        scores[0] += OPENING * max(scores)
    scores = list(_with_meaning(scores, passages))
    best = max((scores[i] for i in left), default=0.0)
    wanted = [i for i in left if scores[i] > 0 and scores[i] >= FLOOR * best] or left[:1]
    order = sorted(wanted, key=lambda i: (-scores[i], i))
    if left[0] == 0 and costs[0] <= OPENING_SHARE * budget_tokens:
        # Only the opening says what a page is about, and so whether it is the right page.
        order = list(dict.fromkeys((order[0], 0, *order)))
    chosen: list[int] = []
    spent = 0
    for i in order:
        if not chosen or spent + costs[i] <= budget_tokens:
            chosen.append(i)
            spent += costs[i]
    return [passages[i] for i in sorted(chosen)]


def _with_meaning(scores: Sequence[float], passages: Sequence[Passage]) -> Sequence[float]:
    """Average the score by words, as a share of the best, with the relevance where it is known."""
    if all(passage.relevance is None for passage in passages):
        return scores
    best = max(scores, default=0.0) or 1.0
    return [
        score / best if passage.relevance is None else (score / best + passage.relevance) / 2
        for score, passage in zip(scores, passages, strict=True)
    ]


def _not_shown(passages: Iterable[Passage], shown: Iterable[tuple[int, int]]) -> list[int]:
    """The indices of the passages that no span overlaps; ``passages`` are in order."""
    spans = deque(sorted(shown))
    found: list[int] = []
    for i, passage in enumerate(passages):
        while spans and spans[0][1] <= passage.start:
            spans.popleft()
        if not spans or spans[0][0] >= passage.end:
            found.append(i)
    return found


COUNTED = 1_000_000  # characters of a page whose words are counted; a longer page is sampled
OPENS_SECTION = 1.3  # factor for a section's first passage, which introduces the rest


def spread(
    passages: Iterable[Passage], budget_tokens: int, *, skip: Collection[tuple[int, int]] = ()
) -> list[Passage]:
    """The passages that represent a page as a whole, in order, within ``budget_tokens``.

    The page is divided into stretches of equal length, as many as passages fit. Each contributes
    the passage closest to the page's subject (the centroid of its terms: Radev, Jing, Styś and Tam,
    Centroid-based summarization of multiple documents, IPM 40(6), 2004), then its next best while
    there is room. The first passage is always included. A page that fits is returned whole.
    ``skip`` are spans shown before. Deterministic, and linear in the text.
    """
    passages = list(passages)
    passages = [passages[i] for i in _not_shown(passages, skip)]
    costs = [estimate(passage.text) for passage in passages]
    if sum(costs) <= budget_tokens:
        return passages
    worth = _centrality(passages)
    mean = max(1, sum(costs) // len(costs))
    stretches = _stretches(costs, max(1, budget_tokens // mean))
    chosen: list[int] = []
    spent = 0
    for i in dict.fromkeys((0, *_outside_in(stretches, worth))):
        if not chosen or spent + costs[i] <= budget_tokens:
            chosen.append(i)
            spent += costs[i]
    return [passages[i] for i in sorted(chosen)]


def _centrality(passages: Sequence[Passage]) -> list[float]:
    """The similarity of each passage to all others; of a very long page, to a sample of them."""
    characters = sum(len(passage.text) for passage in passages)
    sample = passages[:: -(-characters // COUNTED) or 1]
    within = Counter(word for each in sample for word in set(terms(each.text)) - STOP_WORDS)
    found: list[float] = []
    heading: str | None = None
    for passage in passages:
        words = set(terms(passage.text)) - STOP_WORDS
        worth = sum(within[word] for word in words if within[word] > 1) / math.sqrt(len(words) or 1)
        found.append(worth * (OPENS_SECTION if passage.heading != heading else 1.0))
        heading = passage.heading
    return found


def _stretches(costs: Sequence[int], count: int) -> list[int]:
    """The stretch that contains each passage's middle, out of ``count`` equally long ones."""
    total = sum(costs)
    found: list[int] = []
    before = 0
    for cost in costs:
        found.append(min(count - 1, count * (2 * before + cost) // (2 * total)))
        before += cost
    return found


def _outside_in(stretches: Sequence[int], worth: Sequence[float]) -> list[int]:
    """Order the passages: the best of each stretch first, then the next best of each, and so on.

    The stretches are visited in the order of their bit-reversed numbers (van der Corput's
    sequence), so that the first few passages are spread over the page.
    """
    inside: dict[int, list[int]] = {}
    for i in sorted(range(len(worth)), key=lambda i: (-worth[i], i)):
        inside.setdefault(stretches[i], []).append(i)
    digits = max(inside, default=0).bit_length() or 1
    order = sorted(inside, key=lambda n: int(f"{n:0{digits}b}"[::-1], 2))
    rounds = max(map(len, inside.values()), default=0)
    return [inside[n][turn] for turn in range(rounds) for n in order if turn < len(inside[n])]


# ---------------------------------------------------------------- without blocking the event loop


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
        """Run ``select`` on a page.

        Raises ``PageUnreadable`` for a page that takes too much time or memory, ``Unavailable`` if
        no process can be started.
        """
        asked = {
            "question": question,
            "rarity": dict(rarity or {}),
            "weights": [(each.start, each.end, each.relevance) for each in weights],
        }
        return await self._chosen(page, asked, budget_tokens, skip)

    async def survey(self, page: Page, budget_tokens: int, *, skip: Spans = ()) -> list[Passage]:
        """Run ``spread`` on a page. Raises like ``choose``."""
        return await self._chosen(page, {}, budget_tokens, skip)

    def is_whole(self, page: Page, shown: Spans) -> bool:
        """True if all passages of a page were shown; always False for a long page."""
        if len(page.text) > SHORT:
            return False
        return all((each.start, each.end) in shown for each in self._studied(page).passages)

    async def aclose(self) -> None:
        await self._pool.aclose()

    async def _chosen(
        self, page: Page, asked: dict[str, Any], budget_tokens: int, skip: Spans
    ) -> list[Passage]:
        asked |= {"hash": page.hash, "budget": budget_tokens, "skip": list(skip)}
        if len(page.text) <= SHORT:
            return _passages(self._studied(page), asked)
        if len(page.text) > ORDINARY:
            return await self._ask(asked, page)
        if page.hash not in self._studies:
            self._studies[page.hash] = await asyncio.to_thread(_study_of, page.text)
        return await asyncio.to_thread(_passages, self._studied(page), asked)

    def _studied(self, page: Page) -> Study:
        studied = self._studies.get(page.hash)
        if studied is None:
            studied = self._studies[page.hash] = _study_of(page.text)
        return studied

    async def _ask(self, head: dict[str, Any], page: Page) -> list[Passage]:
        understood = partial(_understood, page)
        try:
            passages = await self._pool.ask(head, b"", self._seconds, understood)
            if passages is None:
                data = data_of(page.text)
                passages = await self._pool.ask(head, data, self._seconds, understood)
        except TaskFailed as failed:
            raise PageUnreadable(
                said("unread-unsearchable", name=display_url(page.url)), detail=str(failed)
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


def _passages(studied: Study, asked: Mapping[str, Any]) -> list[Passage]:
    """The passages of a page that a request asks for: all that it says is plain JSON."""
    skip = [(start, end) for start, end in asked["skip"]]
    if "question" not in asked:
        return spread(studied.passages, asked["budget"], skip=skip)
    weights = [Weight(*each) for each in asked["weights"]]
    return select(
        asked["question"],
        studied,
        asked["budget"],
        skip=skip,
        rarity=asked["rarity"],
        weights=weights,
    )


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
        try:
            return _reply(studies, asked, text), b""
        except MemoryError:  # once more, without what is kept
            studies.clear()
        return _reply(studies, asked, text), b""

    return work


def _reply(studies: LRUCache[str, Study], head: dict[str, Any], text: str) -> dict[str, Any]:
    studied = studies.get(head["hash"])
    if studied is None:
        if not text:
            return _UNKNOWN
        studied = _study_of(text)
        if studies.getsizeof(studied) <= studies.maxsize:
            studies[head["hash"]] = studied
    chosen = _passages(studied, head)
    return {
        "passages": [
            (each.start, each.end, each.heading, each.relevance, each.in_code) for each in chosen
        ]
    }
