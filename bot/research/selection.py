"""Selects what to open and show: merged hits, clearly matching pages, passages not shown before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from bot.core.errors import PageUnreadable, Unavailable
from bot.core.reader import is_correction
from bot.pages.bm25 import weigh
from bot.pages.page import Page
from bot.pages.passages import Passage, split
from bot.pages.validity import validity_of
from bot.reasoning.evidence import Outcome, QueryResult, ReadResult, Source, SubQuestion
from bot.research.run import Run
from bot.search.blend import K
from bot.text.names import capitalized_runs, has_pair, name_in
from bot.text.terms import has_cjk, keywords, terms

ENOUGH = 0.5  # share of the wanted words' weight that one passage has, with the page's title
BESIDE = 0.75  # of the best page's share for the same words, below which a page is not opened
MOST = 0.75  # share of the same weight, from which a page need not have the names as written
SOME = 0.15  # share of the same weight that the best page for a rare word has in a passage with it
RARE = 0.75  # of the rarity of a word in no document: a word that about 5 in 10,000 documents have
REST = 0.65  # share of the weight of the words besides those that name a page
STUDIED = 60_000  # characters of a page that are examined
STUDIED_PAGES = 64  # whose terms are cached: several queries and questions find the same pages


def matching(
    wanted: Sequence[str],
    pages: Sequence[Page],
    rarity: Mapping[str, float],
    shown: Sequence[str] = (),
    given: Collection[str] = (),
    question: SubQuestion | None = None,
) -> list[str]:
    """Return the addresses of the pages that match any of the texts ``wanted``, best first.

    A page matches if the text names it (``named_apart``), or if one of its passages has enough of
    the text's words and no other page matches that text much better. Rare words count more
    (``rarity`` as in ``search.provider.Lexicon``). If a text names one of these pages, or of those
    ``shown`` before (by title), other pages must also have most of the words besides the name: a
    page that shares only the name is about something else.

    A ``question`` may be about several things, so each of its very rare words adds a page
    (``_with_rare_words``). A query is about one thing: a page must have its rarest word, and most
    of its words or half of its names as written.

    Corrections always match, and so do pages whose address is ``given``, for example by a
    correction: without them, an outdated page would be cited.
    """
    passages = {page.url: _passage_terms(page.title, page.text[:STUDIED]) for page in pages}
    scores: dict[str, float] = {}
    for text in wanted:
        weights = weigh(text, rarity) or dict.fromkeys(keywords(text), 1.0)
        titles = [*shown, *(page.title for page in pages)]
        titles.sort(key=lambda title: -sum(weights.get(w, 0.0) for w in name_in(title, text)))
        named = named_apart(text, titles)
        words = {word for title in named for word in name_in(title, text)}
        rest = {term: weight for term, weight in weights.items() if term not in words}
        shares = {url: _best_share(weights, found) for url, found in passages.items()}
        bar = max(ENOUGH, BESIDE * max(shares.values(), default=0.0))
        rarest = max(weights, key=weights.__getitem__) if weights and rarity else None
        for page in pages:
            share, found = shares[page.url], passages[page.url]
            is_chosen = is_correction(page.url) or page.url in given or page.title in named
            is_alike = share >= bar and (not named or _best_share(rest, found) >= REST)
            if is_alike and (question is None or text != question.text):
                has_rarest = rarest is None or any(rarest in passage for passage in found)
                language = "" if question is None else question.language
                is_alike = has_rarest and (share >= MOST or _has_names_of(text, page, language))
            if is_chosen or is_alike:
                scores[page.url] = max(share + is_chosen, scores.get(page.url, 0.0))
    fit = sorted(scores, key=lambda url: -scores[url])
    if question is not None and question.text in wanted:
        fit += _with_rare_words(weigh(question.text, rarity), rarity, passages, fit)
    return fit


def _with_rare_words(
    weights: Mapping[str, float],
    rarity: Mapping[str, float],
    passages: Mapping[str, Sequence[frozenset[str]]],
    fit: Sequence[str],
) -> list[str]:
    """Return the addresses of the best pages for rare words of a question that no page in ``fit``
    has: only such pages can answer that part, however few other words of the question they have."""
    rare = [term for term in weights if RARE * rarity[""] <= rarity.get(term, 0.0) < rarity[""]]
    found: list[str] = []
    for term in sorted(rare, key=lambda term: -weights[term]):
        if any(term in passage for url in (*fit, *found) for passage in passages[url]):
            continue
        if has_cjk(term) and (fit or found):
            continue  # a pair of characters may not be a word
        shares = {
            url: _best_share(weights, [passage for passage in of_page if term in passage])
            for url, of_page in passages.items()
        }
        best = max(shares, key=shares.__getitem__, default=None)
        if best is not None and shares[best] >= SOME:
            found.append(best)
    return found


def named_apart(text: str, titles: Iterable[str]) -> list[str]:
    """Return the titles that a text names separately: without using the words by which it names an
    earlier one."""
    taken: set[str] = set()
    apart: list[str] = []
    for title in titles:
        words = name_in(title, text)
        if words and not words & taken:
            taken |= words
            apart.append(title)
    return apart


def _has_names_of(query: str, page: Page, language: str) -> bool:
    """Return True if a page has half of a query's pairs of capitalized words, or the query has
    none."""
    pairs = [pair for run in capitalized_runs(query, language) for pair in pairwise(run.split())]
    text = f"{page.title}\n{page.text[:STUDIED]}"
    return not pairs or sum(has_pair(text, pair) for pair in pairs) >= max(1, len(pairs) // 2)


@lru_cache(maxsize=STUDIED_PAGES)
def _passage_terms(title: str, text: str) -> tuple[frozenset[str], ...]:
    """Return the terms of each passage, with those of its headings and the page's title."""
    of_title = frozenset(terms(title))
    return tuple(
        of_title | frozenset(terms(f"{passage.heading} {passage.text}")) for passage in split(text)
    )


