"""The queries of one workspace: which ones are sent, and which only repeat an earlier one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from bot.reasoning.evidence import ANYWHERE, Scope, SubQuestion
from bot.search.provider import Hit, ProviderKind, Query
from bot.text.terms import keywords

FIRST_QUERIES = 8  # per kind, searched before the first turn
NEAR = 0.85  # Jaccard similarity of keywords from which one query repeats another: with a word
# more, one of up to five words asks for something else
HITS_FETCHED = 3  # times those shown: a repeated query then has further results at once
MANY_QUERIES = 3  # from which the queries of one search share the hits shown
FEWEST_SHOWN = 4  # hits per query


def repeats(words: frozenset[str], earlier: frozenset[str]) -> bool:
    """Return True if keywords (``bot.text.terms.keywords``) nearly equal those of an earlier
    query."""
    union = words | earlier
    return words == earlier or len(words & earlier) >= NEAR * len(union) > 0


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
        """The queries, in order."""
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
        """Forget a query that could not be answered."""
        self._queries = [other for other in self._queries if other is not query]

    def search(
        self,
        action: str,
        queries: Sequence[str],
        kind: ProviderKind | None = None,
        scope: Scope = ANYWHERE,
    ) -> Searching:
        """Build a search for some queries."""
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
