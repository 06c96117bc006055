"""Passages from all over a page, for questions about the page as a whole."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from bot.pages.passages import Passage
from bot.text.terms import STOP_WORDS, terms
from bot.text.tokens import estimate

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
    passages = [
        passage
        for passage in passages
        if not any(start < passage.end and passage.start < end for start, end in skip)
    ]
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
