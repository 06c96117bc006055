"""One database behind two doors: ``write`` for transactions, ``read`` for queries.

SQLite allows one writer. Its writers therefore take turns here, where waiting costs nothing and
the urgent go first, instead of in SQLite's busy handler, which sleeps and retries; the busy
timeout remains for other processes. Readers never wait for the writer (WAL).
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from bot.errors import InvalidSetting, StorageUnavailable
from bot.storage.tables import HEAD
from bot.storage.turns import Turns

BUSY_SECONDS = 10  # how long another process may hold SQLite's write lock
SQLITE_READERS = 4

_SQLITE_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    # In WAL mode NORMAL survives the death of any process; only a power cut may lose the last
    # transactions, never the file. https://www.sqlite.org/pragma.html#pragma_synchronous
    "PRAGMA synchronous = NORMAL",
    "PRAGMA foreign_keys = ON",
    f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}",
)

# What SQLite calls its troubles (sqlite3.Error.sqlite_errorname, primary part) → our sentence.
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


def sqlite_trouble(error: BaseException, what: str) -> StorageUnavailable:
    """The sentence for an SQLite error; ``what`` names the file, as in "The database X"."""
    name = getattr(error, "sqlite_errorname", "") or ""
    for prefix, sentence in _SQLITE_TROUBLES.items():
        if name.startswith(prefix):
            return StorageUnavailable(f"{what} {sentence}.", detail=f"{name}: {error}")
    return StorageUnavailable(f"{what} does not work: {error}.", detail=name)


class Database:
    """Opened with ``open_database``; every failure leaves as ``StorageUnavailable``."""

    def __init__(self, writer: AsyncEngine, reader: AsyncEngine) -> None:
        self._writer = writer
        self._reader = reader
        self._turns = Turns()
        self.name = f"The database {writer.url.database or writer.url.host}"

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """One transaction, committed when the block ends well."""
        with self._translated():
            async with self._turns.turn(), self._writer.begin() as connection:
                yield connection

    @asynccontextmanager
    async def urgent_write(self) -> AsyncIterator[AsyncConnection]:
        """As ``write``, but ahead of all that are not urgent: a platform waits for it."""
        with self._translated():
            async with self._turns.urgent_turn(), self._writer.begin() as connection:
                yield connection

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A connection for queries."""
        with self._translated():
            async with self._reader.connect() as connection:
                yield connection

    async def close(self) -> None:
        await self._writer.dispose()
        if self._reader is not self._writer:
            await self._reader.dispose()

    def _translated(self) -> _Translated:
        return _Translated(self.name)


class _Translated:
    """Turns a driver's error into ours."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        cause = error.orig if isinstance(error, DBAPIError) else error
        if isinstance(cause, sqlite3.Error):
            raise sqlite_trouble(cause, self._name) from error
        if isinstance(error, SQLAlchemyError) and not isinstance(error, sa.exc.InvalidRequestError):
            raise StorageUnavailable(
                f"{self._name} does not work: check that it runs and can be reached.",
                detail=str(cause),
            ) from error


async def open_database(url: str) -> Database:
    """Open the database at a SQLAlchemy URL, creating and migrating it as needed.

    Raises ``StorageUnavailable`` and ``InvalidSetting``.
    """
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError:
        raise InvalidSetting(
            "FOOTNOTE_DATABASE_URL is not a database URL: write it like "
            "sqlite+aiosqlite:////path/to/footnote.sqlite."
        ) from None
    if parsed.get_backend_name() != "sqlite":
        raise InvalidSetting(
            f"FOOTNOTE_DATABASE_URL names {parsed.get_backend_name()}, but this version keeps "
            "its data in SQLite only: unset it to use the default."
        )
    database = _open_sqlite(parsed.set(drivername="sqlite+aiosqlite"))
    try:
        await _migrate(database)
    except BaseException:
        await database.close()
        raise
    return database


def _open_sqlite(url: sa.URL) -> Database:
    path = url.database
    if not path or path == ":memory:":
        raise InvalidSetting(
            "FOOTNOTE_DATABASE_URL must name a file: a run could not be resumed from memory."
        )
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageUnavailable(
            f"The folder {Path(path).parent} cannot be made: {error.strerror}. "
            "Choose another place with FOOTNOTE_DATA_DIR.",
            detail=str(error),
        ) from None
    # isolation_level None: the driver begins no transaction by itself, "begin" below does.
    connect_args = {"isolation_level": None, "timeout": BUSY_SECONDS}
    writer = create_async_engine(url, pool_size=1, max_overflow=0, connect_args=connect_args)
    reader = create_async_engine(
        url, pool_size=SQLITE_READERS, max_overflow=0, connect_args=connect_args
    )
    for engine in (writer, reader):
        sa.event.listen(engine.sync_engine, "connect", _set_pragmas)
    sa.event.listen(writer.sync_engine, "begin", _begin_immediate)
    return Database(writer, reader)


def _set_pragmas(connection: Any, record: Any) -> None:
    cursor = connection.cursor()
    for pragma in _SQLITE_PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def _begin_immediate(connection: sa.Connection) -> None:
    # Taking the write lock at once avoids SQLITE_BUSY when a read would have to be upgraded.
    connection.exec_driver_sql("BEGIN IMMEDIATE")


async def _migrate(database: Database) -> None:
    async with database.read() as connection:
        if await connection.run_sync(_revision) == HEAD:
            return
    async with database.write() as connection:
        await connection.run_sync(_upgrade)


def _revision(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    revision = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
    return str(revision) if revision else None


def _upgrade(connection: sa.Connection) -> None:
    # Alembic takes a fifth of a second to import and is needed only here.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    revision = _revision(connection)  # again, under the write lock: another process may be done
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if revision is not None and revision not in known:
        raise InvalidSetting(
            "The database was written by a newer Footnote: upgrade this one, "
            "or choose another place with FOOTNOTE_DATA_DIR."
        )
    if revision != HEAD:
        command.upgrade(config, "head")
