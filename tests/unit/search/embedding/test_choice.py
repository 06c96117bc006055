"""The embedder that the settings ask for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.configuration import load_settings
from bot.errors import InvalidSetting
from bot.search.embedding.choice import make_embedder, open_embedder
from bot.search.embedding.endpoint import Endpoint
from bot.search.embedding.onnx_model import OnnxModel
from tests.fakes.embeddings import KEY, MODEL, FakeEmbeddings
from tests.fakes.server import serve

URL = "http://embeddings.example"


def test_there_is_none_by_default() -> None:
    assert make_embedder(load_settings(), httpx.AsyncClient) is None
    assert not load_settings().has_embedder


def test_an_address_with_a_model_is_an_endpoint() -> None:
    settings = load_settings(embeddings_url=URL, embeddings_model=MODEL)

    assert isinstance(make_embedder(settings, httpx.AsyncClient), Endpoint)


def test_a_folder_is_a_model_even_before_it_is_there(tmp_path: Path) -> None:
    settings = load_settings(embeddings_model_dir=tmp_path / "to-come")

    assert isinstance(make_embedder(settings, httpx.AsyncClient), OnnxModel)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"embeddings_url": URL}, "name the model"),
        (
            {"embeddings_url": URL, "embeddings_model": MODEL, "embeddings_model_dir": Path()},
            "keep one",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(values: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidSetting, match=words):
        make_embedder(load_settings(**values), httpx.AsyncClient)


async def test_an_endpoint_gets_all_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeEmbeddings(key=KEY, types=frozenset({"query"}))
    monkeypatch.setenv("FOOTNOTE_EMBEDDINGS_QUERY_PREFIX", "query: ")
    monkeypatch.setenv("FOOTNOTE_EMBEDDINGS_INPUT_TYPE", "true")
    monkeypatch.setenv("FOOTNOTE_EMBEDDINGS_API_KEY", KEY)
    monkeypatch.setenv("FOOTNOTE_EMBEDDINGS_MODEL", MODEL)
    with serve(fake.app) as url:
        monkeypatch.setenv("FOOTNOTE_EMBEDDINGS_URL", url)
        async with open_embedder(load_settings()) as embedder:
            assert embedder is not None
            await embedder.embed_question("How?")

    assert fake.embedded == ["query: How?"]
    assert fake.complaints == []
