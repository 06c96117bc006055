"""Carries out a reasoner's actions: numbers hits, detects repeats, chooses passages.

One workspace serves one loop. All actions of a turn run concurrently, but their results are added
in the order of the actions, not of arrival: a replayed run must see the same workspace.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bot.core.messages import name_of_upload
from bot.pages.page import Page
from bot.pages.urls import dedupe_key
from bot.reasoning.evidence import (
    ANYWHERE,
    Action,
    Finish,
    Malformed,
    NumberedHit,
    Outcome,
    QueryResult,
    Read,
    ReadResult,
    Scope,
    Search,
    Source,
    SubQuestion,
    Turn,
    Workspace,
    WorkspaceTurn,
)
from bot.research.outcomes import SearchOutcome
from bot.research.outgoing import repeats
from bot.research.run import Run, together
from bot.research.selection import (
    ShownPages,
    best_hits,
    matching,
    to_open,
    with_opened,
)
from bot.search.earlier_answers import CorrectionSearch
from bot.search.provider import Hit, ProviderKind, Query
from bot.text.terms import keywords

FIRST_QUERIES = 8  # per kind, searched before the first turn
HITS_FETCHED = 3  # times those shown: a repeated query then has further results at once
MANY_QUERIES = 3  # from which the queries of one search share the hits shown
FEWEST_SHOWN = 4  # hits per query
AT_ONCE = 12  # queries and pages of one turn: its results must fit into one request


def worded(text: str, question: SubQuestion, shown: int) -> Query:
    """Return a query to send for a question; ``shown`` of its hits will be shown."""
    scope = question.scope
    return Query(
        text,
        shown * HITS_FETCHED,
        question.language,
        region=scope.region,
        freshness=scope.freshness,
        domains=scope.domains,
        talk=scope.talk,
    )


def hits_of_each(shown: int, queries: int) -> int:
    """Return the number of hits shown per query of one search: ``shown``, or fewer if there are
    many queries."""
    if queries <= MANY_QUERIES:
        return shown
    return min(shown, max(FEWEST_SHOWN, MANY_QUERIES * shown // queries))


@dataclass(slots=True)
class AskedQuery:
    """A query that was sent; ``next`` is the first of its hits not shown yet.

    ``kind`` and ``scope`` are its restrictions.
    """

    text: str
    words: frozenset[str]
    kind: ProviderKind | None = None
    scope: Scope = ANYWHERE
    hits: tuple[Hit, ...] = ()
    next: int = 0


@dataclass(slots=True)
class Searching:
    """A search in progress: each query as worded, with the sent query that answers it, and whether
    that was sent for this search."""

    action: str
    queries: list[tuple[str, AskedQuery, bool]] = field(default_factory=list)


class SentQueries:
    """All queries sent for a workspace. ``kinds`` are what can be searched; the verbatim
    ``question`` does not count as an earlier wording that a query could repeat."""

    def __init__(self, kinds: Collection[ProviderKind], question: str = "") -> None:
        self._kinds = kinds
        self._question = question
        self._queries: list[AskedQuery] = []

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(query.text for query in self._queries))

    def first(
        self, queries: Sequence[str], knowledge_queries: Sequence[str], scope: Scope
    ) -> Searching:
        """Build the search before a reasoner's first turn, of the web, of documents, or of both;
        repeated queries are left out."""
        web, knowledge = tuple(queries), tuple(knowledge_queries)
        routes: list[tuple[tuple[str, ...], ProviderKind | None]] = [
            (tuple(text for text in web if text in knowledge), None),
            (web[:FIRST_QUERIES], "web"),
            (knowledge[:FIRST_QUERIES], "knowledge"),
        ]
        kinds = self._kinds
        if len(kinds) < 2:
            texts = (*knowledge, *web) if "knowledge" in kinds else (*web, *knowledge)
            routes = [(tuple(dict.fromkeys(texts))[:FIRST_QUERIES], None)]
        searching = Searching("given")
        for texts, kind in routes:
            sent = self.search("given", texts, kind, scope).queries
            searching.queries += [entry for entry in sent if entry[2]]  # a repeat adds nothing
        return searching

    def forget(self, query: AskedQuery) -> None:
        self._queries = [other for other in self._queries if other is not query]

    def search(
        self,
        action: str,
        queries: Sequence[str],
        kind: ProviderKind | None = None,
        scope: Scope = ANYWHERE,
    ) -> Searching:
        searching = Searching(action)
        for text in dict.fromkeys(queries):
            words = frozenset(keywords(text))
            earlier = next(
                (
                    q
                    for q in self._queries
                    if repeats(words, q.words)
                    and q.kind in (None, kind)
                    and q.scope in (ANYWHERE, scope)
                ),
                None,
            )
            words = frozenset() if text == self._question else words
            query = earlier or AskedQuery(text, words, kind, scope)
            if earlier is None:
                self._queries.append(query)
            searching.queries.append((text, query, earlier is None))
        return searching


NOTHING = "Nothing was found."
WHOLE = 4  # times the tokens of one page, for pages that are needed as a whole
PREFETCHED = 3  # pages read ahead while the reasoner chooses
MOST_OPENED = 6  # pages opened with one search without being chosen
LOOKED_AT = 2  # times as many are read to find those that match


@dataclass(frozen=True, slots=True)
class Reading:
    """Limits on results shown: hits per query, tokens of passages per page.

    Up to ``opened`` of a search's best pages are shown with its hits, with half the tokens each, if
    they can be read within ``patience`` seconds and match (``research.selection``).
    """

    shown: int
    page_tokens: int
    opened: int = 0
    patience: float = 2.0


@dataclass(slots=True)
class _Reading:
    """A ``Read`` in progress: each number with the URL to read, or a note why not."""

    action: str
    tokens: int  # of passages of one page
    urls: list[tuple[int, str | None, str]] = field(default_factory=list)
    pages: int = 0  # of the workspace's share that it uses


class WorkspaceKeeper:
    """Maintains the workspace of one loop: ``workspace`` is what the reasoner sees.

    ``unread`` has the reason for each of the asker's links that could not be read.
    """

    def __init__(
        self,
        run: Run,
        question: SubQuestion,
        workspace: Workspace,
        reading: Reading,
    ) -> None:
        self.workspace = workspace
        # This workspace's share of pages: others read at the same time.
        self._pages = workspace.pages_left
        self.unread: list[str] = []
        self._free: set[int] = set()  # citation numbers of pages that were placed
        self._wants_more_pages = False
        self._run, self._question, self._reading = run, question, reading
        self._page_tokens = reading.page_tokens
        self._hits: list[Hit] = []
        self._hit_numbers: dict[str, int] = {}  # dedupe key of a hit's URL → hit number
        self._rarity: dict[str, float] = {}  # of the terms searched for
        self._asked = SentQueries(run.can_search, question.text)
        self._page_numbers: dict[str, int] = {}  # dedupe key of a read URL → citation number
        self._by_rank: set[int] = set()  # citation numbers of pages that were not chosen
        self._pages_shown = ShownPages(run, question)

    def place(self, sources: Sequence[Source]) -> None:
        """Add passages that were shown earlier in the run; their pages are not counted."""
        reads = []
        for source in sources:
            number = self._number_of(Hit(source.title, source.url, "", ""))
            self._page_numbers[dedupe_key(source.url)] = source.number
            self._free.add(source.number)
            self._pages_shown.place(number, source)
            reads.append(ReadResult(number, source))
        if reads:
            given = Outcome("placed", reads=tuple(reads))
            self.workspace = replace(self.workspace, given=(*self.workspace.given, given))

    async def give(
        self,
        *,
        queries: Sequence[str] = (),
        knowledge_queries: Sequence[str] = (),
        links: Sequence[str] = (),
    ) -> None:
        """Add results before the first turn: the asker's links and a first search.

        ``queries`` go to the web and ``knowledge_queries`` to documents; if only one of these can
        be searched, all go there. If a search restricted by the asker finds nothing at all, it is
        repeated without the restriction, and the run's notes say so.
        """
        scope = self._question.scope
        under_way: list[Searching | _Reading | Outcome] = []
        if links:
            if self._question.whole:
                tokens = self._reading.page_tokens
                self._page_tokens = max(tokens, WHOLE * tokens // len(links))
            reading = _Reading("given", self._page_tokens)
            reading.urls = [(self._number_of(Hit("", link, "", "")), link, "") for link in links]
            under_way.append(reading)
        if queries or knowledge_queries:
            under_way.append(self._asked.first(queries, knowledge_queries, scope))
        outcomes = await self._do(under_way)
        for link, read in zip(links, outcomes[0].reads if links else (), strict=True):
            if read.source is None:
                self.unread.append(self._run.notes.unread(link, read.note))
        if scope != ANYWHERE and _found_nothing(outcomes):
            if scope != Scope(talk=scope.talk):
                self._run.notes.widened(scope)
            wider = self._asked.first(queries, knowledge_queries, ANYWHERE)
            outcomes += await self._do([wider])
        outcomes = await self._opened(outcomes)
        left = self._pages_left()
        given = (*self.workspace.given, *outcomes)
        self.workspace = replace(self.workspace, given=given, pages_left=left, pages_given=left)
        self._read_ahead(outcomes)

    async def carry_out(self, turn: Turn, nudge: str = "") -> None:
        """Carry out all actions of a turn concurrently and append the turn to the workspace."""
        searches = at_once = 0
        pages_left = self.workspace.pages_left
        under_way: list[Searching | _Reading | Outcome] = []
        for action in turn.actions:
            at_once += len(action.queries) if isinstance(action, Search) else 0
            at_once += len(action.ids) if isinstance(action, Read) else 0
            if isinstance(action, Search | Read) and under_way and at_once > AT_ONCE:
                under_way.append(Outcome(action.id, problem="Too much at once: call this again."))
            elif isinstance(action, Search) and searches < self.workspace.searches_left:
                searches += 1
                talk = Scope(talk=self._question.scope.talk)
                under_way.append(self._asked.search(action.id, action.queries, scope=talk))
            elif isinstance(action, Read):
                reading = self._prepare_read(action, pages_left)
                pages_left -= reading.pages
                under_way.append(reading)
            else:
                under_way.append(_refusal(action))
        outcomes = await self._opened(await self._do(under_way))
        if self._wants_more_pages:
            self._note_spent_pages()
        searches -= sum(outcome.unanswered for outcome in outcomes)
        left = self._pages_left()
        self.workspace = replace(
            self.workspace,
            turns=(*self.workspace.turns, WorkspaceTurn(turn, tuple(outcomes), nudge, left)),
            searches_left=self.workspace.searches_left - searches,
            pages_left=left,
        )
        self._read_ahead(outcomes)

    @property
    def searched(self) -> tuple[str, ...]:
        return self._asked.texts

    # ------------------------------------------------------------ before: what to read

    def _prepare_read(self, action: Read, pages_left: int) -> _Reading:
        reading = _Reading(action.id, self._page_tokens)
        for number in dict.fromkeys(action.ids):
            if not 1 <= number <= len(self._hits):
                reading.urls.append((number, None, f"There is no hit {number}."))
                continue
            url = self._hits[number - 1].url
            key = dedupe_key(url)
            if key not in self._page_numbers:
                if reading.pages >= pages_left:
                    self._wants_more_pages = True
                    note = "No more pages can be read: finish with what there is."
                    reading.urls.append((number, None, note))
                    continue
                reading.pages += 1
            reading.urls.append((number, url, ""))
        return reading

    # ------------------------------------------------------------ all at once

    async def _do(self, under_way: Sequence[Searching | _Reading | Outcome]) -> list[Outcome]:
        sent = [
            query
            for item in under_way
            if isinstance(item, Searching)
            for _, query, is_sent in item.queries
            if is_sent
        ]
        urls = [
            url
            for item in under_way
            if isinstance(item, _Reading)
            for _, url, _ in item.urls
            if url is not None
        ]
        titles = [self._title(url) for url in urls]
        searching = together(self._run.search(self._worded(query), query.kind) for query in sent)
        both: list[Coroutine[Any, Any, Any]] = [searching, self._run.read(urls, titles)]
        found, read = await together(both)
        pages = [page for page in read if isinstance(page, Page)]
        numbers = dict(
            zip([page.url for page in pages], await self._run.number(pages), strict=True)
        )
        answers = dict(zip([id(query) for query in sent], found, strict=True))
        readings = dict(zip(urls, read, strict=True))
        outcomes = []
        for item in under_way:
            if isinstance(item, Searching):
                outcomes.append(self._searched(item, answers))
            elif isinstance(item, _Reading):
                outcomes.append(await self._was_read(item, readings, numbers))
            else:
                outcomes.append(item)
        return outcomes

    async def _opened(self, outcomes: list[Outcome]) -> list[Outcome]:
        """Return the outcomes, each search with its best new pages, as if they had been chosen.

        Choosing takes the reasoner a turn, and it would usually choose these. Pages that cannot be
        read quickly, or do not match, are left for it to choose. Half of the run's pages are
        reserved for chosen ones.
        """
        opened: list[Outcome] = []
        for outcome in outcomes:
            left = self._run.budget.pages - self._run.usage.pages
            room = min(self._pages - len(self._by_rank), left)
            most = min(MOST_OPENED, max(self._reading.opened, len(outcome.queries)), max(0, room))
            numbers = to_open(outcome.queries, LOOKED_AT * most) if self._reading.opened else []
            if not numbers:
                opened.append(outcome)
                continue
            urls = {self._hits[number - 1].url: number for number in numbers}
            titles = {url: self._title(url) for url in urls}
            patience = self._reading.patience
            ready = await self._run.ready(tuple(urls), tuple(titles.values()), patience)
            pages = await self._run.look(ready, [titles[url] for url in ready])
            wanted = [result.query for result in outcome.queries]
            fit = (await self._matching(wanted, pages))[:most]
            reading = _Reading(outcome.action, self._page_tokens // 2)
            reading.urls = [(urls[url], url, "") for url in ready if url in fit]
            (read,) = await self._do([reading])
            self._by_rank.update(r.source.number for r in read.reads if r.source is not None)
            opened.append(with_opened(outcome, read))
        return opened

    async def _matching(self, wanted: Sequence[str], pages: Sequence[Page]) -> list[str]:
        """Call ``matching`` in a thread: a crafted page can take 0.1 s."""
        shown = [source.title for source in self.workspace.sources]
        given = [hit.url for hit in self._hits if hit.provider == CorrectionSearch.name]
        asked, rarity = self._question, self._rarity
        return await asyncio.to_thread(matching, wanted, pages, rarity, shown, given, asked)

    # ------------------------------------------------------------ after: what to show

    def _searched(self, searching: Searching, answers: dict[int, SearchOutcome]) -> Outcome:
        results, unanswered = [], 0
        shown = hits_of_each(self._reading.shown, len(searching.queries))
        for text, query, is_sent in searching.queries:
            note, rarity = "", {}
            if is_sent:
                outcome = answers[id(query)]
                query.hits, rarity = outcome.hits, outcome.rarity
                note = outcome.problem or outcome.withheld or ("" if outcome.hits else NOTHING)
                if outcome.problem:
                    self._asked.forget(query)  # it got no answer, so a repeat is sent again
                    unanswered += 1
            following = query.hits[query.next : query.next + shown]
            query.next += len(following)
            if not is_sent:
                more = "these are its next results" if following else "it has no further results"
                note = f'Nearly the same as "{query.text}"; {more}.'
            self._rarity |= rarity
            numbered = self._numbered(following)
            self._pages_shown.were_found(text, [hit.number for hit in numbered])
            results.append(QueryResult(text, numbered, note, rarity))
        return Outcome(
            searching.action,
            queries=tuple(results),
            unanswered=bool(results) and unanswered == len(results),
        )

    def _numbered(self, hits: Sequence[Hit]) -> tuple[NumberedHit, ...]:
        numbered = []
        for hit in hits:
            page = self._page_numbers.get(dedupe_key(hit.url))
            numbered.append(NumberedHit(self._number_of(hit), hit, page))
        return tuple(numbered)

    def _number_of(self, hit: Hit) -> int:
        """Return a hit's number in the workspace, assigning one if it is new."""
        key = dedupe_key(hit.url)
        if key not in self._hit_numbers:
            self._hits.append(hit)
            self._hit_numbers[key] = len(self._hits)
        return self._hit_numbers[key]

    async def _was_read(
        self, reading: _Reading, readings: dict[str, Page | str], numbers: dict[str, int]
    ) -> Outcome:
        results = []
        for hit_number, url, note in reading.urls:
            page = note if url is None else readings[url]
            if isinstance(page, str):
                results.append(ReadResult(hit_number, None, page))
            else:
                number = numbers[page.url]
                key = dedupe_key(url or page.url)
                self._page_numbers[key] = number
                show, tokens = self._pages_shown.show, reading.tokens
                results.append(await show(hit_number, number, page, tokens, self._rarity))
        return Outcome(reading.action, reads=tuple(results))

    def _worded(self, query: AskedQuery) -> Query:
        return worded(query.text, replace(self._question, scope=query.scope), self._reading.shown)

    def _read_ahead(self, outcomes: Sequence[Outcome]) -> None:
        """Start to read the new hits that the reasoner will probably choose."""
        best = best_hits([result for outcome in outcomes for result in outcome.queries])
        unread = [self._hits[number - 1].url for number in best]
        self._run.prefetcher.read(
            [url for url in unread if dedupe_key(url) not in self._page_numbers][:PREFETCHED]
        )

    def _title(self, url: str) -> str:
        number = self._hit_numbers.get(dedupe_key(url))
        return self._hits[number - 1].title if number else name_of_upload(url) or url

    def _pages_left(self) -> int:
        """Return the pages left in this workspace's share and in the run's budget."""
        counted = set(self._page_numbers.values()) - self._free - self._by_rank
        own = self._pages - len(counted)
        return max(0, min(own, self._run.budget.pages - self._run.usage.pages))

    def _note_spent_pages(self) -> None:
        """Add a note if the run's budget of pages is spent, and not just this workspace's share."""
        if self._run.usage.pages >= (most := self._run.budget.pages):
            self._run.note(self._run.texts("budget-pages", limit=most))


def _found_nothing(outcomes: Sequence[Outcome]) -> bool:
    results = [result for outcome in outcomes for result in outcome.queries]
    # A failed search does not count as finding nothing: searching for more would fail as well.
    return any(r.note == NOTHING for r in results) and not any(r.hits for r in results)


def _refusal(action: Action) -> Outcome:
    if isinstance(action, Malformed):
        return Outcome(action.id, problem=action.problem)
    if isinstance(action, Finish):
        problem = "Finish alone, after you have seen the results of this turn."
        return Outcome(action.id, problem=problem)
    return Outcome(action.id, problem="No searches are left: read, or finish.")
