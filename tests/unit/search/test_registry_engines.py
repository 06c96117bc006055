"""All search engines at once, over sockets, as the settings open them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount

from bot.core.errors import NoProviderAvailable
from bot.core.settings import Settings
from bot.operation.configuration import known_names, load_settings
from bot.operation.diagnosis import examine
from bot.search.provider import Query
from bot.search.registry import open_search
from tests.fakes.engines import FakeEngine, WebPage, refusal
from tests.fakes.server import serve
from tests.fakes.web_engines import FakeBrave, FakeSearxng, FakeSerper, FakeTavily
from tests.unit.search.engines import KEYS


@dataclass
class Web:
    """Four engines behind one gateway on loopback."""

    engines: dict[str, FakeEngine]
    places: dict[str, str]
    folder: Path

    def settings(self, **values: object) -> Settings:
        places = {f"{name}_url": url for name, url in self.places.items()}
        return load_settings(data_dir=self.folder, **{**places, **KEYS, **values})


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    monkeypatch.chdir(tmp_path)
    engines: dict[str, FakeEngine] = {
        "brave": FakeBrave(),
        "searxng": FakeSearxng(),
        "serper": FakeSerper(),
        "tavily": FakeTavily(),
    }
    gateway = Starlette(routes=[Mount(f"/{name}", each.app) for name, each in engines.items()])
    with serve(gateway) as url:
        places = {name: f"{url}/{name}" for name in engines}
        yield Web(engines, places, tmp_path / "data")
    assert [complaint for each in engines.values() for complaint in each.complaints] == []


async def test_with_all_keys_all_are_asked_once_and_their_hits_are_one_list(web: Web) -> None:
    search = open_search(web.settings())
    found = await search.search(Query("Journal of Tides", 10, "en"))
    await search.aclose()
    assert search.names == ("brave", "searxng", "serper", "tavily")
    assert {name: len(each.asked) for name, each in web.engines.items()} == dict.fromkeys(
        search.names, 1
    )
    assert found.failures == ()
    assert found.hits[0].title == "Journal of Tides"
    urls = [hit.url for hit in found.hits]
    assert len(set(urls)) == len(urls)


async def test_a_page_that_engines_spell_differently_comes_once_and_first(web: Web) -> None:
    spellings = {
        "brave": "https://www.tide.example/",
        "searxng": "http://tide.example",
        "serper": "https://m.tide.example/?utm_source=serper",
        "tavily": "https://tide.example/#top",
    }
    for name, engine in web.engines.items():
        own = [WebPage(f"https://{name}{n}.example/", f"Tide {n}", "tide tide") for n in range(2)]
        engine.pages = [*own, WebPage(spellings[name], "The tide", "tide")]
    search = open_search(web.settings())
    found = await search.search(Query("tide", 30))
    await search.aclose()
    assert len(found.hits) == 9
    assert found.hits[0].title == "The tide"


async def test_blocked_domains_and_the_limit_hold_for_all(web: Web) -> None:
    for engine in web.engines.values():
        engine.pages = [
            WebPage(f"https://{host}/{n}", f"Tide {n}", "tide")
            for n in range(9)
            for host in ("good.example", "ads.spam.example")
        ]
    search = open_search(web.settings(blocked_domains="spam.example"))
    found = await search.search(Query("tide", 4))
    await search.aclose()
    assert [hit.url for hit in found.hits] == [f"https://good.example/{n}" for n in range(4)]


async def test_engines_that_fail_are_named_and_cost_the_others_nothing(web: Web) -> None:
    web.engines["serper"].failures.append(refusal(403, {"message": "Unauthorized."}))
    web.engines["tavily"].failures.append(refusal(432, {"detail": {"error": "limit"}}))
    search = open_search(web.settings())
    found = await search.search(Query("Mercury", 10))
    assert found.hits
    assert [sentence.partition(":")[0] for sentence in found.failures] == ["serper", "tavily"]
    again = await search.search(Query("Zanzibar", 10))
    await search.aclose()
    assert len(web.engines["tavily"].asked) == 1, "a spent quota is left alone"
    assert len(web.engines["serper"].asked) == 2
    assert [sentence.partition(":")[0] for sentence in again.failures] == ["tavily"]


async def test_when_all_fail_each_is_named_with_its_way_out(web: Web) -> None:
    search = open_search(web.settings(providers="serper,brave", serper_api_key="x"))
    brave = web.engines["brave"]
    assert isinstance(brave, FakeBrave)
    brave.left = (1, 0)
    with pytest.raises(NoProviderAvailable) as caught:
        await search.search(Query("Mercury", 10))
    await search.aclose()
    assert "serper: Serper does not accept its key: correct SERPER_API_KEY." in str(caught.value)
    assert "brave: The quota of Brave is used up" in str(caught.value)


async def test_documents_answer_knowledge_queries_and_engines_the_rest(
    web: Web, tmp_path: Path
) -> None:
    search = open_search(web.settings(providers="local,tavily", docs=str(tmp_path)))
    found = await search.search(Query("Mercury", 3), kind="web")
    assert {hit.provider for hit in found.hits} == {"tavily"}
    with pytest.raises(NoProviderAvailable, match="local: No documents are indexed yet"):
        await search.search(Query("Mercury", 3), kind="knowledge")
    await search.aclose()


# ---------------------------------------------------------------- doctor


async def test_doctor_gives_each_provider_a_line_with_its_quota(
    web: Web, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await examine(web.settings())
    lines = [line for line in capsys.readouterr().out.splitlines() if "Searching" in line]
    assert lines == [
        "✓ Searching brave: answered; 1,999 of 2,000 requests of this month are left",
        "✓ Searching searxng: answered with 0 results",
        "✓ Searching serper: answered; 2,500 credits are left",
        "✓ Searching tavily: answered; 0 of 1,000 credits are used",
    ]


async def test_doctor_names_the_provider_that_fails_and_the_way_out(
    web: Web, capsys: pytest.CaptureFixture[str]
) -> None:
    web.engines["searxng"].failures.append(PlainTextResponse("Forbidden", 403))
    assert not await examine(web.settings(providers="searxng,tavily,nobody", tavily_api_key="x"))
    shown = capsys.readouterr().out
    assert "✗ Searching searxng: SearXNG does not give results as JSON: add json" in shown
    assert "✗ Searching tavily: Tavily does not accept its key: correct TAVILY_API_KEY." in shown
    assert "✗ Searching nobody: FOOTNOTE_PROVIDERS or --provider names nobody" in shown
    assert "✓ Storage" in shown


async def test_doctor_lists_the_known_settings_in_lines_that_fit(
    web: Web, capsys: pytest.CaptureFixture[str]
) -> None:
    await examine(web.settings(), verbose=True)
    shown = capsys.readouterr().out
    listed = shown[shown.index("Known settings:") :]
    assert max(len(line) for line in listed.splitlines()) <= 96
    names = listed.removeprefix("Known settings:").strip().removesuffix(".")
    assert [name.strip() for name in names.split(",")] == known_names()
