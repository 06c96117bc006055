"""Calls to Slack: the meaning of a failure, what is tried again, and the pace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient
from structlog.testing import capture_logs

from adapters.slack.calls import Away, Calls, Limited, Refusal, Timing, sdk_logger
from adapters.slack.limits import CALLS_A_MINUTE
from bot.core.errors import PlatformUnavailable, PostRefused, RunLost
from bot.core.posting import holding
from tests.contract.slack_harness import CHANNEL, QUICK, SlackHarness, slack_stage


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[SlackHarness]:
    async with slack_stage(tmp_path) as stage:
        yield stage


@pytest.fixture
def calls(stage: SlackHarness) -> Calls:
    return Calls(stage.client, QUICK)


async def post(calls: Calls) -> None:
    await calls.patiently("chat.postMessage", channel=CHANNEL, text="hello", repeat=False)


@pytest.mark.parametrize("status", [500, 502, 503])
async def test_a_server_that_fails_is_away(stage: SlackHarness, calls: Calls, status: int) -> None:
    stage.slack.down(status)
    with pytest.raises(Away) as away:
        await calls.once("auth.test")
    assert isinstance(away.value, PlatformUnavailable)


async def test_a_run_that_is_anothers_calls_nothing(stage: SlackHarness, calls: Calls) -> None:
    async def lost() -> None:
        raise RunLost("Run r1 has been taken over by a later attempt.")

    before = len(stage.slack.calls())
    token = holding.set(lost)
    try:
        with pytest.raises(RunLost):
            await post(calls)
    finally:
        holding.reset(token)
    assert len(stage.slack.calls()) == before


async def test_a_cut_connection_is_away(stage: SlackHarness, calls: Calls) -> None:
    stage.slack.down("reset")
    with pytest.raises(Away):
        await calls.once("auth.test")


@pytest.mark.parametrize("code", ["internal_error", "fatal_error", "service_unavailable"])
async def test_errors_that_pass_are_away(stage: SlackHarness, calls: Calls, code: str) -> None:
    stage.slack.refuse("auth.test", code)
    with pytest.raises(Away):
        await calls.once("auth.test")


@pytest.mark.parametrize("code", ["channel_not_found", "restricted_action", "nobody_knows_this"])
async def test_what_slack_says_no_to_is_refused(
    stage: SlackHarness, calls: Calls, code: str
) -> None:
    stage.slack.refuse("chat.postMessage", code)
    with pytest.raises(Refusal) as refusal:
        await post(calls)
    assert isinstance(refusal.value, PostRefused)
    assert refusal.value.code == code
    assert stage.slack.bot_token not in str(refusal.value)


async def test_a_rate_limit_tells_how_long_to_wait(stage: SlackHarness, calls: Calls) -> None:
    stage.slack.storm("chat.postMessage", 1, retry_after=17)
    with pytest.raises(Limited) as limited:
        await calls.once("chat.postMessage", channel=CHANNEL, text="hello")
    assert limited.value.retry_after == 17


async def test_a_method_that_is_limited_is_left_alone_until_then(
    stage: SlackHarness, calls: Calls
) -> None:
    stage.slack.storm("chat.postMessage", 1, retry_after=60)
    for _ in range(3):
        with pytest.raises(Limited):
            await post(calls)
    assert len(stage.slack.calls("chat.postMessage")) == 1


async def test_what_may_be_repeated_is_tried_until_it_works(
    stage: SlackHarness, calls: Calls
) -> None:
    stage.slack.refuse("auth.test", "internal_error", times=3)
    assert (await calls.patiently("auth.test"))["ok"]


async def test_what_may_not_be_repeated_is_sent_once(stage: SlackHarness, calls: Calls) -> None:
    stage.slack.cut("chat.postMessage")
    with pytest.raises(Away):
        await post(calls)
    assert len(stage.slack.calls("chat.postMessage")) == 1


async def test_cancelling_is_not_a_failure(stage: SlackHarness, calls: Calls) -> None:
    stage.slack.slow(5.0)
    task = asyncio.create_task(calls.patiently("auth.test"))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    stage.slack.up()


@pytest.mark.parametrize("method", ["chat.update", "chat.appendStream", "chat.startStream"])
def test_calls_that_can_wait_leave_room_for_those_that_cannot(method: str) -> None:
    now = 1_000.0
    calls = Calls(AsyncWebClient("xoxb-x"), Timing(), clock=lambda: now)
    made: list[float] = []
    while now < 1_300.0:
        wait = calls.due(method)
        if wait > 0:
            now += wait + 1e-6
        else:
            made.append(now)
    allowed = CALLS_A_MINUTE[method]
    busiest = max(sum(at <= other < at + 60 for other in made) for at in made)
    assert 0.5 * allowed < busiest <= 0.85 * allowed
    assert sum(at < 1_000.1 for at in made) >= 0.2 * allowed  # a burst goes at once


# ---------------------------------------------------------------- the client


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
