"""Rate limits of Slack: answers wait, steps give way."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot.core.errors import PlatformUnavailable
from tests.contract.harness import Desk
from tests.contract.slack_harness import QUICK, SlackHarness
from tests.fakes.slack import FakeSlack
from tests.unit.adapters.slack.way_out import (
    an_answer,
    desk,
    slack,
    stage,
)

__all__ = ["desk", "slack", "stage"]


async def test_a_rush_of_questions_leaves_no_status_at_work(
    stage: SlackHarness, slack: FakeSlack
) -> None:
    slack.storm("agents.sessions.setStatus", 2, retry_after=1)
    poster = stage.poster()
    desks = [Desk(stage.ask(f"Question {n}?"), run_id=f"run{n}") for n in range(4)]

    async def work(desk: Desk) -> None:
        reply = await poster.open(desk.run(), None)
        await reply.finish(an_answer(run=desk.run_id))

    await asyncio.gather(*map(work, desks))
    for one in desks:
        assert len(stage.shown(one.message)) == 1
        assert not stage.at_work(one.message)


async def test_the_status_that_a_killed_attempt_set_is_ended_though_there_is_a_rush(
    stage: SlackHarness, slack: FakeSlack, desk: Desk
) -> None:
    slack.refuse_streaming("feature_not_enabled")
    poster = stage.poster(replace(QUICK, stream_delay=60.0))
    killed = await poster.open(desk.run(), None)
    await killed.abandon()
    assert stage.shown(desk.message) == []
    assert stage.at_work(desk.message)
    slack.storm("agents.sessions.setStatus", 1)
    reply = await poster.open(desk.run(), desk.saved)
    await reply.finish(an_answer())
    assert not stage.at_work(desk.message)


async def test_a_storm_longer_than_patience_leaves_the_answer_for_later(
    stage: SlackHarness, slack: FakeSlack, desk: Desk
) -> None:
    reply = await stage.poster().open(desk.run(), None)
    slack.storm("chat.postMessage", 1, retry_after=40)
    with pytest.raises(PlatformUnavailable) as limited:
        await reply.finish(an_answer())
    assert limited.value.retry_after == 40
