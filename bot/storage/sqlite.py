"""SQLite: its engines, its settings, and the translation of its errors."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
import stamina
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from bot.core.errors import InvalidSetting, StorageUnavailable
from bot.storage.sqlite_connection import Connections

if TYPE_CHECKING:
    import aiosqlite

BUSY_SECONDS = 10  # how long another process may hold SQLite's write lock
SQLITE_READERS = 4

_SQLITE_PRAGMAS = (
    # In WAL mode NORMAL survives the death of any process; only a power cut may lose the last
    # transactions, never the file. https://www.sqlite.org/pragma.html#pragma_synchronous
    "PRAGMA synchronous = NORMAL",
    "PRAGMA foreign_keys = ON",
    # Deleted data is overwritten, so that it cannot be read in the file or in a copy of it.
    "PRAGMA secure_delete = ON",
)

# SQLite error names (sqlite3.Error.sqlite_errorname, primary part) → our sentence.
_SQLITE_TROUBLES = {
    "SQLITE_BUSY": "is locked by another process: end that process or try again",
    "SQLITE_LOCKED": "is locked by another process: end that process or try again",
    "SQLITE_READONLY": "is read-only: make it and its folder writable, "
    "or choose another place with FOOTNOTE_DATA_DIR",
    "SQLITE_FULL": "has no room to grow: free some disk space and try again",
    "SQLITE_IOERR": "cannot be written (disk full or failing): check the disk and try again",
    "SQLITE_CORRUPT": "is damaged: move the file away to start afresh, or restore a copy",
    "SQLITE_NOTADB": "is not a Footnote database: move the file away, "
    "or choose another place with FOOTNOTE_DATA_DIR",
    "SQLITE_CANTOPEN": "cannot be opened: check that its folder exists and is writable, "
    "or choose another place with FOOTNOTE_DATA_DIR",
}
_SQLITE_HOPELESS = ("SQLITE_CORRUPT", "SQLITE_NOTADB")  # retrying does not help


def sqlite_trouble(error: BaseException, what: str) -> StorageUnavailable | None:
    """Translate an SQLite error; None for errors that have another cause. ``what`` names the file,
    as in "The database X"."""
    if not isinstance(error, sqlite3.Error):
        return None
    name = getattr(error, "sqlite_errorname", "") or ""
    for prefix, sentence in _SQLITE_TROUBLES.items():
        if name.startswith(prefix):
            return StorageUnavailable(
                f"{what} {sentence}.",
                detail=f"{name}: {error}",
                kind="wrong" if prefix in _SQLITE_HOPELESS else "away",
            )
    return StorageUnavailable(f"{what} does not work: {error}.", detail=name, kind="wrong")


def open_sqlite(url: sa.URL) -> tuple[AsyncEngine, AsyncEngine, Connections]:
    """Return the writing engine, which has one connection, the reading one, and all connections.

    Raises ``InvalidSetting`` and ``StorageUnavailable``.
    """
    url = url.set(drivername="sqlite+aiosqlite")
    path = url.database
    if not path or path == ":memory:":
        raise InvalidSetting(
            "FOOTNOTE_DATABASE_URL must name a file: a run could not be resumed from memory."
        )
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageUnavailable(
            f"The folder {Path(path).parent} cannot be created: {error.strerror}. "
            "Choose another place with FOOTNOTE_DATA_DIR.",
            detail=str(error),
        ) from None
    # isolation_level None: the driver begins no transaction by itself; ``_begin_immediate`` does.
    connections = Connections()
    connect_args = {
        "isolation_level": None,
        "timeout": _busy_seconds(url),
        "async_creator_fn": connections.open,
    }
    writer = create_async_engine(url, pool_size=1, max_overflow=0, connect_args=connect_args)
    reader = create_async_engine(
        url, pool_size=SQLITE_READERS, max_overflow=0, connect_args=connect_args
    )
    for engine in (writer, reader):
        sa.event.listen(engine.sync_engine, "connect", _set_up)
    sa.event.listen(writer.sync_engine, "begin", _begin_immediate)
    return writer, reader, connections


def _busy_seconds(url: sa.URL) -> float:
    value = str(url.query.get("timeout", BUSY_SECONDS))
    try:
        return float(value)
    except ValueError:
        raise InvalidSetting(
            f"FOOTNOTE_DATABASE_URL has the timeout {value}: give it in seconds, like ?timeout=10."
        ) from None


def _set_up(connection: Any, record: Any) -> None:
    """Set up a new connection; SQLAlchemy closes it if this fails."""
    connection.run_async(_use_wal)
    cursor = connection.cursor()
    for pragma in _SQLITE_PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


async def _use_wal(connection: aiosqlite.Connection) -> None:
    # Two processes that switch a new file to WAL would wait for each other's lock, and SQLite does
    # not call its busy handler in that case: https://www.sqlite.org/c3ref/busy_handler.html
    async for attempt in stamina.retry_context(
        on=_is_busy, attempts=None, timeout=BUSY_SECONDS, wait_initial=0.01, wait_jitter=0.05
    ):
        with attempt:
            await connection.execute("PRAGMA journal_mode = WAL")


def _is_busy(error: Exception) -> bool:
    return getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY")


def _begin_immediate(connection: sa.Connection) -> None:
    # Taking the write lock at once avoids SQLITE_BUSY when a read would have to be upgraded.
    connection.exec_driver_sql("BEGIN IMMEDIATE")
