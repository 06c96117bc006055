"""Sessions of single sign-on as they are stored."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.core.messages import CONSOLE
from bot.storage.console import Identity, SignIns
from bot.storage.database import Database, open_database
from bot.storage.forgetting import Forgetting, Subject
from bot.storage.tables import sign_ins
from tests.fakes import sqlite

ADA = Identity("ada", "Ada", ("hr", "all"), "a.b.c")
HOUR = timedelta(hours=1)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = await open_database(sqlite.migrated(tmp_path))
    yield database
    await database.close()


async def rows(database: Database) -> list[str]:
    async with database.read() as db:
        return list((await db.scalars(sa.select(sign_ins.c.digest))).all())


async def test_a_session_is_found_by_its_secret_in_every_process(database: Database) -> None:
    secret = await SignIns(database, HOUR).begin(ADA)
    found = await SignIns(database, HOUR).find(secret)
    assert found is not None
    assert replace(found, session="") == ADA
    assert await SignIns(database, HOUR).find(f"{secret}x") is None
    assert await SignIns(database, HOUR).find("") is None


async def test_no_row_opens_anything(database: Database) -> None:
    ours = SignIns(database, HOUR)
    secret = await ours.begin(ADA)
    (stored,) = await rows(database)
    assert secret not in stored
    assert await ours.find(stored) is None


async def test_what_is_over_goes_when_somebody_signs_in(database: Database) -> None:
    late = SignIns(database, -HOUR)
    secret = await late.begin(ADA)
    assert await late.find(secret) is None
    assert len(await rows(database)) == 1
    await SignIns(database, HOUR).begin(ADA)
    assert len(await rows(database)) == 1


async def test_a_person_who_is_forgotten_is_signed_out(database: Database) -> None:
    ours = SignIns(database, HOUR)
    await ours.begin(ADA)
    await ours.begin(Identity("bob", "Bob", (), ""))
    forgetting = Forgetting(database)
    for platform, left in (("slack", 2), (CONSOLE, 1)):
        wish = await forgetting.ask(Subject("person", platform, "ada"), datetime.now(UTC))
        await forgetting.remove(wish)
        assert len(await rows(database)) == left
