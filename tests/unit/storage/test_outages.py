"""One line when the database fails, one when it works again."""

from __future__ import annotations

import asyncio
import re
import socket

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine
from structlog.testing import capture_logs

from bot.core.errors import StorageUnavailable
from bot.storage.database import Database, NoTurns, Outages, open_database
from bot.storage.postgres import postgres_trouble
from tests.fakes.postgres import Postgres

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


def test_a_full_disk_that_lets_some_through_is_told_once_a_minute() -> None:
    outages = Outages()
    with capture_logs() as lines:
        for _ in range(100):
            outages.record_failure("writing", FULL)
            outages.record_success("writing")
    assert len(lines) == 2


def test_connections_that_break_again_and_again_are_told_once_a_minute() -> None:
    outages = Outages()
    with capture_logs() as lines:
        for number in range(100):
            words = f"The database was lost in way {number}."
            outages.record_failure("reading", StorageUnavailable(words, kind="broken"))
            outages.record_success("reading")
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


async def test_a_server_that_is_not_there_is_waited_for_so_long_and_no_longer() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"postgresql+psycopg://nobody:secret@127.0.0.1:{closed.getsockname()[1]}/x"
        with capture_logs() as lines, pytest.raises(StorageUnavailable) as given_up:
            await open_database(url, start_patience=1.2)
    assert re.search(r"cannot be reached.*Footnote waited 1 s for it\.", given_up.value.sentence)
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
