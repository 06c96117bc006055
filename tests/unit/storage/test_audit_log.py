"""The audit log: rows are only added, kept as long as retention says, and replayed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from bot.core.errors import StorageUnavailable
from bot.core.messages import Thread
from bot.operation.configuration import load_settings
from bot.rights.rights import Rights, RuleChanges
from bot.service.deletion import Forgetter
from bot.storage.audit_log import Actor, Audit, AuditFilter, Entry, key_of_pseudonyms, pseudonym_by
from bot.storage.forgetting import (
    NAMES,
    Forgetting,
    MissingForgettings,
    Subject,
    missing_forgettings,
)
from bot.storage.removal import Keep, Retention
from bot.storage.store import Store
from bot.storage.tables import audit, messages, metadata
from bot.storage.workspaces import Workspaces
from tests.unit.storage.past import Past

DAY = timedelta(days=1)
NOW = datetime.now(UTC)


async def log_of(store: Store, **wanted: object) -> list[Entry]:
    entries = Audit(store.database).entries(AuditFilter(**wanted))  # type: ignore[arg-type]
    return [entry async for entry in entries]


async def noted_at(store: Store, *moments: datetime) -> None:
    async with store.database.write() as db:
        row = dict.fromkeys((column.name for column in audit.c if column.name != "id"), "")
        await db.execute(sa.insert(audit), [{**row, "at": at, "deed": "read"} for at in moments])


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM audit",
        "UPDATE audit SET outcome = 'refused'",
        "UPDATE audit SET person = 'somebody else'",
        "UPDATE audit SET person = 'forgotten:x', address = '', deed = 'asked'",
    ],
)
async def test_the_database_refuses_to_change_a_row_or_to_take_it_away(
    store: Store, statement: str
) -> None:
    await Audit(store.database).note("read", "run", "r1", by=Actor("web", "console", "ada", "::1"))
    before = await log_of(store)
    with pytest.raises((sa.exc.DBAPIError, StorageUnavailable)):
        async with store.database.write() as db:
            await db.exec_driver_sql(statement)
    assert await log_of(store) == before
    assert (before[0].person, before[0].address) == ("ada", "::1")


async def test_rows_older_than_retention_go_and_a_row_says_so(store: Store) -> None:
    await noted_at(store, *[NOW - 40 * DAY] * 20, NOW - 31 * DAY, NOW - 29 * DAY, NOW)
    retention = Retention(store.database, Keep(audit=30 * DAY))
    assert (await retention.prune(NOW)).audit == 21
    left = await log_of(store)
    assert [row.deed for row in left] == ["read", "read", "pruned"]
    assert (left[-1].platform, left[-1].object) == (
        "footnote",
        (NOW - 30 * DAY).date().isoformat(),
    )
    assert not await retention.prune(NOW)
    assert await log_of(store) == left


async def test_the_log_is_read_by_time_person_and_deed_and_in_portions(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.storage.audit_log.ROWS_AT_ONCE", 2)
    await noted_at(store, *(NOW - n * DAY for n in range(5, 0, -1)))
    past = Past(store)
    run = await past.answered("ada", asked="Who?")
    assert len(await log_of(store)) == 6
    some = await log_of(store, since=NOW - 4 * DAY, until=NOW - 2 * DAY)
    assert [row.at for row in some] == [NOW - 4 * DAY, NOW - 3 * DAY]
    (asked,) = await log_of(store, who=("slack", "ada"), what=["asked", "shared"])
    assert (asked.object, asked.place, asked.text) == (run, "slack:T1:C1:t1", "")
    assert [row.text for row in await log_of(store, texts=True)] == [""] * 5 + ["Who?"]
    assert await log_of(store, since=NOW + DAY) == []


async def test_rules_of_a_channel_are_a_row(store: Store) -> None:
    places = Workspaces(store.database)
    for rules in ({"tone": "dry"}, None):
        await places.set_rules("slack", "T1", "C1", rules, "ada")
    assert [(row.person, row.deed, row.object) for row in await log_of(store)] == [
        ("ada", "ruled", "slack:T1:C1")
    ] * 2


async def test_rules_of_the_settings_that_changed_are_a_row_each(store: Store) -> None:
    async def look(**chosen: object) -> None:
        settings = load_settings(**chosen)
        await RuleChanges(store.database, settings, Rights(settings)).look()

    await look(admins="ada")
    assert await log_of(store) == []
    await look(admins="ada")
    await look(admins="bob", guests="deny", language="de")
    rows = await log_of(store)
    assert [(row.platform, row.deed, row.object) for row in rows] == [
        ("footnote", "ruled", "guests"),
        ("footnote", "ruled", "admins"),
    ]


async def test_after_a_restore_the_same_is_forgotten_and_what_came_later_stays(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few names are compared at once."""
    monkeypatch.setattr("bot.storage.forgetting.ROWS_AT_ONCE", 1)
    past = Past(store, at=NOW - 2 * DAY)
    await past.answered("ada")
    await past.answered("bob")
    past.at = NOW - DAY
    await past.answered("ada")
    async with store.database.write() as db:
        key = await key_of_pseudonyms(db)
    ada = ("person", f"slack:{pseudonym_by(key, 'slack', 'ada')}")
    elsewhere = ("person", f"slack:{pseudonym_by('another key', 'slack', 'bob')}")
    gone, here = ("thread", "slack:T1:C1:gone"), ("thread", "web:console:5d3c")
    past.thread = Thread("web", "console", "bob", "5d3c")
    await past.answered("bob")
    single, everyone = ("message", "slack:e9"), ("workspace", "slack:T9")
    told = dict.fromkeys([ada, elsewhere, gone, here, single, everyone], NOW - 2 * DAY)

    due = await missing_forgettings(store.database, told)
    assert due.subjects == dict.fromkeys(
        [
            Subject("person", "slack", "ada"),
            Subject("thread", "web", past.thread.key),
            Subject("workspace", "slack", "T9"),
        ],
        NOW - 2 * DAY,
    )
    assert (due.messages, due.foreign) == ((("slack", "e9"),), 1)
    forgetter = Forgetter(store.database, store.request_stop)
    for subject, at in due.subjects.items():
        await forgetter.forget_again(subject, at)
    async with store.database.read() as db:
        query = sa.select(messages.c.author_id, messages.c.at).order_by(messages.c.id)
        left = [(author, at) for author, at in await db.execute(query)]
    assert left == [("bob", NOW - 2 * DAY), ("ada", NOW - DAY), ("bob", NOW - DAY)]
    assert (await missing_forgettings(store.database, told)).subjects == {}


