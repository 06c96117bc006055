"""Connections to PostgreSQL: shared by who writes and who reads, tested after they lay idle."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.core.errors import StorageUnavailable
from bot.operation.configuration import load_settings
from bot.storage.database import open_database
from bot.storage.postgres import Connecting, open_postgres, postgres_trouble
from bot.storage.tables import pad_ids
from tests.fakes.postgres import Postgres

PID = sa.text("SELECT pg_backend_pid()")


@pytest.fixture(scope="module")
def url(postgres: Postgres) -> sa.URL:
    return sa.make_url(postgres.fresh())


async def pid_of(engine: AsyncEngine) -> int:
    """The server's process behind the engine's one connection in the pool."""
    async with engine.connect() as db:
        return int(await db.scalar(PID))


async def ended_by_the_server(engine: AsyncEngine, url: sa.URL) -> int:
    """The process whose end nobody has told the engine's pool of."""
    pid = await pid_of(engine)
    other, _ = open_postgres(url)
    async with other.connect() as db:
        await db.execute(sa.text(f"SELECT pg_terminate_backend({pid}, 5000)"))
    await other.dispose()
    return pid


async def test_who_reads_uses_the_connection_that_who_wrote_gave_back(url: sa.URL) -> None:
    writer, reader = open_postgres(url)
    assert await pid_of(writer) == await pid_of(reader) == await pid_of(writer)
    await writer.dispose()


async def test_reading_opens_no_transaction_and_writing_still_does(url: sa.URL) -> None:
    writer, reader = open_postgres(url)
    async with reader.connect() as db:
        moments = {await db.scalar(sa.text("SELECT now()")) for _ in range(2)}
    assert len(moments) == 2
    async with writer.begin() as db:  # the same connection, after it was read with
        moments = {await db.scalar(sa.text("SELECT now()")) for _ in range(2)}
        await db.execute(sa.text("CREATE TABLE undone (n int)"))
        await db.rollback()
    assert len(moments) == 1
    async with reader.connect() as db:
        assert await db.scalar(sa.text("SELECT to_regclass('undone')")) is None
    await writer.dispose()


async def test_a_connection_that_broke_while_it_lay_idle_is_replaced_unnoticed(url: sa.URL) -> None:
    writer, reader = open_postgres(url, idle_seconds=0.0)
    for engine in (writer, reader):
        ended = await ended_by_the_server(engine, url)
        assert await pid_of(engine) != ended
    await writer.dispose()


async def test_a_connection_that_was_just_used_is_not_tested_again(url: sa.URL) -> None:
    writer, _ = open_postgres(url, idle_seconds=60.0)
    await ended_by_the_server(writer, url)
    with pytest.raises(sa.exc.OperationalError):
        await pid_of(writer)
    await pid_of(writer)  # and with that the pool knows
    await writer.dispose()


async def test_a_statement_by_itself_takes_effect_without_a_transaction_around_it(
    postgres: Postgres,
) -> None:
    database = await open_database(postgres.migrated())
    async with database.write_at_once() as db:
        moments = {await db.scalar(sa.text("SELECT now()")) for _ in range(2)}
        await db.execute(sa.text("CREATE TABLE done (n int)"))
        with pytest.raises(sa.exc.ProgrammingError):
            await db.execute(sa.text("SELECT nonsense"))
    assert len(moments) == 2
    async with database.read() as db:
        assert await db.scalar(sa.text("SELECT to_regclass('done')")) == "done"
    await database.close()


@pytest.mark.parametrize(
    ("asked", "sent"), [(0, 0), (1, 1), (2, 2), (3, 4), (4, 4), (5, 8), (256, 256), (257, 512)]
)
def test_lists_of_many_lengths_make_few_different_statements(asked: int, sent: int) -> None:
    ids = [str(number) for number in range(asked)]
    assert len(pad_ids(ids)) == sent
    assert dict.fromkeys(pad_ids(ids)) == dict.fromkeys(ids)


# ---------------------------------------------------------------- how many, and for how long

_OURS = sa.text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
)


async def until_connections(looking: AsyncEngine, wanted: int) -> None:
    """Return once so many others are connected."""
    async with asyncio.timeout(60), looking.connect() as db:
        while await db.scalar(_OURS) != wanted:
            await asyncio.sleep(0.01)


async def in_a_burst(engine: AsyncEngine, times: int) -> None:
    async def hold() -> None:
        async with engine.connect() as db:
            await db.execute(sa.text("SELECT pg_sleep(0.05)"))

    await asyncio.gather(*(hold() for _ in range(times)))


