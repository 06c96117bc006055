"""SQLite connections that are closed even if the task that opens or closes them is cancelled, and
that need only one thread switch per statement.

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
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Self, TypeVar

import aiosqlite

T = TypeVar("T")

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
