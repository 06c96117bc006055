"""Lists of accounts and threads read what they show, not all there is; what was spent is pruned."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from bot.storage.archive import PORTION, Archive
from bot.storage.meter import Meter
from bot.storage.retention import Keep, Retention
from bot.storage.spending import Amount, Payer, Spending, add_spent
from bot.storage.store import Store, open_store
from bot.storage.tables import messages, spending, threads
from tests.fakes.postgres import Postgres

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
THREADS, EACH = 300, 5


@pytest.fixture
async def crowded(store: Store) -> Store:
    """Three hundred threads, each with five messages, which take turns; every third in Discord."""
    rows = [
        {
            "key": f"{'discord' if n % 3 == 0 else 'slack'}:W:C{n % 7}:{n}",
            "platform": "discord" if n % 3 == 0 else "slack",
            "workspace": "W",
            "channel": f"C{n % 7}",
            "thread": str(n),
            "created_at": NOW,
        }
        for n in range(THREADS)
    ]
    said: list[dict[str, Any]] = [
        {
            "thread_key": row["key"],
            "event_key": f"{row['platform']}:{turn}-{n}",
            "author_id": f"U{n % 50}",
            "author_name": f"Name {n % 50} in turn {turn}",
            "text": f"{turn} of {n}",
            "links": [],
            "attachments": [],
            "locale": "en",
            "at": NOW + timedelta(seconds=turn * THREADS + n),
        }
        for turn in range(EACH)
        for n, row in enumerate(rows)
    ]
    async with store.database.write() as db:
        await db.execute(sa.insert(threads), rows)
        await db.execute(sa.insert(messages), said)
    return store


async def test_the_latest_threads_come_first_with_what_was_said_in_each(crowded: Store) -> None:
    listed = await Archive(crowded.database).threads(None, 7)
    assert [one.thread.thread for one in listed] == [str(THREADS - 1 - n) for n in range(7)]
    assert {one.messages for one in listed} == {EACH}
    assert listed[0].begins == f"0 of {THREADS - 1}"
    assert listed[0].last_at == NOW + timedelta(seconds=EACH * THREADS - 1)


async def test_more_threads_are_listed_than_a_portion_of_messages_holds(crowded: Store) -> None:
    async with crowded.database.write() as db:
        talk = sa.select(messages).where(messages.c.event_key == "slack:0-1")
        one = (await db.execute(talk)).one()
        await db.execute(
            sa.insert(messages),
            [
                {
                    **{k: v for k, v in one._mapping.items() if k != "id"},
                    "event_key": f"slack:more-{n}",
                    "at": NOW + timedelta(days=1, seconds=n),
                }
                for n in range(PORTION + 10)
            ],
        )
    listed = await Archive(crowded.database).threads(None, 1_000)
    assert len(listed) == THREADS
    assert listed[0].thread.thread == "1"
    assert listed[0].messages == EACH + PORTION + 10


async def test_threads_are_listed_by_platform_and_channel(crowded: Store) -> None:
    archive = Archive(crowded.database)
    listed = await archive.threads("discord", 1_000)
    assert len(listed) == THREADS // 3
    assert {one.thread.platform for one in listed} == {"discord"}
    of_channel = await archive.threads("slack", 1_000, channel="C3")
    assert {one.thread.channel for one in of_channel} == {"C3"}
    assert await archive.threads("web", 5) == []


async def test_people_are_called_as_they_were_last_on_that_platform(crowded: Store) -> None:
    async with crowded.database.write() as db:
        for platform, user in (("slack", "U1"), ("discord", "U3"), ("slack", "unknown")):
            await add_spent(db, Payer(platform, "W", "C1", user), NOW.date(), Amount(5, 1))
    lines = await Spending(crowded.database).lines(NOW.date(), NOW.date())
    people = {(one.platform, one.name): one.known_as for one in lines if one.scope == "user"}
    assert people == {
        ("slack", "U1"): "Name 1 in turn 4",
        ("discord", "U3"): "Name 3 in turn 4",
        ("slack", "unknown"): "",
    }
    assert {one.known_as for one in lines if one.scope != "user"} == {""}


# ---------------------------------------------------------------- plans of PostgreSQL


@pytest.fixture
async def large(postgres: Postgres) -> AsyncIterator[Store]:
    store = await open_store(postgres.migrated())
    fill = (
        "INSERT INTO threads (key, platform, workspace, channel, thread, created_at)"
        " SELECT 'slack:T:C:' || i, 'slack', 'T', 'C', i, now() FROM generate_series(1, 5000) i",
        "INSERT INTO messages (thread_key, event_key, author_id, author_name, text, links,"
        " attachments, locale, at) SELECT 'slack:T:C:' || (1 + mod(i, 5000)), 'slack:' || i,"
        " 'U' || mod(i, 100), 'Name', 'So?', '[]', '[]', 'en', now() - i * interval '1 second'"
        " FROM generate_series(1, 20000) i",
        "INSERT INTO spending (platform, scope, name, day, workspace, questions)"
        " SELECT 'slack', 'user', 'U' || i, current_date - d, 'T', 1"
        " FROM generate_series(1, 100) i, generate_series(0, 300) d",
        "ANALYZE",
    )
    async with store.database.long_write() as db:
        for statement in fill:
            await db.exec_driver_sql(statement)
    yield store
    await store.close()


async def test_no_list_reads_all_messages_or_all_that_was_ever_spent(large: Store) -> None:
    statements: list[tuple[str, object]] = []
    engine = large.database._writer.sync_engine
    sa.event.listen(
        engine, "before_cursor_execute", lambda *said: statements.append((said[2], said[3]))
    )
    await Archive(large.database).threads(None, 20)
    today = datetime.now(UTC).date()
    await Spending(large.database).lines(today - timedelta(days=20), today)
    asked = [each for each in statements if each[0].startswith("SELECT")]
    assert len(asked) == 4
    for statement, parameters in asked:
        async with large.database.read() as db:
            rows = await db.exec_driver_sql(f"EXPLAIN {statement}", parameters)  # type: ignore[arg-type]
            plan = "\n".join(row[0] for row in rows.all())
        assert "Seq Scan on messages" not in plan, plan
        assert "Seq Scan on spending" not in plan, plan
        assert "Bitmap Heap Scan on messages" not in plan or "known_as" not in statement, plan


# ---------------------------------------------------------------- pruning


async def test_what_was_spent_long_ago_is_pruned_and_no_counter_goes_back(store: Store) -> None:
    payer = Payer("slack", "T", "C", "U")
    async with store.database.write() as db:
        for ago in (0, 399, 401, 500):
            await add_spent(db, payer, NOW.date() - timedelta(days=ago), Amount(100, 1))
    meter = Meter(store.database, NOW)
    before = (await meter.look()).spent["slack"]
    removed = await Retention(store.database, Keep(spending=timedelta(days=400))).prune(NOW)
    assert removed.spending == 6  # three accounts on two days
    async with store.database.read() as db:
        left = (await db.scalars(sa.select(spending.c.day).distinct())).all()
    assert sorted(left) == [NOW.date() - timedelta(days=399), NOW.date()]
    assert before.micro_usd == 400
    assert (await meter.look()).spent["slack"] == before
    async with store.database.write() as db:
        await add_spent(db, payer, NOW.date(), Amount(7, 1))
    assert (await meter.look()).spent["slack"].micro_usd == 407
