"""Declares the extractive reasoner, which needs no model."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext

from bot.observing import Observe
from bot.reasoning.declaration import EXTRACTIVE, Declaration
from bot.reasoning.reasoner import ReasonerFactory
from bot.settings import Settings


def _open(
    settings: Settings, observe: Callable[[str], Observe], wait: bool
) -> AbstractAsyncContextManager[ReasonerFactory]:
    from bot.reasoning.extractive.reasoner import Extractive

    return nullcontext(Extractive)


async def _check(settings: Settings) -> str:
    return (
        "none: answers are quotations. Set ANTHROPIC_API_KEY to let Claude research, or "
        "FOOTNOTE_MODEL=openai:NAME for a model at OpenAI or of your own"
    )


REASONER = Declaration(EXTRACTIVE, Settings, _open, _check)
