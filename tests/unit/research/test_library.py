"""Pages from providers, the web and caches; earlier answers' sources."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest

from bot.core.errors import (
    AddressRefused,
    BrowserNeeded,
    FootnoteError,
    PageUnreadable,
    Unavailable,
)
from bot.core.messages import Answer, Citation, Entry, Message, RunOptions, Transcript
from bot.operation.configuration import load_settings
from bot.pages.page import Page
from bot.pages.pictures import Scans
from bot.reasoning.closest_reasoner import Closest
from bot.reasoning.evidence import Rewritten, SubQuestion, Turn, Workspace
from bot.reasoning.reasoner import OnAnswer, Reasoner
from bot.research.library import Library
from bot.research.pipeline import Pipeline
from bot.research.quoting import recall
from bot.research.run import Run
from bot.search.blend import Search
from bot.search.engines import SuppliedTexts
from bot.search.provider import GivenText, Hit, ProviderKind, Query
from tests.fakes.library import Shelf, a_shelf
from tests.fakes.poster import Streamed
from tests.fakes.reasoner import Scripted
from tests.unit.research.conftest import BUDGET, OpenRun
from tests.unit.samples import a_message

URL = "https://a.example/tides"


class Engine:
    """A provider that gives the text of every page along with the hit."""

    kind: ProviderKind = "web"

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self._text = text
        self._texts = SuppliedTexts(name.title())

    async def search(self, query: Query) -> list[Hit]:
        self._texts.keep(URL, "Tides", self._text)
        return [Hit("Tides", URL, "They rise.", self.name)]

    def text_of(self, url: str) -> GivenText | None:
        return self._texts.of(url)


class Fetcher:
    """Fails with these errors, one after the other, and then has the page."""

    def __init__(self, *errors: FootnoteError) -> None:
        self.errors = list(errors)

    async def fetch(self, url: str) -> Page:
        if self.errors:
            raise self.errors.pop(0)
        return Page(url, "Tides", "The page itself.", datetime.now(UTC))

    async def read_file(self, url: str, data: bytes, media_type: str, name: str) -> Page:
        raise AssertionError("no file")

    async def scans(self, name: str, data: bytes) -> Scans:
        raise AssertionError("no file")

    async def read_given(
        self, url: str, title: str, text: str, via: str, media_type: str = "text/markdown"
    ) -> Page:
        if text == "a wall":
            raise BrowserNeeded("It is a wall, too.")
        return Page(url, title, text, datetime.now(UTC), via=via)

    async def aclose(self) -> None: ...


async def nothing_kept(url: str, since: datetime) -> Page | None:
    return None


@asynccontextmanager
async def library(fetcher: Fetcher, *texts: str) -> AsyncIterator[Library]:
    engines = [Engine(name, text) for name, text in zip(("tavily", "brave"), texts, strict=False)]
    opened = Library(Search(engines), fetcher, nothing_kept, 60.0)
    try:
        if engines:
            await opened.search(Query("tides"))
        yield opened
    finally:
        await opened.aclose()


@pytest.mark.parametrize("error", [BrowserNeeded("A wall."), Unavailable("It is down.")])
async def test_what_an_engine_gave_stands_in_for_the_page(error: FootnoteError) -> None:
    async with library(Fetcher(error), "They rise and fall.", "They rise.") as shelf:
        page = await shelf.read(URL)
        assert (page.url, page.title, page.text) == (URL, "Tides", "They rise and fall.")
        assert page.via == "Tavily"
        again = await shelf.read(URL)  # the site is asked anew
        assert (again.text, again.via) == ("The page itself.", "")


@pytest.mark.parametrize("error", [AddressRefused("robots.txt."), PageUnreadable("It is gone.")])
async def test_what_is_closed_or_gone_stays_so(error: FootnoteError) -> None:
    async with library(Fetcher(error), "They rise.") as shelf:
        with pytest.raises(type(error)):
            await shelf.read(URL)


@pytest.mark.parametrize("texts", [(), ("a wall",)])
async def test_without_a_text_the_site_is_told_of(texts: tuple[str, ...]) -> None:
    async with library(Fetcher(BrowserNeeded("A wall.")), *texts) as shelf:
        with pytest.raises(BrowserNeeded, match=r"^A wall\.$"):
            await shelf.read(URL)


BRIDGE = "Bridge of 1890 is red.\n\nIts toll was 2 shillings."
TOWER = "Tower that is 330 m tall."
CANAL = "Canal of 1790. Its toll was 3 shillings."
UNREAD = "https://example.org/3"


async def cited(run: Run, url: str, quote: str, number: int) -> Citation:
    """A footnote onto a page that the run reads now."""
    [page] = await run.read([url])
    assert isinstance(page, Page)
    start = page.text.index(quote)
    return Citation(number, url, page.title, quote, page.hash, start, start + len(quote))


def answered(question: str, text: str, *footnotes: Citation) -> Entry:
    return Entry("footnote", "Footnote", text, question, footnotes)


@dataclass
class Afterwards:
    """A run after two answers of its thread, whose pages are stored."""

    run: Run
    shelf: Shelf
    answers: list[Entry] = field(default_factory=list)

    async def ask(self, text: str, reasoner: Reasoner | None = None) -> Answer:
        self.run.message = a_message(text)
        fallback = Closest(self.run.calls)
        thread = Transcript(tuple(self.answers))
        settings = load_settings()
        on_text = list[str]().append
        return await Pipeline(
            self.run, reasoner or fallback, fallback, thread, settings, Streamed(on_text)
        ).research()


@pytest.fixture
async def afterwards(open_run: OpenRun) -> Afterwards:
    shelf = a_shelf(BRIDGE, TOWER, CANAL)
    before = await open_run(shelf)
    red = await cited(before, "https://example.org/1", "Bridge of 1890 is red.", 2)
    tall = await cited(before, "https://example.org/2", TOWER, 1)
    answers = [
        answered("What colour is the bridge?", "Bridge of 1890 is red [2].", red),
        answered("How tall is the tower?", "Tower that is 330 m tall [1].", tall),
    ]
    shelf.read_urls.clear()
    return Afterwards(await open_run(shelf, replace(BUDGET, pages=1)), shelf, answers)


async def test_the_words_cited_come_from_the_page_as_it_was_read(afterwards: Afterwards) -> None:
    run, shelf, answers = afterwards.run, afterwards.shelf, afterwards.answers
    run.recalled = {c.url: c.page_hash for answer in answers for c in answer.cited}
    shelf.pages = {}  # whatever has become of them since
    evidence = await recall(run, answers)
    quoted = [[passage.text for passage in source.passages] for source in evidence.sources]
    assert quoted == [["Bridge of 1890 is red."], [TOWER]]
    assert (shelf.read_urls, run.usage.pages, run.steps) == ([], 0, ())  # more than the budget has


async def test_a_page_that_is_no_longer_stored_is_fetched(afterwards: Afterwards) -> None:
    quote = "Its toll was 3 shillings."
    citation = Citation(1, UNREAD, "Canal", quote, "gone", 7, 7 + len(quote))
    lost = replace(citation, quote="Words that it has no more.")
    afterwards.run.recalled = {UNREAD: "gone"}
    evidence = await recall(afterwards.run, [answered("What toll?", "", citation, lost)])
    assert [p.text for p in evidence.sources[0].passages] == [quote]
    assert afterwards.shelf.read_urls == [UNREAD]
    nothing = await recall(afterwards.run, [answered("What toll?", "", lost)])
    assert (nothing.sources, nothing.enough) == ((), False)


@pytest.mark.parametrize("style", ["answer", "report"])
async def test_what_a_source_was_is_told_without_search_or_fetch(
    afterwards: Afterwards, style: str
) -> None:
    afterwards.run.options = RunOptions(style="report" if style == "report" else "answer")
    answer = await afterwards.ask("What was source 2?")
    assert (answer.status, answer.queries, answer.usage.pages) == ("answered", (), 0)
    assert answer.text == "#### Bridge\n\nBridge of 1890 is red [1]."
    assert [c.quote for c in answer.citations] == ["Bridge of 1890 is red."]
    assert (afterwards.shelf.searched, afterwards.shelf.read_urls) == ([], [])
    assert answer.doubts == ()


async def test_what_a_source_says_may_stand_elsewhere_on_the_stored_page(
    afterwards: Afterwards,
) -> None:
    answer = await afterwards.ask("What does [2] say about the toll?")
    assert "2 shillings" in answer.text
    assert (afterwards.shelf.searched, afterwards.shelf.read_urls) == ([], [])


async def test_the_conversation_is_summed_up_with_footnotes(afterwards: Afterwards) -> None:
    answer = await afterwards.ask("Summarize this conversation")
    assert answer.text.startswith("### Closest passages\n\n#### ")
    assert "\n\nBridge of 1890 is red [1]." in answer.text
    assert "\n\nTower that is 330 m tall [2]." in answer.text
    assert {c.url for c in answer.citations} == {"https://example.org/1", "https://example.org/2"}
    assert (answer.status, answer.queries, answer.usage.pages) == ("answered", (), 0)


@dataclass
class Linked(Scripted):
    """Takes every message for a question about the third page, and may choose nothing."""

    async def rewrite(
        self, transcript: Transcript, message: Message, instructions: str = ""
    ) -> Rewritten:
        return Rewritten("links", message.text, links=(UNREAD,))

    async def next_turn(
        self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
    ) -> Turn:
        raise AssertionError("The page is read and the answer written: there is nothing to choose.")


async def test_a_question_about_a_linked_page_goes_the_direct_way(afterwards: Afterwards) -> None:
    answer = await afterwards.ask("What does it say about the toll?", Linked())
    assert afterwards.shelf.read_urls == [UNREAD]
    assert (afterwards.shelf.searched, answer.queries, answer.usage.pages) == ([], (), 1)
