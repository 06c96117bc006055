"""The MediaWiki provider against Debian's MediaWiki; the contract suite runs against it as well."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

import httpx
import pytest

from bot.core.errors import PageUnreadable
from bot.operation.configuration import load_settings
from bot.search.mediawiki import MediaWiki
from bot.search.provider import Hit, Query
from tests.fakes.mediawiki import FakeWiki
from tests.live.mediawiki import LiveWiki


@pytest.fixture
async def requests() -> list[httpx.URL]:
    return []


@pytest.fixture
async def wiki(live_wiki: LiveWiki, requests: list[httpx.URL]) -> AsyncIterator[MediaWiki]:
    async def note(request: httpx.Request) -> None:
        requests.append(request.url)

    async with (
        httpx.AsyncClient(event_hooks={"request": [note]}) as client,
        aclosing(MediaWiki(load_settings(wikipedia_url=live_wiki.url), client)) as wiki,
    ):
        yield wiki


async def _titles(wiki: MediaWiki, query: str) -> list[str]:
    return [hit.title for hit in await wiki.search(Query(query, 10))]


async def test_a_search_finds_words_in_texts(wiki: MediaWiki) -> None:
    assert await _titles(wiki, "thermometers barometers") == ["Mercury (element)"]


async def test_a_question_finds_the_pages_it_names(wiki: MediaWiki) -> None:
    question = "Who was the first president of the association that publishes Journal of Tides?"
    assert (await _titles(wiki, question))[0] == "Journal of Tides"


async def test_a_question_without_names_finds_by_fewer_keywords(wiki: MediaWiki) -> None:
    assert "Coastal Union" in await _titles(wiki, "which association had a president named Reef")


async def test_a_search_leads_through_redirects(wiki: MediaWiki, live_wiki: LiveWiki) -> None:
    (hit,) = await wiki.search(Query("Hydrargyrum", 1))
    assert (hit.title, hit.url) == (
        "Mercury (element)",
        f"{live_wiki.url}/wiki/Mercury_(element)",
    )


async def test_reading_a_redirect_gives_the_article_under_its_own_address(
    wiki: MediaWiki, live_wiki: LiveWiki
) -> None:
    page = await wiki.read(f"{live_wiki.url}/wiki/Quicksilver")
    assert page.title == "Mercury (element)"
    assert page.url == f"{live_wiki.url}/wiki/Mercury_(element)"


async def test_a_disambiguation_page_is_replaced_by_what_it_lists(wiki: MediaWiki) -> None:
    hits = await wiki.search(Query("Mercury", 10))
    assert [hit.title for hit in hits] == [
        "Mercury (planet)",
        "Mercury (element)",
        "Freddie Mercury",
    ]
    assert hits[0].snippet == "Mercury (planet), the innermost planet"


async def test_of_a_disambiguation_page_what_the_query_speaks_of_comes_first(
    wiki: MediaWiki,
) -> None:
    assert (await _titles(wiki, "Mercury metal"))[0] == "Mercury (element)"


async def test_sections_lists_and_paragraphs_are_kept(wiki: MediaWiki, live_wiki: LiveWiki) -> None:
    page = await wiki.read(f"{live_wiki.url}/wiki/Mercury_(planet)")
    assert page.text == (
        "Mercury is the first planet from the Sun.\n\n"
        "It has no moon.\n\n"
        "## Orbit\n\n"
        "Mercury goes round the Sun in 88 days.\n\n"
        "### Rotation\n\n"
        "It turns three times in two orbits.\n\n"
        "## Exploration\n\n"
        "These probes have been there:\n\n"
        "- Mariner 10\n- MESSENGER"
    )


async def test_without_textextracts_the_rendered_page_is_read(
    live_wiki_without_extracts: LiveWiki,
) -> None:
    url = live_wiki_without_extracts.url
    async with httpx.AsyncClient() as client:
        wiki = MediaWiki(load_settings(wikipedia_url=url), client)
        planet = await wiki.read(f"{url}/wiki/Mercury_(planet)")
        table = await wiki.read(f"{url}/wiki/Tide_table")
        await wiki.aclose()
    assert "## Orbit\n\nMercury goes round the Sun in 88 days." in planet.text
    assert "### Rotation" in planet.text
    assert "| Dover | 11:05 |" in table.text


@pytest.mark.parametrize(
    ("address", "title"),
    [
        ("/wiki/C%2B%2B", "C++"),
        ("/wiki/C++", "C++"),
        ("/wiki/AC/DC", "AC/DC"),
        ("/wiki/AC%2FDC", "AC/DC"),
        ("/wiki/What%3F_%26_%22Why%22", 'What? & "Why"'),
        ("/wiki/%E9%95%BF%E5%9F%8E", "长城"),
        ("/wiki/长城#历史", "长城"),
        ("/w/index.php?title=Stone_Town", "Stone Town"),
        ("/w/index.php?title=stone%20Town&action=view", "Stone Town"),
        ("/w/index.php/Stone_Town", "Stone Town"),
    ],
)
async def test_articles_are_read_by_any_form_of_their_address(
    wiki: MediaWiki, live_wiki: LiveWiki, address: str, title: str
) -> None:
    assert wiki.reads(live_wiki.url + address)
    page = await wiki.read(live_wiki.url + address)
    assert page.title == title
    assert title in page.text


async def test_a_chinese_page_is_found_and_read(wiki: MediaWiki) -> None:
    (hit,) = await wiki.search(Query("长城的历史是什么", 5))
    page = await wiki.read(hit.url)
    assert page.text.endswith("## 历史\n\n秦始皇统一中国后修筑万里长城。")


@pytest.mark.parametrize("title", ["No_such_page", "A%3Cb%3E", "Special:Version", "Nowhere:Else"])
async def test_what_is_no_article_is_unreadable(
    wiki: MediaWiki, live_wiki: LiveWiki, title: str
) -> None:
    with pytest.raises(PageUnreadable):
        await wiki.read(f"{live_wiki.url}/wiki/{title}")


@pytest.mark.parametrize("path", ["", "/", "/w", "/w/", "/wiki", "/w/api.php", "/w/index.php"])
async def test_the_wiki_is_found_whatever_part_of_its_address_is_configured(
    live_wiki: LiveWiki, path: str
) -> None:
    async with httpx.AsyncClient() as client:
        wiki = MediaWiki(load_settings(wikipedia_url=live_wiki.url + path), client)
        (hit,) = await wiki.search(Query("Stone Town", 1))
        assert (await wiki.read(hit.url)).title == "Stone Town"
        await wiki.aclose()


async def test_a_search_costs_few_requests(wiki: MediaWiki, requests: list[httpx.URL]) -> None:
    await wiki.search(Query("Stone Town", 10))
    requests.clear()
    await wiki.search(Query("Stone Town", 10))
    assert len(requests) == 3
    requests.clear()
    await wiki.search(Query("qqqq wwww eeee rrrr tttt", 10))
    assert len(requests) == 6


@pytest.mark.shared
async def test_pages_of_the_shared_data_are_found_by_their_titles(
    wiki: MediaWiki, live_wiki: LiveWiki, shared_data: Path
) -> None:
    pages = json.loads((shared_data / "multihop" / "pages.json").read_text(encoding="utf-8"))
    titles = [title for title in pages if title in live_wiki.titles][:40]
    found = [title for title in titles if title in await _titles(wiki, title)]
    assert found == titles


@pytest.mark.parametrize(
    "ask",
    [
        lambda wiki: wiki.search(Query("Mercury", 10)),
        lambda wiki: wiki.search(Query("Stone Town", 10)),
        lambda wiki: wiki.search(Query("Hydrargyrum", 10)),
        lambda wiki: wiki.search(Query("singer born", 10)),
        lambda wiki: wiki.search(Query("chemical symbol", 10)),
    ],
)
async def test_the_fake_wiki_answers_as_the_real_one(
    wiki: MediaWiki, live_wiki: LiveWiki, ask: Callable[[MediaWiki], Awaitable[list[Hit]]]
) -> None:
    """The unit tests rest on this: on the same pages both give the same hits."""
    fake = FakeWiki()
    transport = httpx.ASGITransport(fake.app)
    async with httpx.AsyncClient(transport=transport) as client:
        imagined = await ask(MediaWiki(load_settings(wikipedia_url=live_wiki.url), client))
    real = await ask(wiki)
    assert {(hit.title, hit.url, hit.snippet) for hit in imagined} == {
        (hit.title, hit.url, hit.snippet) for hit in real if hit.title in fake.pages
    }
