"""Locating a question: its address, its channel, and who may read it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from adapters.slack.installations import CHANNELS
from bot.core.messages import Audience, RunOptions, Thread
from bot.core.posting import RunRef, Whereabouts
from tests.contract.slack_harness import ADA, SlackHarness, slack_stage
from tests.unit.samples import a_message

TRAVEL = Thread("slack", "T1", "C7", "1700000000.000100")


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[SlackHarness]:
    async with slack_stage(tmp_path) as stage:
        stage.slack.add_channel("C7", "travel", members=[ADA], bot=False)
        stage.slack.add_channel("C8", "secret", kind="group", members=[ADA])
        stage.slack.with_scopes(CHANNELS, "groups:read", "mpim:read", "im:read")
        yield stage


async def located(
    stage: SlackHarness, thread: Thread, event_id: str = "", told: Audience = "channel"
) -> Whereabouts:
    event_id = event_id or f"{thread.channel}:{thread.thread}"
    message = a_message(thread=thread, event_id=event_id)

    async def nothing(_: object) -> None: ...

    run = RunRef("r1", message, RunOptions(audience=told), nothing, nothing)
    return await stage.poster().whereabouts(run)


async def test_a_public_channel_is_everybodys_and_has_a_name(stage: SlackHarness) -> None:
    where = await located(stage, TRAVEL)
    assert (where.channel_name, where.place) == ("travel", TRAVEL.home)
    assert where.url.endswith("/archives/C7/p1700000000000100")


async def test_a_question_that_a_button_asked_is_found_in_its_thread(stage: SlackHarness) -> None:
    where = await located(stage, TRAVEL, "r0:deeper:0a1b2c")
    assert where.url.endswith("/archives/C7/p1700000000000100")
    pending = replace(TRAVEL, thread="pending-1")
    assert (await located(stage, pending, "C7:command:1")).url == ""


async def test_one_that_was_public_once_is_not(stage: SlackHarness) -> None:
    thread = replace(TRAVEL, channel="C8")
    where = await located(stage, thread, told="workspace")
    assert where.place == thread.place


@pytest.mark.parametrize("channel", ["C8", "C404", "direct"])
async def test_nor_is_any_other(stage: SlackHarness, channel: str) -> None:
    id = stage.slack.im(ADA) if channel == "direct" else channel
    thread = replace(TRAVEL, channel=id)
    assert (await located(stage, thread)).place == thread.place


async def test_without_the_scope_the_event_decides(stage: SlackHarness) -> None:
    stage.slack.without_scopes(CHANNELS)
    for told in get_args(Audience):
        where = await located(stage, TRAVEL, told=told)
        place = TRAVEL.home if told == "workspace" else TRAVEL.place
        assert (where.channel_name, where.place) == ("", place)
    assert stage.slack.calls("conversations.info") == []
