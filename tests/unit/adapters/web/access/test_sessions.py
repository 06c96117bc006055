"""The session of a browser that has signed in with the console's token."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from adapters.web.access.gate import session_key
from bot.storage.database import open_database
from bot.storage.tables import sign_ins
from bot.storage.workspaces import Workspaces
from tests.fakes import sqlite
from tests.unit.adapters.web.conftest import Browser, OpenConsole

TOKEN = "a-token-of-the-tests"
COOKIE = "footnote_session"


async def signed_in(open_console: OpenConsole, token: str = TOKEN) -> Browser:
    browser = await (await open_console(console_token=token)).browser()
    assert (await browser.post("/sign-in", token=token)).status_code == 303
    return browser


async def status(browser: Browser, cookie: str) -> int:
    browser.client.cookies.clear()
    return (await browser.get("/", Cookie=f"{COOKIE}={cookie}")).status_code


async def test_it_is_known_to_every_process_with_the_token_and_to_no_other(
    open_console: OpenConsole,
) -> None:
    cookie = (await signed_in(open_console)).client.cookies[COOKIE]
    for token, expected in ((TOKEN, 200), ("another-token-of-the-tests", 303)):
        other = await (await open_console(console_token=token)).browser()
        assert await status(other, cookie) == expected


async def test_what_is_changed_in_its_cookie_makes_it_unknown(open_console: OpenConsole) -> None:
    browser = await signed_in(open_console)
    cookie = browser.client.cookies[COOKIE]
    for place in (0, len(cookie) // 2, len(cookie) - 1):
        other = "0" if cookie[place] != "0" else "1"
        assert await status(browser, cookie[:place] + other + cookie[place + 1 :]) == 303


@pytest.mark.parametrize(("days", "expected"), [(29, 200), (31, 303)])
async def test_it_ends_thirty_days_after_the_last_visit(
    open_console: OpenConsole, days: int, expected: int
) -> None:
    browser = await signed_in(open_console)
    cookie, database = browser.client.cookies[COOKIE], browser.running.store.database
    earlier = datetime.now(UTC) + timedelta(days=30 - days)
    async with database.write() as db:
        await db.execute(sa.update(sign_ins).values(ends_at=earlier))
    assert await status(browser, cookie) == expected
    async with database.read() as db:
        (until,) = (await db.scalars(sa.select(sign_ins.c.ends_at))).all()
    is_renewed = until > datetime.now(UTC) + timedelta(days=29)
    assert is_renewed == (expected == 200)


@pytest.mark.parametrize("everywhere", [{}, {"all": "true"}], ids=["here", "everywhere"])
async def test_signing_out_ends_it_or_all(
    open_console: OpenConsole, everywhere: dict[str, str]
) -> None:
    one = await signed_in(open_console)
    other = await one.running.browser()
    await other.post("/sign-in", token=TOKEN)
    copied = one.client.cookies[COOKIE]
    assert (await one.post("/sign-out", **everywhere)).headers["location"] == "/sign-in"
    assert await status(one, copied) == 303
    assert (await other.get("/")).status_code == (303 if everywhere else 200)


@pytest.mark.parametrize("settings", [{}, {"console_user_header": "X-User"}])
async def test_who_need_not_sign_in_gets_no_cookie(
    open_console: OpenConsole, settings: dict[str, str]
) -> None:
    browser = await (await open_console(**settings)).browser(**{"X-User": "ada"})
    answer = await browser.get("/")
    assert answer.status_code == 200
    assert "set-cookie" not in answer.headers


async def test_consoles_that_start_at_once_sign_with_one_key(tmp_path: Path) -> None:
    database = await open_database(sqlite.migrated(tmp_path))
    try:
        keys = await asyncio.gather(*(session_key(Workspaces(database)) for _ in range(4)))
        assert {await session_key(Workspaces(database)), *keys} == {keys[0]}, "also after a restart"
    finally:
        await database.close()
