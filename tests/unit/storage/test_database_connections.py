"""Connections to PostgreSQL: shared by who writes and who reads, tested after they lay idle."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.storage.database import open_database
from bot.storage.postgres import open_postgres
from bot.storage.rows import evened
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
    assert len(evened(ids)) == sent
    assert dict.fromkeys(evened(ids)) == dict.fromkeys(ids)
