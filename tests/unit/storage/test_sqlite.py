"""Connections to SQLite: closed however their tasks are cancelled; what a statement takes."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.storage.database import Database, open_database
from bot.storage.sqlite import Connection, Connections
from tests.fakes import sqlite

ONE = sa.text("SELECT 1")


async def use(database: Database) -> None:
    async with database.write() as db:
        await db.execute(ONE)
    async with database.read() as db:
        await db.execute(ONE)
    await database.transact(lambda db: db.execute(ONE))
    await database.query(lambda db: db.execute(ONE))


async def test_a_transaction_in_a_thread_waits_for_nothing_else(tmp_path: Path) -> None:
    database = await open_database(sqlite.migrated(tmp_path))

    async def waits(db: AsyncConnection) -> None:
        await db.execute(sa.text("DELETE FROM threads"))
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="waits for something else"):
        await database.transact(waits)
    await database.transact(lambda db: db.execute(ONE))  # it was rolled back and holds no lock
    await database.close()


@pytest.mark.parametrize("times", [1, 2])
async def test_cancelled_after_any_step_nothing_is_left(tmp_path: Path, times: int) -> None:
    url = sqlite.migrated(tmp_path)
    others, threads = asyncio.all_tasks(), set(threading.enumerate())
    ended = False
    steps = 0
    while not ended:
        database = await open_database(url)
        tasks = [asyncio.create_task(use(database)) for _ in range(2)]
        for _ in range(steps):
            await asyncio.sleep(0.0002)  # a connection's thread takes its time between steps
        ended = all(task.done() for task in tasks)
        for _ in range(times):
            for task in tasks:
                task.cancel()
            await asyncio.sleep(0)
        await asyncio.wait(tasks)
        await asyncio.gather(database.close(), database.close())
        if left := asyncio.all_tasks() - others:
            _, hanging = await asyncio.wait(left, timeout=10)
            assert not hanging  # none waits for a thread that has ended
        for thread in set(threading.enumerate()) - threads:
            thread.join(10)  # closed, it ends by itself
            assert not thread.is_alive()
        steps += 1


async def test_a_file_is_closed_whose_opening_was_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    file = sqlite3.connect(tmp_path / "a.sqlite", check_same_thread=False)

    def slow(*args: Any) -> sqlite3.Connection:
        begun.set()
        assert go_on.wait(60)
        return file

    monkeypatch.setattr(sqlite3, "connect", slow)
    connections = Connections()
    opening = asyncio.create_task(connections.open(tmp_path / "a.sqlite"))
    await asyncio.to_thread(begun.wait)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    go_on.set()
    await connections.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        file.execute("SELECT 1")


async def test_one_that_was_not_given_back_is_closed_with_the_database(tmp_path: Path) -> None:
    database = await open_database(sqlite.migrated(tmp_path))
    async with database.read() as db:
        await db.execute(ONE)
        await database.close()
        with pytest.raises(sa.exc.OperationalError):
            await db.execute(ONE)


async def test_a_closed_one_holds_no_lock_though_a_cursor_is_still_referred_to(
    tmp_path: Path,
) -> None:
    connection = Connection(tmp_path / "a.sqlite", isolation_level=None)
    async with connection:
        await connection.execute("BEGIN IMMEDIATE")
        cursor = await connection.execute("SELECT 1 UNION SELECT 2")
        await connection.close()
    async with Connection(tmp_path / "a.sqlite", isolation_level=None, timeout=0) as other:
        await other.execute("BEGIN IMMEDIATE")
    del cursor


async def test_it_is_stopped_and_closed_as_often_as_one_likes(tmp_path: Path) -> None:
    connection = Connection(tmp_path / "a.sqlite")
    async with connection:
        answer = asyncio.create_task(connection.execute_fetchall("SELECT 1"))
        await asyncio.sleep(0)
        connection.stop()
        connection.stop()
        await connection.close()
        assert list(await answer) == [(1,)]  # what was queued before


async def test_what_cannot_be_opened_leaves_no_thread(tmp_path: Path) -> None:
    connections = Connections()
    with pytest.raises(sqlite3.OperationalError):
        await connections.open(tmp_path)
    await connections.close()


# ---------------------------------------------------------------- statements


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncIterator[Connection]:
    connections = Connections()
    connection = await connections.open(tmp_path / "a.sqlite", isolation_level=None)
    await connection.cursor().execute("CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT)")
    yield connection
    await connections.close()


@pytest.fixture
def crossings(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The work that the thread was given."""
    given: list[Any] = []
    monkeypatch.setattr(connection, "_tx", _Noted(connection._tx, given))
    return given


class _Noted:
    def __init__(self, queue: Any, given: list[Any]) -> None:
        self._queue, self._given = queue, given

    def put_nowait(self, item: Any) -> None:
        self._given.append(item)
        self._queue.put_nowait(item)


async def test_a_statement_takes_one_crossing_to_the_thread(
    connection: Connection, crossings: list[Any]
) -> None:
    cursor = await connection.cursor().__aenter__()  # as SQLAlchemy does it
    await cursor.execute("INSERT INTO words (word) VALUES (?), (?) RETURNING id", ("a", "b"))
    assert [name for name, *_ in cursor.description] == ["id"]
    assert await cursor.fetchall() == [(1,), (2,)]
    assert await cursor.fetchall() == []
    await cursor.close()
    assert len(crossings) == 1


async def test_it_tells_what_a_statement_changed(connection: Connection) -> None:
    cursor = connection.cursor()
    await cursor.executemany("INSERT INTO words (word) VALUES (?)", [("a",), ("b",), ("c",)])
    assert (cursor.rowcount, cursor.description) == (3, None)
    await cursor.execute("INSERT INTO words (word) VALUES ('d')")
    assert (cursor.rowcount, cursor.lastrowid) == (1, 4)


async def test_an_error_is_that_of_sqlite(connection: Connection) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        await connection.cursor().execute("SELECT * FROM sentences")
    assert await (await connection.cursor().execute("SELECT 1")).fetchall() == [(1,)]


async def test_only_a_transaction_is_rolled_back(
    connection: Connection, crossings: list[Any]
) -> None:
    await connection.rollback()
    assert not crossings
    await connection.cursor().execute("BEGIN IMMEDIATE")
    await connection.rollback()
    assert not connection.in_transaction


async def test_a_transaction_that_begins_after_its_task_was_cancelled_is_rolled_back(
    connection: Connection,
) -> None:
    go_on = threading.Event()
    held = asyncio.create_task(connection.work(go_on.wait, 10))
    beginning = asyncio.create_task(connection.cursor().execute("BEGIN IMMEDIATE"))
    await asyncio.sleep(0)
    beginning.cancel()
    with pytest.raises(asyncio.CancelledError):
        await beginning
    assert not connection.in_transaction  # not yet
    go_on.set()
    await connection.rollback()
    assert await held
    assert not connection.in_transaction
