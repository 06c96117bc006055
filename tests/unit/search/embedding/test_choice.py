"""The embedder that the settings ask for."""

from __future__ import annotations

import httpx
import pytest

from bot.core.errors import InvalidSetting
from bot.core.plugins import EXTRAS
from bot.operation.configuration import load_settings
from bot.search.embedding.choice import make_embedder, open_embedder
from bot.search.embedding.endpoint import Endpoint
from tests.fakes.embeddings import KEY, MODEL, FakeEmbeddings
from tests.fakes.server import serve

URL = "http://embeddings.example"


def test_there_is_none_by_default() -> None:
    assert make_embedder(load_settings(), httpx.AsyncClient) is None
    assert not load_settings().has_embedder


def test_an_address_with_a_model_is_an_endpoint() -> None:
    settings = load_settings(embeddings_url=URL, embeddings_model=MODEL)

    assert isinstance(make_embedder(settings, httpx.AsyncClient), Endpoint)


def test_an_address_without_a_model_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="name the model"):
        make_embedder(load_settings(embeddings_url=URL), httpx.AsyncClient)


def test_an_endpoint_needs_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTRAS, "vectors", EXTRAS["vectors"]._replace(modules=("not_installed",)))
    with pytest.raises(InvalidSetting, match=r"footnote-bot\[vectors\]"):
        make_embedder(load_settings(embeddings_url=URL, embeddings_model=MODEL), httpx.AsyncClient)


async def test_an_endpoint_gets_all_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeEmbeddings(key=KEY)
    monkeypatch.setenv("FOOTNOTE_EMBEDDINGS_QUERY_PREFIX", "query: ")
    monkeypatch.setenv("FOOTNOTE_EMBEDDINGS_API_KEY", KEY)
    monkeypatch.setenv("FOOTNOTE_EMBEDDINGS_MODEL", MODEL)
    with serve(fake.app) as url:
        monkeypatch.setenv("FOOTNOTE_EMBEDDINGS_URL", url)
        async with open_embedder(load_settings()) as embedder:
            assert embedder is not None
            await embedder.embed_question("How?")

    assert fake.embedded == ["query: How?"]
    assert fake.complaints == []
