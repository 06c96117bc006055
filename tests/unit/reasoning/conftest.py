"""A stage for each test, all of them served by one server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.fakes.claude_rules import prepare
from tests.fakes.claude_stage import OpenStage, Relay, Stage, open_stage, researcher
from tests.fakes.server import serve


@pytest.fixture(autouse=True)
def retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.reasoning.model_service.RETRIES", 2)


@pytest.fixture(scope="session")
def relay() -> Iterator[tuple[Relay, str]]:
    app = Relay()
    prepare()
    with serve(app) as url:
        yield app, url


@pytest.fixture
async def stage(relay: tuple[Relay, str]) -> AsyncIterator[OpenStage]:
    """Opens stages: ``stage(brain, **options)``; options are the fake's, or settings."""
    opened: list[Stage] = []

    def make(brain: Any = researcher, **options: Any) -> Stage:
        opened.append(open_stage(*relay, brain, options))
        return opened[-1]

    yield make
    for one in opened:
        await one.endpoint.aclose()
