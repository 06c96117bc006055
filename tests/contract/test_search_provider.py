"""The contract of every search provider; a new one starts here: add it to ``PROVIDERS``.

Each case knows one library of pages and opens the provider over it. What the provider must do is
the same for all: hits best first and within the limit, plain snippets, empty lists for what is not
there, errors by meaning. Those that read their own pages (``READERS``) find them under the
addresses of their hits.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.core.errors import PageUnreadable, ProviderUnavailable
from bot.core.settings import Settings
from bot.operation.configuration import load_settings, settings_class
from bot.pages.passages import split
from bot.search.indexer import Indexer
from bot.search.local_documents import LocalDocuments
from bot.search.mediawiki import MediaWiki
from bot.search.provider import Hit, Lexicon, PageReader, Query, SearchProvider
from bot.search.registry import declarations
from tests.fakes.claude_search import FakeClaudeSearch
from tests.fakes.engines import KEY, FakeEngine
from tests.fakes.mediawiki import WIKI_PAGES, FakeWiki
from tests.fakes.web_engines import FakeBrave, FakeSearxng, FakeSerper, FakeTavily
from tests.unit.search.readers import Inside


@dataclass(frozen=True, slots=True)
class Case:
    """A provider over the tests' wiki pages; ``missing`` is an address of its kind with no page."""

    provider: Any
    missing: str


def _settings(url: str) -> Settings:
    return load_settings(wikipedia_url=url)


@asynccontextmanager
async def _wiki(wiki: FakeWiki) -> AsyncIterator[Case]:
    url = "http://wiki.example"
    async with httpx.AsyncClient(transport=httpx.ASGITransport(wiki.app)) as client:
        provider = MediaWiki(_settings(url), client)
        async with aclosing(provider):
            yield Case(provider, f"{url}/wiki/No_such_page")
    assert wiki.complaints == []


@asynccontextmanager
async def plain_wiki(request: pytest.FixtureRequest) -> AsyncIterator[Case]:
    async with _wiki(FakeWiki()) as case:
        yield case


@asynccontextmanager
async def cirrus_wiki(request: pytest.FixtureRequest) -> AsyncIterator[Case]:
    async with _wiki(FakeWiki(cirrus=True)) as case:
        yield case


@asynccontextmanager
async def wiki_without_extracts(request: pytest.FixtureRequest) -> AsyncIterator[Case]:
    async with _wiki(FakeWiki(extracts=False)) as case:
        yield case


@asynccontextmanager
async def live_mediawiki(request: pytest.FixtureRequest) -> AsyncIterator[Case]:
    url = request.getfixturevalue("live_wiki").url
    async with httpx.AsyncClient() as client:
        provider = MediaWiki(_settings(url), client)
        async with aclosing(provider):
            yield Case(provider, f"{url}/wiki/No_such_page")


@asynccontextmanager
async def local_documents(request: pytest.FixtureRequest) -> AsyncIterator[Case]:
    folder: Path = request.getfixturevalue("tmp_path")
    docs = folder / "docs"
    docs.mkdir()
    for number, (title, text) in enumerate(WIKI_PAGES.items()):
        if not text.startswith("#REDIRECT"):
            body = text.replace("'''", "").replace("[[", "").replace("]]", "")
            body = re.sub(r"(?m)^(==+) (.+) ==+$", lambda m: "#" * len(m[1]) + " " + m[2], body)
            (docs / f"{number}.md").write_text(f"# {title}\n\n{body}\n", encoding="utf-8")
    index = folder / "data" / "index.sqlite"
    Indexer(index, readers=Inside()).index([docs])
    provider = LocalDocuments(index, [docs])
    try:
        yield Case(provider, (docs / "none.md").as_uri())
    finally:
        await provider.aclose()


Opener = Callable[[pytest.FixtureRequest], AbstractAsyncContextManager[Case]]


def engine(name: str, fake: Callable[[], FakeEngine]) -> Opener:
    @asynccontextmanager
    async def open_engine(request: pytest.FixtureRequest) -> AsyncIterator[Case]:
        engine = fake()
        settings = load_settings(**{f"{name}_url": f"https://{name}.example/"}, **KEYS)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(engine.app)) as client:
            yield Case(declarations()[name].build(settings, lambda: client), "")
        assert engine.complaints == []

    return open_engine


@asynccontextmanager
async def claude_search(request: pytest.FixtureRequest) -> AsyncIterator[Case]:
    api = FakeClaudeSearch()
    settings = load_settings(anthropic_base_url="https://claude.example/", **KEYS)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(api.app)) as client:
        yield Case(declarations()["claude"].build(settings, lambda: client), "")
    assert api.complaints == []


