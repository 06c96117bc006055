"""Configured platforms; incomplete settings are reported with what is missing."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any, cast

import pytest

from adapters.slack.settings import SlackSettings, in_many_workspaces
from bot.core.errors import InvalidSetting
from bot.operation.configuration import load_settings
from bot.operation.console_access import run_page
from bot.service.platform import listening_platforms

KEY = b64encode(bytes(range(32))).decode()  # the same in every process of a test run
APP = {"slack_client_id": "1.2", "slack_client_secret": "very-secret"}
SIGNED, SOCKET = {"slack_signing_secret": "s"}, {"slack_app_token": "xapp-1"}
BOT, KEYS = {"slack_bot_token": "xoxb-1"}, {"encryption_keys": KEY}


@pytest.fixture(autouse=True)
def _no_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def settings(**given: Any) -> SlackSettings:
    return cast(SlackSettings, load_settings(**given))


@pytest.mark.parametrize("way_in", [SIGNED, SOCKET, {**SIGNED, **SOCKET}])
def test_slack_is_there_for_one_workspace_or_for_many(way_in: dict[str, str]) -> None:
    one, many = settings(**BOT, **way_in), settings(**APP, **KEYS, **way_in)
    assert listening_platforms(one) == listening_platforms(many) == ["slack"]
    assert (in_many_workspaces(one), in_many_workspaces(many)) == (False, True)


def test_a_bot_token_means_one_workspace_whatever_else_is_set() -> None:
    both = settings(**BOT, **APP, **SIGNED)
    assert listening_platforms(both) == ["slack"]
    assert not in_many_workspaces(both)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"slack_client_id": "1.2", **SIGNED, **KEYS}, "SLACK_CLIENT_SECRET is not"),
        ({"slack_client_secret": "x", **SIGNED, **KEYS}, "SLACK_CLIENT_ID is not"),
        ({**APP, **KEYS}, "cannot receive events: set SLACK_SIGNING_SECRET"),
        ({**APP, **SIGNED}, "`footnote keys new`, set FOOTNOTE_ENCRYPTION_KEYS"),
        (SIGNED, "SLACK_CLIENT_ID and SLACK_CLIENT_SECRET"),
        (BOT, "SLACK_BOT_TOKEN is set, but Footnote cannot receive events"),
    ],
)
def test_half_a_set_is_told(given: dict[str, str], told: str) -> None:
    with pytest.raises(InvalidSetting) as error:
        listening_platforms(settings(**given))
    assert told in error.value.sentence
    assert "very-secret" not in error.value.sentence


def test_nothing_is_configured_by_default() -> None:
    assert listening_platforms(settings()) == []


@pytest.mark.parametrize("keys", ["short", f"{KEY},short", KEY[:-1]])
def test_a_malformed_key_is_refused_and_not_shown(keys: str) -> None:
    with pytest.raises(InvalidSetting, match="FOOTNOTE_ENCRYPTION_KEYS is not right") as error:
        settings(encryption_keys=keys)
    assert "footnote keys new" in error.value.sentence
    assert KEY[:-1] not in error.value.sentence


def test_keys_are_not_shown_with_the_settings() -> None:
    assert KEY not in repr(settings(**KEYS))


@pytest.mark.parametrize(
    "url", ["footnote.example.com", "ftp://x.example", "https://", "https://x/?a"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InvalidSetting, match="FOOTNOTE_PUBLIC_URL"):
        settings(public_url=url)


PUBLIC = {"public_url": "https://footnote.example.com/"}
SIGN_IN = {"console_token": "a-long-enough-token"}


@pytest.mark.parametrize(
    ("given", "page"),
    [
        ({**PUBLIC, **SIGN_IN}, "https://footnote.example.com/runs/r1"),
        ({**PUBLIC, "console_user_header": "X-User"}, "https://footnote.example.com/runs/r1"),
        ({**PUBLIC, **SIGN_IN, "console": "off"}, ""),  # there is no console
        (PUBLIC, ""),  # there is none: it would be open to everyone
        ({**PUBLIC, **BOT, **SOCKET}, ""),
        ({**PUBLIC, **BOT, **SOCKET, **SIGN_IN}, "https://footnote.example.com/runs/r1"),
        (SIGN_IN, ""),  # nobody knows how it is reached
        ({"public_url": "http://127.0.0.1:8080"}, ""),  # nobody else would get there
    ],
)
def test_answers_lead_to_the_console_where_people_reach_it(
    given: dict[str, Any], page: str
) -> None:
    assert run_page(settings(**given), "r1") == page
