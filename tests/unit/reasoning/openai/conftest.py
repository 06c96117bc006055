"""OpenAI's endpoint on one end of a socket, a fake of its API on the other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from bot.operation.configuration import load_settings
from bot.reasoning.openai import OpenAISettings, openai_service
from bot.reasoning.openai_api import OpenAIEndpoint
from tests.fakes.claude_stage import Relay
from tests.fakes.openai import FakeOpenAI

Opened = tuple[FakeOpenAI, OpenAIEndpoint]
OpenServer = Callable[..., Opened]


def openai_settings(**given: Any) -> OpenAISettings:
    settings = load_settings(**given)
    assert isinstance(settings, OpenAISettings)
    return settings


@pytest.fixture(autouse=True)
def retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.reasoning.model_service.RETRIES", 1)


@pytest.fixture
async def server(relay: tuple[Relay, str]) -> AsyncIterator[OpenServer]:
    """Opens a fake and its client: ``server(brain, **settings)``; ``fake`` are its options."""
    opened: list[OpenAIEndpoint] = []

    def make(brain: Any = None, *, fake: dict[str, Any] | None = None, **given: Any) -> Opened:
        app, url = relay
        api = FakeOpenAI(**({"brain": brain} if brain is not None else {}), **(fake or {}))
        app.app = api
        values = {"openai_base_url": f"{url}/v1", "model": "openai:gpt-a"}
        opened.append(openai_service(openai_settings(**{**values, **given})))
        return api, opened[-1]

    yield make
    for endpoint in opened:
        await endpoint.aclose()
