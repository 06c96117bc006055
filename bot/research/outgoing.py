"""A run's outgoing queries: checks all of them, and searches and reads ahead while a model thinks.

No query with content of documents is sent to the web. Documents may be searched for anything, since
that search stays inside.

The results of prefetching are ready when the run itself searches and reads. It is not a step of the
run: it is not in the journal, not shown, and not counted; models see only what they ask for, so it
costs no tokens. It is bounded, and paused while many runs are in progress.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from bot.core.errors import FootnoteError, InvalidSetting, Refused
from bot.core.logs import get_logger
from bot.core.messages import Attachment, Message, Transcript
from bot.core.reader import is_document
from bot.pages.page import Page
from bot.pages.urls import dedupe_key
from bot.reasoning.evidence import Source
from bot.research.library import Library
from bot.search.blend import SearchResult
from bot.search.provider import Hit, ProviderKind, Query
from bot.text.terms import STOP_WORDS, fold, has_cjk, keywords, terms

LONGEST = 200  # characters of a query, unless people wrote all of it themselves
RUN = 64  # consecutive letters and digits from private text; names are shorter
RUN_CJK = 32  # the same in Chinese, Japanese or Korean; names of laws have up to 30
RUN_OF_KEY = 16  # the same if they look like (part of) a key or an identification number
OPAQUE = 12  # minimum letters and digits of a key or an encoded text
PIECES = 16  # the same for one split into pieces
SPELLED = 6  # single letters and digits that a query may have
UNEVEN = 5  # changes between letters and digits, or to capitals, from which pieces are not names
NAMED = 5  # words named in a refusal
REMEMBERED = 2_000  # letters and digits of earlier queries, checked together with later ones
NEAR = 0.85  # Jaccard similarity of keywords from which one query repeats another: with a word
# more, one of up to five words asks for something else

_YEAR = re.compile(r"(?:1[5-9]|20)[0-9]{2}")
_RISES = re.compile(r"(?<=[a-z])[A-Z]")
_CHANGES = re.compile(r"(?<=[0-9])[^\W\d_]|(?<=[^\W\d_])[0-9]")


@dataclass(slots=True)
class KnownTexts:
    """Texts of one origin, in the forms used for comparison: ``squeezed``, and their ``terms``."""

    squeezed: list[str] = field(default_factory=list)
    terms: set[str] = field(default_factory=set)

    def add(self, text: str) -> None:
        if bare := squeeze(text):
            self.squeezed.append(bare)
            self.terms.update(terms(text))

    def holds(self, run: str) -> bool:
        return any(run in text for text in self.squeezed)


class Exposure:
    """The texts of one run by origin: from people, from web pages, and from documents. With
    ``keeps_documents``, once a document was shown, queries may use only words that people wrote or
    that web pages have.
    """

    def __init__(self, *, keeps_documents: bool = True) -> None:
        self.people = KnownTexts()
        self.public = KnownTexts()
        self.private = KnownTexts()
        self.titles = KnownTexts()  # of private pages: a name may be long, and is not a passage
        self.has_document = False
        self._keeps_documents = keeps_documents
        self._sent = ("", "")  # letters and digits of earlier queries, and of their unknown words

    def objection(self, text: str) -> str:
        """Return why a query may not be sent to the web, for its author; "" if it may.

        A query that may be sent counts as sent.
        """
        bare = squeeze(text)
        if len(bare) >= RUN_OF_KEY and self.people.holds(bare):
            return ""  # a shorter one may be part of a word
        if len(text) > LONGEST:
            return f"a query has at most {LONGEST} characters. Search for a few words."
        if not self.private.squeezed:
            self.public.add(text)  # its author had seen nothing private
            return ""
        if key := next(self._keys(text), ""):
            return f'"{key}" looks like a key or a code that no person wrote here. Leave it out.'
        earlier, own = self._sent
        sent = (earlier + bare, own + "".join(self._own(text)))
        if any(map(self._repeats, (bare, bare[::-1], *sent))):
            return (
                "it repeats a passage of a document or of an earlier answer. "
                "Search for a few words of the question."
            )
        if self._keeps_documents and self.has_document and (words := self._unknown(text)):
            named = ", ".join(f'"{word}"' for word in words[:NAMED])
            return (
                f"documents were read, and neither a message here nor a web page that was read has "
                f"{named}. Use words of the question."
            )
        self._sent = (sent[0][-REMEMBERED:], sent[1][-REMEMBERED:])
        return ""

    def _repeats(self, bare: str) -> bool:
        """Return True if a run of letters and digits is in private text, and nowhere else."""
        size = RUN_CJK if has_cjk(bare) else RUN
        runs = [bare[at : at + size] for at in range(len(bare) - size + 1)]
        runs = [run for run in runs if not self.titles.holds(run)]
        if any(map(str.isdigit, bare)):
            short = (bare[at : at + RUN_OF_KEY] for at in range(len(bare) - RUN_OF_KEY + 1))
            runs += [run for run in short if _is_of_key(run)]
        return any(self.private.holds(run) and not self._is_free(run) for run in runs)

    def _is_free(self, bare: str) -> bool:
        return self.people.holds(bare) or self.public.holds(bare)

    def _keys(self, text: str) -> Iterator[str]:
        """Yield strings that look like keys, in one piece or split into small ones."""
        pieces = unicodedata.normalize("NFKC", text).split()
        letters = [piece for piece in pieces if len(squeeze(piece)) == 1 and not has_cjk(piece)]
        if len(letters) > SPELLED:
            yield " ".join(letters)
        small: list[str] = []
        for piece in (*pieces, ""):
            bare = "".join(filter(str.isalnum, piece))
            if _YEAR.fullmatch(bare):
                continue
            if is_opaque(bare) and not self._is_free(squeeze(piece)):
                yield piece
            is_uneven = len(bare) <= 2 or any(map(str.isdigit, bare)) or _RISES.search(bare)
            if bare and is_uneven and not self._is_known(bare):
                small.append(piece)
                continue
            if _is_key_in_pieces(small):
                yield " ".join(small)
            small = []

    def _own(self, text: str) -> list[str]:
        """Return the words found neither in people's texts nor on web pages, squeezed."""
        return [bare for word in text.split() if not self._is_known(bare := squeeze(word))]

    def _unknown(self, text: str) -> list[str]:
        known = self.people.terms | self.public.terms
        return [term for term in keywords(text) if term not in known and term not in STOP_WORDS]

    def _is_known(self, word: str) -> bool:
        found = terms(word)
        return all(
            term in STOP_WORDS or term in self.people.terms or term in self.public.terms
            for term in found
        )


