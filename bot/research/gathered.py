"""What several queries and several loops gave, put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.reasoning.desks import QueryResult
from bot.reasoning.evidence import Source
from bot.search.blend import K


def best_hits(results: Sequence[QueryResult]) -> list[int]:
    """Hit numbers over all queries, best first, by reciprocal rank."""
    scores: dict[int, float] = {}
    for result in results:
        for rank, numbered in enumerate(result.hits, start=1):
            scores[numbered.number] = scores.get(numbered.number, 0.0) + 1 / (K + rank)
    return sorted(scores, key=lambda number: (-scores[number], number))


def merge_sources(sources: Sequence[Source]) -> tuple[Source, ...]:
    """One source per page, with all passages shown of it in page order, ordered by number.

    Of a page that was read twice with different text, what was shown of the first text: quotes of
    two texts cannot be told apart by their place.
    """
    merged: dict[int, Source] = {}
    for source in sources:
        earlier = merged.get(source.number)
        if earlier is not None and earlier.page_hash != source.page_hash:
            continue
        passages = {(p.start, p.end): p for p in (earlier.passages if earlier else ())}
        passages |= {(p.start, p.end): p for p in source.passages}
        merged[source.number] = replace(
            source, passages=tuple(passages[span] for span in sorted(passages))
        )
    return tuple(merged[number] for number in sorted(merged))
