"""The protocol of a search provider, and how a module declares one. To add one, write a file in
``providers`` and test it."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel, SecretStr

from bot.core.errors import InvalidSetting
from bot.core.messages import OWN_WORDS, Provenance
from bot.core.reader import EVERYTHING, Reach
from bot.core.texts import Sentence
from bot.pages.page import Page
from bot.pages.passages import Weight
from bot.search.filters import NO_FILTER, Filter

if TYPE_CHECKING:
    import httpx


# What a provider searches: the web, or texts that it was given (documents, a knowledge base).
ProviderKind = Literal["web", "knowledge"]

# The same sentence for a document that is not indexed and for one outside the reader's reach, so
# that readers cannot learn which documents exist.
UNKNOWN_DOCUMENT = (
    "This file is not among the indexed documents: run `footnote index` on its folder."
)

ENDINGS = 5  # of files that are not read, named in a sentence

Freshness = Literal["", "day", "week", "month", "year"]


@dataclass(frozen=True, slots=True)
class Talk:
    """Restrictions of a search in conversations; empty fields restrict nothing.

    ``first``: the question asks for messages of colleagues, so these come before all other results.
    ``after`` and ``before`` are ISO 8601 dates, both inclusive. ``people`` are names of authors
    whose messages are wanted.
    """

    first: bool = False
    after: str = ""
    before: str = ""
    people: tuple[str, ...] = ()


ANY_TALK = Talk()


@dataclass(frozen=True, slots=True)
class Query:
    """A search request; empty fields do not restrict it.

    ``text`` is words, without search operators. ``limit`` is the maximum number of hits.
    ``language`` is a BCP 47 tag, ``region`` an ISO 3166-1 alpha-2 code, ``freshness`` the maximum
    age of a page. ``domains`` restricts hits to pages of these hosts and their subdomains.
    ``reach`` is the operator's documents that may be found; a provider of documents must respect
    it. ``talk`` applies to conversations only, ``only`` to documents in folders.
    """

    text: str
    limit: int = 10
    language: str = ""
    region: str = ""
    freshness: Freshness = ""
    domains: tuple[str, ...] = ()
    reach: Reach = EVERYTHING
    talk: Talk = ANY_TALK
    only: Filter = NO_FILTER


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result. ``snippet`` is plain text without markup, possibly empty.

    ``relevance`` is how close the snippet's meaning is to the query: 1 for the closest snippet in
    the index, 0 for those no closer than the average, None if unknown. ``made_from`` is what a
    correction's words were made from.
    """

    title: str
    url: str
    snippet: str
    provider: str
    relevance: float | None = None
    made_from: Provenance = OWN_WORDS


@dataclass(frozen=True, slots=True)
class GivenText:
    """The text of a page, or excerpts of it, as a search engine supplied it.

    ``by`` is the display name of the engine ("Tavily"); ``media_type`` is that of ``text``.
    """

    url: str
    title: str
    text: str
    by: str
    media_type: str


@dataclass(frozen=True, slots=True)
class Spent:
    """What a search cost: the tokens of a ``model``, and ``usd`` for the search itself."""

    model: str
    input_tokens: int
    output_tokens: int
    usd: float


class PaidHits(list[Hit]):
    """The hits of a search that cost something."""

    def __init__(self, hits: Iterable[Hit], spent: Spent) -> None:
        super().__init__(hits)
        self.spent = spent


class SearchProvider(Protocol):
    """A source that can be searched for pages.

    ``search`` returns at most ``query.limit`` hits, best first, and an empty list when nothing
    matches; ``PaidHits`` if each search is paid for. It applies the query's restrictions as far as
    the provider can.
    It raises ``ProviderUnavailable`` (try again later), ``CredentialsRefused`` (wrong key) or
    ``Broken`` (an answer that cannot be parsed). Retries, caching, rate limits and the circuit
    breaker are not its job: ``bot.search.blend`` adds them for all providers.
    """

    name: str
    kind: ProviderKind

    async def search(self, query: Query) -> list[Hit]: ...


