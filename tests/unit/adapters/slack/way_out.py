"""A channel to answer in, and answers: what the tests of the way out share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.core.messages import Answer, Citation, PlanView, StepView
from tests.contract.harness import Desk
from tests.contract.slack_harness import SlackHarness, slack_stage
from tests.fakes.slack import FakeSlack

URL = "https://example.org/tower"
NUMBERED = ((1, URL),)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[SlackHarness]:
    async with slack_stage(tmp_path) as stage:
        yield stage


@pytest.fixture
def slack(stage: SlackHarness) -> FakeSlack:
    return stage.slack


@pytest.fixture
def desk(stage: SlackHarness) -> Desk:
    return Desk(stage.ask("How tall is it?"))


def a_plan(*titles: str, state: str = "running") -> PlanView:
    steps = [
        StepView(f"s{n}", "question", title, state)  # type: ignore[arg-type]
        for n, title in enumerate(titles or ("tower height",))
    ]
    return PlanView("How tall is it?", tuple(steps), NUMBERED)


def an_answer(text: str = "It is 330 m tall [1].", run: str = "run0a1b2c3d") -> Answer:
    citation = Citation(1, URL, "The Tower", "It is 330 m tall.", "hash", 0, 5)
    asked = "How tall is the tower?"
    return Answer("answered", text, asked, run, (citation,), ("height",))


def methods(slack: FakeSlack) -> list[str]:
    return [call.method for call in slack.calls()]


def paragraphs(count: int, words: int = 150) -> str:
    return "\n\n".join(f"Paragraph {n}. {'word ' * words}end [1]." for n in range(count))
