"""Searches all providers at once and blends their hits; a failing provider fails no search."""

from __future__ import annotations

import asyncio
import copy
import time
import unicodedata
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from bot.core.errors import (
    FootnoteError,
    InvalidSetting,
    NoProviderAvailable,
    PageUnreadable,
    Unavailable,
)
from bot.core.logs import get_logger
from bot.core.measurements import Observe, nothing_observed
from bot.core.rate_limit import Clock
from bot.core.reader import EVERYTHING, Reach, display_address
from bot.core.texts import Sentence
from bot.pages.page import Page
from bot.pages.passages import Weight
from bot.pages.urls import dedupe_key
from bot.search.engines import host_of, is_within
from bot.search.filters import NO_FILTER, Filter
from bot.search.guarded import Guarded
from bot.search.provider import (
    GivenText,
    Hit,
    Indexed,
    Lexicon,
    LinkReading,
    Matched,
    Narrowing,
    PageReader,
    Policy,
    ProviderKind,
    Query,
    SearchProvider,
    Spent,
    TextGiving,
    Unread,
    Weighing,
    nearest,
)
from bot.text.terms import keywords

T = TypeVar("T")

log = get_logger()

# Reciprocal rank fusion: a page scores 1 / (K + rank) for every list it is in. K = 60 is the
# value of G. V. Cormack, C. L. A. Clarke, S. Büttcher, "Reciprocal Rank Fusion outperforms
# Condorcet and individual Rank Learning Methods", SIGIR 2009.
K = 60

