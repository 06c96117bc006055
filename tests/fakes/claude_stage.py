"""A Claude reasoner on stage: the real SDK on one end of a socket, the fake on the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from bot.core.credentials import ClaudeSettings
from bot.core.measurements import nothing_observed
from bot.operation.configuration import load_settings
from bot.reasoning.calls import Block, ModelReply, Request
from bot.reasoning.claude import REASONER, claude_service, models
from bot.reasoning.claude_api import ClaudeEndpoint, request_body
from bot.reasoning.model_reasoner import ModelReasoner
from bot.reasoning.reasoner import ReasonerFactory
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
    settings: ClaudeSettings
    endpoint: ClaudeEndpoint
    calls: MemoryCalls = field(default_factory=MemoryCalls)

    @property
    def claude(self) -> ModelReasoner:
        opened: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        opened.set_result(self.endpoint)
        return ModelReasoner(
            self.calls,
            name="claude",
            settings=self.settings,
            models=models(self.settings),
            opening=opened,
        )

    @property
    def statuses(self) -> list[int]:
        """The status of every request that reached the fake."""
        return [request.status for request in self.fake.requests]

    @property
    def problems(self) -> list[str]:
        """The problems that the fake found in requests."""
        return [request.problem for request in self.fake.requests if request.problem]


def open_stage(relay: Relay, url: str, brain: Any, options: dict[str, Any]) -> Stage:
    """A stage for one test; what is no option of the fake is a setting."""
    ours = {name: options.pop(name) for name in list(options) if name not in _FAKE_OPTIONS}
    relay.app = fake = FakeClaude(brain, **options)
    given = {"anthropic_api_key": KEY, "anthropic_base_url": url, **ours}
    settings = claude_settings(**given)
    return Stage(fake, settings, claude_service(settings))


def claude_settings(**given: Any) -> ClaudeSettings:
    """The settings that a Claude reasoner sees."""
    settings = load_settings(**given)
    assert isinstance(settings, ClaudeSettings)
    return settings


_blocks: TypeAdapter[tuple[Block, ...]] = TypeAdapter(tuple[Block, ...])


def blocks_of(*blocks: Mapping[str, Any]) -> tuple[Block, ...]:
    """Blocks as the API writes them, as the values that a reply holds."""
    return _blocks.validate_python(blocks)


def replied(*blocks: Mapping[str, Any], stop_reason: str = "end_turn") -> ModelReply:
    """The reply that holds such blocks."""
    return ModelReply("m", blocks_of(*blocks), stop_reason)


def wire(request: Request, *refused: str) -> dict[str, Any]:
    """A request as the API gets it, by a model that is known to refuse some features."""
    return request_body(request, refused)


def open_claude(settings: Any) -> AbstractAsyncContextManager[ReasonerFactory]:
    """Makes Claude reasoners, as the program does."""
    return REASONER.open(settings, nothing_observed, True)


_FAKE_OPTIONS = frozenset(
    {
        *("key", "key_header", "models", "refuses", "first_token", "rate", "tokens_per_event"),
        *("citations_first", "minimum_cache", "context_window"),
    }
)

OpenStage = Callable[..., Stage]
__all__ = ["KEY", "OpenStage", "Relay", "Stage", "open_stage", "researcher"]
