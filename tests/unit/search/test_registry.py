"""The known providers: discovered, chosen by the settings, opened."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount

from bot.core import plugins
from bot.core.errors import InvalidSetting, NoProviderAvailable
from bot.core.plugins import PartSettings
from bot.core.settings import Settings
from bot.operation.configuration import known_names, load_settings, settings_class
from bot.operation.diagnosis import examine
from bot.search.indexer import Indexer
from bot.search.provider import Query
from bot.search.registry import configured_names, declarations, open_search, user_agent
from tests.fakes.engines import FakeEngine
from tests.fakes.server import serve
from tests.fakes.web_engines import FakeBrave, FakeSearxng, FakeSerper, FakeTavily
from tests.unit.search.engines import KEYS


def settings(tmp_path: Path, **values: object) -> Settings:
    return load_settings(data_dir=tmp_path / "data", **values)


@pytest.fixture
def docs(tmp_path: Path) -> str:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "tides.md").write_text("# Tides\n\nThe moon pulls the sea.\n")
    return str(folder)


async def test_the_configured_providers_are_searched_each_once(tmp_path: Path, docs: str) -> None:
    names = "wikipedia,local,wikipedia"
    search = open_search(settings(tmp_path, docs=docs, providers=names))
    assert search.names == ("wikipedia", "local")
    await search.aclose()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("wikpedia", "Did you mean wikipedia?"),
        ("Wikipedia", "Did you mean wikipedia?"),
        ("locale", "Did you mean local?"),
        ("zzz", "Choose from: brave, claude, local, searxng, serper, tavily, wikipedia."),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        open_search(settings(tmp_path, providers=name))
    assert name in caught.value.sentence
    assert said in caught.value.sentence


def test_documents_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="no file or folder"):
        open_search(settings(tmp_path, docs=str(tmp_path / "none")))


async def test_documents_that_are_not_indexed_yet_say_what_to_do(tmp_path: Path, docs: str) -> None:
    configured = settings(tmp_path, docs=docs)
    search = open_search(configured)
    for _ in range(10):  # no breaker opens over it: indexing helps at once
        with pytest.raises(NoProviderAvailable, match="run `footnote index FOLDER` first"):
            await search.search(Query("moon", 5))
    Indexer(configured.index_path).index(configured.docs)
    assert (await search.search(Query("moon", 5))).hits
    await search.aclose()


def test_the_user_agent_names_program_and_library() -> None:
    assert user_agent().startswith("FootnoteBot/")
    assert "httpx/" in user_agent()
    assert "(ops@corp.example; footnote-bot;" in user_agent("ops@corp.example")


ROOT = Path(__file__).parents[3]

PACKAGE = """
from bot.core.plugins import PartSettings, named_field
from bot.search.provider import Declaration
from bot.search.provider import Hit
from pydantic import Field, SecretStr

class AtlasSettings(PartSettings):
    atlas_url: str = Field("https://atlas.example", description="where Atlas is reached")
    atlas_api_key: SecretStr | None = named_field("ATLAS_API_KEY", description="its key")

class Atlas:
    name, kind = "atlas", "knowledge"
    def __init__(self, url):
        self.url = url
    async def search(self, query):
        return [Hit(query.text, self.url + "/page", "", "atlas")]

PROVIDER = Declaration("atlas", AtlasSettings, lambda settings, client: Atlas(settings.atlas_url),
                       is_on=lambda settings: settings.atlas_api_key is not None)
