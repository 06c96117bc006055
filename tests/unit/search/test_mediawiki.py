"""The MediaWiki provider: which wiki, which searches, what comes first. Wikis are fakes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.responses import Response

from bot.core.errors import PageUnreadable, ProviderUnavailable
from bot.operation.configuration import load_settings
from bot.search.mediawiki import MediaWiki
from bot.search.provider import Query
from tests.fakes.mediawiki import WIKI_PAGES, FakeWiki

URL = "http://wiki.example"


class Wikis:
    """Wikis by host; the provider is made over all of them."""

    def __init__(self) -> None:
        self.by_host: dict[str, FakeWiki] = {}
        self.made: list[MediaWiki] = []
        self.client = httpx.AsyncClient(
            transport=_Hosts(self.by_host), headers={"User-Agent": "FootnoteBot/1"}
        )

    def provider(
        self, wiki: FakeWiki | None = None, url: str = URL, language: str = "en"
    ) -> MediaWiki:
        if wiki is not None:
            self.by_host["wiki.example"] = wiki
        made = MediaWiki(load_settings(wikipedia_url=url, language=language), self.client)
        self.made.append(made)
        return made


class _Hosts(httpx.AsyncBaseTransport):
    def __init__(self, by_host: dict[str, FakeWiki]) -> None:
        self._by_host = by_host

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        wiki = self._by_host.get(request.url.host)
        if wiki is None:
            raise httpx.ConnectError("no such host")
        return await httpx.ASGITransport(wiki.app).handle_async_request(request)


@pytest.fixture
async def wikis() -> AsyncIterator[Wikis]:
    wikis = Wikis()
    yield wikis
    await wikis.client.aclose()
    for provider in wikis.made:
        await provider.aclose()
    for wiki in wikis.by_host.values():
        assert wiki.complaints == []


def titles(found: list[object]) -> list[str]:
    return [getattr(hit, "title") for hit in found]  # noqa: B009


# ---------------------------------------------------------------- which wiki


@pytest.mark.parametrize(
    ("text", "said", "configured", "asked"),
    [
        ("Who built the wall?", "", "en", "en"),
        ("Who built the wall?", "en", "de", "de"),  # also what nobody knows better
        ("Wer baute die Mauer?", "", "en", "en"),  # Latin letters do not tell for certain
        ("Wer baute die Mauer?", "de-AT", "en", "de"),
        ("Når stenger kontoret?", "nb-NO", "en", "no"),
        ("Milloin toimisto sulkeutuu?", "fi", "en", "fi"),
        ("Who was 李白?", "", "en", "en"),
        ("长城在哪里", "de", "en", "zh"),  # the script is certain
        ("東京タワーの高さは？", "", "en", "ja"),
        ("東京", "", "ja", "ja"),
        ("에펠탑은 어디에 있습니까", "", "en", "ko"),
        ("Кто построил стену?", "", "en", "ru"),
        ("Кой построи стената?", "de", "bg", "bg"),  # its own script
        ("Тарас Шевченко", "uk", "en", "uk"),  # of the languages of the script, the one it is in
        ("Тарас Шевченко", "uk", "ru", "ru"),
        ("বাংলাদেশের রাজধানী কী?", "", "en", "bn"),
        ("anything", "", "pt-BR", "pt"),
        ("anything", "", "zh-Hant", "zh"),
        ("anything", "", "zh-yue", "zh-yue"),
        ("anything", "tlh", "simple", "simple"),
        ("anything", "../x", "../evil", "en"),
    ],
)
async def test_script_and_language_of_a_query_choose_the_wiki(
    wikis: Wikis, text: str, said: str, configured: str, asked: str
) -> None:
    provider = wikis.provider(url="https://{language}.wiki.example", language=configured)
    host = f"{asked}.wiki.example"
    wikis.by_host[host] = FakeWiki(cirrus=True)
    await provider.search(Query(text, 5, language=said))
    assert wikis.by_host[host].calls


@pytest.mark.parametrize("path", ["/kb/wiki/Wall", "/kb/Wall", "/kb/index.php/Wall"])
async def test_an_article_below_the_wikis_own_path_is_read(wikis: Wikis, path: str) -> None:
    wiki = FakeWiki(pages={"Wall": "'''Wall''' is long."})
    provider = wikis.provider(wiki, url="https://wiki.example/kb")
    assert (await provider.read(f"https://wiki.example{path}")).text == "Wall is long."


async def test_every_language_is_its_own_wiki_and_is_read_as_such(wikis: Wikis) -> None:
    provider = wikis.provider(url="https://{language}.wiki.example")
    wikis.by_host["en.wiki.example"] = FakeWiki(pages={"Wall": "'''Wall''' is long."})
    wikis.by_host["zh.wiki.example"] = FakeWiki(pages={"长城": "'''长城'''很长。"})
    (hit,) = await provider.search(Query("长城", 5))
    assert hit.url == "https://zh.wiki.example/wiki/%E9%95%BF%E5%9F%8E"
    assert (await provider.read(hit.url)).text == "长城很长。"
    assert (await provider.read("https://en.wiki.example/wiki/Wall")).text == "Wall is long."


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://{language}.wiki.example", "https://de.wiki.example/wiki/A"),
        ("https://{language}.wiki.example", "https://de.m.wiki.example/wiki/A"),
        ("https://{language}.wiki.example", "https://zh-yue.wiki.example/wiki/A"),
        ("https://{language}.wiki.example", "https://ZH.wiki.example/zh-tw/A"),
        ("https://{language}.wiki.example", "http://en.wiki.example/w/index.php?title=A"),
        ("https://wiki.example", "https://wiki.example/index.php/A"),
        ("https://me:pw@wiki.example", "https://wiki.example/wiki/A"),
        ("https://wiki.example:8443/w", "https://wiki.example:8443/wiki/A"),
        ("https://wiki.example/kb", "https://wiki.example/kb/A"),
        ("https://wiki.example/{language}/w", "https://wiki.example/de/wiki/A"),
    ],
)
def test_addresses_of_the_wiki_are_its_own(wikis: Wikis, base: str, url: str) -> None:
    assert wikis.provider(url=base).reads(url)


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://{language}.wiki.example", "https://wiki.example/wiki/A"),
        ("https://{language}.wiki.example", "https://en.wiki.example.evil.example/wiki/A"),
        ("https://{language}.wiki.example", "https://evil.example/en.wiki.example/wiki/A"),
        ("https://{language}.wiki.example", "https://en.evil.wiki.example/wiki/A"),
        ("https://{language}.wiki.example", "https://me@en.wiki.example/wiki/A"),
        ("https://wiki.example", "https://wiki.example:81/wiki/A"),
        ("https://wiki.example", "https://wiki.example/"),
        ("https://wiki.example", "https://wiki.example/wiki/"),
        ("https://wiki.example", "https://wiki.example/about"),
        ("https://wiki.example", "https://wiki.example/w/api.php?action=query"),
        ("https://wiki.example", "https://wiki.example/w/index.php?curid=1"),
        ("https://wiki.example/{language}/w", "https://wiki.example/evil"),
    ],
)
def test_other_addresses_are_not(wikis: Wikis, base: str, url: str) -> None:
    assert not wikis.provider(url=base).reads(url)


async def test_a_wiki_with_articles_at_its_root_is_known_after_it_was_asked(wikis: Wikis) -> None:
    provider = wikis.provider(FakeWiki(article_path="/$1"))
    assert not provider.reads(f"{URL}/Stone_Town")
    (hit,) = await provider.search(Query("Stone Town", 1))
    assert hit.url == f"{URL}/Stone_Town"
    assert provider.reads(hit.url)
    assert (await provider.read(hit.url)).title == "Stone Town"


async def test_a_wiki_that_calls_itself_otherwise_is_read_by_that_name(wikis: Wikis) -> None:
    provider = wikis.provider(FakeWiki(server="https://public.example"))
    (hit,) = await provider.search(Query("Stone Town", 1))
    assert hit.url == "https://public.example/wiki/Stone_Town"
    assert provider.reads(hit.url)
    assert (await provider.read(hit.url)).url == hit.url


# ---------------------------------------------------------------- searching


async def test_cirrus_search_is_asked_once_and_without_srwhat(wikis: Wikis) -> None:
    wiki = FakeWiki(cirrus=True)
    await wikis.provider(wiki).search(Query("singer Zanzibar", 7))
    assert len(wiki.asked(generator="search")) == 1
    assert wiki.asked(gsrwhat="*") == []
    assert wiki.asked(gsrlimit="7")
    assert len(wiki.calls) == 2  # and once what the wiki is


async def test_without_cirrus_text_and_titles_are_searched_at_once(wikis: Wikis) -> None:
    wiki = FakeWiki()
    await wikis.provider(wiki).search(Query("singer Zanzibar", 7))
    assert len(wiki.asked(gsrwhat="text")) == 1
    assert len(wiki.asked(gsrwhat="title")) == 1
    assert len(wiki.asked(titles="*")) == 1


async def test_a_question_that_no_page_has_all_words_of_is_asked_with_fewer(wikis: Wikis) -> None:
    wiki = FakeWiki()
    found = await wikis.provider(wiki).search(
        Query("which association had A. Reef on top in 1930?", 5)
    )
    assert "Coastal Union" in titles([*found])
    assert len(wiki.asked(gsrwhat="text")) <= 4


@pytest.mark.parametrize("cirrus", [True, False])
async def test_calls_are_bounded_when_nothing_is_there(wikis: Wikis, cirrus: bool) -> None:
    wiki = FakeWiki(cirrus=cirrus)
    assert await wikis.provider(wiki).search(Query("qqqq wwww eeee rrrr tttt yyyy", 5)) == []
    assert len(wiki.calls) - 1 <= 6


async def test_a_long_query_is_cut_for_the_wiki(wikis: Wikis) -> None:
    wiki = FakeWiki(cirrus=True)
    await wikis.provider(wiki).search(Query("Mercury " * 100, 5))
    assert all(len(call.parameters.get("gsrsearch", "")) <= 300 for call in wiki.calls)


async def test_a_page_named_in_the_question_comes_before_the_texts_matches(wikis: Wikis) -> None:
    pages = {
        "Aardvark": "An aardvark is mentioned beside Stone Town here.",
        "Stone Town": "'''Stone Town''' is old.",
    }
    found = await wikis.provider(FakeWiki(pages=pages)).search(Query("Stone Town", 5))
    assert titles([*found]) == ["Stone Town", "Aardvark"]


async def test_when_one_request_fails_the_others_end_with_it(wikis: Wikis) -> None:
    wiki = FakeWiki()
    provider = wikis.provider(wiki)
    await provider.search(Query("Stone Town", 5))
    wiki.failures.append(_busy)
    with pytest.raises(ProviderUnavailable):
        await provider.search(Query("Stone Town", 5))
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_name_within_a_longer_name_is_no_name_of_its_own(wikis: Wikis) -> None:
    pages = {"York": "A city.", "New York": "A bigger city.", "New": "An adjective."}
    found = await wikis.provider(FakeWiki(pages=pages)).search(Query("How big is New York?", 5))
    assert titles([*found])[0] == "New York"
    assert "New" not in titles([*found])


async def test_a_redirect_leads_to_its_article(wikis: Wikis) -> None:
    found = await wikis.provider(FakeWiki()).search(Query("Hydrargyrum", 5))
    assert [(hit.title, hit.url) for hit in found] == [
        ("Mercury (element)", f"{URL}/wiki/Mercury_(element)")
    ]


@pytest.mark.parametrize("cirrus", [True, False])
async def test_a_disambiguation_page_gives_way_to_its_entries(wikis: Wikis, cirrus: bool) -> None:
    found = await wikis.provider(FakeWiki(cirrus=cirrus)).search(Query("Mercury", 10))
    assert "Mercury" not in titles([*found])
    assert sorted(titles([*found])) == ["Freddie Mercury", "Mercury (element)", "Mercury (planet)"]


async def test_entries_that_share_words_with_the_query_come_first(wikis: Wikis) -> None:
    found = await wikis.provider(FakeWiki()).search(Query("Mercury metal", 10))
    assert titles([*found])[0] == "Mercury (element)"


async def test_one_disambiguation_page_may_lead_to_another(wikis: Wikis) -> None:
    pages = {
        "Bank": "'''Bank''' is:\n* [[Bank (geography)]]\n* [[Bank (money)]]\n__DISAMBIG__",
        "Bank (geography)": "'''Bank''' may be:\n* [[River bank]]\n__DISAMBIG__",
        "Bank (money)": "A '''bank''' lends.",
        "River bank": "The edge of a river.",
    }
    found = await wikis.provider(FakeWiki(pages=pages)).search(Query("Bank", 10))
    assert set(titles([*found])) >= {"Bank (money)"}
    assert not {"Bank", "Bank (geography)"} & set(titles([*found]))


# ---------------------------------------------------------------- reading


async def test_the_text_comes_from_an_extract_in_one_request(wikis: Wikis) -> None:
    wiki = FakeWiki()
    page = await wikis.provider(wiki).read(f"{URL}/wiki/Mercury_(planet)")
    assert "## Orbit\n\nMercury goes round the Sun in 88 days." in page.text
    assert len(wiki.asked(explaintext="1", exsectionformat="wiki", redirects="1")) == 1
    assert wiki.asked(action="parse") == []


@pytest.mark.parametrize("extracts", [True, False])
async def test_a_page_without_text_is_unreadable(wikis: Wikis, extracts: bool) -> None:
    wiki = FakeWiki(pages={**WIKI_PAGES, "Empty": ""}, extracts=extracts)
    with pytest.raises(PageUnreadable):
        await wikis.provider(wiki).read(f"{URL}/wiki/Empty")


async def test_the_error_for_a_missing_page_names_it_and_the_wiki(wikis: Wikis) -> None:
    with pytest.raises(PageUnreadable) as caught:
        await wikis.provider(FakeWiki()).read(f"{URL}/wiki/No_such_page")
    assert caught.value.sentence == "Fake Wiki has no page called “No such page”."


# ---------------------------------------------------------------- failures, over real sockets


def _busy() -> Response:
    return Response("busy", 429, headers={"Retry-After": "3"})
