"""Rate limits of Slack: answers wait, steps give way."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from bot.core.errors import PlatformUnavailable
from tests.contract.harness import Desk
from tests.contract.slack_harness import QUICK, SlackHarness, slack_stage
from tests.fakes.slack import FakeSlack
from tests.unit.adapters.slack.way_out import (
    a_plan,
    an_answer,
    desk,
    paragraphs,
    slack,
    stage,
)

__all__ = ["desk", "slack", "stage"]


async def test_many_runs_at_once_stay_within_slacks_rates(tmp_path: Path) -> None:
    async with slack_stage(tmp_path) as stage:
        stage.slack._api._limits.clear()  # Slack's own, per minute
        poster = stage.poster(replace(QUICK, pace=1.0, patience=90.0))
        desks = [Desk(stage.ask(f"Question {n}?"), run_id=f"run{n}") for n in range(12)]

        async def work(desk: Desk) -> None:
            reply = await poster.open(desk.run(), None)
            for number in range(20):
                reply.progress(a_plan(*(f"question {n}" for n in range(number))))
                reply.stream(paragraphs(number, 10))
                await asyncio.sleep(0.01)
            await reply.finish(an_answer(paragraphs(20, 10), run=desk.run_id))

        async with asyncio.timeout(60):
            await asyncio.gather(*map(work, desks))
        for one in desks:
            assert len(stage.shown(one.message)) == 1
            assert not stage.at_work(one.message)
        assert [call.error for call in stage.slack.calls() if call.status == 429] == []


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


async def test_an_answer_waits_out_a_storm(
    stage: SlackHarness, slack: FakeSlack, desk: Desk
) -> None:
    poster = stage.poster(replace(QUICK, patience=20.0))
    reply = await poster.open(desk.run(), None)
    reply.progress(a_plan())
    await stage.until(desk.message, "tower height")
    slack.storm("chat.stopStream", 2)
    began = asyncio.get_running_loop().time()
    await reply.finish(an_answer())
    assert asyncio.get_running_loop().time() - began >= 2.0
    assert "330 m tall" in stage.shown(desk.message)[0]


async def test_a_storm_longer_than_patience_leaves_the_answer_for_later(
    stage: SlackHarness, slack: FakeSlack, desk: Desk
) -> None:
    reply = await stage.poster().open(desk.run(), None)
    slack.storm("chat.postMessage", 1, retry_after=40)
    with pytest.raises(PlatformUnavailable) as limited:
        await reply.finish(an_answer())
    assert limited.value.retry_after == 40


async def test_a_slow_slack_holds_up_neither_run_nor_first_step(
    stage: SlackHarness, slack: FakeSlack, desk: Desk
) -> None:
    slack.slow(0.6)
    began = asyncio.get_running_loop().time()
    reply = await stage.poster(replace(QUICK, first_sign=0.1)).open(desk.run(), None)
    assert asyncio.get_running_loop().time() - began < 0.5
    slack.up()
    await reply.finish(an_answer())
    assert "330 m tall" in stage.shown(desk.message)[0]
    assert not stage.at_work(desk.message)