@pytest.mark.parametrize(
    "subject",
    [
        Subject("thread", "slack", "slack:T1:C1:t1"),
        Subject("person", "slack", "ada"),
        Subject("workspace", "slack", "T1"),
    ],
    ids=lambda subject: subject.kind,
)
async def test_a_database_knows_what_it_has_forgotten_itself(
    store: Store, subject: Subject
) -> None:
    await Past(store).answered("ada")
    await Forgetting(store.database).ask(subject, NOW)
    told = {(row.kind, row.object): row.at for row in await log_of(store, what=["forgot"])}
    assert set(told.values()) == {NOW}
    assert await missing_forgettings(store.database, told) == MissingForgettings({}, (), 0)
    later = dict.fromkeys(told, NOW + DAY)
    assert await missing_forgettings(store.database, later) == MissingForgettings(
        {subject: NOW + DAY}, (), 0
    )


def test_every_column_with_ids_of_people_is_compared_with_pseudonyms() -> None:
    """But reservations: their run has a message of the same person."""
    ids = {
        str(column)
        for table in metadata.sorted_tables
        for column in table.c
        if column.name in ("author_id", "person", "titled_by")
    }
    assert ids - {"reservations.person"} <= set(map(str, NAMES))


def test_a_pseudonym_depends_on_the_platform_and_names_its_key() -> None:
    names = [pseudonym_by("key", platform, "ada") for platform in ("slack", "web")]
    assert names[0] != names[1]
    assert names[0].rpartition(":")[0] == names[1].rpartition(":")[0]
    assert pseudonym_by("other", "web", "ada").rpartition(":")[0] != names[1].rpartition(":")[0]