@runtime_checkable
class PageReader(Protocol):
    """A provider that can also read its own pages, better than a plain fetch would.

    ``reads`` decides by the URL alone, without I/O. ``read`` returns the page, or a text that is
    still to be extracted; it raises like ``SearchProvider.search``, and ``PageUnreadable`` if the
    page does not exist.
    """

    def reads(self, url: str) -> bool: ...

    async def read(self, url: str) -> Page | GivenText: ...


@runtime_checkable
class LinkReading(Protocol):
    """A page reader that reads some web pages under its own addresses.

    ``address_of`` returns that address for a link, or "" if it does not read it, without I/O.
    """

    def address_of(self, link: str) -> str: ...


@runtime_checkable
class TextGiving(Protocol):
    """A provider that receives page texts along with its hits.

    ``text_of`` returns the text of a recently found page, without I/O.
    """

    def text_of(self, url: str) -> GivenText | None: ...


@runtime_checkable
class Lexicon(Protocol):
    """A provider that knows how rare words are in the texts that it searches.

    ``rarity`` returns BM25's inverse document frequency of each term (as made by
    ``bot.text.terms``) over the passages searched, at least 0; the key "" has the value of a term
    that occurs nowhere. A term that occurs only in documents outside ``reach`` counts as occurring
    nowhere. Raises like ``SearchProvider.search``.
    """

    async def rarity(self, terms: Sequence[str], reach: Reach = EVERYTHING) -> dict[str, float]: ...


@dataclass(frozen=True, slots=True)
class Unread:
    """How many ``files`` there are in the folders of documents, and how many of them are of kinds
    that are not read: pairs of an ending (".psd"; "" for none) and a number, the most first.
    ``partly`` are the titles of documents that lost much of their text, ``failed`` the names of
    files that could not be read, the first ones."""

    files: int = 0
    endings: tuple[tuple[str, int], ...] = ()
    partly: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        return sum(number for _, number in self.endings)

    @property
    def kinds(self) -> str:
        """The most frequent endings with their numbers: ".psd 3, .dwg 1"."""
        named = [f"{ending or '–'} {number:,}" for ending, number in self.endings[:ENDINGS]]
        return ", ".join(named) + ", …" * (len(self.endings) > ENDINGS)


@runtime_checkable
class Indexed(Protocol):
    """A provider that searches an index of files.

    ``missing`` returns how many documents cannot be found yet because the index is still being
    built, ``unread`` what can never be found, counted in the folders within ``reach``, and which of
    the documents at ``urls`` are incomplete. Both raise like ``SearchProvider.search``.
    """

    async def missing(self) -> int: ...

    async def unread(self, urls: Sequence[str], reach: Reach = EVERYTHING) -> Unread: ...


Matched = tuple[bool, tuple[str, ...]]


@runtime_checkable
class Narrowing(Protocol):
    """A provider that can restrict a search to files with certain names and dates.

    ``narrowed`` returns what of a filter applies: names that files within ``reach`` have, and dates
    unless no such file is of them, which the second value says. What would leave nothing out does
    not apply. ``matched`` returns whether a filter means any file and, if not, names of files and
    folders like those that no file has. Both raise like ``SearchProvider.search``.
    """

    async def narrowed(self, only: Filter, reach: Reach = EVERYTHING) -> tuple[Filter, bool]: ...

    async def matched(self, only: Filter, reach: Reach = EVERYTHING) -> Matched: ...


@runtime_checkable
class Weighing(Protocol):
    """A page reader that can rate by meaning how well passages of its pages fit a question.

    ``weighs`` decides by the URL alone, without I/O. ``weigh`` compares them with other passages
    within ``reach``, returns nothing if it currently cannot, and raises like ``PageReader.read``.
    """

    def weighs(self, url: str) -> bool: ...

    async def weigh(
        self, question: str, url: str, reach: Reach = EVERYTHING
    ) -> tuple[Weight, ...]: ...


