"""A SQLite database as the program makes it, worked out once a test process and copied."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Engine
from sqlalchemy.dialects.sqlite.aiosqlite import SQLiteDialect_aiosqlite
from sqlalchemy.util import LRUCache

from bot.storage.database import Database, open_database


def migrated(folder: Path) -> str:
    """The SQLAlchemy URL of the store that a program with this data folder has.

    With today's schema and empty, unless it is there already.
    """
    path = folder / "footnote.sqlite"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_template())
    return _url(path)


@cache
def _template() -> bytes:
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as beside:
        path = Path(folder, "footnote.sqlite")
        beside.submit(asyncio.run, _make(_url(path))).result()
        return path.read_bytes()


async def _make(url: str) -> None:
    await (await open_database(url)).close()


def compile_each_statement_once() -> None:
    """Have all databases share the statements that SQLAlchemy has compiled.

    Each engine compiles its own, and each test has two engines: that took a tenth of the tests.
    """
    compiled: LRUCache[Any, Any] = LRUCache(2_000)
    dialect: Any = SQLiteDialect_aiosqlite  # part of a statement's key: one is like the other
    dialect.__eq__ = lambda self, other: type(self) is type(other)
    dialect.__hash__ = lambda self: hash(type(self))
    begin = Engine.__init__

    def init(engine: Engine, *args: Any, **more: Any) -> None:
        begin(engine, *args, **more)
        if isinstance(engine.dialect, SQLiteDialect_aiosqlite):
            engine._compiled_cache = compiled

    Engine.__init__ = init  # type: ignore[method-assign, assignment]


def _url(path: Path) -> str:
    return f"sqlite+aiosqlite:///{path}"


def engines(database: Database) -> Iterable[sa.Engine]:
    """The engines through which statements of a database go, of either kind; one for each pool."""
    found = [database._reader.sync_engine, database._writer.sync_engine]
    if database._whole is not None:
        found += [database._whole._reader, database._whole._writer]
    return {engine.pool: engine for engine in found}.values()
