"""slack_sdk's stores on our database: sealed, found by workspace, good once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from slack_sdk.oauth.installation_store import Installation
from slack_sdk.oauth.installation_store.sqlalchemy import SQLAlchemyInstallationStore
from slack_sdk.oauth.state_store.sqlalchemy import SQLAlchemyOAuthStateStore

from adapters.slack.installations import (
    SECRETS,
    Installations,
    Place,
    States,
    StoredInstallations,
)
from bot.core.errors import InvalidSetting
from bot.storage.database import Database, open_database
from bot.storage.encryption import Seal, new_key
from bot.storage.tables import slack_bots, slack_installations, slack_oauth_states
from tests.fakes import sqlite

CLIENT = "1234.5678"
OLD, NEW = new_key(), new_key()
TOKENS = {
    "bot_token": "xoxe.xoxb-bot",
    "bot_refresh_token": "xoxe-1-bot",
    "user_token": "xoxe.xoxp-user",
    "user_refresh_token": "xoxe-1-user",
    "incoming_webhook_url": "https://hooks.slack.example/T1/B1/very-secret",
}


@pytest.fixture(params=["sqlite", "postgres"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    url = sqlite.migrated(tmp_path)
    if request.param == "postgres":
        url = request.getfixturevalue("postgres_url")
    database = await open_database(url)
    yield database
    await database.close()


def store(database: Database, *keys: str, client: str = CLIENT) -> Installations:
    return Installations(client, database, Seal([SecretStr(key) for key in keys or (OLD,)]))


def installation(team: str | None = "T1", **changes: Any) -> Installation:
    given: dict[str, Any] = {
        "app_id": "A1",
        "team_id": team,
        "team_name": team and f"Team {team}",
        "bot_id": f"B-{team}",
        "bot_user_id": f"U-{team}",
        "bot_scopes": ["chat:write"],
        "user_id": "U1",
        **TOKENS,
    }
    return Installation(**{**given, **changes})


async def raw(database: Database, table: sa.Table) -> list[dict[str, Any]]:
    async with database.read() as db:
        return [dict(row) for row in (await db.execute(sa.select(table))).mappings().all()]


# ---------------------------------------------------------------- the tables


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (slack_bots, SQLAlchemyInstallationStore.build_bots_table),
        (slack_installations, SQLAlchemyInstallationStore.build_installations_table),
        (slack_oauth_states, SQLAlchemyOAuthStateStore.build_oauth_states_table),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_our_tables_have_the_columns_slack_sdk_works_with(ours: sa.Table, theirs: Any) -> None:
    expected = theirs(sa.MetaData(), ours.name)
    assert {column.name for column in ours.c} == {column.name for column in expected.c}
    for column in expected.c:
        kind = sa.Text if isinstance(column.type, sa.String) else type(column.type)
        assert type(ours.c[column.name].type) is kind
        assert ours.c[column.name].nullable == column.nullable


# ---------------------------------------------------------------- sealed


async def test_what_is_stored_holds_no_secret_and_what_is_found_does(database: Database) -> None:
    installations = store(database)
    await installations.async_save(installation())
    for table in (slack_bots, slack_installations):
        (row,) = await raw(database, table)
        for name in SECRETS & set(row):
            assert row[name] not in TOKENS.values()
            assert Seal([SecretStr(OLD)]).open(row[name]) == TOKENS[name]
    found = await installations.async_find_installation(enterprise_id=None, team_id="T1")
    assert found is not None
    assert {name: getattr(found, name) for name in TOKENS} == TOKENS
    bot = await installations.bot_of("T1")
    assert bot is not None
    assert (bot.bot_token, bot.bot_user_id) == ("xoxe.xoxb-bot", "U-T1")
    assert "xoxb" not in repr(bot) + repr(found)


async def test_without_the_key_nothing_is_found_but_a_sentence(database: Database) -> None:
    await store(database).async_save(installation())
    with pytest.raises(InvalidSetting, match="No key of FOOTNOTE_ENCRYPTION_KEYS"):
        await store(database, NEW).bot_of("T1")
    with pytest.raises(InvalidSetting, match="footnote keys forget"):
        await store(database, NEW).reseal()


async def test_keys_are_changed_by_sealing_all_anew(database: Database) -> None:
    await store(database, OLD).async_save(installation())
    await store(database, OLD).async_save(installation("T2"))
    await store(database, NEW, OLD).reseal()
    before = await raw(database, slack_bots)
    await store(database, NEW).reseal()
    assert await raw(database, slack_bots) == before  # sealed with the first key already
    bot = await store(database, NEW).bot_of("T1")
    assert bot is not None
    assert bot.bot_token == "xoxe.xoxb-bot"
    with pytest.raises(InvalidSetting):
        await store(database, OLD).bot_of("T1")


async def test_sealing_anew_changes_all_or_nothing(database: Database) -> None:
    await store(database, OLD).async_save(installation())
    await store(database, new_key()).async_save(installation("T2"))
    before = await raw(database, slack_bots)
    with pytest.raises(InvalidSetting):
        await store(database, NEW, OLD).reseal()
    assert await raw(database, slack_bots) == before


async def test_what_no_key_opens_can_be_given_up(database: Database) -> None:
    await store(database, OLD).async_save(installation())
    await store(database, NEW).async_save(installation("T2"))
    assert await store(database, NEW).forget_unreadable() == 1
    assert await store(database, NEW).places() == [Place("T2", "Team T2")]
    await store(database, NEW).reseal()
    assert await store(database, NEW).forget_unreadable() == 0


# ---------------------------------------------------------------- workspaces and organisations


async def test_each_workspace_has_its_own_and_the_newest_counts(database: Database) -> None:
    installations, now = store(database), time.time()
    await installations.async_save(installation("T2", bot_token="xoxb-2"))
    await installations.async_save(installation(bot_token="xoxb-new", installed_at=now))
    await installations.async_save(installation(bot_token="xoxb-old", installed_at=now - 60))
    tokens = [
        bot and bot.bot_token for bot in [await installations.bot_of(t) for t in ("T1", "T2")]
    ]
    assert tokens == ["xoxb-new", "xoxb-2"]
    assert await installations.bot_of("T3") is None
    assert await installations.places() == [Place("T1", "Team T1"), Place("T2", "Team T2")]


async def test_a_workspace_of_an_organisation_is_found_by_its_own_id(database: Database) -> None:
    installations = store(database)
    await installations.async_save(installation(enterprise_id="E1"))
    bot = await installations.bot_of("T1")
    assert bot is not None
    assert bot.enterprise_id == "E1"
    assert await installations.bot_of("E1") is None


async def test_a_whole_organisation_is_found_by_its_id(database: Database) -> None:
    installations = store(database)
    whole = installation(
        None,
        enterprise_id="E1",
        enterprise_name="Org",
        is_enterprise_install=True,
        bot_token="xoxb-org",
    )
    await installations.async_save(whole)
    await installations.async_save(installation(enterprise_id="E1"))
    bot = await installations.bot_of("E1")
    assert bot is not None
    assert bot.bot_token == "xoxb-org"
    assert await installations.places() == [Place("E1", "Org"), Place("T1", "Team T1")]
    assert await installations.uninstall("E1", datetime.now(UTC))
    assert await installations.places() == [Place("T1", "Team T1")]


async def test_another_app_in_the_same_database_is_another(database: Database) -> None:
    await store(database).async_save(installation())
    other = store(database, NEW, client="other")
    assert await other.bot_of("T1") is None
    assert not await other.places()
    await other.reseal()
    assert not await other.uninstall("T1", datetime.now(UTC))
    assert await store(database).bot_of("T1") is not None


async def test_uninstalling_leaves_no_secret_behind(database: Database) -> None:
    installations = store(database)
    await installations.async_save(installation())
    await installations.async_save(installation(user_id="U2"))
    await installations.async_save(installation("T2"))
    assert await installations.uninstall("T1", datetime.now(UTC))
    assert not await installations.uninstall("T1", datetime.now(UTC))
    for table in (slack_bots, slack_installations):
        assert [row["team_id"] for row in await raw(database, table)] == ["T2"]


async def test_a_late_word_of_an_earlier_installation_leaves_a_new_one_alone(
    database: Database,
) -> None:
    installations = store(database)
    await installations.async_save(installation())
    assert not await installations.uninstall("T1", datetime.now(UTC) - timedelta(seconds=5))
    assert await installations.bot_of("T1") is not None


async def test_a_refreshed_token_takes_the_place_of_the_old_one(database: Database) -> None:
    installations = store(database)
    await installations.async_save(installation(bot_token_expires_at=1_000))
    bot = await installations.bot_of("T1")
    assert bot is not None
    bot.bot_token, bot.bot_token_expires_at = "xoxb-fresh", 2_000
    await installations.async_save_bot(bot)
    assert len(await raw(database, slack_bots)) == 1
    found = await installations.bot_of("T1")
    assert found is not None
    assert (found.bot_token, found.bot_token_expires_at) == ("xoxb-fresh", 2_000)


# ---------------------------------------------------------------- states


async def test_a_state_is_good_once(database: Database) -> None:
    states = States(600, database)
    state = await states.async_issue()
    assert not await states.async_consume("another")
    used = await asyncio.gather(*(states.async_consume(state) for _ in range(5)))
    assert sorted(used) == [False] * 4 + [True]
    assert not await raw(database, slack_oauth_states)


async def test_a_state_that_is_too_old_is_no_good_and_goes_with_the_next(
    database: Database,
) -> None:
    state = await States(-1, database).async_issue()
    states = States(600, database)
    assert not await states.async_consume(state)
    fresh = await states.async_issue()
    assert [row["state"] for row in await raw(database, slack_oauth_states)] == [fresh]


async def test_a_workspace_is_forgotten_whatever_key_sealed_its_tokens(database: Database) -> None:
    await store(database).async_save(installation("T1"))
    await store(database, NEW, client="another").async_save(installation("T1"))
    await store(database).async_save(installation("T2"))
    counted = await StoredInstallations().count(database, "T1")
    assert counted == await StoredInstallations().forget(database, "T1") == 4
    assert await StoredInstallations().forget(database, "T1") == 0
    assert [place.id for place in await store(database).places()] == ["T2"]
