"""The expected cost of an evaluation, and its budget."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from bot.core.messages import Depth
from bot.core.settings import Settings
from bot.reasoning.calls import ModelReply
from bot.reasoning.reasoner import models_of, price_of, who_answers

# Input and output tokens of one question without a prompt cache: a generous estimate from multi-hop
# questions over an encyclopedia in November 2026. Once questions have been answered, their actual
# cost is used instead.
TYPICAL: Mapping[Depth, tuple[int, int]] = {
    "quick": (7_000, 600),
    "standard": (16_000, 1_500),
    "auto": (16_000, 1_500),
    "deep": (28_000, 3_000),
}
JUDGING = (1_200, 80)  # the same for one judge call
SPARE = 2.0  # default budget as a multiple of the expected cost
LEAST = 0.05  # minimum USD of the default budget


def expected_usd(settings: Settings, depth: Depth) -> float | None:
    """Return the expected USD for a question; None if the model's price is unknown."""
    return _usd(settings, TYPICAL[depth]) if models_of(settings) else 0.0


def expected_judging_usd(settings: Settings) -> float | None:
    """Return the expected USD for judging one answer; None if the model's price is unknown."""
    return _usd(settings, JUDGING)


def _usd(settings: Settings, tokens: tuple[int, int]) -> float | None:
    return price_of(settings, ModelReply(who_answers(settings), (), "end_turn", *tokens))


def default_budget(expected: float) -> float:
    """Return the default budget for an expected cost, in USD rounded up to whole cents."""
    return math.ceil(max(LEAST, SPARE * expected) * 100) / 100 if expected else 0.0


class Purse:
    """A limit in USD on spending and work in progress together.

    ``limit`` is None if there is none.
    """

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.spent = 0.0
        self._aside: list[float] = []  # expected cost of each piece of work in progress
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def covers(self, expected: float) -> AsyncIterator[bool]:
        """Yield True if the limit covers the expected cost of some work: the block then does it and
        calls ``pay``. Waits while work in progress may leave enough."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._fits(expected) or not self._aside)
            fits = self._fits(expected)
            if fits:
                self._aside.append(expected)
        try:
            yield fits
        finally:
            async with self._changed:
                if fits:
                    self._aside.remove(expected)
                self._changed.notify_all()

    def pay(self, usd: float) -> None:
        self.spent += usd

    def _fits(self, expected: float) -> bool:
        return self.limit is None or self.spent + sum(self._aside) + expected <= self.limit
