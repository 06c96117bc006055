"""An index of the documents that a test module has."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.search import indexer
from bot.search.indexer import Indexer
from tests.unit.search.readers import Inside


@pytest.fixture
def index(tmp_path: Path, docs: Path) -> Path:
    """The index of ``docs``, a fixture of the module."""
    path = tmp_path / "index.sqlite"
    Indexer(path).index([docs])
    return path


@pytest.fixture
def reading_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in this process, for modules that are about what is done with them."""
    monkeypatch.setattr(indexer, "Readers", Inside)
