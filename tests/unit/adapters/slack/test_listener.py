"""The way in of Slack: real bolt on a strict fake, over real sockets, into the real core."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.slack import FakeSlack
from tests.unit.adapters.slack.serving import MANIFEST, served


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with FakeSlack(MANIFEST) as slack:
        slack.add_user("U1", "ada")
        slack.add_user("U2", "grace", locale="zh-TW")
        slack.add_channel("C1", "general", members=["U1", "U2"])
        yield slack


async def test_a_mention_becomes_a_question(slack: FakeSlack, tmp_path: Path) -> None:
    async with served(slack, tmp_path) as bot:
        said = slack.say("U1", "C1", f"{slack.mention} how tall is the *Tower*?")
        await said.acknowledged()
        await slack.until(lambda: bot.asked)
        (message,) = bot.asked
        assert message.text == "how tall is the **Tower**?"
        assert message.author.name == "ada"
        assert message.thread.key == f"slack:{slack.team}:C1:{said.ts}"
        assert message.event_id == f"C1:{said.ts}"