def _best_share(weights: Mapping[str, float], passages: Sequence[frozenset[str]]) -> float:
    """Return the largest share of the terms' weight that one passage has."""
    total = sum(weights.values())
    best = max((_weight_in(weights, passage) for passage in passages), default=0.0)
    return best / total if total else 0.0


def _weight_in(weights: Mapping[str, float], found: frozenset[str]) -> float:
    return sum(weight for term, weight in weights.items() if term in found)


def best_hits(results: Sequence[QueryResult]) -> list[int]:
    """Return hit numbers over all queries, best first, by reciprocal rank fusion."""
    scores: dict[int, float] = {}
    for result in results:
        for rank, numbered in enumerate(result.hits, start=1):
            scores[numbered.number] = scores.get(numbered.number, 0.0) + 1 / (K + rank)
    return sorted(scores, key=lambda number: (-scores[number], number))


def to_open(results: Sequence[QueryResult], most: int) -> list[int]:
    """Return the numbers of up to ``most`` unread hits that will most likely be chosen:
    corrections, then for each query the pages it names or its first hit, then the best overall."""
    hits = {hit.number: hit for result in results for hit in result.hits if hit.page is None}
    unread = hits.keys()
    corrections = [number for number, hit in hits.items() if is_correction(hit.hit.url)]
    firsts = best_of_each(results, unread)
    best = [number for number in best_hits(results) if number in unread]
    return list(dict.fromkeys([*corrections, *firsts, *best]))[:most]


def best_of_each(results: Sequence[QueryResult], unread: Collection[int]) -> list[int]:
    """Return the numbers of the unread hits that each query names, or else its first."""
    return [n for result in results for n in _named(result, unread) or _first(result, unread)]


def _named(result: QueryResult, unread: Collection[int]) -> list[int]:
    """Return the unread hits whose titles the query names."""
    named = [hit for hit in result.hits if name_in(hit.hit.title, result.query)]
    return [hit.number for hit in named if hit.number in unread]