def squeeze(text: str) -> str:
    """Return the letters and digits of a text, folded, without anything between them."""
    return "".join(filter(str.isalnum, fold(text)))


def is_opaque(bare: str) -> bool:
    """Return True if a string of letters and digits looks like a key, an identification number, or
    base64 or hexadecimal text, and not like a word, a name of software or a date."""
    if len(bare) < OPAQUE or has_cjk(bare):
        return False
    digits = sum(map(str.isdigit, bare))
    if not digits:  # camel case rises once in a word, base64 at every fourth character
        return len(bare) >= 56 or (len(bare) >= 16 and len(_RISES.findall(bare)) * 5 > len(bare))
    changes = len(_CHANGES.findall(bare))
    return digits >= 10 or changes >= (2 if len(bare) >= 16 else 3)


def _is_key_in_pieces(pieces: Sequence[str]) -> bool:
    bare = "".join(filter(str.isalnum, "".join(pieces)))
    if len(pieces) < 2 or len(bare) < PIECES:
        return False
    uneven = len(_CHANGES.findall(bare)) + len(_RISES.findall(bare))
    return sum(map(str.isdigit, _YEAR.sub("", bare))) >= 10 or uneven >= UNEVEN


def _is_of_key(run: str) -> bool:
    """Return True if a folded run is not prose: it has long numbers, or digits among its
    letters."""
    return sum(map(str.isdigit, _YEAR.sub("", run))) >= 6 or len(_CHANGES.findall(run)) >= UNEVEN


def of_hosts(hosts: Sequence[str]) -> str:
    """Return the words in host names: all labels but the last."""
    return " ".join(label for host in hosts for label in host.split(".")[:-1] if label != "www")


