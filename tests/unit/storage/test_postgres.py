"""PostgreSQL: its connections, its errors as ours, its notifications."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.core.errors import StorageUnavailable
from bot.core.messages import Answer, RunOptions, Thread
from bot.operation.configuration import load_settings
from bot.storage.database import Database, open_database
from bot.storage.postgres import Connecting, RunSignals, open_postgres, postgres_trouble
from bot.storage.store import Store
from bot.storage.tables import pad_ids
from tests.fakes.postgres import Postgres
from tests.unit.samples import NOW, a_message


@pytest.fixture
async def pg_database(postgres: Postgres) -> AsyncIterator[Database]:
    pg_database = await open_database(postgres.migrated())
    yield pg_database
    await pg_database.close()


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
    pg_database: Database, code: str, kind: str, words: str
) -> None:
    raising = f"DO $$ BEGIN RAISE 'two\nlines' USING ERRCODE = '{code}'; END $$"
    with pytest.raises(StorageUnavailable, match=words) as caught:
        async with pg_database.write() as db:
            await db.exec_driver_sql(raising, execution_options={"no_parameters": True})
    assert caught.value.kind == kind
    assert code in caught.value.detail
    assert "\n" not in str(caught.value), "the log has one line of it"


async def test_a_migration_may_take_longer_than_anything_else(pg_database: Database) -> None:
    async with pg_database.write() as db:
        assert await db.scalar(sa.text("SHOW statement_timeout")) == "30s"
    async with pg_database.long_write() as db:
        assert await db.scalar(sa.text("SHOW statement_timeout")) == "0"
    async with pg_database.write() as db:
        assert await db.scalar(sa.text("SHOW statement_timeout")) == "30s"


async def test_a_server_that_went_without_a_word_is_noticed(pg_database: Database) -> None:
    """The network's own limits are hours."""
    async with pg_database.read() as db:
        raw = await db.get_raw_connection()
        given = raw.driver_connection.info.get_parameters()  # type: ignore[union-attr]
    assert int(given["keepalives_idle"]) + 2 * int(given["keepalives_interval"]) <= 20
    assert int(given["tcp_user_timeout"]) <= 20_000


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
async def listening(pg_store: Store) -> AsyncIterator[tuple[Ear, RunSignals]]:
    ear = Ear()
    signals = RunSignals(pg_store.database.listener, ear.hear, ear.begin)
    try:
        await ear.until(begun=1)
        yield ear, signals
    finally:
        await signals.aclose()


async def begun_on(pg_store: Store, thread: Thread) -> int:
    """A run that is worked on; its attempt."""
    await pg_store.accept("r1", a_message("How tall?", thread), RunOptions(), NOW)
    record = await pg_store.claim("r1", "host/1/x", NOW, LEASE)
    assert record is not None
    return record.attempt


async def test_a_run_is_heard_of_from_its_question_to_its_end(pg_store: Store) -> None:
    async with listening(pg_store) as (ear, _):
        attempt = await begun_on(pg_store, WEB)
        await ear.until(heard=2)
        await pg_store.save_post_state("r1", attempt, {"mark": "1.0"})
        await ear.until(heard=3)
        await pg_store.end("r1", attempt, "answered", NOW)
        await ear.until(heard=4)
    assert ear.heard == [("r1", WEB.key)] * 4


async def test_what_is_posted_elsewhere_and_what_nobody_sees_is_no_news(pg_store: Store) -> None:
    async with listening(pg_store) as (ear, _):
        attempt = await begun_on(pg_store, SLACK)
        await pg_store.save_post_state("r1", attempt, {"ts": "1.2"})
        assert await pg_store.renew("host/1/x", ["r1"], NOW + LEASE)
        await pg_store.save_answer("r1", attempt, Answer("answered", "So.", "How tall?", "r1"))
        await pg_store.end("r1", attempt, "answered", NOW)
        await ear.until(heard=3)
    assert ear.heard == [("r1", SLACK.key)] * 3  # accepted, claimed, ended


async def test_one_save_is_one_signal_and_no_statement_more(pg_store: Store) -> None:
    attempt = await begun_on(pg_store, WEB)
    statements: list[str] = []
    engine = pg_store.database._writer.sync_engine
    sa.event.listen(engine, "before_cursor_execute", lambda *said: statements.append(said[2]))
    async with listening(pg_store) as (ear, _):
        await pg_store.save_post_state("r1", attempt, {"mark": "1.1", "text": "secret words"})
        await ear.until(heard=1)
    assert len(statements) == 1
    assert ear.heard == [("r1", WEB.key)]


async def test_a_thread_of_a_very_long_name_can_be_told_of(pg_store: Store) -> None:
    async with listening(pg_store) as (ear, _):
        await begun_on(pg_store, Thread("web", "console", "長" * 9_000, "t"))
        await ear.until(heard=2)


async def test_a_connection_that_is_cut_is_made_again(pg_store: Store) -> None:
    async with listening(pg_store) as (ear, signals):
        async with pg_store.database.write() as db:
            await db.execute(
                sa.text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE query LIKE 'LISTEN %footnote_runs%' AND datname = current_database()"
                )
            )
        await ear.until(begun=2)
        assert signals.listening
        await begun_on(pg_store, WEB)
        await ear.until(heard=2)


async def test_a_process_that_has_ended_holds_no_connection(pg_store: Store) -> None:
    async with listening(pg_store):
        pass
    with psycopg.connect(str(pg_store.database.url.set(drivername="postgresql"))) as connection:
        left = connection.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE query LIKE 'LISTEN%' AND datname = current_database()"
        ).fetchone()
    assert left == (0,)


async def test_all_that_a_process_hears_it_hears_on_one_connection(pg_store: Store) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    begun_on = asyncio.Event()

    async def note(channel: str, payload: str) -> None:
        heard.put_nowait(f"{channel} {payload}")

    hearing = asyncio.create_task(
        pg_store.database.listener.hear(("a", "b"), note, begun=begun_on.set)
    )
    await begun_on.wait()
    async with listening(pg_store) as (ear, _), pg_store.database.write() as db:
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
