"""One database behind two doors: ``write`` for transactions, ``read`` for queries.

SQLite allows one writer. Its writers therefore take turns here, where waiting costs nothing and
the urgent go first, instead of in SQLite's busy handler, which sleeps and retries; the busy
timeout remains for other processes. Readers never wait for the writer (WAL). PostgreSQL has many
writers; nobody takes turns there.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bot.errors import InvalidSetting, StorageUnavailable
from bot.storage import migrate
from bot.storage.sqlite import open_sqlite, sqlite_trouble
from bot.storage.turns import NoTurns, Turns

Trouble = Callable[[BaseException, str], StorageUnavailable | None]


class Database:
    """Opened with ``open_database``; every failure leaves as ``StorageUnavailable``.

    ``trouble`` puts a driver's error into words.
    """

    def __init__(
        self, writer: AsyncEngine, reader: AsyncEngine, turns: Turns, trouble: Trouble
    ) -> None:
        self._writer = writer
        self._reader = reader
        self._turns = turns
        self._trouble = trouble
        self.dialect = writer.dialect.name  # "sqlite" or "postgresql"
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
        return _Translated(self.name, self._trouble)


class _Translated:
    """Turns a driver's error into ours."""

    def __init__(self, name: str, trouble: Trouble) -> None:
        self._name = name
        self._trouble = trouble

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        cause = error.orig if isinstance(error, DBAPIError) else error
        if cause is None:
            return
        trouble = self._trouble(cause, self._name)
        if trouble is not None:
            raise trouble from error
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
            "postgresql+psycopg://user:password@host/footnote, "
            "or sqlite+aiosqlite:////path/to/footnote.sqlite."
        ) from None
    database = _opened(parsed)
    try:
        await _migrate(database)
    except BaseException:
        await database.close()
        raise
    return database


def _opened(url: sa.URL) -> Database:
    backend = url.get_backend_name()
    if backend == "sqlite":
        return Database(*open_sqlite(url), Turns(), sqlite_trouble)
    if backend == "postgresql":
        from bot.storage.postgres import open_postgres, postgres_trouble  # loads its driver

        return Database(*open_postgres(url), NoTurns(), postgres_trouble)
    raise InvalidSetting(
        f"FOOTNOTE_DATABASE_URL names {backend}: only postgresql+psycopg and sqlite+aiosqlite "
        "are known. Unset it to use SQLite in the data folder."
    )


async def _migrate(database: Database) -> None:
    async with database.read() as connection:
        if await connection.run_sync(migrate.is_current):
            return
    async with database.write() as connection:
        await connection.run_sync(migrate.upgrade)
    more = True
    while more:
        async with database.write() as connection:
            more = await connection.run_sync(migrate.upgrade_queue)
