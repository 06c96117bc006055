"""The protocol of a search provider. A new one is one file beside this, plus the contract suite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from bot.pages.page import Page
from bot.pages.passages import Weight
from bot.rights.reader import EVERYTHING, Reach

# The subject of a search: the web, or texts that were given to it (documents, a knowledge base).
ProviderKind = Literal["web", "knowledge"]

# Said of a document that is not in the index, and of one that is not in the reader's reach alike:
# nobody learns which of the two it is.
UNKNOWN_DOCUMENT = (
    "This file is not among the indexed documents: run `footnote index` on its folder."
)

Freshness = Literal["", "day", "week", "month", "year"]


@dataclass(frozen=True, slots=True)
class Talk:
    """Restrictions of a search in conversations; empty fields restrict nothing.

    With ``first`` the question asks for messages of colleagues, which then come before all other
    results. ``after`` and ``before`` are ISO 8601 dates, both inclusive; ``people`` are names of
    the authors whose messages are wanted.
    """

    first: bool = False
    after: str = ""
    before: str = ""
    people: tuple[str, ...] = ()


ANY_TALK = Talk()


@dataclass(frozen=True, slots=True)
class Query:
    """A search request.

    ``text`` is words, without operators of any search engine. ``limit`` bounds the hits. What is
    empty is not asked for: ``language`` is a BCP 47 tag, ``region`` an ISO 3166-1 alpha-2 code,
    ``freshness`` how long ago a page may have appeared at most, ``domains`` hosts whose pages
    (and whose subdomains' pages) are wanted, and no others. ``reach`` are the operator's documents
    that may be found: a provider of documents keeps to it. ``talk`` is for conversations alone.
    """

    text: str
    limit: int = 10
    language: str = ""
    region: str = ""
    freshness: Freshness = ""
    domains: tuple[str, ...] = ()
    reach: Reach = EVERYTHING
    talk: Talk = ANY_TALK


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result. ``snippet`` is plain text without markup, possibly empty.

    ``relevance`` is how near the snippet is to the query by meaning: 1 for the nearest of all that
    could be found, 0 for what is no nearer than the average; None where nobody can tell.
    """

    title: str
    url: str
    snippet: str
    provider: str
    relevance: float | None = None


@dataclass(frozen=True, slots=True)
class GivenText:
    """The text of a page, or excerpts of it, as a search engine has it.

    ``by`` is what people call the engine ("Tavily"), ``media_type`` that of ``text``.
    """

    url: str
    title: str
    text: str
    by: str
    media_type: str


class SearchProvider(Protocol):
    """Something that can be asked for pages.

    ``search`` returns at most ``query.limit`` hits, best first, and an empty list when nothing
    matches. What a query asks for beyond words is followed as far as the provider can.
    It raises ``ProviderUnavailable`` (try again later), ``CredentialsRefused`` (wrong key) or
    ``Broken`` (an answer that cannot be read). Retries, caching, rate limits and the circuit
    breaker are not its business: ``bot.search.blend`` adds them once for all.
    """

    name: str
    kind: ProviderKind

    async def search(self, query: Query) -> list[Hit]: ...


@runtime_checkable
class PageReader(Protocol):
    """A provider that can also read its own pages better than a plain fetch would.

    ``reads`` tells by the URL alone, without I/O. ``read`` gives the page, or its text as it is to
    be extracted; it raises like ``SearchProvider.search``, and ``PageUnreadable`` when there is no
    such page.
    """

    def reads(self, url: str) -> bool: ...

    async def read(self, url: str) -> Page | GivenText: ...


@runtime_checkable
class LinkReading(Protocol):
    """A page reader that reads some pages of the web under addresses of its own.

    ``address_of`` gives that address for a link, "" for one that it does not read, without I/O.
    """

    def address_of(self, link: str) -> str: ...


@runtime_checkable
class TextGiving(Protocol):
    """A provider that gets the texts of the pages that it finds along with the hits.

    ``text_of`` gives that of a page it has found lately, without I/O.
    """

    def text_of(self, url: str) -> GivenText | None: ...


@runtime_checkable
class Lexicon(Protocol):
    """A provider that knows how rare words are in the texts that it searches.

    ``rarity`` gives BM25's inverse document frequency of each term (as ``bot.text.terms`` makes
    them) over the passages searched, from 0; "" has that of a term that no passage has. A term that
    only documents out of ``reach`` have is as good as in none. It raises like
    ``SearchProvider.search``.
    """

    async def rarity(self, terms: Sequence[str], reach: Reach = EVERYTHING) -> dict[str, float]: ...


@runtime_checkable
class Growing(Protocol):
    """A provider whose index is still being built.

    ``missing`` tells how many documents cannot be found yet; it raises like
    ``SearchProvider.search``.
    """

    async def missing(self) -> int: ...


@runtime_checkable
class Weighing(Protocol):
    """A page reader that can tell by meaning which passages of its pages fit a question.

    ``weighs`` tells by the URL alone, without I/O. ``weigh`` returns nothing where it cannot tell
    now, and raises like ``PageReader.read``.
    """

    def weighs(self, url: str) -> bool: ...

    async def weigh(self, question: str, url: str) -> tuple[Weight, ...]: ...


@runtime_checkable
class Reporting(Protocol):
    """A provider that can tell how it is, without spending much of its quota.

    ``report`` is the rest of a sentence that begins with the provider's name: "answered; 1,204
    credits are left". It raises like ``SearchProvider.search``.
    """

    async def report(self) -> str: ...


_TRADITIONAL_CHINESE = {"HANT", "TW", "HK", "MO"}


def language(query: Query) -> str:
    """The primary language in lower case, ``de`` for ``de-AT``; "" where it is not known."""
    first = _parts(query.language)[0].lower()
    return first if first.isascii() and first.isalpha() and len(first) in (2, 3) else ""


def region(query: Query) -> str:
    """The region in upper case: the query's own, else the one its language tag names; or ""."""
    named = [query.region, *_parts(query.language)[1:]]
    codes = (code.upper() for code in named if len(code) == 2 and code.isascii() and code.isalpha())
    return next(codes, "")


def is_traditional_chinese(query: Query) -> bool:
    """Return True if Chinese is asked for in traditional characters."""
    parts = [part.upper() for part in _parts(query.language)]
    named = [*parts[1:], query.region.upper()]
    if "HANS" in named:
        return False
    return parts[0] == "ZH" and not _TRADITIONAL_CHINESE.isdisjoint(named)


def _parts(tag: str) -> list[str]:
    return tag.strip().replace("_", "-").split("-")