def repeats(words: frozenset[str], earlier: frozenset[str]) -> bool:
    """Return True if keywords (``bot.text.terms.keywords``) nearly equal those of an earlier
    query."""
    union = words | earlier
    return words == earlier or len(words & earlier) >= NEAR * len(union) > 0


class QueryWithheld(Refused):
    """A query may not be sent to the web; the sentence is for its author."""


class Outgoing:
    """See the module docstring. ``sources`` is the run's growing list of shown sources."""

    def __init__(
        self,
        library: Library,
        message: Message,
        transcript: Transcript,
        sources: Sequence[Source],
        *,
        keeps_documents: bool,
    ) -> None:
        self._library = library
        self._sources = sources
        self._taken = 0  # number of sources already remembered
        self._exposure = Exposure(keeps_documents=keeps_documents)
        self._documents: set[str] = set()  # addresses of files, and of all but web pages
        self._asked(message.text, message.attachments)
        for link in message.links:
            self._exposure.people.add(link)
        self._remember(transcript)

    async def search(
        self, query: Query, providers: tuple[str, ...] = (), kind: ProviderKind | None = None
    ) -> SearchResult:
        """See ``Library.search``. Raises ``QueryWithheld`` before anything is sent, if the web must
        not see the query."""
        if "web" in self._kinds(providers, kind):
            self._take()
            if why := self._exposure.objection(_words_of(query)):
                raise QueryWithheld(f"Not sent to the web: {why}")
        return await self._library.search(query, providers, kind)

    async def reach(
        self, query: Query, providers: tuple[str, ...] = (), kind: ProviderKind | None = None
    ) -> tuple[SearchResult, str]:
        """Search wherever the query may be sent; returns the result, and the reason if it was
        withheld from the web. Raises like ``Library.search``."""
        try:
            return await self.search(query, providers, kind), ""
        except QueryWithheld as withheld:
            if self._kinds(providers, kind) == {"web"}:
                return SearchResult(()), withheld.sentence
            found = await self.search(query, providers, "knowledge")
            return found, f"{withheld.sentence} The documents were searched."

    def _kinds(
        self, providers: tuple[str, ...], kind: ProviderKind | None
    ) -> frozenset[ProviderKind]:
        """Return the kinds that would be searched: see ``search.blend.Search.search``."""
        kinds = self._library.can_search(providers)
        return frozenset({kind}) if kind is not None and kind in kinds else kinds

    def hear(self, text: str) -> None:
        """Let queries use the words of a picture that people sent, but no key that it shows: nobody
        wrote that here."""
        self._exposure.private.add(text)
        words = (word for word in text.split() if not is_opaque(squeeze(word)))
        self._exposure.people.add(" ".join(words))

    def show(self, hits: Sequence[Hit]) -> None:
        for hit in hits:
            if self._is_document(hit.url) or not self._is_of_web(hit):
                self._documents.add(dedupe_key(hit.url))
            self._add(hit.url, hit.title, (hit.snippet,))

    def _asked(self, text: str, files: Sequence[Attachment]) -> None:
        for said in (text, *(file.name for file in files)):
            self._exposure.people.add(said)
        self._documents |= {file.url for file in files}

    def _remember(self, transcript: Transcript) -> None:
        for entry in transcript.entries:
            if entry.role == "person":
                self._asked(entry.text, entry.files)
                continue
            for text in (entry.text, entry.question):
                self._exposure.private.add(text)
            for cited in entry.cited:
                self._add(cited.url, cited.title, (cited.heading, cited.quote))

    def _take(self) -> None:
        """Remember the sources shown since the last query."""
        for source in self._sources[self._taken :]:
            texts = [text for each in source.passages for text in (each.heading, each.text)]
            self._add(source.url, source.title, texts)
        self._taken = len(self._sources)

    def _add(self, url: str, title: str, texts: Sequence[str]) -> None:
        is_document = self._is_document(url)
        self._exposure.has_document |= is_document
        shown = self._exposure.private if is_document else self._exposure.public
        for text in (title, *texts):
            shown.add(text)
        if is_document:
            self._exposure.titles.add(title)

    def _is_document(self, url: str) -> bool:
        is_web = url.startswith(("http://", "https://")) and not is_document(url)
        if url in self._documents or not is_web:
            return True
        return dedupe_key(url) in self._documents

    def _is_of_web(self, hit: Hit) -> bool:
        try:
            return "web" in self._library.can_search((hit.provider,))
        except InvalidSetting:
            return False  # its provider is no longer configured


