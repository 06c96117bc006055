"""A workspace with two people and a channel, and the adapter served on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.fakes.slack import FakeSlack
from tests.fakes.slack_limits import ACK_SECONDS
from tests.unit.adapters.slack.serving import MANIFEST, Served, Stuck, served


@pytest.fixture
def ack_seconds() -> float:
    """As long as Slack waits for an acknowledgement; shorter for tests that let it run out."""
    return ACK_SECONDS


@pytest.fixture(autouse=True)
def names_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is, questions carry names unless Slack itself is slow."""
    monkeypatch.setattr("adapters.slack.teams.PATIENCE_SECONDS", 2.0)


@pytest.fixture
def slack(ack_seconds: float) -> Iterator[FakeSlack]:
    """It waits shorter than Slack between its deliveries."""
    with FakeSlack(MANIFEST, ack_seconds=ack_seconds, redelivery=(0.0, 0.05, 0.05)) as slack:
        slack.add_user("U1", "ada")
        slack.add_user("U2", "grace", locale="zh-TW")
        slack.add_channel("C1", "general", members=["U1", "U2"])
        yield slack


@pytest.fixture
async def bot(slack: FakeSlack, tmp_path: Path) -> AsyncIterator[Served]:
    async with served(slack, tmp_path) as bot:
        yield bot


@pytest.fixture
async def slow_bot(slack: FakeSlack, tmp_path: Path) -> AsyncIterator[Served]:
    """Its research ends only when it is stopped."""
    async with served(slack, tmp_path, search=Stuck({})) as bot:
        yield bot
