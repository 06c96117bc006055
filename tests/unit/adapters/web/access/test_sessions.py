"""The cookie that a browser keeps."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.web.access.gate import Sessions, masked, same_secret, session_key
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


def test_forms_of_two_sessions_carry_different_tokens() -> None:
    (one, _), (other, _) = SESSIONS.new(), SESSIONS.new()
    assert same_secret(SESSIONS.csrf(one), SESSIONS.csrf(one))
    assert not same_secret(SESSIONS.csrf(one), SESSIONS.csrf(other))


def test_no_two_pages_carry_the_same_words() -> None:
    tokens = [SESSIONS.csrf("one") for _ in range(50)]
    assert len({token[place : place + 4] for token in tokens for place in (0, 64, 124)}) > 100


@given(st.text())
def test_what_is_no_token_is_the_token_of_no_session(shown: str) -> None:
    assert not same_secret(shown, SESSIONS.csrf("one"))


@given(st.binary(min_size=32, max_size=32), st.integers(0, 127))
def test_a_token_that_is_changed_is_none(secret: bytes, place: int) -> None:
    token = masked(secret)
    changed = token[:place] + ("0" if token[place] != "0" else "1") + token[place + 1 :]
    assert same_secret(token, masked(secret))
    assert not same_secret(changed, token)


async def test_consoles_that_start_at_once_take_each_others_sessions(tmp_path: Path) -> None:
    database = await open_database(sqlite.migrated(tmp_path))
    try:
        keys = await asyncio.gather(*(session_key(Workspaces(database)) for _ in range(4)))
        one, *others = [Sessions(key, "") for key in keys]
        name, cookie = one.new()
        assert {other.read(cookie) for other in others} == {name}
        assert all(same_secret(other.csrf(name), one.csrf(name)) for other in others)
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