async def test_a_process_has_as_many_connections_as_it_may_and_gives_them_back(
    postgres: Postgres,
) -> None:
    url = sa.make_url(postgres.fresh())
    connecting = Connecting(connections=6)
    writer, _ = open_postgres(url, connecting, close_seconds=0.3)
    _, looking = open_postgres(url)
    burst = asyncio.create_task(in_a_burst(writer, 30))
    await until_connections(looking, connecting.of_engine)
    await burst
    await until_connections(looking, 0)
    await in_a_burst(writer, 30)  # and they are made again
    await until_connections(looking, 0)
    await writer.dispose()
    await looking.dispose()


async def test_a_connection_that_is_used_is_not_given_back(url: sa.URL) -> None:
    writer, _ = open_postgres(url, close_seconds=0.05)
    async with writer.connect() as db:
        first = await db.scalar(PID)
        await db.execute(sa.text("SELECT pg_sleep(0.2)"))
        assert await db.scalar(PID) == first
    await writer.dispose()


async def test_a_connection_is_not_given_back_while_it_is_tested_before_its_use(
    url: sa.URL, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, _ = open_postgres(url, idle_seconds=0.0, close_seconds=0.05)

    def slow_ping(connection: Any) -> bool:
        cursor = connection.cursor()
        cursor.execute("SELECT pg_sleep(0.2)")
        cursor.close()
        return True

    monkeypatch.setattr(writer.sync_engine.dialect, "do_ping", slow_ping)
    async with writer.begin() as db:
        first = await db.scalar(PID)
    async with writer.begin() as db:
        assert await db.scalar(PID) == first
    await writer.dispose()


async def test_ten_processes_fit_into_postgresqls_default(postgres: Postgres) -> None:
    database = await open_database(postgres.migrated())
    async with database.read() as db:
        most = int(await db.scalar(sa.text("SHOW max_connections")) or 0)
        kept = int(await db.scalar(sa.text("SHOW superuser_reserved_connections")) or 0)
    await database.close()
    assert most == 100
    assert 10 * load_settings().database_connections <= most - kept
    assert load_settings().database_connections == Connecting().connections


async def test_no_connection_left_is_told_as_what_it_is(postgres: Postgres) -> None:
    url = sa.make_url(postgres.migrated())
    looking, _ = open_postgres(url)
    async with looking.begin() as db:
        await db.execute(sa.text("CREATE ROLE crowded LOGIN CONNECTION LIMIT 0"))
    with pytest.raises(StorageUnavailable, match="FOOTNOTE_DATABASE_CONNECTIONS") as caught:
        await open_database(url.set(username="crowded").render_as_string(hide_password=False))
    assert "too many connections" in caught.value.sentence
    assert "cannot be reached" not in str(caught.value)
    assert caught.value.kind == "exhausted"
    await looking.dispose()


async def test_a_process_that_finds_none_left_at_its_start_waits_for_one(
    postgres: Postgres,
) -> None:
    url = sa.make_url(postgres.migrated())
    looking, _ = open_postgres(url)
    async with looking.begin() as db:
        await db.execute(sa.text("CREATE ROLE late LOGIN SUPERUSER"))
        await db.execute(sa.text("ALTER ROLE late NOSUPERUSER CONNECTION LIMIT 0"))
        await db.execute(sa.text("GRANT ALL ON ALL TABLES IN SCHEMA public TO late"))
    address = url.set(username="late").render_as_string(hide_password=False)
    opening = asyncio.create_task(open_database(address, start_patience=30))
    await asyncio.wait({opening}, timeout=0.2)
    assert not opening.done()
    async with looking.begin() as db:
        await db.execute(sa.text("ALTER ROLE late CONNECTION LIMIT 5"))
    await (await opening).close()
    await looking.dispose()


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("FATAL:  sorry, too many clients already", "FOOTNOTE_DATABASE_CONNECTIONS"),
        ("FATAL:  remaining connection slots are reserved for x", "FOOTNOTE_DATABASE_CONNECTIONS"),
        ("FATAL:  no more connections allowed (max_client_conn)", "FOOTNOTE_DATABASE_CONNECTIONS"),
        ("FATAL:  unsupported startup parameter: options", "FOOTNOTE_DATABASE_LISTEN_URL"),
    ],
)
def test_the_words_of_a_refusal_have_their_advice(words: str, advice: str) -> None:
    trouble = postgres_trouble(psycopg.OperationalError(f"connection failed: {words}"), "It")
    assert trouble is not None
    assert advice in trouble.sentence
