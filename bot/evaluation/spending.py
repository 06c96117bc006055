"""The money of an evaluation: what it is expected to cost, and a limit that it keeps to."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from bot.messages import Depth
from bot.reasoning.calls import ModelReply
from bot.reasoning.declaration import models_of, price_of, who_answers
from bot.settings import Settings

# Input and output tokens of one question with nothing in the prompt cache, on the generous side of
# what multi-hop questions over an encyclopedia took in November 2026. Once a question has been
# answered, what it has cost counts instead.
TYPICAL: Mapping[Depth, tuple[int, int]] = {
    "quick": (7_000, 600),
    "standard": (16_000, 1_500),
    "auto": (16_000, 1_500),
    "deep": (28_000, 3_000),
}
JUDGING = (1_200, 80)  # the same for one call of the judge
SPARE = 2.0  # times what is expected: the budget where none is given
LEAST = 0.05  # USD of such a budget


def expected_usd(settings: Settings, depth: Depth) -> float | None:
    """USD that a question is expected to cost; None when the model's price is not known."""
    return _usd(settings, TYPICAL[depth]) if models_of(settings) else 0.0


def expected_judging_usd(settings: Settings) -> float | None:
    """USD that the judgment of one answer is expected to cost; None as above."""
    return _usd(settings, JUDGING)


def _usd(settings: Settings, tokens: tuple[int, int]) -> float | None:
    return price_of(settings, ModelReply(who_answers(settings), (), "end_turn", *tokens))


def default_budget(expected: float) -> float:
    """The budget for an evaluation that is expected to cost so much; in whole cents of USD."""
    return math.ceil(max(LEAST, SPARE * expected) * 100) / 100 if expected else 0.0


class Purse:
    """A limit in USD that holds for work under way together with what was spent.

    ``limit`` None: there is none.
    """

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.spent = 0.0
        self._aside: list[float] = []  # what each piece of work under way is expected to cost
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def covers(self, expected: float) -> AsyncIterator[bool]:
        """Yield True if the limit covers work that is expected to cost so much: the block then does
        it, and calls ``pay``. Waits while work under way might leave enough."""
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
