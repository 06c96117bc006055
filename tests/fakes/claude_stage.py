"""A Claude reasoner on stage: the real SDK on one end of a socket, the fake on the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bot.configuration import load_settings
from bot.reasoning.claude.endpoint import Endpoint
from bot.reasoning.claude.reasoner import Claude
from bot.settings import Settings
from tests.fakes.calls import MemoryCalls
from tests.fakes.claude import FakeClaude, researcher

KEY = "sk-test-0123456789"


class Relay:
    """An ASGI app that hands everything to another one: one server serves many fakes in turn."""

    def __init__(self) -> None:
        self.app: Any = FakeClaude()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.app(scope, receive, send)


@dataclass
class Stage:
    """``claude`` talks to ``fake`` through ``endpoint``; ``calls`` is its journal."""

    fake: FakeClaude
    settings: Settings
    endpoint: Endpoint
    calls: MemoryCalls = field(default_factory=MemoryCalls)

    @property
    def claude(self) -> Claude:
        opened: asyncio.Future[Endpoint] = asyncio.get_running_loop().create_future()
        opened.set_result(self.endpoint)
        return Claude(self.calls, self.settings, opened)

    @property
    def statuses(self) -> list[int]:
        """The status of every request that reached the fake."""
        return [request.status for request in self.fake.requests]

    @property
    def problems(self) -> list[str]:
        """What the fake had to complain about."""
        return [request.problem for request in self.fake.requests if request.problem]


def open_stage(relay: Relay, url: str, brain: Any, options: dict[str, Any]) -> Stage:
    """A stage for one test; what is no option of the fake is a setting."""
    ours = {name: options.pop(name) for name in list(options) if name not in _FAKE_OPTIONS}
    relay.app = fake = FakeClaude(brain, **options)
    given = {"anthropic_api_key": KEY, "anthropic_base_url": url, "model_retries": 2, **ours}
    settings = load_settings(**given)
    return Stage(fake, settings, Endpoint(settings))


_FAKE_OPTIONS = frozenset(
    {
        *("key", "key_header", "models", "refuses", "first_token", "rate", "tokens_per_event"),
        *("citations_first", "minimum_cache", "context_window"),
    }
)

OpenStage = Callable[..., Stage]
__all__ = ["KEY", "OpenStage", "Relay", "Stage", "open_stage", "researcher"]
