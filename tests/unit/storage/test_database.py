"""The database: opened or refused with a sentence, turns of writers, outages, retries."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from structlog.testing import capture_logs

from bot.core.errors import InvalidSetting, StorageUnavailable
from bot.storage.database import (
    URGENT_AT_ONCE,
    Database,
    NoTurns,
    Outages,
    Transactions,
    Turns,
    awaited,
    open_database,
    repeated,
)
from bot.storage.postgres import postgres_trouble
from bot.storage.tables import HEAD
from tests.fakes.postgres import Postgres


def url(path: Path) -> str:
    return f"sqlite+aiosqlite:///{path}"


async def test_several_processes_may_open_a_new_database_at_the_same_time(tmp_path: Path) -> None:
    for number in range(2):
        where = url(tmp_path / f"new{number}" / "footnote.sqlite")
        databases = await asyncio.gather(*(open_database(where) for _ in range(6)))
        for database in databases:
            async with database.read() as db:
                assert await db.scalar(sa.text("SELECT count(*) FROM alembic_version")) == 1
            await database.close()


async def test_writers_see_wal_foreign_keys_and_a_busy_timeout(tmp_path: Path) -> None:
    database = await open_database(url(tmp_path / "f.sqlite"))
    for door in (database.read, database.write):
        async with door() as db:
            pragmas = [
                await db.scalar(sa.text(f"PRAGMA {name}"))
                for name in ("journal_mode", "foreign_keys", "busy_timeout")
            ]
            assert pragmas == ["wal", 1, 10_000]
    await database.close()


async def test_many_writers_at_once_take_turns(tmp_path: Path) -> None:
    database = await open_database(url(tmp_path / "f.sqlite"))

    async def add(number: int) -> None:
        async with database.write() as db:
            await db.execute(
                sa.text(
                    "INSERT INTO threads (key, platform, workspace, channel, thread, created_at) "
                    "VALUES (:key, 'p', 'w', 'c', 't', '2026-01-01 00:00:00')"
                ),
                {"key": str(number)},
            )

    await asyncio.gather(*(add(number) for number in range(200)))
    async with database.read() as db:
        assert await db.scalar(sa.text("SELECT count(*) FROM threads")) == 200
    await database.close()


async def test_a_database_locked_by_another_process_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    database = await open_database(url(path) + "?timeout=0.01")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageUnavailable, match="locked by another process"):
        async with database.write():
            pass
    other.close()
    await database.close()


async def test_a_timeout_that_is_no_number_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="timeout long: give it in seconds"):
        await open_database(url(tmp_path / "f.sqlite") + "?timeout=long")


async def test_a_file_that_is_no_database_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    path.write_bytes(b"these are notes, not a database\n" * 100)
    with pytest.raises(StorageUnavailable, match="not a Footnote database"):
        await open_database(url(path))


async def test_a_damaged_database_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    await (await open_database(url(path))).close()
    content = bytearray(path.read_bytes())
    content[100:4096] = os.urandom(3996)
    path.write_bytes(content)
    with pytest.raises(StorageUnavailable, match="damaged"):
        await open_database(url(path))


async def test_a_full_disk_is_a_sentence_and_what_was_there_stays(tmp_path: Path) -> None:
    database = await open_database(url(tmp_path / "f.sqlite"))
    async with database.write() as db:
        await db.exec_driver_sql("PRAGMA max_page_count = 1")  # SQLite's own "disk is full"
    with pytest.raises(StorageUnavailable, match="no room"):
        async with database.write() as db:
            await db.exec_driver_sql("CREATE TABLE big AS SELECT hex(randomblob(2000000))")
    async with database.read() as db:
        assert await db.scalar(sa.text("SELECT version_num FROM alembic_version")) == HEAD
    await database.close()


async def test_a_read_only_database_is_a_sentence(tmp_path: Path) -> None:
    database = await open_database(url(tmp_path / "f.sqlite"))
    async with database.write() as db:
        await db.exec_driver_sql("PRAGMA query_only = ON")  # what a read-only file answers
    with pytest.raises(StorageUnavailable, match="read-only"):
        async with database.write() as db:
            await db.exec_driver_sql("DELETE FROM threads")
    await database.close()


async def test_a_place_that_is_no_folder_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageUnavailable, match="FOOTNOTE_DATA_DIR"):
        await open_database(url(tmp_path / "file" / "f.sqlite"))


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ("no url at all", "not a database URL"),
        ("mysql://host/db", "only postgresql"),
        ("sqlite+aiosqlite://", "must name a file"),
    ],
)
async def test_an_unusable_url_is_refused(bad: str, sentence: str) -> None:
    with pytest.raises(InvalidSetting, match=sentence):
        await open_database(bad)


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class Line:
    """People who want a turn, and the order in which they had it."""

    def __init__(self) -> None:
        self.turns = Turns()
        self.had: list[str] = []
        self.leave = asyncio.Event()

    async def stand(self, name: str, *, urgent: bool = False) -> None:
        async with self.turns.urgent_turn() if urgent else self.turns.turn():
            self.had.append(name)
            if name == "first":
                await self.leave.wait()

    async def queue(self, *names: str) -> dict[str, asyncio.Task[None]]:
        """Stand in line one after another; names with "!" are urgent."""
        tasks = {}
        for name in names:
            tasks[name] = asyncio.create_task(self.stand(name, urgent=name.endswith("!")))
            await settle()
        return tasks


async def test_the_urgent_go_before_the_patient_and_each_in_order() -> None:
    line = Line()
    tasks = await line.queue("first", "a", "b", "x!", "c", "y!")
    line.leave.set()
    await asyncio.gather(*tasks.values())
    assert line.had == ["first", "x!", "y!", "a", "b", "c"]


async def test_who_gives_up_waiting_holds_nobody_up() -> None:
    line = Line()
    tasks = await line.queue("first", "a", "x!", "b")
    tasks["a"].cancel()
    tasks["x!"].cancel()
    line.leave.set()
    await asyncio.gather(*tasks.values(), return_exceptions=True)
    assert line.had == ["first", "b"]


async def test_a_turn_that_was_given_and_not_wanted_any_more_is_passed_on() -> None:
    line = Line()
    tasks = await line.queue("first", "a", "b")
    line.leave.set()
    while len(line.turns._patient) == 2:  # until "a" has been given its turn
        await asyncio.sleep(0)
    tasks["a"].cancel()
    await asyncio.gather(*tasks.values(), return_exceptions=True)
    assert line.had[-1] == "b"


async def test_a_turn_ends_with_its_block_however_that_ends() -> None:
    turns = Turns()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            async with turns.turn():
                _ = 1 / 0
    async with turns.urgent_turn():
        assert turns._held
    assert not turns._held


async def test_the_urgent_do_not_starve_the_patient() -> None:
    line = Line()
    rush = [f"{number}!" for number in range(2 * URGENT_AT_ONCE)]
    tasks = await line.queue("first", "a", "b", *rush)
    line.leave.set()
    await asyncio.gather(*tasks.values())
    assert [line.had.index("a"), line.had.index("b")] == [
        URGENT_AT_ONCE + 1,
        2 * URGENT_AT_ONCE + 2,
    ]


GONE = StorageUnavailable("The database cannot be reached.", kind="broken")
FULL = StorageUnavailable("The database has no room.")


def test_an_outage_is_told_once_when_it_begins_and_once_when_it_ends() -> None:
    outages = Outages()
    with capture_logs() as lines:
        for _ in range(100):
            outages.record_failure("reading", GONE)
            outages.record_failure("writing", GONE)
        for _ in range(100):
            outages.record_success("reading")
    assert [line["event"] for line in lines] == [
        "database does not work, waiting",
        "database works again",
    ]


@pytest.mark.parametrize("kind", ["away", "broken"])
def test_what_fails_again_and_again_is_told_once_a_minute(kind: str) -> None:
    """A full disk lets some writes through; lost connections have many wordings."""
    outages = Outages()
    with capture_logs() as lines:
        for number in range(100):
            words = "It is full." if kind == "away" else f"It was lost in way {number}."
            outages.record_failure("writing", StorageUnavailable(words, kind=kind))  # type: ignore[arg-type]
            outages.record_success("writing")
    assert len(lines) == 2


def test_another_trouble_soon_after_is_told_as_well() -> None:
    outages = Outages()
    with capture_logs() as lines:
        for trouble in (GONE, FULL):
            outages.record_failure("writing", trouble)
            outages.record_success("writing")
    assert [line["error"] for line in lines[::2]] == [str(GONE), str(FULL)]


def test_reading_does_not_tell_that_a_full_disk_has_room_again() -> None:
    outages = Outages()
    outages.record_failure("writing", FULL)
    outages.record_success("reading")
    assert outages.recent_failure("writing") is FULL
    outages.record_success("writing")
    assert outages.recent_failure("writing") is None


def test_a_database_that_can_be_read_again_can_be_reached() -> None:
    outages = Outages()
    outages.record_failure("queue", GONE)
    outages.record_success("reading")
    assert outages.recent_failure("queue") is None


@pytest.mark.parametrize("kind", ["contended", "wrong"])
def test_what_lies_in_the_question_is_no_outage(kind: str) -> None:
    outages = Outages()
    with capture_logs() as lines:
        outages.record_failure("writing", StorageUnavailable("Try again.", kind=kind))  # type: ignore[arg-type]
    assert lines == []
    assert outages.recent_failure("writing") is None


async def test_many_that_find_the_database_gone_tell_it_once(postgres: Postgres) -> None:
    database = await open_database(postgres.migrated())
    name = sa.make_url(str(postgres.uri)).database

    async def rename(before: str, after: str) -> None:
        engine = create_async_engine(
            f"postgresql+psycopg://postgres@/{name}?host={postgres.uri.partition('host=')[2]}",
            isolation_level="AUTOCOMMIT",
        )
        async with engine.connect() as db:
            await db.execute(
                sa.text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :n"
                ),
                {"n": before},
            )
            await db.execute(sa.text(f"ALTER DATABASE {before} RENAME TO {after}"))
        await engine.dispose()

    async def look() -> None:
        async with database.read() as db:
            await db.execute(sa.text("SELECT 1"))

    async with database.read() as db:
        known = str(await db.scalar(sa.text("SELECT current_database()")))
    with capture_logs() as lines:
        await rename(known, f"{known}_away")
        results = await asyncio.gather(*(look() for _ in range(50)), return_exceptions=True)
        assert {type(result) for result in results} == {StorageUnavailable}
        await rename(f"{known}_away", known)
        await asyncio.gather(*(look() for _ in range(50)))
    assert [line["event"] for line in lines] == [
        "database does not work, waiting",
        "database works again",
    ]
    assert "\n" not in lines[0]["error"]
    await database.close()


async def test_a_server_that_takes_connections_but_never_answers_is_found_out() -> None:
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        engine = create_async_engine(
            f"postgresql+psycopg://postgres@127.0.0.1:{mute.getsockname()[1]}/x"
        )
        database = Database(engine, engine, NoTurns(), postgres_trouble)
        with pytest.raises(StorageUnavailable, match="does not answer"):
            await database.check(0.2)
        await database.close()


# ---------------------------------------------------------------- at the start


async def test_a_server_that_is_not_there_is_waited_for_so_long_and_no_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.storage.database.START_PAUSE_SECONDS", 0.05)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"postgresql+psycopg://nobody:secret@127.0.0.1:{closed.getsockname()[1]}/x"
        with capture_logs() as lines, pytest.raises(StorageUnavailable) as given_up:
            await open_database(url, start_patience=0.2)
    assert re.search(r"cannot be reached.*Footnote waited 0 s for it\.", given_up.value.sentence)
    assert "secret" not in str(given_up.value)
    assert [line["event"] for line in lines] == ["database does not work, waiting"]


@pytest.mark.parametrize(
    ("wrong", "says"), [("/nowhere", "does not exist"), ("user=nobody", "refuses the user")]
)
async def test_what_waiting_cannot_mend_is_not_waited_for(
    postgres: Postgres, wrong: str, says: str
) -> None:
    url = sa.make_url(postgres.migrated())
    url = url.set(database="nowhere") if wrong == "/nowhere" else url.set(username="nobody")
    began = asyncio.get_running_loop().time()
    with pytest.raises(StorageUnavailable, match=says):
        await open_database(url.render_as_string(hide_password=False), start_patience=30)
    assert asyncio.get_running_loop().time() - began < 10


async def test_an_outage_is_counted_with_its_time() -> None:
    outages = Outages()
    assert (outages.count, outages.seconds, outages.since) == (0, 0, None)
    outages.record_failure("reading", GONE)
    outages.record_failure("writing", GONE)
    assert outages.count == 1
    assert outages.since is not None
    outages.record_success("reading")
    assert outages.since is None
    passed = outages.seconds
    assert passed > 0
    assert outages.seconds == passed, "it is over"
    outages.record_failure("writing", FULL)
    assert outages.count == 2


def test_it_is_known_for_a_while_that_there_was_an_outage() -> None:
    outages = Outages()
    assert not outages.ended_within(60)
    outages.record_failure("writing", StorageUnavailable("It is away.", kind="broken"))
    assert outages.ended_within(0)  # it lasts
    outages.record_success("writing")
    assert outages.ended_within(60)
    assert not outages.ended_within(0)


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
