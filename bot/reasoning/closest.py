"""Declares the closest passages, which need no model."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext

from bot.core.measurements import Observe
from bot.core.settings import Settings
from bot.core.texts import Said, said
from bot.reasoning.reasoner import CLOSEST, Declaration, ReasonerFactory


def _open(
    settings: Settings, observe: Callable[[str], Observe], wait: bool
) -> AbstractAsyncContextManager[ReasonerFactory]:
    from bot.reasoning.closest_reasoner import Closest

    return nullcontext(Closest)


async def _check(settings: Settings) -> Said:
    return said("check-model-none")


REASONER = Declaration(CLOSEST, Settings, _open, _check)
