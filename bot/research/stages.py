"""Stages of a run with a time limit each, whose coming to nothing is kept like a result.

A stage that is missed, fails or finds the budget spent leaves a *lapse* in the journal. The next
attempt at the run finds it there instead of trying again: a resumed run comes out the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from pydantic import TypeAdapter

from bot.errors import BudgetSpent, ModelBroken, ModelRefused
from bot.research.run import Run

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Lapse:
    """Why a stage came to nothing, with the words of the error that ended it.

    ``text_id`` and ``limit`` are those of a ``BudgetSpent``.
    """

    why: Literal["missed", "failed", "nothing", "budget"]
    sentence: str = ""
    text_id: str = ""
    limit: float = 0.0

    @property
    def problem(self) -> str:
        """What the plan says of it."""
        words = {"missed": "not done in time", "nothing": "nothing was found"}
        return self.sentence or words.get(self.why, "")

    @property
    def budget_spent(self) -> BudgetSpent:
        """The error that it was, where ``why`` is ``budget``."""
        return BudgetSpent(self.sentence, text_id=self.text_id, limit=self.limit)


class Lapsed(Exception):
    """A stage came to nothing; whoever began it goes on without."""

    def __init__(self, lapse: Lapse) -> None:
        super().__init__(lapse.why)
        self.lapse = lapse


_lapse = TypeAdapter(Lapse)


async def within(
    run: Run,
    seconds: float,
    work: Callable[[], Awaitable[T]],
    *,
    inputs: Mapping[str, str | int],
    title: str,
) -> T:
    """What ``work`` gives within ``seconds``; ``inputs`` tell this stage from every other.

    Raises ``Lapsed`` in the place of ``BudgetSpent``, ``ModelRefused`` and ``ModelBroken``, and
    when the time is over; what was under way is then cancelled. Raises what else ``work`` raises.
    """
    lapse = run.kept("lapse", inputs, _lapse)
    if lapse is not None:
        raise Lapsed(lapse)
    try:
        async with asyncio.timeout(seconds):
            return await work()
    except TimeoutError:
        found = Lapse("missed")
    except BudgetSpent as error:
        found = Lapse("budget", error.sentence, error.text_id, error.limit)
    except (ModelRefused, ModelBroken) as error:
        found = Lapse("failed", error.sentence)

    async def kept() -> Lapse:
        return found

    await run.keep("lapse", inputs, kept, _lapse, title=title)
    raise Lapsed(found)
