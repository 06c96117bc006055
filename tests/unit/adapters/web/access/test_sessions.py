"""The cookie that a browser keeps."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from adapters.web.access.gate import Sessions, session_key
from bot.storage.database import open_database
from bot.storage.workspaces import Workspaces
from tests.fakes import sqlite

SESSIONS = Sessions(b"key", "token")


def test_a_session_is_known_again_by_every_process_with_the_key() -> None:
    name, cookie = SESSIONS.new()
    assert Sessions(b"key", "token").read(cookie) == name


@pytest.mark.parametrize("other", [Sessions(b"other", "token"), Sessions(b"key", "other")])
def test_another_key_or_token_makes_it_unknown(other: Sessions) -> None:
    _, cookie = SESSIONS.new()
    assert other.read(cookie) == ""


def test_what_is_changed_in_it_makes_it_unknown() -> None:
    _, cookie = SESSIONS.new()
    for place in range(len(cookie)):
        changed = cookie[:place] + ("0" if cookie[place] != "0" else "1") + cookie[place + 1 :]
        assert SESSIONS.read(changed) == ""


def test_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    _, cookie = SESSIONS.new()
    until = int(cookie.split(".")[1])
    monkeypatch.setattr("time.time", lambda: until + 1.0)
    assert SESSIONS.read(cookie) == ""


async def test_consoles_that_start_at_once_take_each_others_sessions(tmp_path: Path) -> None:
    database = await open_database(sqlite.migrated(tmp_path))
    try:
        keys = await asyncio.gather(*(session_key(Workspaces(database)) for _ in range(4)))
        one, *others = [Sessions(key, "") for key in keys]
        name, cookie = one.new()
        assert {other.read(cookie) for other in others} == {name}
        assert await session_key(Workspaces(database)) == keys[0], "also after a restart"
    finally:
        await database.close()


def test_a_session_in_use_goes_on_and_an_idle_one_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions, now = Sessions(b"key", "token"), time.time()
    name, cookie = sessions.new()
    assert sessions.renewed(cookie) == ""
    monkeypatch.setattr("time.time", lambda: now + 29 * 86_400)
    later = sessions.renewed(cookie)
    monkeypatch.setattr("time.time", lambda: now + 31 * 86_400)
    assert (sessions.read(cookie), sessions.read(later)) == ("", name)


async def test_all_sessions_end_in_every_process(tmp_path: Path) -> None:
    database = await open_database(sqlite.migrated(tmp_path))
    try:
        here = Sessions(b"key", "token", Workspaces(database))
        there = Sessions(b"key", "token", Workspaces(database))
        _, cookie = here.new()
        await here.end_all()
        assert here.read(cookie) == ""
        await there.look()
        assert there.read(cookie) == ""
        name, new = there.new()
        assert here.read(new) == name
    finally:
        await database.close()


async def test_a_session_that_ended_is_remembered_as_long_as_its_cookies_would_be_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = await open_database(sqlite.migrated(tmp_path))
    try:
        workspaces = Workspaces(database)
        here, there = (Sessions(b"key", "token", workspaces) for _ in range(2))
        name, cookie = here.new()
        other, kept = here.new()
        await here.end(name)
        await there.look()
        assert [each.read(cookie) for each in (here, there)] == ["", ""]
        assert [each.read(kept) for each in (here, there)] == [other, other]
        now = time.time()
        monkeypatch.setattr("time.time", lambda: now + 31 * 86_400)
        await here.end(other)
        assert [each for each in await workspaces.facts("web", "console") if name in each] == []
        assert here.read(cookie) == "", "it is too old by itself"
    finally:
        await database.close()
