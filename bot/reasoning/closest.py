"""Declares the closest passages, which need no model."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext

from bot.core.measurements import Observe
from bot.core.settings import Settings
from bot.reasoning.reasoner import CLOSEST, Declaration, ReasonerFactory


def _open(
    settings: Settings, observe: Callable[[str], Observe], wait: bool
) -> AbstractAsyncContextManager[ReasonerFactory]:
    from bot.reasoning.closest_reasoner import Closest

    return nullcontext(Closest)


async def _check(settings: Settings) -> str:
    return (
        "none: answers are the closest passages. Connect Claude in the console or set "
        "ANTHROPIC_API_KEY, or FOOTNOTE_MODEL=openai:NAME for a model at OpenAI or of your own"
    )


REASONER = Declaration(CLOSEST, Settings, _open, _check)
