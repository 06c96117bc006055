"""Transactions are retried on certain errors, for a limited time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from bot.core.errors import StorageUnavailable
from bot.storage.database import Database, NoTurns, Transactions, awaited, open_database, repeated
from bot.storage.postgres import postgres_trouble
from tests.fakes.postgres import Postgres

LONG = 30.0


class Counters(Transactions):
    """Rows that several transactions want; ``tries`` counts how often each was begun."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.tries = 0
        self.both_hold = asyncio.Barrier(2)

    async def create(self) -> None:
        async with self.database.write() as db:
            await db.execute(sa.text("CREATE TABLE counters (name TEXT PRIMARY KEY, value INT)"))
            await db.execute(sa.text("INSERT INTO counters VALUES ('a', 0), ('b', 0)"))

    async def values(self) -> dict[str, int]:
        async with self.database.read() as db:
            rows = await db.execute(sa.text("SELECT name, value FROM counters"))
            return {row.name: row.value for row in rows}

    async def add(self, db: AsyncConnection, name: str) -> None:
        query = sa.text("UPDATE counters SET value = value + 1 WHERE name = :name")
        await db.execute(query, {"name": name})

    @repeated
    async def add_both(self, first: str, second: str) -> None:
        self.tries += 1
        meets = self.tries <= 2
        async with self.database.write() as db:
            await db.execute(sa.text("SET LOCAL deadlock_timeout = '20ms'"))
            await self.add(db, first)
            if meets:
                await self.both_hold.wait()
            await self.add(db, second)

    @repeated
    async def add_through_a_cut(self, name: str, cuts: int) -> None:
        self.tries += 1
        async with self.database.write() as db:
            await self.add(db, name)
            if self.tries <= cuts:
                await end_connection(self.database, db)

    @repeated
    async def add_to_what_both_read(self, name: str) -> None:
        self.tries += 1
        meets = self.tries <= 2
        async with self.database.write() as db:
            await db.execute(sa.text("SELECT value FROM counters"))
            if meets:
                await self.both_hold.wait()
            await self.add(db, name)

    @repeated
    async def add_now(self, name: str) -> None:
        self.tries += 1
        async with self.database.write() as db:
            await self.add(db, name)

    @awaited
    async def add_in_time(self, name: str) -> None:
        self.tries += 1
        async with self.database.write() as db:
            await self.add(db, name)

    async def tried_again(self) -> None:
        """Wait until what does not work was tried more than once."""
        before = self.tries
        async with asyncio.timeout(LONG):
            while self.tries < before + 2:
                await asyncio.sleep(0.01)


async def end_connection(database: Database, db: AsyncConnection) -> None:
    """As a server that restarts, or a network that breaks, does in the middle of something."""
    pid = await db.scalar(sa.text("SELECT pg_backend_pid()"))
    async with database.read() as other:
        await other.execute(sa.text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})


@pytest.fixture
async def on_postgres(postgres: Postgres) -> AsyncIterator[Counters]:
    database = await open_database(postgres.migrated(), patience=LONG)
    counters = Counters(database)
    await counters.create()
    yield counters
    await database.close()


@pytest.fixture
async def on_sqlite(tmp_path: Path) -> AsyncIterator[Counters]:
    database = await open_database(f"sqlite+aiosqlite:///{tmp_path / 'f.sqlite'}", patience=LONG)
    counters = Counters(database)
    await counters.create()
    yield counters
    await database.close()


async def test_of_two_that_wait_for_each_other_one_is_done_again(on_postgres: Counters) -> None:
    await asyncio.gather(on_postgres.add_both("a", "b"), on_postgres.add_both("b", "a"))
    assert await on_postgres.values() == {"a": 2, "b": 2}
    assert on_postgres.tries == 3


async def test_what_was_in_the_way_of_others_is_done_again(on_postgres: Counters) -> None:
    """Serialization failures, as an operator may have set the isolation."""
    await set_for_all(on_postgres, "default_transaction_isolation = 'serializable'")
    await asyncio.gather(*(on_postgres.add_to_what_both_read("a") for _ in range(2)))
    assert await on_postgres.values() == {"a": 2, "b": 0}
    assert on_postgres.tries == 3


async def test_a_transaction_whose_connection_broke_is_done_again(on_postgres: Counters) -> None:
    await on_postgres.add_through_a_cut("a", 2)
    assert await on_postgres.values() == {"a": 1, "b": 0}


async def test_a_connection_that_breaks_again_and_again_is_told(on_postgres: Counters) -> None:
    with pytest.raises(StorageUnavailable, match="shut down or started"):
        await on_postgres.add_through_a_cut("a", 99)
    assert on_postgres.tries == 4
    assert await on_postgres.values() == {"a": 0, "b": 0}


async def test_a_run_waits_while_the_database_is_read_only(on_postgres: Counters) -> None:
    await set_for_all(on_postgres, "default_transaction_read_only = on")
    with pytest.raises(StorageUnavailable, match="must name the primary server"):
        await on_postgres.add_now("a")
    assert on_postgres.tries == 1, "whoever waits for an answer is told at once"
    with pytest.raises(StorageUnavailable, match="read-only for now"):
        await on_postgres.database.check(LONG)
    waiting = asyncio.create_task(on_postgres.add_in_time("a"))
    await on_postgres.tried_again()
    await set_for_all(on_postgres, "default_transaction_read_only = off")
    await waiting
    assert await on_postgres.values() == {"a": 1, "b": 0}
    await on_postgres.database.check(LONG)