"""


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def _rediscovered() -> Iterator[None]:
    """Forget before and after what was found: it is remembered for the process."""
    for remembered in (plugins.all_points, declarations, settings_class):
        remembered.cache_clear()
    yield
    for remembered in (plugins.all_points, declarations, settings_class):
        remembered.cache_clear()
    sys.modules.pop("atlas_search", None)


def install(folder: Path, code: str, value: str = "atlas_search:PROVIDER") -> None:
    """A package as pip leaves it behind: a module, and metadata with an entry point."""
    (folder / "atlas_search.py").write_text(code)
    metadata = folder / "atlas_search-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: atlas-search\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[footnote.search_providers]\natlas = {value}\n")


# ---------------------------------------------------------------- our own files


def test_every_file_among_the_providers_is_one() -> None:
    folder = ROOT / "bot" / "search" / "providers"
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert set(declarations()) >= files


def test_every_setting_of_a_provider_says_what_it_means_and_whose_it_is() -> None:
    for name, declared in declarations().items():
        if issubclass(declared.settings, PartSettings):
            for field, info in declared.settings.model_fields.items():
                assert field.startswith(f"{name}_")
                assert info.description
                assert not info.is_required()


@pytest.mark.parametrize(
    ("settings", "searched"),
    [
        ({}, ("wikipedia",)),
        ({"anthropic_api_key": "k"}, ("claude", "wikipedia")),
        ({"anthropic_api_key": "k", "anthropic_base_url": "http://gateway"}, ("wikipedia",)),
        ({"anthropic_api_key": "k", "serper_api_key": "s"}, ("serper",)),
        ({"anthropic_api_key": "k", "docs": ["."]}, ("local",)),
        ({"anthropic_api_key": "k", "providers": ["wikipedia"]}, ("wikipedia",)),
    ],
)
def test_fallbacks_are_searched_only_where_nothing_else_is_switched_on(
    settings: dict[str, Any], searched: tuple[str, ...]
) -> None:
    assert configured_names(load_settings(**settings)) == searched


def test_reading_the_settings_loads_nothing_that_searching_needs() -> None:
    code = (
        "import sys; from bot.operation.configuration import load_settings; load_settings();"
        "print([m for m in ('httpx', 'stamina', 'cachetools', 'sqlite3') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"


# ---------------------------------------------------------------- settings


def test_a_providers_settings_come_from_all_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("footnote.toml").write_text('serper_url = "http://toml"\nbrave_rate = 20\n')
    Path(".env").write_text("TAVILY_API_KEY=dotenv\nFOOTNOTE_SERPER_URL=http://dotenv\n")
    monkeypatch.setenv("SERPER_API_KEY", "environment")
    settings = load_settings(brave_url="http://option")
    assert {
        "serper_api_key": SecretStr("environment"),
        "serper_url": "http://dotenv",
        "tavily_api_key": SecretStr("dotenv"),
        "brave_rate": 20.0,
        "brave_url": "http://option",
    }.items() <= dict(settings).items()


def test_the_key_that_braves_own_tools_read_is_taken_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAVE_API_KEY", "key")
    assert configured_names(load_settings()) == ("brave",)


# ---------------------------------------------------------------- which are searched


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({}, ("wikipedia",)),
        ({"docs": "."}, ("local",)),
        ({"tavily_api_key": "k"}, ("tavily",)),
        ({"searxng_url": "http://s"}, ("searxng",)),
        ({"docs": ".", "serper_api_key": "k"}, ("local", "serper")),
        (
            {
                "docs": ".",
                "searxng_url": "http://s",
                "serper_api_key": "k",
                "brave_search_api_key": "k",
                "tavily_api_key": "k",
            },
            ("brave", "local", "searxng", "serper", "tavily"),
        ),
        ({"tavily_api_key": "k", "providers": "wikipedia"}, ("wikipedia",)),
        ({"tavily_api_key": "k", "providers": "wikipedia,tavily"}, ("wikipedia", "tavily")),
        ({"brave_url": "http://gateway"}, ("wikipedia",)),
    ],
)
def test_what_is_switched_on_is_searched(values: dict[str, str], names: tuple[str, ...]) -> None:
    assert configured_names(load_settings(**values)) == names


@pytest.mark.parametrize("name", ["brave", "searxng", "serper", "tavily"])
def test_a_provider_that_is_chosen_but_not_set_up_says_what_it_needs(name: str) -> None:
    with pytest.raises(
        InvalidSetting,
        match=rf"{name} needs \w+: set it, or leave {name} out of FOOTNOTE_PROVIDERS or --provider",
    ):
        open_search(load_settings(providers=name))


# ---------------------------------------------------------------- installed packages


@pytest.mark.usefixtures("_rediscovered")
def test_an_installed_package_may_bring_a_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, PACKAGE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("ATLAS_API_KEY", "k")
    monkeypatch.setenv("FOOTNOTE_ATLAS_URL", "https://other.example")

    settings = load_settings()

    assert configured_names(settings) == ("atlas",)
    assert open_search(settings).names == ("atlas",)
    assert {"ATLAS_API_KEY", "FOOTNOTE_ATLAS_URL"} <= set(known_names())


@pytest.mark.usefixtures("_rediscovered")
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import nothing_there", "of the package atlas-search cannot be loaded"),
        ("PROVIDER = 7", "of the package atlas-search declares no search provider"),
    ],
)
def test_a_package_that_does_not_work_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, said: str
) -> None:
    install(tmp_path, code)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InvalidSetting, match=said):
        load_settings()


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


# ---------------------------------------------------------------- doctor


async def test_doctor_gives_each_provider_a_line_with_its_quota(
    web: Web, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await examine(web.settings())
    lines = [line for line in capsys.readouterr().out.splitlines() if "Search (" in line]
    assert lines == [
        "✓ Search (brave): A test search worked. 1,999 of the 2,000 requests of this month are"
        " left.",
        "✓ Search (searxng): A test search found nothing.",
        "✓ Search (serper): A test search worked. 2,500 credits are left.",
        "✓ Search (tavily): A test search worked. 0 of 1,000 credits are used.",
    ]


async def test_doctor_names_the_provider_that_fails_and_the_way_out(
    web: Web, capsys: pytest.CaptureFixture[str]
) -> None:
    web.engines["searxng"].failures.append(PlainTextResponse("Forbidden", 403))
    assert not await examine(web.settings(providers="searxng,tavily,nobody", tavily_api_key="x"))
    shown = capsys.readouterr().out
    assert "✗ Search (searxng): SearXNG does not give results as JSON: add json" in shown
    assert "✗ Search (tavily): Tavily does not accept its key: correct TAVILY_API_KEY." in shown
    assert "✗ Search (nobody): FOOTNOTE_PROVIDERS or --provider names nobody" in shown
    assert "✓ Storage" in shown
