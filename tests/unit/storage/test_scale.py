"""Lists of accounts and threads read what they show, not all there is; what was spent is pruned."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from math import inf
from typing import Any

import pytest
import sqlalchemy as sa

from bot.storage.archive import PORTION, Archive
from bot.storage.meter import Meter
from bot.storage.removal import Keep, Retention
from bot.storage.spending import Amount, Payer, Spending, add_spent
from bot.storage.store import Store, open_store
from bot.storage.tables import messages, metadata, spending, threads
from tests.fakes.postgres import Postgres
from tests.unit.storage import plans

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
THREADS, EACH = 300, 5
RUNS = 5_000


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
    listed = await Archive(crowded.database).threads(7)
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
    listed = await Archive(crowded.database).threads(1_000)
    assert len(listed) == THREADS
    assert listed[0].thread.thread == "1"
    assert listed[0].messages == EACH + PORTION + 10


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


@pytest.fixture(scope="module")
def large(postgres: Postgres) -> str:
    """A year of questions; what an index can find is read by it."""
    url = postgres.migrated()
    name = sa.make_url(url).database

    async def filled() -> None:
        store = await open_store(url)
        await plans.fill(store, RUNS)
        async with store.database.write() as db:
            # So small a table is read whole if that costs as little as to read it by an index.
            for cost in ("enable_seqscan = off", "random_page_cost = 0.1"):
                await db.execute(sa.text(f"ALTER DATABASE {name} SET {cost}"))
        await store.close()

    asyncio.run(filled())
    return url


@pytest.mark.parametrize("do", plans.DOINGS, ids=lambda do: do.__name__)
async def test_no_hot_statement_reads_a_large_table_from_beginning_to_end(
    large: str, do: plans.Doing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.storage.archive.PORTION", 50)
    store = await open_store(large)
    try:
        with plans.explaining(store) as explained:
            await do(plans.Scene(store, large, datetime.now(UTC), RUNS))
        sizes = await plans.sizes_of(store)
    finally:
        await store.close()
    assert explained
    long = [f"{read}: {one.statement}" for one in explained for read in one.long_reads(sizes)]
    assert long == []


def test_every_foreign_key_has_an_index_by_which_rows_that_go_find_what_hangs_on_them() -> None:
    for table in metadata.sorted_tables:
        keys = [table.primary_key, *table.indexes, *table.constraints]
        first = {
            next(iter(key.columns)).name
            for key in keys
            if isinstance(key, sa.PrimaryKeyConstraint | sa.UniqueConstraint | sa.Index)
            and len(key.columns)
        }
        assert {each.parent.name for each in table.foreign_keys} <= first, table.name


# ---------------------------------------------------------------- pruning


async def test_what_was_spent_long_ago_is_pruned_and_no_counter_goes_back(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.storage.meter.QUICK_SECONDS", inf)  # each look sums, however slow
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
