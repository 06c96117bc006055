"""SQLite: its engines and settings, the translation of its errors, and its connections.

The statements of a connection run in a thread. A transaction that awaits nothing but its connection
runs there as a whole. A block that awaits other things between its statements has a thread of its
own, so that they take their turns even if the tasks that wait for them are cancelled.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import sqlalchemy as sa
import stamina
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.errors import InvalidSetting, StorageUnavailable

T = TypeVar("T")
Work = Callable[[AsyncConnection], Coroutine[Any, Any, T]]  # awaits nothing but its connection


class Sqlite:
    """The engines of a file, one for writing and one for reading, used like an ``AsyncEngine`` that
    writes in ``begin`` and reads in ``connect``.

    ``write`` and ``read`` run a transaction as a whole in a thread: one thread switch instead of
    one for each statement, and a quarter of the processor time.
    """

    def __init__(self, url: sa.URL, timeout: float) -> None:
        self.url = url.set(drivername="sqlite+pysqlite")
        # isolation_level None: the driver begins no transaction by itself.
        options = {"isolation_level": None, "timeout": timeout, "check_same_thread": False}
        how = {"max_overflow": 0, "connect_args": options}
        self._writer = sa.create_engine(self.url, pool_size=1, **how)
        self._reader = sa.create_engine(self.url, pool_size=2 * SQLITE_READERS, **how)
        self.dialect = self._writer.dialect
        for engine in (self._writer, self._reader):
            sa.event.listen(engine, "connect", _set_up)
        sa.event.listen(self._writer, "begin", _begin_immediate)
        self._writing = ThreadPoolExecutor(1, "sqlite-writer")
        self._reading = ThreadPoolExecutor(SQLITE_READERS, "sqlite-reader")
        self._blocks: set[_Block] = set()
        self._closing: Sequence[Future[None]] = ()

    def begin(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Open a transaction, committed if the block ends without an exception."""
        return self._block(self._writer)

    def connect(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Open a connection for queries."""
        return self._block(self._reader)

    @asynccontextmanager
    async def _block(self, engine: sa.Engine) -> AsyncIterator[AsyncConnection]:
        block = _Block(engine, self._blocks)
        try:
            await block.open()
            yield cast("AsyncConnection", block)
            await block.run_sync(sa.Connection.commit)
        finally:
            await block.close()

    async def write(self, work: Work[T]) -> T:
        """The result of a transaction, which is committed unless it raises."""
        return await _in(self._writing, self._written, work)

    async def read(self, work: Work[T]) -> T:
        """The result of queries."""
        return await _in(self._reading, self._read, work)

    def _written(self, work: Work[T]) -> T:
        with self._writer.begin() as connection:
            return _completed(work(_direct(connection)))

    def _read(self, work: Work[T]) -> T:
        with self._reader.connect() as connection:
            return _completed(work(_direct(connection)))

    async def dispose(self) -> None:
        """Close the connections, those of blocks that have not ended, too, and the others once what
        is under way has ended. May be called again."""
        await asyncio.gather(*(block.close() for block in list(self._blocks)))
        if not self._closing:
            self._closing = (
                self._writing.submit(self._writer.dispose),
                self._reading.submit(self._reader.dispose),
            )
            self._writing.shutdown(wait=False)
            self._reading.shutdown(wait=False)
        await asyncio.wait(map(asyncio.wrap_future, self._closing))  # which cancels none of them


class _Block:
    """The methods of ``AsyncConnection`` that transactions use, each statement with its rows in one
    switch to the block's thread. Is in ``among`` until it is closed."""

    def __init__(self, engine: sa.Engine, among: set[_Block]) -> None:
        self.dialect = engine.dialect
        self._engine = engine
        self._among = among
        self._thread = ThreadPoolExecutor(1, "sqlite-block")
        self._connection: sa.Connection | None = None
        self._closing: Future[None] | None = None
        among.add(self)

    async def open(self) -> None:
        """Raises ``sqlite3.Error`` as SQLAlchemy does."""
        await _in(self._thread, self._opened)

    async def execute(self, statement: Any, values: Any = None) -> Any:
        return await self.run_sync(_with_rows, sa.Connection.execute, statement, values)

    async def exec_driver_sql(self, statement: str) -> Any:
        return await self.run_sync(_with_rows, sa.Connection.exec_driver_sql, statement)

    async def scalar(self, statement: Any, values: Any = None) -> Any:
        return await self.run_sync(sa.Connection.scalar, statement, values)

    async def scalars(self, statement: Any, values: Any = None) -> Any:
        return (await self.execute(statement, values)).scalars()

    async def run_sync(self, do: Callable[..., T], *args: Any) -> T:
        """The result of a function of the connection, called in the thread."""
        if self._connection is None or self._closing is not None:
            raise sqlite3.ProgrammingError("The connection is closed.")
        return await _in(self._thread, do, self._connection, *args)

    async def close(self) -> None:
        """Roll back what was not committed, after the statements that have begun, and give the
        connection back. May be called again."""
        if self._closing is None:
            self._closing = self._thread.submit(self._closed)
            self._thread.shutdown(wait=False)
        await asyncio.shield(asyncio.wrap_future(self._closing))

    def _opened(self) -> None:
        # Stored here, in the thread: the task that waits for it may have been cancelled.
        self._connection = self._engine.connect()
        self._connection.begin()

    def _closed(self) -> None:
        try:
            if self._connection is not None:
                self._connection.close()
        finally:
            self._among.discard(self)


def _with_rows(
    connection: sa.Connection, execute: Callable[..., sa.CursorResult[Any]], *args: Any
) -> Any:
    """The result of a statement, with all its rows."""
    result = execute(connection, *args)
    return result.freeze()() if result.returns_rows else result


async def _in(threads: ThreadPoolExecutor, do: Callable[..., T], *args: Any) -> T:
    """Call a function in a thread, with the context of the caller: the audit log takes from it who
    acts."""
    running = partial(copy_context().run, do, *args)
    return await asyncio.get_running_loop().run_in_executor(threads, running)


class _Direct:
    """The methods of ``AsyncConnection`` that transactions use, on a connection that does not
    wait: they return at once, in the thread that calls them."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection
        self.dialect = connection.dialect

    async def execute(self, statement: Any, values: Any = None) -> sa.CursorResult[Any]:
        return self._connection.execute(statement, values)

    async def scalar(self, statement: Any, values: Any = None) -> Any:
        return self._connection.scalar(statement, values)

    async def scalars(self, statement: Any, values: Any = None) -> sa.ScalarResult[Any]:
        return self._connection.scalars(statement, values)


def _direct(connection: sa.Connection) -> AsyncConnection:
    return cast("AsyncConnection", _Direct(connection))


def _completed(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never has to wait."""
    try:
        work.send(None)
    except StopIteration as ended:
        result: T = ended.value
        return result
    work.close()
    raise RuntimeError("A transaction waits for something else than its connection.")


BUSY_SECONDS = 10  # how long another process may hold SQLite's write lock
SQLITE_READERS = 4  # connections for queries that run as a whole; as many for blocks

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


def open_sqlite(url: sa.URL) -> Sqlite:
    """Raises ``InvalidSetting`` and ``StorageUnavailable``."""
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
    return Sqlite(url, _busy_seconds(url))


def _busy_seconds(url: sa.URL) -> float:
    value = str(url.query.get("timeout", BUSY_SECONDS))
    try:
        return float(value)
    except ValueError:
        raise InvalidSetting(
            f"FOOTNOTE_DATABASE_URL has the timeout {value}: give it in seconds, like ?timeout=10."
        ) from None


def _set_up(connection: sqlite3.Connection, _: object) -> None:
    """Set up a new connection; SQLAlchemy closes it if this fails."""
    # Two processes that switch a new file to WAL would wait for each other's lock, and SQLite does
    # not call its busy handler in that case: https://www.sqlite.org/c3ref/busy_handler.html
    for attempt in stamina.retry_context(
        on=_is_busy, attempts=None, timeout=BUSY_SECONDS, wait_initial=0.01, wait_jitter=0.05
    ):
        with attempt:
            connection.execute("PRAGMA journal_mode = WAL")
    for pragma in _SQLITE_PRAGMAS:
        connection.execute(pragma)


def _is_busy(error: Exception) -> bool:
    return getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY")


def _begin_immediate(connection: sa.Connection) -> None:
    # Taking the write lock at once avoids SQLITE_BUSY when a read would have to be upgraded.
    connection.exec_driver_sql("BEGIN IMMEDIATE")
