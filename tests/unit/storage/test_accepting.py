"""Accepting in PostgreSQL: one statement, whose lock on the thread comes before all else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from bot.core.messages import RunOptions
from bot.storage.store import Store, open_store
from bot.storage.tables import messages, runs, spending
from tests.unit.samples import NOW, a_message, a_thread

LOCKING = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
WAITING = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
LAST_ID = "SELECT last_value FROM messages_id_seq"


@pytest.fixture
async def store(postgres_url: str) -> AsyncIterator[Store]:
    store = await open_store(postgres_url)
    yield store
    await store.close()


async def _held_up(locker: psycopg.AsyncConnection[tuple[int]], count: int) -> None:
    """Return once so many wait for the lock."""
    async with asyncio.timeout(60):
        while await _number(locker, WAITING) != count:
            await asyncio.sleep(0.01)


async def _number(connection: psycopg.AsyncConnection[tuple[int]], query: str) -> int:
    row = await (await connection.execute(query)).fetchone()
    assert row is not None
    return row[0]


@pytest.fixture
async def locker(postgres_url: str) -> AsyncIterator[psycopg.AsyncConnection[tuple[int]]]:
    address = postgres_url.replace("postgresql+psycopg", "postgresql")
    async with await psycopg.AsyncConnection[tuple[int]].connect(address) as connection:
        yield connection


async def test_a_message_that_waits_for_its_thread_has_no_number_yet(
    store: Store, locker: psycopg.AsyncConnection[tuple[int]]
) -> None:
    await store.accept("r1", a_message(event_id="1"), RunOptions(), NOW)
    before = await _number(locker, LAST_ID)
    await locker.execute(LOCKING, [a_thread().key])
    accepting = asyncio.create_task(store.accept("r2", a_message(event_id="2"), RunOptions(), NOW))
    await _held_up(locker, 1)
    assert await _number(locker, LAST_ID) == before
    await locker.commit()
    assert await accepting == ("r2", True)


async def test_an_event_that_comes_many_times_at_once_makes_one_run(
    store: Store, locker: psycopg.AsyncConnection[tuple[int]]
) -> None:
    await locker.execute(LOCKING, [a_thread().key])
    message = a_message(event_id="1")
    several = [
        asyncio.create_task(store.accept(f"r{n}", message, RunOptions(), NOW)) for n in range(4)
    ]
    await _held_up(locker, 4)
    await locker.commit()
    kept = await asyncio.gather(*several)
    assert len({run for run, _ in kept}) == 1
    assert sorted(new for _, new in kept) == [False, False, False, True]
    async with store.database.read() as db:
        counts = [await db.scalar(sa.select(sa.func.count()).select_from(runs))]
        counts += (await db.scalars(sa.select(spending.c.questions))).all()
        assert (await db.scalars(sa.text("SELECT deed FROM audit"))).all() == ["asked"]
    assert counts == [1, 1, 1, 1], "a run, and one question of each account"


async def test_a_redelivery_leaves_an_edited_question_as_it_is(store: Store) -> None:
    message = a_message("How tall?", event_id="1")
    await store.accept("r1", message, RunOptions(), NOW)
    async with store.database.write() as db:
        await db.execute(sa.update(messages).values(text="How old?"))
    assert await store.accept("r2", message, RunOptions(), NOW) == ("r1", False)
    run = await store.run("r1")
    assert run is not None
    assert run.message.text == "How old?"


# https://github.com/psycopg/psycopg/discussions/628
LONGEST, MOST_PARAMETERS = 4_096, 50


async def test_the_driver_remembers_the_statements_of_a_question(
    store: Store, request: pytest.FixtureRequest
) -> None:
    sent: list[tuple[str, int]] = []

    def sees(connection: Any, cursor: Any, statement: str, values: Any, *_: object) -> None:
        sent.append((statement, len(values)))

    sa.event.listen(sa.Engine, "before_cursor_execute", sees)
    request.addfinalizer(lambda: sa.event.remove(sa.Engine, "before_cursor_execute", sees))
    await store.accept("r1", a_message(), RunOptions(), NOW)
    run = await store.claim("r1", "here", NOW, timedelta(seconds=30))
    assert run is not None
    await store.end("r1", run.attempt, "answered", NOW)
    assert len(sent) == 3
    assert all(len(text) <= LONGEST and count <= MOST_PARAMETERS for text, count in sent)
