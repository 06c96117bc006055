"""Declares models with the Chat Completions API as a reasoner."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from bot.core.measurements import Observe, nothing_observed
from bot.core.plugins import need
from bot.reasoning.declaration import Declaration
from bot.reasoning.openai.settings import NAME, OpenAISettings, address, key, models
from bot.reasoning.reasoner import ReasonerFactory

if TYPE_CHECKING:
    from bot.reasoning.openai.endpoint import OpenAIEndpoint


def _service(
    settings: OpenAISettings, observe: Callable[[str], Observe] = nothing_observed
) -> OpenAIEndpoint:
    need("openai", f"FOOTNOTE_MODEL={settings.model}")
    from bot.reasoning.openai.endpoint import OpenAIEndpoint

    return OpenAIEndpoint(settings, observe)


def _open(
    settings: OpenAISettings, observe: Callable[[str], Observe], wait: bool
) -> AbstractAsyncContextManager[ReasonerFactory]:
    from bot.reasoning.model.reasoner import open_reasoner

    need("openai", f"FOOTNOTE_MODEL={settings.model}")
    key(settings), address(settings)  # report wrong settings before loading the SDK
    return open_reasoner(
        NAME, settings, models(settings), lambda: _service(settings, observe), wait=wait
    )


async def _check(settings: OpenAISettings) -> str:
    from bot.reasoning.model.reasoner import probe

    named = models(settings)
    return await probe(_service(settings), named)


REASONER = Declaration(
    name=NAME,
    settings=OpenAISettings,
    open=_open,
    check=_check,
    models=models,
    service=_service,
)
