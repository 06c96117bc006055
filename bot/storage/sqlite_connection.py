"""SQLite connections that are closed however the task that opens or closes them is cancelled, and
that cross to their thread once a statement.

aiosqlite 0.22 loses a file that is being opened when its task is cancelled
(https://github.com/omnilib/aiosqlite/issues/259), answers an event loop that may be closed by then,
and waits forever when a connection is closed after SQLAlchemy stopped it.

It goes to the thread and back to make a cursor, to execute, to fetch and to close, and SQLAlchemy
has it roll back whatever connection is given back: 210 times a run, which was half of what a run
with a model took beside its peers.
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
    """The part of ``aiosqlite.Cursor`` that SQLAlchemy uses where it does not stream rows.

    A statement is executed, its rows are fetched and the cursor is closed in one go.
    """

    arraysize = 1  # rows are not fetched in parts

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
        """Nothing is left open."""


class Connection(aiosqlite.Connection):
    """A connection whose thread closes the file, once, as its last work."""

    def __init__(self, *args: Any, **options: Any) -> None:
        """Takes what ``sqlite3.connect`` takes."""
        super().__init__(self._open, _ROWS_AT_ONCE)
        self._thread.daemon = True  # a program that is ended must not wait for it
        self._options = args, options
        self._file: sqlite3.Connection | None = None
        self.closed: Future[None] = Future()
        self.closed.set_running_or_notify_cancel()  # no waiter can cancel it for the others
        self._is_unsure = False  # whether a statement may still begin a transaction

    def cursor(self) -> Cursor:  # type: ignore[override]
        return Cursor(self)

    @property
    def file(self) -> sqlite3.Connection:
        """The connection that the thread works with. Raises ``ValueError`` when it is closed."""
        return self._conn

    async def work(self, do: Callable[..., T], *args: Any) -> T:
        """The result of a function that the thread calls."""
        try:
            result: T = await self._execute(do, *args)  # type: ignore[no-untyped-call]
        except asyncio.CancelledError:
            self._is_unsure = True  # the thread goes on with it
            raise
        return result

    async def rollback(self) -> None:
        """Roll back, where there is anything that could be."""
        if self._is_unsure or self.in_transaction:
            await super().rollback()
            self._is_unsure = False

    def stop(self) -> None:
        """Have the file closed after what is queued, without waiting. May be called again."""
        if self._running:
            self._running = False
            self._tx.put_nowait((None, self._roll_back))
            self._tx.put_nowait((None, self._close_file))

    async def close(self) -> None:
        """Complete what is queued and close the file. May be called again.

        Raises ``sqlite3.Error``.
        """
        self.stop()
        await asyncio.wrap_future(self.closed)

    def _open(self) -> sqlite3.Connection:
        args, options = self._options
        # Kept here, in the thread: the task that should take it may have been cancelled.
        self._file = sqlite3.connect(*args, **options)
        return self._file

    def _roll_back(self) -> None:
        # Closing alone keeps a transaction as long as anything refers to one of its cursors.
        if self._file is not None:
            self._file.rollback()

    def _close_file(self) -> None:
        super().stop()  # called in its thread, which has no event loop, it answers none
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
        """Takes what ``sqlite3.connect`` takes, and raises what it raises."""
        connection = Connection(*args, **options)
        self._open.add(connection)
        connection.closed.add_done_callback(lambda _: self._open.discard(connection))
        await connection
        return connection

    async def close(self) -> None:
        """Close every one, also those that are being opened or were not given back."""
        await asyncio.gather(*(connection.close() for connection in list(self._open)))
