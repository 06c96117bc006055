"""PostgreSQL's error codes as our errors, and its time limits."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import sqlalchemy as sa

from bot.core.errors import StorageUnavailable
from bot.storage.database import Database, open_database
from tests.fakes.postgres import Postgres


@pytest.fixture
async def database(postgres: Postgres) -> AsyncIterator[Database]:
    database = await open_database(postgres.migrated())
    yield database
    await database.close()


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        ("40001", "contended", "asked for the same rows by several"),  # serialization_failure
        ("40P01", "contended", "asked for the same rows by several"),  # deadlock_detected
        ("55P03", "contended", "waited too long for another transaction"),  # lock_not_available
        ("08006", "broken", "cannot be reached"),  # connection_failure
        ("57P01", "broken", "being shut down or started"),  # admin_shutdown
        ("57P02", "broken", "being shut down or started"),  # crash_shutdown
        ("25006", "away", "must name the primary server"),  # read_only_sql_transaction
        ("53100", "away", "free some disk space"),  # disk_full
        ("53200", "away", "has run out of a resource"),  # out_of_memory
        ("53300", "exhausted", "has too many connections"),  # too_many_connections
        ("57014", "away", "took too long over a statement"),  # query_canceled
        ("58030", "away", "trouble with its disk"),  # io_error
        ("42501", "away", "grant it the rights"),  # insufficient_privilege
        ("23514", "wrong", "look at its log"),  # check_violation
        ("XX001", "wrong", "look at its log"),  # data_corrupted
    ],
)
async def test_a_trouble_has_its_sentence_and_says_whether_to_try_again(
    database: Database, code: str, kind: str, words: str
) -> None:
    raising = f"DO $$ BEGIN RAISE 'two\nlines' USING ERRCODE = '{code}'; END $$"
    with pytest.raises(StorageUnavailable, match=words) as caught:
        async with database.write() as db:
            await db.exec_driver_sql(raising, execution_options={"no_parameters": True})
    assert caught.value.kind == kind
    assert code in caught.value.detail
    assert "\n" not in str(caught.value), "the log has one line of it"


async def test_a_migration_may_take_longer_than_anything_else(database: Database) -> None:
    async with database.write() as db:
        assert await db.scalar(sa.text("SHOW statement_timeout")) == "30s"
    async with database.long_write() as db:
        assert await db.scalar(sa.text("SHOW statement_timeout")) == "0"
    async with database.write() as db:
        assert await db.scalar(sa.text("SHOW statement_timeout")) == "30s"


async def test_a_server_that_went_without_a_word_is_noticed(database: Database) -> None:
    """The network's own limits are hours."""
    async with database.read() as db:
        raw = await db.get_raw_connection()
        given = raw.driver_connection.info.get_parameters()  # type: ignore[union-attr]
    assert int(given["keepalives_idle"]) + 2 * int(given["keepalives_interval"]) <= 20
    assert int(given["tcp_user_timeout"]) <= 20_000
