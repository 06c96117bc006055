"""Ranks the passages of a page by their relevance to a question.

A page is studied once: cut, counted and indexed by its terms. That takes about 0.15 s for a million
characters; asking a studied page takes a few milliseconds. ``bot.pages.chooser`` does both where
they hold up nothing else.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.pages.passages import Passage, Weight
from bot.pages.relevance import relevance, weigh
from bot.text.akin import akin
from bot.text.terms import STOP_WORDS, keywords, terms
from bot.text.tokens import estimate

OPENING = 0.25  # of the best score is added to a page's first passage, which says what it is about
OPENING_SHARE = 0.5  # of the budget: an opening within it comes right after the best passage
EARLINESS = 0.1  # of the best score, at most, is added the nearer a passage is to the top
INDEXED = 500_000  # characters of a page whose terms are indexed
FLOOR = 0.15  # of the best score: what is below is not worth its tokens


@dataclass(frozen=True, slots=True)
class Study:
    """The passages of a page in order, each with its cost (estimated tokens) and length (terms).

    ``places`` has for a term the number of the passage of each occurrence; None for a page of more
    than ``INDEXED``, whose index would take more memory than its text. ``headings`` has the terms
    of each heading path.
    """

    passages: tuple[Passage, ...]
    costs: tuple[int, ...]
    lengths: tuple[int, ...]
    places: dict[str, array[int]] | None
    headings: dict[str, frozenset[str]]

    def counts(self, words: Collection[str]) -> list[dict[str, int]]:
        """The number of times each passage has these terms, in their order."""
        found: list[dict[str, int]] = [{} for _ in self.passages]
        if self.places is not None:
            for word in words:
                for i, count in Counter(self.places.get(word, ())).items():
                    found[i][word] = count
            return found
        for passage, inside in zip(self.passages, found, strict=True):
            here = Counter(terms(passage.text))
            inside.update((word, here[word]) for word in words if word in here)
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

    ``bot.pages.relevance`` with a small prior for position. Terms weigh by their ``rarity`` in all
    that was searched, or where that is not known among the page's own passages. All are 0 if no
    passage has any of the terms.
    """
    # in the order of the question: sums of floats must come out the same in every process
    wanted = keywords(question)
    others = (other for term in wanted for other in sorted(akin(term)))
    counts = studied.counts(dict.fromkeys([*wanted, *others]))
    headings = [studied.headings[passage.heading] for passage in studied.passages]
    weights = weigh(question, rarity or {}) or _rarity_here(wanted, counts, headings)
    scores = relevance(weights, counts, studied.lengths, headings)
    best = max(scores, default=0.0)
    return [
        score + best * EARLINESS / (1 + i / 8) if score > 0 else 0.0
        for i, score in enumerate(scores)
    ]


def _rarity_here(
    wanted: Sequence[str], counts: Sequence[dict[str, int]], headings: Sequence[frozenset[str]]
) -> dict[str, float]:
    """BM25's inverse document frequency over the page's passages, headings counted in."""
    found_in = {
        word: sum(
            word in count or word in above for count, above in zip(counts, headings, strict=True)
        )
        for word in wanted
    }
    return {
        word: math.log(1 + (len(counts) - n + 0.5) / (n + 0.5)) for word, n in found_in.items() if n
    }