def _first(result: QueryResult, unread: Collection[int]) -> list[int]:
    return [hit.number for hit in result.hits if hit.number in unread][:1]


def with_opened(searched: Outcome, read: Outcome) -> Outcome:
    """Return a search's outcome with the opened pages, in the order of their hits; pages without
    result are left out."""
    reads = sorted((r for r in read.reads if r.source is not None), key=lambda r: r.number)
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
    """Merge to one source per page, ordered by number, with all shown passages in page order. What
    one says that it replaces is marked.

    For a page read twice with different texts, only passages of the first are kept: positions in
    two texts cannot be distinguished.
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
    for new in sources if any(each.validity.replaces for each in sources) else ():
        for number, old in merged.items():
            said = old.validity
            is_living = not (new.validity.state or said.state or said.is_asked)
            if is_living and number != new.number and new.validity.names(old.title):
                said = replace(said, state="replaced", words=new.title)
                merged[number] = replace(old, validity=said)
    return tuple(merged[number] for number in sorted(merged))


class ShownPages:
    """The pages shown in one workspace; no passage is shown twice."""

    def __init__(self, run: Run, question: SubQuestion) -> None:
        self._run = run
        self._question = question
        self._hit_numbers: dict[int, int] = {}  # page number → the hit it was first shown for
        self._queries: dict[int, list[str]] = {}  # hit number → the queries that found it
        self._spans: dict[int, set[tuple[int, int]]] = {}  # page number → spans of passages shown

    def place(self, hit_number: int, source: Source) -> None:
        """Mark passages as shown that were shown earlier in the run."""
        self._hit_numbers.setdefault(source.number, hit_number)
        self._note(source.number, source.passages)

    def were_found(self, query: str, hit_numbers: Iterable[int]) -> None:
        """Record the hits found by a query."""
        for number in hit_numbers:
            self._queries.setdefault(number, []).append(query)

    async def show(
        self, hit_number: int, number: int, page: Page, tokens: int, rarity: Mapping[str, float]
    ) -> ReadResult:
        """Return the page's best passages for the question and the queries that found it, at most
        ``tokens``, without those shown before. The queries matter because only they name what a
        later step of the question needs. ``number`` is the page's number in the run."""
        shown_for = self._hit_numbers.setdefault(number, hit_number)
        spans = self._spans.setdefault(number, set())
        try:
            queries = self._queries.get(hit_number, ())
            wanted = " ".join(dict.fromkeys((*queries, self._question.text)))
            found = await self._passages(wanted, page, tokens, spans, rarity)
        except (PageUnreadable, Unavailable) as error:
            return ReadResult(shown_for, None, error.sentence)
        passages = [each for each in found if self._run.only.holds(each.heading)]
        if not passages and (spans or found):
            return ReadResult(shown_for, None, "All of it that fits the question was shown.")
        self._note(number, passages)
        source = Source(
            number=number,
            url=page.url,
            title=page.title,
            passages=tuple(passages),
            page_hash=page.hash,
            fetched_at=page.fetched_at,
            via=page.via,
            validity=validity_of(
                *(page.url, page.title, page.text, self._run.message.at.date()),
                self._question.text,
            ),
        )
        self._run.sources.append(source)
        is_whole = not page.via and self._run.chooser.is_whole(page, spans)
        return ReadResult(shown_for, source, whole=is_whole)

    def _note(self, number: int, passages: Sequence[Passage]) -> None:
        spans = self._spans.setdefault(number, set())
        spans.update((passage.start, passage.end) for passage in passages)

    async def _passages(
        self,
        wanted: str,
        page: Page,
        tokens: int,
        spans: set[tuple[int, int]],
        rarity: Mapping[str, float],
    ) -> list[Passage]:
        if self._question.whole:
            return await self._run.chooser.survey(page, tokens, skip=spans)
        weights = await self._run.weigh(self._question.text, page)
        return await self._run.chooser.choose(
            wanted, page, tokens, skip=spans, rarity=rarity, weights=weights
        )
