"""Changes to runs are announced to other processes by PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import psycopg
import pytest
import sqlalchemy as sa

from bot.core.messages import Answer, RunOptions, Thread
from bot.storage.postgres import RunSignals
from bot.storage.store import Store, open_store
from tests.fakes.postgres import Postgres
from tests.unit.samples import NOW, a_message

LEASE = timedelta(seconds=30)
WEB = Thread("web", "console", "local", "t")
SLACK = Thread("slack", "T1", "C1", "1.2")


@dataclass
class Ear:
    """A listener: it keeps runs with their threads, and how often listening began."""

    heard: list[tuple[str, str]] = field(default_factory=list)
    begun: int = 0
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, run: str, thread_key: str) -> None:
        self.heard.append((run, thread_key))
        self._news.set()

    def begin(self) -> None:
        self.begun += 1
        self._news.set()

    async def until(self, *, heard: int = 0, begun: int = 0) -> None:
        async with asyncio.timeout(60):
            while len(self.heard) < heard or self.begun < begun:
                self._news.clear()
                await self._news.wait()


@asynccontextmanager
async def listening(store: Store) -> AsyncIterator[tuple[Ear, RunSignals]]:
    ear = Ear()
    signals = RunSignals(store.database.listener, ear.hear, ear.begin)
    try:
        await ear.until(begun=1)
        yield ear, signals
    finally:
        await signals.aclose()


@pytest.fixture
async def store(postgres: Postgres) -> AsyncIterator[Store]:
    store = await open_store(postgres.migrated())
    yield store
    await store.close()


async def begun(store: Store, thread: Thread) -> int:
    """A run that is worked on; its attempt."""
    await store.accept("r1", a_message("How tall?", thread), RunOptions(), NOW)
    record = await store.claim("r1", "host/1/x", NOW, LEASE)
    assert record is not None
    return record.attempt


async def test_a_run_is_heard_of_from_its_question_to_its_end(store: Store) -> None:
    async with listening(store) as (ear, _):
        attempt = await begun(store, WEB)
        await ear.until(heard=2)
        await store.save_post_state("r1", attempt, {"mark": "1.0"})
        await ear.until(heard=3)
        await store.end("r1", attempt, "answered", NOW)
        await ear.until(heard=4)
    assert ear.heard == [("r1", WEB.key)] * 4


async def test_what_is_posted_elsewhere_and_what_nobody_sees_is_no_news(store: Store) -> None:
    async with listening(store) as (ear, _):
        attempt = await begun(store, SLACK)
        await store.save_post_state("r1", attempt, {"ts": "1.2"})
        assert await store.renew("host/1/x", ["r1"], NOW + LEASE)
        await store.save_answer("r1", attempt, Answer("answered", "So.", "How tall?", "r1"))
        await store.end("r1", attempt, "answered", NOW)
        await ear.until(heard=3)
    assert ear.heard == [("r1", SLACK.key)] * 3  # accepted, claimed, ended


async def test_one_save_is_one_signal_and_no_statement_more(store: Store) -> None:
    attempt = await begun(store, WEB)
    statements: list[str] = []
    engine = store.database._writer.sync_engine
    sa.event.listen(engine, "before_cursor_execute", lambda *said: statements.append(said[2]))
    async with listening(store) as (ear, _):
        await store.save_post_state("r1", attempt, {"mark": "1.1", "text": "secret words"})
        await ear.until(heard=1)
    assert len(statements) == 1
    assert ear.heard == [("r1", WEB.key)]


async def test_a_thread_of_a_very_long_name_can_be_told_of(store: Store) -> None:
    async with listening(store) as (ear, _):
        await begun(store, Thread("web", "console", "長" * 9_000, "t"))
        await ear.until(heard=2)


async def test_a_connection_that_is_cut_is_made_again(store: Store) -> None:
    async with listening(store) as (ear, signals):
        async with store.database.write() as db:
            await db.execute(
                sa.text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE query LIKE 'LISTEN %footnote_runs%' AND datname = current_database()"
                )
            )
        await ear.until(begun=2)
        assert signals.listening
        await begun(store, WEB)
        await ear.until(heard=2)


async def test_a_process_that_has_ended_holds_no_connection(store: Store) -> None:
    async with listening(store):
        pass
    with psycopg.connect(str(store.database.url.set(drivername="postgresql"))) as connection:
        left = connection.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE query LIKE 'LISTEN%' AND datname = current_database()"
        ).fetchone()
    assert left == (0,)


async def test_all_that_a_process_hears_it_hears_on_one_connection(store: Store) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    begun = asyncio.Event()

    async def note(channel: str, payload: str) -> None:
        heard.put_nowait(f"{channel} {payload}")

    hearing = asyncio.create_task(store.database.listener.hear(("a", "b"), note, begun=begun.set))
    await begun.wait()
    async with listening(store) as (ear, _), store.database.write() as db:
        counted = sa.text(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE query LIKE 'LISTEN%' AND datname = current_database()"
        )
        assert await db.scalar(counted) == 1
        await db.execute(sa.text("NOTIFY b, 'x'"))
        await db.execute(sa.text("NOTIFY footnote_runs, 'r t'"))
        await db.commit()
        await ear.until(heard=1)
    assert await heard.get() == "b x"
    assert ear.heard == [("r", "t")]
    hearing.cancel()
    await asyncio.wait({hearing})
