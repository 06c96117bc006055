from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.storage.store import Store, open_store
from tests.fakes import sqlite
from tests.unit.storage.past import Past


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of either kind, with today's schema."""
    if request.param == "sqlite":
        return sqlite.migrated(tmp_path)
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    store = await open_store(database_url)
    yield store
    await store.close()


@pytest.fixture
async def pg_store(postgres_url: str) -> AsyncIterator[Store]:
    store = await open_store(postgres_url)
    yield store
    await store.close()


@pytest.fixture
def past(store: Store) -> Past:
    return Past(store)