def select(
    question: str,
    studied: Study,
    budget_tokens: int,
    *,
    skip: Collection[tuple[int, int]] = (),
    rarity: Mapping[str, float] | None = None,
    weights: Iterable[Weight] = (),
) -> list[Passage]:
    """The passages of a page that matter most for a question, in page order.

    Together at most ``budget_tokens`` (as ``bot.text.tokens.estimate`` counts), but never none
    because the best is too long. ``skip`` are spans shown before: nothing that overlaps one comes
    again. A page that fits the budget is given whole. The opening passage comes too if there is
    room beside the best one; if nothing matches, it is all that comes. ``rarity`` is that of
    ``rank``. Where ``weights`` tell how near passages are by meaning, that counts as much as their
    words, and they carry it as their ``relevance``. Deterministic.
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
        # What a page is about, and whether that is the right thing, only its opening tells.
        order = list(dict.fromkeys((order[0], 0, *order)))
    chosen: list[int] = []
    spent = 0
    for i in order:
        if not chosen or spent + costs[i] <= budget_tokens:
            chosen.append(i)
            spent += costs[i]
    return [passages[i] for i in sorted(chosen)]


def _with_meaning(scores: Sequence[float], passages: Sequence[Passage]) -> Sequence[float]:
    """Half the score by words, as a share of the best, and half the relevance where it is known."""
    if all(passage.relevance is None for passage in passages):
        return scores
    best = max(scores, default=0.0) or 1.0
    return [
        score / best if passage.relevance is None else (score / best + passage.relevance) / 2
        for score, passage in zip(scores, passages, strict=True)
    ]


def _not_shown(passages: Iterable[Passage], shown: Iterable[tuple[int, int]]) -> list[int]:
    """The numbers of the passages, which are in order, that no span overlaps."""
    spans = deque(sorted(shown))
    found: list[int] = []
    for i, passage in enumerate(passages):
        while spans and spans[0][1] <= passage.start:
            spans.popleft()
        if not spans or spans[0][0] >= passage.end:
            found.append(i)
    return found


COUNTED = 1_000_000  # characters of a page whose words are counted; of a longer one some passages
OPENS_SECTION = 1.3  # times the worth of a section's first passage, which says what follows


def spread(
    passages: Iterable[Passage], budget_tokens: int, *, skip: Collection[tuple[int, int]] = ()
) -> list[Passage]:
    """The passages that represent a page as a whole, in order, within ``budget_tokens``.

    The page is cut into stretches of equal length, as many as passages fit, and each gives the
    passage closest to what the page is about (the centroid of its terms: Radev, Jing, Styś and
    Tam, Centroid-based summarization of multiple documents, IPM 40(6), 2004), then its next best
    as far as there is room. The first passage always comes. A page that fits is given whole.
    ``skip`` are spans shown before. Deterministic, and linear in the text.
    """
    passages = list(passages)
    passages = [passages[i] for i in _not_shown(passages, skip)]
    costs = [estimate(passage.text) for passage in passages]
    if sum(costs) <= budget_tokens:
        return passages
    worth = centrality(passages)
    mean = max(1, sum(costs) // len(costs))
    stretches = _stretches(costs, max(1, budget_tokens // mean))
    chosen: list[int] = []
    spent = 0
    for i in dict.fromkeys((0, *_outside_in(stretches, worth))):
        if not chosen or spent + costs[i] <= budget_tokens:
            chosen.append(i)
            spent += costs[i]
    return [passages[i] for i in sorted(chosen)]


def representatives(passages: Sequence[Passage], count: int) -> list[Passage]:
    """At most ``count`` of the passages, in order: the first, and of each stretch of the others
    the one closest to what all are about."""
    if len(passages) <= count:
        return list(passages)
    worth = centrality(passages)
    chosen = {0} if count > 0 else set()
    size = (len(passages) - 1) / max(1, count - 1)
    for stretch in range(count - 1):
        inside = range(1 + round(stretch * size), 1 + round((stretch + 1) * size))
        chosen.add(max(inside, key=lambda i: (worth[i], -i)))
    return [passages[i] for i in sorted(chosen)]


def centrality(passages: Sequence[Passage]) -> list[float]:
    """The similarity of each passage to all others, in the order of ``passages``."""
    within = Counter(
        word for passage in _some_of(passages) for word in set(terms(passage.text)) - STOP_WORDS
    )
    opens = [i == 0 or p.heading != passages[i - 1].heading for i, p in enumerate(passages)]
    return [
        _worth(set(terms(passage.text)) - STOP_WORDS, within) * (OPENS_SECTION if is_first else 1.0)
        for passage, is_first in zip(passages, opens, strict=True)
    ]


def _worth(words: set[str], within: Mapping[str, int]) -> float:
    return sum(within[word] for word in words if within[word] > 1) / math.sqrt(len(words) or 1)


def _some_of(passages: Sequence[Passage]) -> Sequence[Passage]:
    """Passages from all over a page whose words are counted, for the memory that all would take."""
    characters = sum(len(passage.text) for passage in passages)
    return passages[:: -(-characters // COUNTED) or 1]


def _stretches(costs: Sequence[int], count: int) -> list[int]:
    """The stretch that each passage's middle lies in, of ``count`` equally long ones."""
    total = sum(costs)
    found: list[int] = []
    before = 0
    for cost in costs:
        found.append(min(count - 1, count * (2 * before + cost) // (2 * total)))
        before += cost
    return found


def _outside_in(stretches: Sequence[int], worth: Sequence[float]) -> list[int]:
    """All passages, the best of each stretch first, then each one's next best, and so on.

    The stretches are taken by the binary digits of their place, lowest first (van der Corput's
    sequence), so that any first few passages lie all over the page.
    """
    inside: dict[int, list[int]] = {}
    for i in sorted(range(len(worth)), key=lambda i: (-worth[i], i)):
        inside.setdefault(stretches[i], []).append(i)
    digits = max(inside, default=0).bit_length() or 1
    order = sorted(inside, key=lambda n: int(f"{n:0{digits}b}"[::-1], 2))
    rounds = max(map(len, inside.values()), default=0)
    return [inside[n][turn] for turn in range(rounds) for n in order if turn < len(inside[n])]
