"""A corpus to search and read in benches, and one question worked on it without a model."""

from __future__ import annotations

import asyncio
import math
import tempfile
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

from bot.core.errors import PageUnreadable
from bot.core.messages import RunOptions, Transcript
from bot.pages.choosing import Study, rank, study
from bot.pages.page import Page
from bot.pages.passages import split
from bot.pages.pictures import Scans
from bot.reasoning.closest_reasoner import Closest
from bot.reasoning.evidence import SubQuestion
from bot.research import quoting
from bot.research.budget import Account, Budget
from bot.research.composer import Checked
from bot.research.library import Library
from bot.research.run import Resources, Run, RunQuestion
from bot.research.working_set import Reading
from bot.search.blend import SearchResult
from bot.search.indexer import Indexer
from bot.search.local_documents import LocalDocuments
from bot.search.provider import Hit, ProviderKind, Query, Unread
from bot.storage.journal import open_journal
from bot.storage.store import Store, open_store
from bot.text.terms import keywords, terms
from tests.unit.samples import NOW, a_message, a_thread

K1, B = 0.9, 0.4  # the BM25 parameters of Anserini's baselines
SHOWN = 10  # hits of a query that a reasoner sees
READ_TOKENS = 1_200  # of a page


class _Whole:
    """All pages are there: nothing is fetched, and no text comes with a question."""

    async def unread(self, *_: object) -> Unread:
        return Unread()

    def price(self, providers: tuple[str, ...] = (), kind: ProviderKind | None = None) -> float:
        return 0.0

    def can_search(self, providers: tuple[str, ...] = ()) -> frozenset[ProviderKind]:
        return frozenset()

    async def fetch(self, url: str) -> Page:
        raise AssertionError("the corpus reads all pages itself")

    async def read_file(self, url: str, data: bytes, media_type: str, name: str) -> Page:
        raise AssertionError("no question comes with files")

    async def scans(self, name: str, data: bytes) -> Scans:
        raise AssertionError("no question comes with files")

    async def read_given(
        self, url: str, title: str, text: str, via: str, media_type: str = "text/markdown"
    ) -> Page:
        raise AssertionError("no page is missing")

    async def aclose(self) -> None: ...


class MemoryCorpus(_Whole):
    """Pages in memory, found by BM25 over title and text. A hit's snippet is its best passage."""

    def __init__(self, pages: Mapping[str, str]) -> None:
        self._pages = {f"https://corpus.example/{i}": page for i, page in enumerate(pages.items())}
        self._postings: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        self._lengths: dict[str, int] = {}
        self._studies: dict[str, Study] = {}  # of the pages that a search has shown
        for url, (title, text) in self._pages.items():
            words = terms(f"{title}\n{text}")
            self._lengths[url] = len(words)
            for word, count in Counter(words).items():
                self._postings[word].append((url, count))
        self._mean = sum(self._lengths.values()) / len(self._lengths)

    def best(self, query: str, limit: int) -> list[str]:
        """The URLs of the best pages."""
        scores: defaultdict[str, float] = defaultdict(float)
        for word in keywords(query):
            postings = self._postings.get(word, [])
            found = len(postings)
            rarity = math.log(1 + (len(self._pages) - found + 0.5) / (found + 0.5))
            for url, count in postings:
                length = 1 - B + B * self._lengths[url] / self._mean
                scores[url] += rarity * count * (K1 + 1) / (count + K1 * length)
        return sorted(scores, key=lambda url: (-scores[url], url))[:limit]

    def title(self, url: str) -> str:
        return self._pages[url][0]

    async def search(
        self, query: Query, providers: tuple[str, ...] = (), kind: ProviderKind | None = None
    ) -> SearchResult:
        hits = [
            Hit(self.title(url), url, self._snippet(url, query.text), "memory")
            for url in self.best(query.text, query.limit)
        ]
        return SearchResult(hits=tuple(hits), failures=())

    async def read(self, url: str) -> Page | None:
        if url not in self._pages:
            raise PageUnreadable(f"There is no page {url}.")
        title, text = self._pages[url]
        return Page(url, title, text, NOW)

    def _snippet(self, url: str, query: str) -> str:
        studied = self._studies.get(url)
        if studied is None:
            studied = self._studies[url] = study(split(self._pages[url][1]))
        scores = rank(query, studied)
        best = max(range(len(scores)), key=lambda i: (scores[i], -i), default=None)
        return "" if best is None else studied.passages[best].text


class IndexedCorpus(_Whole):
    """The same pages as Markdown files in the real index of local documents."""

    def __init__(self, documents: LocalDocuments) -> None:
        self._documents = documents

    async def search(
        self, query: Query, providers: tuple[str, ...] = (), kind: ProviderKind | None = None
    ) -> SearchResult:
        return SearchResult(hits=tuple(await self._documents.search(query)), failures=())

    async def read(self, url: str) -> Page | None:
        return await self._documents.read(url)


@asynccontextmanager
async def indexed(pages: Mapping[str, str]) -> AsyncIterator[IndexedCorpus]:
    """Write pages as files and index them."""
    with tempfile.TemporaryDirectory() as folder:
        documents = Path(folder, "documents")
        documents.mkdir()
        for i, (title, text) in enumerate(pages.items()):
            Path(documents, f"{i:05}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
        index = Path(folder, "index.sqlite")
        await asyncio.to_thread(Indexer(index).index, [documents])
        found = LocalDocuments(index, [documents])
        try:
            yield IndexedCorpus(found)
        finally:
            await found.aclose()


# ---------------------------------------------------------------- one question


@dataclass(frozen=True, slots=True)
class Worked:
    """The result of a question: the titles of the pages read, in order, and the checked answer."""

    read: tuple[str, ...]
    answer: Checked

    @property
    def quoted(self) -> str:
        return "\n".join(citation.quote for citation in self.answer.citations)


@asynccontextmanager
async def a_store() -> AsyncIterator[Store]:
    """A store in a temporary folder, for the journals of the runs."""
    with tempfile.TemporaryDirectory() as folder:
        store = await open_store(f"sqlite+aiosqlite:///{Path(folder, 'bench.sqlite')}")
        try:
            yield store
        finally:
            await store.close()


async def work(
    question: str,
    corpus: MemoryCorpus | IndexedCorpus,
    store: Store,
    *,
    pages: int,
) -> Worked:
    """Work one question without a model, as a run does."""
    record = uuid4().hex
    message = a_message(question, a_thread(record), record)
    await store.accept(record, message, RunOptions(), NOW)
    await store.claim(record, "bench", NOW, timedelta(hours=1))
    budget = Budget(model_calls=50, pages=pages, input_tokens=10**6, seconds=600, usd=10.0)
    run = Run(
        RunQuestion(record, message, RunOptions(), NOW),
        Resources(Library(corpus, corpus, _nothing_stored, page_ttl=3600)),
        await open_journal(store.database, record, 1),
        Account(budget, lambda reply: None),
        lambda plan: None,
    )
    reasoner = Closest(run.calls)
    rewritten = await reasoner.rewrite(Transcript(), message)
    asked = SubQuestion(rewritten.question, rewritten.language, rewritten.queries)
    evidence = await quoting.gather(run, asked, Reading(SHOWN, READ_TOKENS), ())
    return Worked(
        read=tuple(source.title for source in evidence.sources),  # numbered as they were read
        answer=await quoting.shown(run, reasoner, rewritten, evidence, lambda text: None),
    )


async def _nothing_stored(url: str, since: datetime) -> Page | None:
    return None
