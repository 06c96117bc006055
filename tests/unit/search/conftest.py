"""An index of the documents that a test module has."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.search.indexer import Indexer


@pytest.fixture
def index(tmp_path: Path, docs: Path) -> Path:
    """The index of ``docs``, a fixture of the module."""
    path = tmp_path / "index.sqlite"
    Indexer(path).index([docs])
    return path
