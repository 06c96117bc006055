"""Connections to SQLite: closed however their tasks are cancelled; what a statement takes."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.core.errors import StorageUnavailable
from bot.storage.database import Database, open_database
from bot.storage.sqlite import Sqlite, open_sqlite
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


@pytest.fixture
async def file(tmp_path: Path) -> AsyncIterator[Sqlite]:
    file = open_sqlite(sa.make_url(f"sqlite:///{tmp_path / 'a.sqlite'}"))
    async with file.begin() as db:
        await db.exec_driver_sql("CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT)")
    yield file
    await file.dispose()


words = sa.table("words", sa.column("id", sa.Integer), sa.column("word", sa.Text))
EVERY = sa.select(words.c.word).order_by(words.c.id)


async def said(file: Sqlite) -> list[str]:
    async with file.connect() as db:
        return list((await db.scalars(EVERY)).all())


async def test_a_file_is_closed_whose_opening_was_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    opened = sqlite3.connect(tmp_path / "a.sqlite", check_same_thread=False, isolation_level=None)

    def slow(*args: Any, **options: Any) -> sqlite3.Connection:
        begun.set()
        assert go_on.wait(60)
        return opened

    file = open_sqlite(sa.make_url(f"sqlite:///{tmp_path / 'a.sqlite'}"))
    monkeypatch.setattr(file.dialect.loaded_dbapi, "connect", slow)
    opening = asyncio.create_task(file.begin().__aenter__())
    await asyncio.to_thread(begun.wait)
    opening.cancel()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await opening
    await file.dispose()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened.execute("SELECT 1")


async def test_one_that_was_not_given_back_is_closed_with_the_database(tmp_path: Path) -> None:
    database = await open_database(sqlite.migrated(tmp_path))

    async def look() -> None:
        async with database.read() as db:
            await db.execute(ONE)
            await database.close()
            await db.execute(ONE)

    with pytest.raises(StorageUnavailable, match="closed"):
        await look()


async def test_what_is_closed_in_a_transaction_holds_no_lock(file: Sqlite) -> None:
    async def change() -> None:
        async with file.begin() as db:
            await db.execute(sa.insert(words).values(word="lost"))
            await file.dispose()

    with pytest.raises(sqlite3.ProgrammingError):
        await change()
    again = Sqlite(file.url, 0.0)
    async with again.begin() as db:
        await db.execute(sa.insert(words).values(word="kept"))
    assert await said(again) == ["kept"]
    await again.dispose()


async def test_what_cannot_be_opened_leaves_no_thread(tmp_path: Path) -> None:
    threads = set(threading.enumerate())
    file = Sqlite(sa.make_url(f"sqlite:///{tmp_path}"), 0.0)
    with pytest.raises(sa.exc.OperationalError):
        async with file.begin():
            pytest.fail("a folder was opened")
    await file.dispose()
    for thread in set(threading.enumerate()) - threads:
        thread.join(10)
        assert not thread.is_alive()


# ---------------------------------------------------------------- statements


async def test_a_statement_takes_one_crossing_to_the_thread(
    file: Sqlite, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Any] = []
    submit = ThreadPoolExecutor.submit

    def noted(self: ThreadPoolExecutor, *work: Any) -> Any:
        given.append(work)
        return submit(self, *work)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", noted)
    async with file.begin() as db:
        given.clear()
        adding = sa.insert(words).values([{"word": "a"}, {"word": "b"}]).returning(words.c.id)
        assert (await db.scalars(adding)).all() == [1, 2]
        assert len(given) == 1


async def test_it_tells_what_a_statement_changed(file: Sqlite) -> None:
    async with file.begin() as db:
        await db.execute(sa.insert(words), [{"word": "a"}, {"word": "b"}, {"word": "c"}])
        assert (await db.execute(sa.delete(words).where(words.c.id > 1))).rowcount == 2
    assert await said(file) == ["a"]


async def test_what_raises_changes_nothing(file: Sqlite) -> None:
    async def change() -> None:
        async with file.begin() as db:
            await db.execute(sa.insert(words).values(word="lost"))
            await db.execute(sa.text("SELECT * FROM sentences"))

    with pytest.raises(sa.exc.OperationalError, match="no such table"):
        await change()
    assert await said(file) == []


@pytest.mark.parametrize("times", [1, 2])
async def test_a_transaction_is_rolled_back_after_the_statement_in_which_it_was_cancelled(
    file: Sqlite, times: int
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(connection: sa.Connection) -> None:
        begun.set()
        assert go_on.wait(60)
        connection.execute(sa.insert(words).values(word="late"))

    async def change() -> None:
        async with file.begin() as db:
            await db.run_sync(slow)

    changing = asyncio.create_task(change())
    await asyncio.to_thread(begun.wait)
    for _ in range(times):
        changing.cancel()
        await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await changing
    async with file.begin() as db:  # waits until the connection is given back
        await db.execute(sa.insert(words).values(word="next"))
    assert await said(file) == ["next"]
