"""Merges the results of several queries and several loops."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from bot.reasoning.evidence import Source
from bot.reasoning.workspace import Outcome, QueryResult
from bot.research.evidence.relevance import is_named
from bot.search.blend import K


def best_hits(results: Sequence[QueryResult]) -> list[int]:
    """Hit numbers over all queries, best first, by reciprocal rank."""
    scores: dict[int, float] = {}
    for result in results:
        for rank, numbered in enumerate(result.hits, start=1):
            scores[numbered.number] = scores.get(numbered.number, 0.0) + 1 / (K + rank)
    return sorted(scores, key=lambda number: (-scores[number], number))


def to_open(results: Sequence[QueryResult], most: int) -> list[int]:
    """The numbers of the ``most`` hits that will most likely be chosen, of those that were not
    read: of each query what it names, or else the first, then the best of all."""
    unread = {hit.number for result in results for hit in result.hits if hit.page is None}
    firsts = [
        number for result in results for number in _named(result, unread) or _first(result, unread)
    ]
    best = [number for number in best_hits(results) if number in unread]
    return list(dict.fromkeys([*firsts, *best]))[:most]


def _named(result: QueryResult, unread: Collection[int]) -> list[int]:
    """The hits whose titles the query names."""
    named = [hit for hit in result.hits if is_named(hit.hit.title, result.query)]
    return [hit.number for hit in named if hit.number in unread]


def _first(result: QueryResult, unread: Collection[int]) -> list[int]:
    return [hit.number for hit in result.hits if hit.number in unread][:1]


def with_opened(searched: Outcome, read: Outcome) -> Outcome:
    """A search's outcome with the pages that were opened; those that gave nothing are not told."""
    reads = tuple(result for result in read.reads if result.source is not None)
    pages = {result.number: result.source.number for result in reads if result.source is not None}
    queries = tuple(
        replace(
            result,
            hits=tuple(replace(hit, page=pages.get(hit.number, hit.page)) for hit in result.hits),
        )
        for result in searched.queries
    )
    return replace(searched, queries=queries, reads=(*searched.reads, *reads))


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