PATIENCE = 1.0  # seconds to wait for slower providers once one has found enough
LATE = "It took too long: the answer was made without it."
ENOUGH = 5  # hits of one provider that suffice to continue


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Blended hits, best first; ``failures`` are sentences such as "wikipedia: It is down.".

    ``rarity`` maps each term of the query to how rare it is in the documents searched, at least 0
    (see ``Lexicon``); it is empty if no provider knows. ``missing`` is how many documents could not
    be found because they are not indexed yet. ``spent`` is what the search cost.
    """

    hits: tuple[Hit, ...]
    failures: tuple[str, ...] = ()
    rarity: dict[str, float] = field(default_factory=dict)
    missing: int = 0
    spent: tuple[Spent, ...] = ()


class Search:
    """The providers of a process. ``policies`` and the observers of calls are by provider name."""

    def __init__(
        self,
        providers: Sequence[SearchProvider],
        *,
        policies: Mapping[str, Policy] | None = None,
        blocked_domains: Sequence[str] = (),
        close: Callable[[], Awaitable[None]] | None = None,
        clock: Clock = time.monotonic,
        observe: Callable[[str], Observe] = nothing_observed,
    ) -> None:
        policies = policies or {}
        self._providers = {
            provider.name: Guarded(
                provider,
                policies.get(provider.name, Policy()),
                clock,
                observe(provider.name),
            )
            for provider in providers
        }
        self._blocked = tuple(filter(None, map(host_of, blocked_domains)))
        self._close = close
        self._late: set[_Asked] = set()

    @property
    def names(self) -> tuple[str, ...]:
        """The providers' names, in the order they were given."""
        return tuple(self._providers)

    def resting(self) -> dict[str, float]:
        """The providers that are not called at the moment because they failed repeatedly, with the
        seconds left."""
        left = {name: each.rests_for for name, each in self._providers.items()}
        return {name: seconds for name, seconds in left.items() if seconds}

    def can_search(self, providers: tuple[str, ...] = ()) -> frozenset[ProviderKind]:
        """What all providers, or the named ones, search: the web, documents, or both."""
        return frozenset(self._provider(name).kind for name in providers or self.names)

    async def search(
        self, query: Query, providers: tuple[str, ...] = (), kind: ProviderKind | None = None
    ) -> SearchResult:
        """Search all providers, or only the named ones, at once and blend what they find.

        ``kind`` restricts them to those that search the web, or documents; if there is none of that
        kind, all are searched. Returns at most ``query.limit`` hits, one per page, none from a
        blocked domain or from outside ``query.domains``. Failed providers are named in
        ``failures``. A provider that takes ``PATIENCE`` longer than the first one with enough hits
        is left out, but its answer is cached for the next such search. A provider whose policy sets
        ``awaited`` gets that time instead, and is named if it exceeds it. Raises
        ``NoProviderAvailable`` when all have failed, ``InvalidSetting`` for a name that is not
        configured.
        """
        asked = self._asked(providers, kind)
        text = _clean(query.text)
        if not text or query.limit < 1 or not asked:  # no providers: conversations are all
            return SearchResult(())
        limit = query.limit
        sent = replace(query, text=text, limit=limit * 2 if self._blocked else limit)
        outcomes = await self._outcomes(asked, sent)
        failures = tuple(outcome for outcome in outcomes if isinstance(outcome, Failure))
        lists = [outcome for outcome in outcomes if not isinstance(outcome, Failure)]
        if not lists:
            raise NoProviderAvailable(
                "No search provider answered. " + " ".join(each.sentence for each in failures),
                retry_after=min((e.retry_after for e in failures if e.retry_after), default=None),
            )
        only = [host_of(each) for each in query.domains]
        hits = blend([[hit for hit in each if self._may_show(hit, only)] for each in lists])
        return SearchResult(
            tuple(hits[:limit]),
            tuple(each.sentence for each in failures),
            await self._rarity(asked, text, query.reach),
            0 if query.reach.is_nothing else await self._missing(asked),
            tuple(filter(None, (each.bill(sent) for each in asked))),
        )

    def price(self, providers: tuple[str, ...] = (), kind: ProviderKind | None = None) -> float:
        """Return the most that such a search costs, in USD."""
        return sum(each.policy.usd for each in self._asked(providers, kind))

    async def read(self, url: str) -> Page | GivenText | None:
        """The page, or its text, from the provider that reads ``url``; None if there is none.

        Raises ``ProviderUnavailable``, ``Refused`` or ``PageUnreadable`` (see ``PageReader``). The
        sentence names the provider, except for ``PageUnreadable``.
        """
        for each in self._providers.values():
            if isinstance(each.provider, PageReader) and each.provider.reads(url):
                try:
                    return await each.read(url)
                except PageUnreadable:
                    raise
                except FootnoteError as error:
                    named = copy.copy(error)  # callers that share one read also share the error
                    named.sentence = f"{each.name}: {error.sentence}"
                    raise named from error
        return None

    def address_of(self, link: str) -> str:
        """The address under which a provider reads this web page, or "" if none does."""
        readers = (e.provider for e in self._providers.values())
        found = (e.address_of(link) for e in readers if isinstance(e, LinkReading))
        return next(filter(None, found), "")

    def text_of(self, url: str) -> GivenText | None:
        """The longest text of this page that a provider received along with its hits."""
        givers = (each.provider for each in self._providers.values())
        texts = (each.text_of(url) for each in givers if isinstance(each, TextGiving))
        return max(filter(None, texts), key=lambda one: len(one.text), default=None)

    def weighs(self, url: str) -> bool:
        """Return True if a provider can rate how well passages of this page fit a question."""
        return any(
            isinstance(each.provider, Weighing) and each.provider.weighs(url)
            for each in self._providers.values()
        )

    async def weigh(self, question: str, url: str, reach: Reach = EVERYTHING) -> tuple[Weight, ...]:
        """See ``Weighing.weigh``; empty if no provider ``weighs`` the page."""
        for each in self._providers.values():
            provider = each.provider
            if isinstance(provider, Weighing) and provider.weighs(url):
                return await each.call(partial(provider.weigh, question, url, reach))
        return ()

    async def unread(
        self, urls: Sequence[str], providers: tuple[str, ...] = (), reach: Reach = EVERYTHING
    ) -> Unread:
        """What the searched documents lack: see ``Indexed.unread``."""
        for each in self._asked(providers, "knowledge"):
            if isinstance(each.provider, Indexed):
                counting = partial(each.provider.unread, urls, reach)
                return await _known("unread", each, counting, Unread())
        return Unread()

    async def narrowed(self, only: Filter, reach: Reach = EVERYTHING) -> tuple[Filter, bool]:
        """See ``Narrowing.narrowed``; no filter if no provider can restrict its search."""
        for each in self._providers.values():
            if isinstance(each.provider, Narrowing):
                narrowing = partial(each.provider.narrowed, only, reach)
                return await _known("filter", each, narrowing, (NO_FILTER, False))
        return NO_FILTER, False

    async def matched(self, only: Filter, reach: Reach = EVERYTHING) -> Matched:
        """See ``Narrowing.matched``; no file if no provider can restrict its search."""
        for each in self._providers.values():
            if isinstance(each.provider, Narrowing):
                return await each.call(partial(each.provider.matched, only, reach))
        return False, ()

    async def report(self, name: str) -> Sentence:
        """One provider's health and quota.

        Raises ``InvalidSetting`` for a name that is not configured, otherwise like
        ``SearchProvider.search``.
        """
        return await self._provider(name).report()

    async def aclose(self) -> None:
        """Cancel running searches and close the providers and their shared client."""
        for task in self._late:
            task.cancel()
        await asyncio.gather(*self._late, return_exceptions=True)
        await asyncio.gather(*(each.aclose() for each in self._providers.values()))
        if self._close is not None:
            await self._close()

    def _asked(self, names: tuple[str, ...], kind: ProviderKind | None) -> list[Guarded]:
        named = [self._provider(name) for name in names or self.names]
        return [each for each in named if each.kind == kind] or named

    def _may_show(self, hit: Hit, only: Sequence[str]) -> bool:
        url = display_address(hit.url)
        is_wanted = not only or is_within(url, only)
        return is_wanted and not is_within(url, self._blocked)

    def _provider(self, name: str) -> Guarded:
        if name not in self._providers:
            raise InvalidSetting(
                f"The search provider {name} is not configured.{nearest(name, self.names)}"
            )
        return self._providers[name]

    async def _outcomes(
        self, asked: Sequence[Guarded], query: Query
    ) -> list[tuple[Hit, ...] | Failure]:
        """The providers' results in their order, without those that take too long."""
        asking = [(each, asyncio.create_task(ask(each, query))) for each in asked]
        tasks = [task for _, task in asking]
        try:
            waiting: set[_Asked] = set(tasks)
            while waiting and not any(_is_enough(task) for task in tasks):
                _, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.gather(
                *(
                    asyncio.wait({task}, timeout=each.policy.awaited or PATIENCE)
                    for each, task in asking
                )
            )
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()
            raise
        ended = [task.result() for task in tasks if task.done()]
        late = [(each, task) for each, task in asking if not task.done()]
        for _, task in late:  # their results are cached for the next identical query
            self._late.add(task)
            task.add_done_callback(self._late.discard)
        return [
            *ended,
            *(Failure(f"{each.name}: {LATE}") for each, _ in late if each.policy.awaited),
        ]

    async def _rarity(self, asked: Sequence[Guarded], query: str, reach: Reach) -> dict[str, float]:
        """The rarity of the query's terms, from the first provider that knows it."""
        for each in asked:
            if isinstance(each.provider, Lexicon):
                # Providers that search no documents need not accept a reach.
                within = () if reach.has_all_documents else (reach,)
                counting = partial(each.provider.rarity, keywords(query), *within)
                nothing: dict[str, float] = {}
                if known := await _known("rarity", each, counting, nothing):
                    return known
        return {}

    async def _missing(self, asked: Sequence[Guarded]) -> int:
        """The number of documents that are not searchable yet."""
        return sum(
            [
                await _known("missing", each, each.provider.missing, 0)
                for each in asked
                if isinstance(each.provider, Indexed)
            ]
        )