@runtime_checkable
class Reporting(Protocol):
    """A provider that can report its health, without using much of its quota.

    ``report`` says what works: "A test search was answered. 1,204 credits are left." It raises like
    ``SearchProvider.search``.
    """

    async def report(self) -> Sentence: ...


_TRADITIONAL_CHINESE = {"HANT", "TW", "HK", "MO"}


def language(query: Query) -> str:
    """The primary language in lower case, ``de`` for ``de-AT``; "" if unknown."""
    first = _parts(query.language)[0].lower()
    return first if first.isascii() and first.isalpha() and len(first) in (2, 3) else ""


def region(query: Query) -> str:
    """The region in upper case: the query's own or that of its language tag; "" if unknown."""
    named = [query.region, *_parts(query.language)[1:]]
    codes = (code.upper() for code in named if len(code) == 2 and code.isascii() and code.isalpha())
    return next(codes, "")


def is_traditional_chinese(query: Query) -> bool:
    """Return True if the query asks for Chinese in traditional characters."""
    parts = [part.upper() for part in _parts(query.language)]
    named = [*parts[1:], query.region.upper()]
    if "HANS" in named:
        return False
    return parts[0] == "ZH" and not _TRADITIONAL_CHINESE.isdisjoint(named)


def _parts(tag: str) -> list[str]:
    return tag.strip().replace("_", "-").split("-")


@dataclass(frozen=True, slots=True)
class Policy:
    """The limits for one provider.

    ``rate``: calls per second on average; ``burst``: calls at once. Further calls wait in line for
    at most ``patience`` seconds. ``deadline``: seconds for one search or read once its turn has
    come, including retries. ``attempts``: number of calls, including the first. ``failures`` in a
    row open the circuit breaker for ``rest`` seconds. ``ttl``: seconds for which a search result is
    cached, 0 for not at all. ``awaited``: seconds that a search waits for this provider once others
    have found enough; if it takes longer, a note says so. None: ``blend.PATIENCE``, without a note.
    ``usd``: the most that one search costs; what costs money is never searched on a guess.
    """

    patience: float = 60.0
    deadline: float = 12.0
    attempts: int = 3
    rate: float = math.inf
    burst: int = 1
    failures: float = 5
    rest: float = 30.0
    ttl: float = 900.0
    awaited: float | None = None
    usd: float = 0.0


Client = Callable[[], "httpx.AsyncClient"]


def needed(value: SecretStr | str | None, provider: str, setting: str) -> str:
    """A key or address that a provider requires.

    Raises ``InvalidSetting`` if the provider was chosen without it.
    """
    if not value:
        raise InvalidSetting(
            f"The search provider {provider} needs {setting}: set it, or leave {provider} out of "
            "FOOTNOTE_PROVIDERS or --provider."
        )
    return value if isinstance(value, str) else value.get_secret_value()


S = TypeVar("S", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Declaration(Generic[S]):
    """A search provider as declared by its module.

    ``settings`` is its own subclass of ``PartSettings``, or ``core.settings.Settings`` if it needs
    none. ``build`` creates the provider; the client that it may request is shared, and closed by
    its owner. ``is_on`` returns whether the settings ask for the provider (by a key or an
    address): it is then searched, unless ``FOOTNOTE_PROVIDERS`` excludes it. ``is_fallback`` marks
    providers that are searched only if no other is switched on.
    """

    name: str
    settings: type[S]
    build: Callable[[S, Client], SearchProvider]
    is_on: Callable[[S], bool]
    policy: Callable[[S], Policy] = field(default=lambda _: Policy())
    is_fallback: bool = False


def nearest(name: str, known: Sequence[str]) -> str:
    """The end of a sentence about an unknown name: the nearest known one, or all of them."""
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    return f" Did you mean {near[0]}?" if near else f" Choose from: {', '.join(known)}."
