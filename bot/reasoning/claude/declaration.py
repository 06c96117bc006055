"""Claude as a reasoner of Footnote."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bot.observing import Observe, nothing_observed
from bot.reasoning.claude.prices import claude_price
from bot.reasoning.claude.settings import ClaudeSettings, address, key, models
from bot.reasoning.declaration import Declaration
from bot.reasoning.reasoner import ReasonerFactory

if TYPE_CHECKING:
    from bot.reasoning.claude.endpoint import ClaudeEndpoint


def _service(
    settings: ClaudeSettings, observe: Callable[[str], Observe] = nothing_observed
) -> ClaudeEndpoint:
    from bot.reasoning.claude.endpoint import ClaudeEndpoint

    return ClaudeEndpoint(settings, observe)


@asynccontextmanager
async def _open(
    settings: ClaudeSettings, observe: Callable[[str], Observe], wait: bool
) -> AsyncIterator[ReasonerFactory]:
    from bot.reasoning.model.reasoner import open_reasoner

    key(settings), address(settings)  # what is wrong is said before the SDK is there
    opening = open_reasoner(
        "claude", settings, models(settings), lambda: _service(settings, observe), wait=wait
    )
    async with opening as make:
        yield make


async def _check(settings: ClaudeSettings) -> str:
    from bot.reasoning.model.reasoner import probe

    return await probe(_service(settings), models(settings))


REASONER = Declaration(
    name="claude",
    settings=ClaudeSettings,
    open=_open,
    check=_check,
    switched_on=lambda settings: settings.anthropic_api_key is not None,
    needed=lambda settings: (
        settings.reasoner == "claude" or settings.anthropic_base_url is not None
    ),
    models=models,
    service=_service,
    price=claude_price,
)