async def _known(what: str, provider: Guarded, work: Callable[[], Awaitable[T]], otherwise: T) -> T:
    """A provider's additional information, or ``otherwise`` if that fails, which is logged: a
    defect in one provider must not cost the hits."""
    try:
        return await provider.call(work)
    except FootnoteError as error:
        log.info(f"{what}_unknown", provider=provider.name, error=str(error))
    except Exception:
        log.exception("provider_defect", provider=provider.name)
    return otherwise


@dataclass(frozen=True, slots=True)
class Failure:
    """A provider that failed: a sentence about it, and the seconds to wait, if known."""

    sentence: str
    retry_after: float | None = None


async def ask(provider: Guarded, query: Query) -> tuple[Hit, ...] | Failure:
    """The hits of one provider; a failure is returned and logged, not raised."""
    try:
        return await provider.search(query)
    except FootnoteError as error:
        log.info("provider_failed", provider=provider.name, error=str(error))
        wait = error.retry_after if isinstance(error, Unavailable) else None
        return Failure(f"{provider.name}: {error.sentence}", wait)
    except Exception:
        # A defect in one provider must not cost the answers of the others.
        log.exception("provider_defect", provider=provider.name)
        return Failure(f"{provider.name}: It failed unexpectedly; the log has the details.")


_Asked = asyncio.Task[tuple[Hit, ...] | Failure]


def _is_enough(task: _Asked) -> bool:
    """Return True if a provider has returned enough hits to continue."""
    if not task.done():
        return False
    found = task.result()
    return not isinstance(found, Failure) and len(found) >= ENOUGH


def blend(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Merge ranked lists by reciprocal rank fusion, one hit per page, best first.

    The hit of a page is taken from the list that ranks it best, with another list's snippet if its
    own is empty. Equal scores are ordered by best rank, then by the order of the lists.
    """
    scores: defaultdict[str, float] = defaultdict(float)
    best: dict[str, tuple[int, int]] = {}
    hits: dict[str, Hit] = {}
    for place, ranked in enumerate(lists):
        unique = {dedupe_key(hit.url): hit for hit in reversed(ranked)}
        keys = list(dict.fromkeys(dedupe_key(hit.url) for hit in ranked))
        for rank, key in enumerate(keys, 1):
            hit = unique[key]
            scores[key] += 1.0 / (K + rank)
            if key not in hits or (rank, place) < best[key]:
                other = hits.get(key)
                best[key] = (rank, place)
                hits[key] = (
                    hit if hit.snippet or other is None else replace(hit, snippet=other.snippet)
                )
            elif not hits[key].snippet:
                hits[key] = replace(hits[key], snippet=hit.snippet)
    return [hits[key] for key in sorted(hits, key=lambda key: (-scores[key], best[key]))]


def _clean(query: str) -> str:
    """Clean up a query: one line, no control characters, no lone surrogates."""
    text = "".join(" " if unicodedata.category(c) in ("Cc", "Cs") else c for c in query)
    return " ".join(text.split())
