"""The cookie that a browser keeps."""

from __future__ import annotations

import pytest

from adapters.web.visitors import Sessions

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
    assert SESSIONS.csrf(one) == SESSIONS.csrf(one) != SESSIONS.csrf(other)