KEYS = {
    "anthropic_api_key": KEY,
    "serper_api_key": KEY,
    "brave_search_api_key": KEY,
    "tavily_api_key": KEY,
}

READERS = [
    pytest.param(plain_wiki, id="MediaWiki"),
    pytest.param(cirrus_wiki, id="MediaWiki with CirrusSearch"),
    pytest.param(wiki_without_extracts, id="MediaWiki without TextExtracts"),
    pytest.param(live_mediawiki, id="Debian's MediaWiki", marks=pytest.mark.slow),
    pytest.param(local_documents, id="local documents"),
]

PROVIDERS = [
    *READERS,
    pytest.param(engine("searxng", FakeSearxng), id="SearXNG"),
    pytest.param(engine("serper", FakeSerper), id="Serper"),
    pytest.param(engine("brave", FakeBrave), id="Brave"),
    pytest.param(engine("tavily", FakeTavily), id="Tavily"),
    pytest.param(claude_search, id="Claude's web search"),
]


@pytest.fixture(params=PROVIDERS)
async def case(request: pytest.FixtureRequest) -> AsyncIterator[Case]:
    opener: Opener = request.param
    async with opener(request) as opened:
        yield opened


@pytest.fixture(params=READERS)
async def reader(request: pytest.FixtureRequest) -> AsyncIterator[Case]:
    opener: Opener = request.param
    async with opener(request) as opened:
        yield opened


async def test_finds_the_page_that_a_question_is_about(case: Case) -> None:
    hits = await case.provider.search(Query("What does the Journal of Tides publish?", 5))
    assert hits[0].title == "Journal of Tides"


async def test_finds_a_page_by_words_of_its_text(case: Case) -> None:
    hits = await case.provider.search(Query("singer born Zanzibar", 5))
    assert "Freddie Mercury" in [hit.title for hit in hits]


@pytest.mark.parametrize("title", ["C++", "AC/DC", "Stone Town", "长城", 'What? & "Why"'])
async def test_finds_a_page_by_its_title_whatever_characters_that_has(
    case: Case, title: str
) -> None:
    hits = await case.provider.search(Query(title, 5))
    assert hits[0].title == title


async def test_finds_a_chinese_page_by_a_question(case: Case) -> None:
    hits = await case.provider.search(Query("长城在哪里？", 5))
    assert [hit.title for hit in hits] == ["长城"]


async def test_hits_are_complete_values_of_the_provider(case: Case) -> None:
    provider: SearchProvider = case.provider
    for hit in await provider.search(Query("Mercury", 10)):
        assert isinstance(hit, Hit)
        assert hit.provider == provider.name
        assert hit.title == hit.title.strip() != ""
        assert "://" in hit.url
        assert hit.url.isascii()


async def test_snippets_are_plain_text_on_one_line(case: Case) -> None:
    hits = await case.provider.search(Query("Mercury", 10))
    assert any(hit.snippet for hit in hits)
    for hit in hits:
        assert hit.snippet == " ".join(hit.snippet.split())
        for mark in ("<span", "&amp;", "&#", "[[", "]]", "'''", "{{", "=="):
            assert mark not in hit.snippet


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
async def test_no_more_hits_than_asked_for_and_each_page_once(case: Case, limit: int) -> None:
    hits = await case.provider.search(Query("Mercury", limit))
    urls = [hit.url for hit in hits]
    assert 1 <= len(urls) <= limit
    assert len(set(urls)) == len(urls)


async def test_equal_searches_give_equal_hits(case: Case) -> None:
    first = await case.provider.search(Query("Mercury orbit Sun", 10))
    assert await case.provider.search(Query("Mercury orbit Sun", 10)) == first


@pytest.mark.parametrize("query", ["xyzzyplugh", "?", "", "   ", "***", "-", '"'])
async def test_what_is_not_there_gives_an_empty_list(case: Case, query: str) -> None:
    assert await case.provider.search(Query(query, 5)) == []


@pytest.mark.parametrize(
    "query",
    [
        '"Journal of Tides" AND (quarterly OR NOT president)',
        "intitle:Mercury -planet ~moon*",
        "Mercury | planet > < [x] {y} # z\\",
        "'; DROP TABLE files; --",
        "title:mercury NEAR(planet sun, 3) ^mercury",
        "mercury\x00planet\ttab\nline",
        "🚀 mercury 🌍",
        "Mercury " * 2_000,
        "水" * 5_000,
    ],
)
async def test_any_query_is_words_and_nothing_else(case: Case, query: str) -> None:
    assert isinstance(await case.provider.search(Query(query, 5)), list)


