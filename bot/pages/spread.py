"""Passages from all over a page, for whoever wants to know what the page says as a whole."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence

from bot.pages.passages import FULL, Passage, split
from bot.text.terms import STOP_WORDS, terms
from bot.text.tokens import estimate

OPENS_SECTION = 1.3  # times the worth of a section's first passage, which says what follows


def spread(
    text: str, budget_tokens: int, *, skip: Collection[tuple[int, int]] = ()
) -> list[Passage]:
    """Passages that stand for the whole page, in page order, within ``budget_tokens``.

    The page is cut into stretches of equal length, as many as passages fit, and each gives the
    passage closest to what the page is about (the centroid of its terms: Radev, Jing, Styś and
    Tam, Centroid-based summarization of multiple documents, IPM 40(6), 2004); what room is left
    goes to the next best. The first passage always comes. A page that fits is given whole.
    ``skip`` are spans shown before. Deterministic, and linear in the text.
    """
    passages = [
        passage
        for passage in split(text)
        if not any(start < passage.end and passage.start < end for start, end in skip)
    ]
    costs = [estimate(passage.text) for passage in passages]
    if sum(costs) <= budget_tokens:
        return passages
    worth = centrality(passages)
    ranked = sorted(range(len(passages)), key=lambda i: (-worth[i], i))
    stretches = _stretches(costs, max(1, budget_tokens // FULL))
    best_of: dict[int, int] = {}
    for i in ranked:
        best_of.setdefault(stretches[i], i)
    chosen: list[int] = []
    spent = 0
    for i in dict.fromkeys((0, *_outside_in(best_of), *ranked)):
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
    """How much each passage says of what all of them are about; in the order of ``passages``."""
    words = [[word for word in terms(p.text) if word not in STOP_WORDS] for p in passages]
    within = Counter(word for found in words for word in set(found))
    opens = [i == 0 or p.heading != passages[i - 1].heading for i, p in enumerate(passages)]
    return [
        sum(within[word] for word in set(found) if within[word] > 1)
        / math.sqrt(len(set(found)) or 1)
        * (OPENS_SECTION if is_first else 1.0)
        for found, is_first in zip(words, opens, strict=True)
    ]


def _stretches(costs: Sequence[int], count: int) -> list[int]:
    """The stretch that each passage's middle lies in, of ``count`` equally long ones."""
    total = sum(costs)
    found: list[int] = []
    before = 0
    for cost in costs:
        found.append(min(count - 1, count * (2 * before + cost) // (2 * total)))
        before += cost
    return found


def _outside_in(best_of: dict[int, int]) -> list[int]:
    """The stretches' passages so that any first few of them lie all over the page.

    By the binary digits of a stretch's place, lowest first (van der Corput's sequence).
    """
    digits = max(best_of, default=0).bit_length()
    order = sorted(best_of, key=lambda n: int(f"{n:0{digits or 1}b}"[::-1], 2))
    return [best_of[n] for n in order]
