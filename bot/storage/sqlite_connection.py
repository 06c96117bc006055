"""SQLite connections that are closed however the task that opens or closes them is cancelled.

aiosqlite 0.22 loses a file that is being opened when its task is cancelled
(https://github.com/omnilib/aiosqlite/issues/259), answers an event loop that may be closed by then,
and waits forever when a connection is closed after SQLAlchemy stopped it.
"""

from __future__ import annotations

import asyncio
import sqlite3
from concurrent.futures import Future
from typing import Any

import aiosqlite

_ROWS_AT_ONCE = 64  # aiosqlite's own default


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
