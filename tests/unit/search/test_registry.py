"""The providers that the settings choose."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.core.errors import InvalidSetting, NoProviderAvailable
from bot.core.settings import Settings
from bot.operation.configuration import load_settings
from bot.search.indexer import Indexer
from bot.search.provider import Query
from bot.search.registry import open_search, user_agent


def settings(tmp_path: Path, **values: object) -> Settings:
    return load_settings(data_dir=tmp_path / "data", **values)


@pytest.fixture
def docs(tmp_path: Path) -> str:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "tides.md").write_text("# Tides\n\nThe moon pulls the sea.\n")
    return str(folder)


async def test_without_anything_wikipedia_is_searched(tmp_path: Path) -> None:
    search = open_search(settings(tmp_path))
    assert search.names == ("wikipedia",)
    await search.aclose()


async def test_with_documents_they_are_searched(tmp_path: Path, docs: str) -> None:
    search = open_search(settings(tmp_path, docs=docs))
    assert search.names == ("local",)
    await search.aclose()


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
        ("zzz", "Choose from: brave, local, searxng, serper, tavily, wikipedia."),
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


async def test_documents_are_found_and_read_end_to_end(tmp_path: Path, docs: str) -> None:
    configured = settings(tmp_path, docs=docs)
    Indexer(configured.index_path).index(configured.docs)
    search = open_search(configured)
    (hit,) = (await search.search(Query("what does the moon pull?", 5))).hits
    page = await search.read(hit.url)
    assert page is not None
    assert "The moon pulls the sea." in page.text
    assert await search.read("https://example.org/") is None
    await search.aclose()


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
