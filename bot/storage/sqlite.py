"""SQLite: its engines and settings, the translation of its errors, and its connections.

Connections are closed even if the task that opens or closes them is cancelled, and need only one
thread switch per statement.

aiosqlite 0.22 loses a file if its task is cancelled while opening it
(https://github.com/omnilib/aiosqlite/issues/259), calls back into an event loop that may already be
closed, and waits forever when a connection is closed after SQLAlchemy stopped it.

It also switches threads separately to create a cursor, execute, fetch and close, and SQLAlchemy
rolls back every connection that is returned: 210 switches per run, half of the time of a run
with a model when other runs were active.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar, cast

import aiosqlite
import sqlalchemy as sa
import stamina
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from bot.core.errors import InvalidSetting, StorageUnavailable

T = TypeVar("T")
Work = Callable[[AsyncConnection], Coroutine[Any, Any, T]]  # awaits nothing but its connection

_ROWS_AT_ONCE = 64  # aiosqlite's own default


class Cursor:
    """The part of ``aiosqlite.Cursor`` that SQLAlchemy uses when it does not stream rows.

    Executes a statement, fetches its rows and closes the cursor in one thread switch.
    """

    arraysize = 1  # unused: rows are not fetched in batches

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._rows: list[Any] = []
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None

    async def __aenter__(self) -> Self:
        return self

    async def execute(self, sql: str, parameters: Sequence[Any] = ()) -> Self:
        """Raises ``sqlite3.Error``."""
        await self._connection.work(self._executed, sqlite3.Cursor.execute, sql, parameters)
        return self

    async def executemany(self, sql: str, parameters: Sequence[Sequence[Any]]) -> Self:
        """Raises ``sqlite3.Error``."""
        await self._connection.work(self._executed, sqlite3.Cursor.executemany, sql, parameters)
        return self

    def _executed(self, execute: Callable[..., Any], sql: str, parameters: Sequence[Any]) -> None:
        cursor = self._connection.file.cursor()
        try:
            execute(cursor, sql, parameters)
            self.description = cursor.description
            self._rows = cursor.fetchall() if cursor.description else []
            self.rowcount, self.lastrowid = cursor.rowcount, cursor.lastrowid
        finally:
            cursor.close()

    async def fetchall(self) -> list[Any]:
        rows, self._rows = self._rows, []
        return rows

    async def close(self) -> None:
        """Do nothing: the cursor is already closed."""


class Connection(aiosqlite.Connection):
    """A connection whose thread closes the file, once, as its last action."""

    def __init__(self, *args: Any, **options: Any) -> None:
        """Take the arguments of ``sqlite3.connect``."""
        super().__init__(self._open, _ROWS_AT_ONCE)
        self._thread.daemon = True  # a program that exits must not wait for it
        self._options = args, options
        self._file: sqlite3.Connection | None = None
        self.closed: Future[None] = Future()
        self.closed.set_running_or_notify_cancel()  # so that no waiter can cancel it for the others
        self._is_unsure = False  # whether a statement may still begin a transaction

    def cursor(self) -> Cursor:  # type: ignore[override]
        return Cursor(self)

    @property
    def file(self) -> sqlite3.Connection:
        """The connection that the thread uses. Raises ``ValueError`` when it is closed."""
        return self._conn

    async def work(self, do: Callable[..., T], *args: Any) -> T:
        """Call a function in the thread and return its result."""
        try:
            result: T = await self._execute(do, *args)  # type: ignore[no-untyped-call]
        except asyncio.CancelledError:
            self._is_unsure = True  # the thread continues with it
            raise
        return result

    async def rollback(self) -> None:
        """Roll back, if a transaction is or may be open."""
        if self._is_unsure or self.in_transaction:
            await super().rollback()
            self._is_unsure = False

    def stop(self) -> None:
        """Close the file after the queued work, without waiting. May be called again."""
        if self._running:
            self._running = False
            self._tx.put_nowait((None, self._roll_back))
            self._tx.put_nowait((None, self._close_file))

    async def close(self) -> None:
        """Finish the queued work and close the file. May be called again.

        Raises ``sqlite3.Error``.
        """
        self.stop()
        await asyncio.wrap_future(self.closed)

    def _open(self) -> sqlite3.Connection:
        args, options = self._options
        # Stored here, in the thread: the task that should receive it may have been cancelled.
        self._file = sqlite3.connect(*args, **options)
        return self._file

    def _roll_back(self) -> None:
        # Closing alone keeps a transaction open as long as one of its cursors is referenced.
        if self._file is not None:
            self._file.rollback()

    def _close_file(self) -> None:
        super().stop()  # in this thread, which has no event loop, it calls back into none
        file, self._file, self._connection = self._file, None, None
        try:
            if file is not None:
                file.close()
        except sqlite3.Error as error:
            self.closed.set_exception(error)
        else:
            self.closed.set_result(None)


class Connections:
    """All open connections to one database."""

    def __init__(self) -> None:
        self._open: set[Connection] = set()

    async def open(self, *args: Any, **options: Any) -> Connection:
        """Take the arguments of ``sqlite3.connect``, and raise its errors."""
        connection = Connection(*args, **options)
        self._open.add(connection)
        connection.closed.add_done_callback(lambda _: self._open.discard(connection))
        await connection
        return connection

    async def close(self) -> None:
        """Close all of them, including those still being opened or never returned."""
        await asyncio.gather(*(connection.close() for connection in list(self._open)))


class Whole:
    """Runs each transaction as a whole in a thread, with connections of its own: one thread switch
    instead of one for each statement, and a quarter of the processor time."""

    def __init__(self, url: sa.URL, timeout: float) -> None:
        options = {"isolation_level": None, "timeout": timeout, "check_same_thread": False}
        url = url.set(drivername="sqlite+pysqlite")
        self._writer = sa.create_engine(url, pool_size=1, max_overflow=0, connect_args=options)
        self._reader = sa.create_engine(
            url, pool_size=SQLITE_READERS, max_overflow=0, connect_args=options
        )
        for engine in (self._writer, self._reader):
            sa.event.listen(engine, "connect", _use_pragmas)
        sa.event.listen(self._writer, "begin", _begin_immediate)
        self._writing = ThreadPoolExecutor(1, "sqlite-writer")
        self._reading = ThreadPoolExecutor(SQLITE_READERS, "sqlite-reader")
        self._closing: Sequence[Future[None]] = ()

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

    async def close(self) -> None:
        """Close the connections once what is under way has ended. May be called again."""
        if not self._closing:
            self._closing = (
                self._writing.submit(self._writer.dispose),
                self._reading.submit(self._reader.dispose),
            )
            self._writing.shutdown(wait=False)
            self._reading.shutdown(wait=False)
        await asyncio.wait(map(asyncio.wrap_future, self._closing))  # which cancels none of them


async def _in(threads: ThreadPoolExecutor, run: Callable[[Work[T]], T], work: Work[T]) -> T:
    """Run a transaction in a thread, with the context of the caller: the audit log takes from it
    who acts."""
    running = partial(copy_context().run, run, work)
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


def open_sqlite(url: sa.URL) -> tuple[AsyncEngine, AsyncEngine, Connections, Whole]:
    """Return the writing engine, which has one connection, the reading one, all connections of
    these two, and what runs whole transactions.

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
    return writer, reader, connections, Whole(url, _busy_seconds(url))


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
    _use_pragmas(connection, record)


def _use_pragmas(connection: Any, record: Any) -> None:
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
