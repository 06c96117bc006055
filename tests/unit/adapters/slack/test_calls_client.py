"""Our log has the SDK's messages, except those that it only writes because of how we use it."""

from __future__ import annotations

import pytest
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient
from structlog.testing import capture_logs

from adapters.slack.calls import sdk_logger


async def _authorize() -> AuthorizeResult:
    return AuthorizeResult(enterprise_id=None, team_id="T1")


def test_a_token_in_the_environment_is_no_reason_to_warn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-1")
    with capture_logs() as told:
        AsyncApp(
            name="footnote",
            logger=sdk_logger(),
            client=AsyncWebClient(),
            signing_secret="secret",
            authorize=_authorize,
        )
    assert [line for line in told if line["log_level"] == "warning"] == []


def test_a_warning_of_the_sdk_is_one_line_of_our_log() -> None:
    with capture_logs() as told:
        sdk_logger().warning("The connection is gone\nTraceback ...")
    assert told == [
        {"event": "The connection is gone", "by": "slack", "log_level": "warning"},
    ]
