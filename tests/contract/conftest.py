"""Stages that several contracts share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.search.indexer import Indexer
from tests.contract.rights_stage import Stage, open_stage, write_documents
from tests.fakes import sqlite
from tests.live.mediawiki import live_wiki

__all__ = ["live_wiki"]


@pytest.fixture(scope="session")
def documents(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The documents of the rights' stage, and the data folder with their index."""
    root = tmp_path_factory.mktemp("rights").resolve()
    docs, data = root / "docs", root / "data"
    write_documents(docs)
    data.mkdir()
    Indexer(data / "index.sqlite").index([docs])
    return docs, data


@pytest.fixture
async def stage(
    documents: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> AsyncIterator[Stage]:
    """The rights' stage; its parameter is the setting ``guests``."""
    monkeypatch.chdir(tmp_path)
    guests = getattr(request, "param", "web")
    async with open_stage(*documents, sqlite.migrated(tmp_path), guests) as stage:
        yield stage
