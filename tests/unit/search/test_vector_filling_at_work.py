"""Vectors made beside other work."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.core.settings import Settings
from bot.operation.configuration import load_settings
from bot.search.indexer import Indexer
from bot.search.vector_filling import vectors_being_made
from tests.fakes.embeddings import MODEL, FakeEmbeddings
from tests.fakes.server import serve
from tests.unit.search.test_indexer import write
from tests.unit.search.test_vector_filling import rows

pytestmark = pytest.mark.usefixtures("reading_inside")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    for number in range(5):
        write(tmp_path / "docs" / f"{number}.md", f"# Page {number}\n\nWords of {number}.")
    settings = load_settings(data_dir=tmp_path / "data", docs=(str(tmp_path / "docs"),))
    Indexer(settings.index_path).index(settings.docs)
    return settings


async def test_vectors_are_made_while_something_else_is_done(settings: Settings) -> None:
    fake = FakeEmbeddings()
    with serve(fake.app) as url:
        update = {"embeddings_url": url, "embeddings_model": MODEL}
        async with vectors_being_made(settings.model_copy(update=update)):
            while rows(settings.index_path) < 5:
                await asyncio.sleep(0)

    assert fake.complaints == []
    assert len(fake.embedded) == 5


async def test_an_endpoint_that_does_not_work_disturbs_nobody(settings: Settings) -> None:
    update = {"embeddings_url": "http://127.0.0.1:9", "embeddings_model": MODEL}
    async with vectors_being_made(settings.model_copy(update=update)):
        await asyncio.sleep(0)

    assert rows(settings.index_path) == 0


async def test_without_an_embedder_nothing_is_made(settings: Settings) -> None:
    async with vectors_being_made(settings):
        await asyncio.sleep(0)

    assert rows(settings.index_path) == 0