async def test_a_run_waits_while_the_servers_disk_is_full(on_postgres: Counters) -> None:
    async with on_postgres.database.write() as db:
        await db.exec_driver_sql(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE 'could not extend file' USING ERRCODE = '53100'; END $$;"
            "CREATE TRIGGER full_disk BEFORE UPDATE ON counters EXECUTE FUNCTION full_disk()",
            execution_options={"no_parameters": True},
        )
    waiting = asyncio.create_task(on_postgres.add_in_time("a"))
    await on_postgres.tried_again()
    with pytest.raises(StorageUnavailable, match="no room to grow"):
        await on_postgres.database.check(LONG)
    async with on_postgres.database.write() as db:
        await db.execute(sa.text("DROP TRIGGER full_disk ON counters"))
    await waiting
    assert await on_postgres.values() == {"a": 1, "b": 0}
    await on_postgres.database.check(LONG)


async def test_a_run_waits_while_the_disk_is_full_under_sqlite(on_sqlite: Counters) -> None:
    async with on_sqlite.database.write() as db:
        await db.execute(sa.text("CREATE TABLE wide (name TEXT)"))
        fill = "CREATE TRIGGER fill AFTER UPDATE ON counters BEGIN"
        await db.exec_driver_sql(f"{fill} INSERT INTO wide VALUES (hex(zeroblob(100000))); END")
        await db.exec_driver_sql("PRAGMA max_page_count = 1")  # SQLite's own "disk is full"
    with pytest.raises(StorageUnavailable, match="free some disk space"):
        await on_sqlite.add_now("a")
    with pytest.raises(StorageUnavailable, match="free some disk space"):
        await on_sqlite.database.check(LONG)
    waiting = asyncio.create_task(on_sqlite.add_in_time("a"))
    await on_sqlite.tried_again()
    async with on_sqlite.database.write() as db:
        await db.exec_driver_sql("PRAGMA max_page_count = 100000")
    await waiting
    assert await on_sqlite.values() == {"a": 1, "b": 0}
    await on_sqlite.database.check(LONG)


async def test_a_run_waits_for_a_free_connection(postgres: Postgres) -> None:
    engine = create_async_engine(
        postgres.migrated(), pool_size=1, max_overflow=0, pool_timeout=0.02
    )
    database = Database(engine, engine, NoTurns(), postgres_trouble, patience=LONG)
    counters = Counters(database)
    await counters.create()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(engine.connect())
        with pytest.raises(StorageUnavailable, match="connections was free"):
            await counters.add_now("a")
        waiting = asyncio.create_task(counters.add_in_time("a"))
        await counters.tried_again()
    await waiting
    assert await counters.values() == {"a": 1, "b": 0}
    await database.close()


async def test_what_would_fail_again_is_not_done_again(on_postgres: Counters) -> None:
    async with on_postgres.database.write() as db:
        await db.execute(sa.text("DROP TABLE counters"))
    with pytest.raises(StorageUnavailable, match="look at its log"):
        await on_postgres.add_in_time("a")
    assert on_postgres.tries == 1


async def test_without_patience_whoever_asks_is_told_at_once(on_postgres: Counters) -> None:
    on_postgres.database.patience = 0.0
    await set_for_all(on_postgres, "default_transaction_read_only = on")
    with pytest.raises(StorageUnavailable):
        await on_postgres.add_in_time("a")
    assert on_postgres.tries == 1


async def set_for_all(counters: Counters, setting: str) -> None:
    """Change the database for every new connection, and end those that there are."""
    async with counters.database.read() as db:
        name = await db.scalar(sa.text("SELECT current_database()"))
        host = (await db.get_raw_connection()).driver_connection.info.host  # type: ignore[union-attr]
    elsewhere = f"host={host} user=postgres dbname=postgres"
    async with await psycopg.AsyncConnection.connect(elsewhere, autocommit=True) as db:
        await db.execute(f"ALTER DATABASE {name} SET {setting}".encode())
    await end_all_connections(counters)


async def end_all_connections(counters: Counters) -> None:
    async with counters.database.read() as db:
        await db.execute(
            sa.text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid != pg_backend_pid()"
            )
        )
        await db.invalidate()


async def test_a_transaction_that_has_begun_is_done_though_who_waits_is_cancelled(
    tmp_path: Path,
) -> None:
    class Slow(Counters):
        begun = asyncio.Event()
        may_end = asyncio.Event()

        @repeated
        async def add_slowly(self) -> None:
            async with self.database.write() as db:
                await self.add(db, "a")
                self.begun.set()
                await self.may_end.wait()

    database = await open_database(f"sqlite+aiosqlite:///{tmp_path / 'f.sqlite'}")
    counters = Slow(database)
    await counters.create()
    adding = asyncio.create_task(counters.add_slowly())
    await counters.begun.wait()
    adding.cancel()
    asyncio.get_running_loop().call_soon(counters.may_end.set)
    with pytest.raises(asyncio.CancelledError):
        await adding
    assert await counters.values() == {"a": 1, "b": 0}
    await database.close()
