"""Discovery of search providers, and their settings among all others."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.core import plugins
from bot.core.errors import InvalidSetting
from bot.core.plugins import PartSettings
from bot.core.settings import Settings
from bot.operation.configuration import known_names, load_settings, settings_class
from bot.search.registry import configured_names, declarations, open_search

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
                       switched_on=lambda settings: settings.atlas_api_key is not None)
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


def test_one_provider_is_searched_where_nothing_is_switched_on() -> None:
    assert [each.name for each in declarations().values() if each.is_fallback] == ["wikipedia"]


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


def test_the_core_settings_name_no_key_of_a_provider() -> None:
    fields = set(Settings.model_fields)
    for declared in declarations().values():
        if issubclass(declared.settings, PartSettings):
            assert fields.isdisjoint(declared.settings.model_fields)


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


def test_a_key_may_stand_in_the_toml_file() -> None:
    Path("footnote.toml").write_text('brave_search_api_key = "toml"\n')
    assert configured_names(load_settings()) == ("brave",)


def test_the_key_that_braves_own_tools_read_is_taken_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAVE_API_KEY", "key")
    assert configured_names(load_settings()) == ("brave",)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("FOOTNOTE_BRAVE_ULR", "FOOTNOTE_BRAVE_URL"),
        ("FOOTNOTE_SEARXNG", "FOOTNOTE_SEARXNG_URL"),
        ("FOOTNOTE_TAVLY_URL", "FOOTNOTE_TAVILY_URL"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(
    monkeypatch: pytest.MonkeyPatch, name: str, near: str
) -> None:
    monkeypatch.setenv(name, "x")
    with pytest.raises(InvalidSetting, match=f"Did you mean {near}"):
        load_settings()


def test_a_wrong_value_names_the_setting_and_shows_no_secret(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SERPER_API_KEY", "very-secret")
    settings = load_settings()
    monkeypatch.setenv("FOOTNOTE_BRAVE_RATE", "0")
    with pytest.raises(InvalidSetting, match="FOOTNOTE_BRAVE_RATE") as caught:
        load_settings()
    assert "very-secret" not in repr(settings) + str(settings) + str(caught.value)


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
