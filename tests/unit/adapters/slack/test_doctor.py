"""`footnote doctor` on Slack: everything that can be missing is named, with the place to fix it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adapters.slack.doctor import examine
from adapters.slack.scopes import needed
from bot.errors import CredentialsRefused, FootnoteError, InvalidSetting, PlatformUnavailable
from tests.fakes.slack import FakeSlack
from tests.unit.adapters.slack.serving import slack_settings

SECRET = "0123456789abcdef0123456789abcdef"


async def test_what_works_is_told_in_one_sentence(slack: FakeSlack, tmp_path: Path) -> None:
    settings = slack_settings(slack, tmp_path, slack_signing_secret=SECRET)
    assert await examine(settings) == (
        "@footnote is in Footnote Test, Socket Mode works, "
        "HTTP events are verified at /slack/events"
    )


@pytest.mark.parametrize("scope", sorted(needed()))
async def test_a_missing_scope_is_named(slack: FakeSlack, tmp_path: Path, scope: str) -> None:
    slack.workspace.scopes.discard(scope)
    with pytest.raises(InvalidSetting, match=f"lacks the scope {scope}: .*OAuth & Permissions"):
        await examine(slack_settings(slack, tmp_path))


async def test_several_missing_scopes_are_named(slack: FakeSlack, tmp_path: Path) -> None:
    slack.workspace.scopes -= {"commands", "files:read"}
    with pytest.raises(InvalidSetting, match="lacks the scopes commands, files:read"):
        await examine(slack_settings(slack, tmp_path))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"slack_bot_token": "xoxb-other"}, "SLACK_BOT_TOKEN .invalid_auth.*api.slack.com/apps"),
        ({"slack_app_token": "xapp-other"}, "SLACK_APP_TOKEN .invalid_auth.*api.slack.com/apps"),
    ],
)
async def test_a_token_slack_does_not_know_is_named(
    slack: FakeSlack, tmp_path: Path, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(CredentialsRefused, match=told):
        await examine(slack_settings(slack, tmp_path, **given))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"slack_bot_token": "xapp-1-swapped"}, "SLACK_BOT_TOKEN does not begin with xoxb-"),
        ({"slack_app_token": "xoxb-swapped"}, "SLACK_APP_TOKEN does not begin with xapp-"),
        ({"slack_signing_secret": "short"}, "SLACK_SIGNING_SECRET is not 32 hexadecimal digits"),
    ],
)
async def test_a_token_in_the_wrong_place_is_seen_without_asking(
    slack: FakeSlack, tmp_path: Path, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(InvalidSetting, match=told):
        await examine(slack_settings(slack, tmp_path, **given))
    assert not slack.calls()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("missing_scope", "SLACK_APP_TOKEN lacks connections:write"),
        ("not_allowed", "switch Socket Mode on"),
    ],
)
async def test_a_socket_that_does_not_open_is_explained(
    slack: FakeSlack, tmp_path: Path, error: str, told: str
) -> None:
    slack.refuse("apps.connections.open", error)
    with pytest.raises(FootnoteError, match=told):
        await examine(slack_settings(slack, tmp_path))


@pytest.mark.parametrize("how", ["reset", "503"])
async def test_a_slack_that_is_away_is_told_from_a_wrong_token(
    slack: FakeSlack, tmp_path: Path, how: str
) -> None:
    slack.down(how)
    with pytest.raises(PlatformUnavailable, match="FOOTNOTE_SLACK_API_URL"):
        await examine(slack_settings(slack, tmp_path))


async def test_no_secret_is_ever_told(slack: FakeSlack, tmp_path: Path) -> None:
    for token in ("xoxb-my-secret", "my-secret"):
        with pytest.raises(FootnoteError) as failure:
            await examine(slack_settings(slack, tmp_path, slack_bot_token=token))
        assert "my-secret" not in str(failure.value)