async def test_reads_what_it_found_under_the_same_address(reader: Case) -> None:
    (hit,) = await reader.provider.search(Query("Journal of Tides", 1))
    assert isinstance(reader.provider, PageReader)
    assert reader.provider.reads(hit.url)
    page = await reader.provider.read(hit.url)
    assert page.url == hit.url
    assert page.title == hit.title
    assert "quarterly published by the Coastal Union since 1971" in page.text


async def test_a_page_keeps_its_sections(reader: Case) -> None:
    hits = await reader.provider.search(Query("Mercury planet rotation", 5))
    url = next(hit.url for hit in hits if hit.title == "Mercury (planet)")
    page = await reader.provider.read(url)
    headings = {passage.text: passage.heading for passage in split(page.text)}
    (turns,) = [text for text in headings if "three times in two orbits" in text]
    assert headings[turns].endswith("Orbit › Rotation")
    assert "\n## Orbit\n" in page.text
    assert re.search(r"\n[-*] Mariner 10\n[-*] MESSENGER(\n|$)", page.text)


async def test_a_page_is_text_without_markup_and_dated(reader: Case) -> None:
    hits = await reader.provider.search(Query("Mercury element boils", 5))
    page = await reader.provider.read(next(h.url for h in hits if h.title == "Mercury (element)"))
    assert "It was used in thermometers & barometers." in page.text
    assert "<" not in page.text
    assert "'''" not in page.text
    assert page.fetched_at.tzinfo is not None
    assert page.fetched_at <= datetime.now(UTC)


async def test_a_missing_page_is_unreadable(reader: Case) -> None:
    assert reader.provider.reads(reader.missing)
    with pytest.raises(PageUnreadable) as caught:
        await reader.provider.read(reader.missing)
    assert caught.value.sentence.endswith(".")


@pytest.mark.parametrize(
    "url",
    [
        "https://elsewhere.example/wiki/Mercury",
        "mailto:someone@example.org",
        "ftp://127.0.0.1/wiki/Mercury",
        "not a url",
        "",
        "file://somewhere/else",
        "http://[::1",
        "javascript:alert(1)",
    ],
)
def test_reads_nothing_of_others(reader: Case, url: str) -> None:
    assert not reader.provider.reads(url)


WISHES = [
    Query("Mercury", 5, language="en"),
    Query("Mercury", 5, language="en-GB", region="GB"),
    Query("长城", 5, language="zh-Hans"),
    Query("长城", 5, language="zh-Hant", region="TW"),
    Query("Mercury", 5, language="tlh-x-strange", region="??"),
    Query("Mercury", 5, freshness="day"),
    Query("Mercury", 5, freshness="week"),
    Query("Mercury", 5, freshness="month"),
    Query("Mercury", 5, freshness="year"),
    Query("Mercury", 5, domains=("wiki.example", "*.other.example", "no host", "http://[")),
    Query("Mercury " * 200, 5, domains=tuple(f"{'x' * 40}{n}.example" for n in range(400))),
]


@pytest.mark.parametrize("query", WISHES, ids=lambda query: str(WISHES.index(query)))
async def test_wishes_are_followed_or_left_out_but_never_an_error(case: Case, query: Query) -> None:
    hits = await case.provider.search(query)
    assert len(hits) <= query.limit


@pytest.mark.parametrize("name", sorted(declarations()))
async def test_a_provider_that_is_not_there_is_unavailable(name: str, tmp_path: Path) -> None:
    """Nothing listens on the discard port of loopback."""
    declared = declarations()[name]
    places = {
        field: "http://127.0.0.1:9"
        for field in settings_class().model_fields
        if field.startswith((f"{name}_", "anthropic_")) and field.endswith("_url")
    }
    settings = load_settings(data_dir=tmp_path, **places, **KEYS)
    async with httpx.AsyncClient() as client:
        provider = declared.build(settings, lambda: client)
        with pytest.raises(ProviderUnavailable) as caught:
            await provider.search(Query("anything", 5))
    assert caught.value.sentence.endswith(".")


def test_every_provider_is_held_to_this_contract() -> None:
    """A new file in ``bot.search.providers`` has a case here."""
    named = " ".join(str(case.id) for case in PROVIDERS).lower()
    usual = {"wikipedia": "mediawiki"}
    assert [name for name in declarations() if usual.get(name, name) not in named] == []


async def test_who_knows_how_rare_words_are_tells_it_of_all(case: Case) -> None:
    if not isinstance(case.provider, Lexicon):
        return
    rarity = await case.provider.rarity(["mercuri", "zanzibar", "xyzzyplugh"])
    assert 0 < rarity["mercuri"] < rarity["zanzibar"] < rarity["xyzzyplugh"] == rarity[""]
