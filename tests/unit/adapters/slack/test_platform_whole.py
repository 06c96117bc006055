"""Slack's way in and way out at once: what is asked is answered, or its asker is told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.slack import format as controls
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_screen import plain
from tests.unit.adapters.slack.serving import Served, served


@pytest.fixture
async def answering_bot(slack: FakeSlack, tmp_path: Path) -> AsyncIterator[Served]:
    async with served(slack, tmp_path, answering=lambda platform, _: platform.poster) as bot:
        yield bot


async def test_an_answer_gets_feedback_by_the_button_under_it(
    answering_bot: Served, slack: FakeSlack
) -> None:
    said = await slack.say("U1", "C1", f"{slack.mention} how tall is the tower?").acknowledged()
    await slack.until(lambda: any(one.elements() for one in slack.replies("C1", said.ts)))
    reply = slack.replies("C1", said.ts)[-1]
    assert "330 m tall" in slack.screen("C1", said.ts)
    await slack.press("U2", reply, controls.BAD).acknowledged()
    (kept,) = await answering_bot.rows("feedback")
    assert (kept["author_id"], kept["verdict"]) == ("U2", "bad")


async def test_all_that_is_not_shown_is_one_press_away(
    answering_bot: Served, slack: FakeSlack
) -> None:
    said = await slack.say("U1", "C1", f"{slack.mention} how tall is the tower?").acknowledged()
    await slack.until(lambda: any(one.elements() for one in slack.replies("C1", said.ts)))
    reply = slack.replies("C1", said.ts)[-1]
    await answering_bot.ended(1)
    (answer,) = [run["answer"] for run in await answering_bot.rows("runs")]
    for user, words in (("U1", "Sources"), ("U2", "來源")):  # each in their own language
        await slack.press(user, reply, controls.DETAILS).acknowledged()
        view = slack.workspace.modals[-1]
        assert view["title"]["text"] == words
        for shown in (answer["citations"][0]["title"], *answer["queries"], answer["run"]):
            assert shown in plain(view["blocks"])
    assert answer["run"] not in reply.seen
    assert slack.replies("C1", said.ts)[-1] == reply


@pytest.mark.parametrize("way", ["command", "shortcut"])
async def test_asking_where_it_is_no_member_is_told(
    answering_bot: Served, slack: FakeSlack, way: str
) -> None:
    slack.add_channel("C2", "elsewhere", members=["U1"], bot=False)
    if way == "command":
        doing = slack.command("U1", "C2", "/ask", "how tall is the tower?")
    else:
        doing = slack.shortcut(
            "U1", "research_this", "C2", slack.say("U1", "C2", "the tower is tall").ts
        )
    await doing.acknowledged()
    url = str(doing.response_url)
    (told,) = await slack.until(lambda: slack.response_urls.received(url))
    assert "not allowed to write in that channel" in told["text"]