def _words_of(query: Query) -> str:
    return " ".join(filter(None, (query.text, of_hosts(query.domains))))


MOST_SEARCHES = 8  # guessed searches
READ_OF_GUESS = 2  # pages read ahead from the hits of a guessed search

T = TypeVar("T")

log = get_logger()


@dataclass(frozen=True, slots=True)
class _Guess:
    query: Query
    kind: ProviderKind | None
    words: frozenset[str]
    result: asyncio.Task[SearchResult]


class Prefetcher:
    """Prefetches searches and pages for one run. ``pages`` limits the pages read; 0 switches
    prefetching off.

    A run with several stages may ``renew`` the limits at each of them.
    """

    def __init__(
        self,
        library: Library,
        outgoing: Outgoing,
        pages: int,
        providers: tuple[str, ...] = (),
    ) -> None:
        self._library = library
        self._outgoing = outgoing
        self._pages = pages
        self.renew()
        self._providers = providers
        self._guesses: list[_Guess] = []
        self._reads: dict[str, asyncio.Task[Page]] = {}  # by dedupe key
        self._tasks: set[asyncio.Task[Any]] = set()

    def renew(self) -> None:
        """Reset the limits on pages and searches."""
        self._pages_left = self._pages
        self._searches_left = MOST_SEARCHES if self._pages else 0

    def search(self, queries: Sequence[Query], kind: ProviderKind | None = None) -> None:
        """Start likely searches that cost nothing, and read the best of their hits."""
        if self._library.price(self._providers, kind):
            return
        for query in queries:
            if self._searches_left <= 0 or self._library.is_busy:
                return
            self._searches_left -= 1
            task = self._begin(self._search(query, kind))
            self._guesses.append(_Guess(query, kind, frozenset(keywords(query.text)), task))

    def read(self, urls: Sequence[str]) -> None:
        """Start to read the pages likely to be chosen, likeliest first."""
        for url in urls:
            if self._pages_left <= 0 or self._library.is_busy:
                return
            if dedupe_key(url) not in self._reads:
                self._pages_left -= 1
                self._read(url)

    async def ready(self, urls: Sequence[str], seconds: float) -> tuple[str, ...]:
        """Return the pages that can be read within ``seconds``, in the order given.

        They will certainly be needed, so they are read regardless of the limit on pages.
        """
        tasks = {url: self._reads.get(dedupe_key(url)) or self._read(url) for url in urls}
        if tasks:
            await asyncio.wait(tasks.values(), timeout=seconds)
        return tuple(url for url, task in tasks.items() if _has_succeeded(task))

    async def page(self, url: str) -> Page | None:
        """A page whose reading has begun; None for any other. Raises what reading it raises."""
        task = self._reads.get(dedupe_key(url))
        return None if task is None else await asyncio.shield(task)

    async def found(self, query: Query, kind: ProviderKind | None) -> SearchResult | None:
        """Return the result of a prefetched search for nearly the same words, if there is one."""
        words = frozenset(keywords(query.text))
        for guess in self._guesses:
            alike = replace(query, text=guess.query.text) == guess.query and kind == guess.kind
            if alike and repeats(words, guess.words):
                try:
                    return await asyncio.shield(guess.result)
                except FootnoteError:
                    return None  # the run searches itself, and reports the failure
        return None

    async def aclose(self) -> None:
        """Cancel what is in progress; fetches that another run waits for continue."""
        self._guesses.clear()
        self._reads.clear()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _search(self, query: Query, kind: ProviderKind | None) -> SearchResult:
        result = await self._outgoing.search(query, self._providers, kind)
        self.read([hit.url for hit in result.hits[:READ_OF_GUESS]])
        return result

    def _read(self, url: str) -> asyncio.Task[Page]:
        task = self._reads[dedupe_key(url)] = self._begin(self._library.read(url))
        return task

    def _begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        self._library.ahead.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        self._library.ahead.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, FootnoteError):
            log.error("working ahead broke", error=repr(error))


def _has_succeeded(task: asyncio.Task[Any]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None
