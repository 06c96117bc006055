"""Failures that are kept like results, so that a resumed run fails where it failed before.

What was worked on beside a failure, and after it, rests on it: if it came out well on the next
attempt, model calls that were paid for would be asked for with other words.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pydantic import TypeAdapter

from bot.errors import (
    Broken,
    BudgetSpent,
    CredentialsRefused,
    FootnoteError,
    ModelBroken,
    ModelRefused,
    ModelUnavailable,
    Refused,
    StorageUnavailable,
    Unavailable,
)
from bot.reasoning.desks import Desk, Turn
from bot.reasoning.questions import SubQuestion
from bot.research.iterate import TurnMaker
from bot.research.run import Run

T = TypeVar("T")

# Each before those that it is one of.
_KINDS: tuple[type[FootnoteError], ...] = (
    ModelUnavailable,
    CredentialsRefused,
    ModelRefused,
    ModelBroken,
    Unavailable,
    Refused,
    Broken,
)


@dataclass(frozen=True, slots=True)
class Failure:
    """An error as it is kept: what kind it was, and its words."""

    kind: str
    sentence: str
    text_id: str = ""
    limit: float = 0.0

    @classmethod
    def of(cls, error: FootnoteError) -> Failure:
        if isinstance(error, BudgetSpent):
            return cls("BudgetSpent", error.sentence, error.text_id, error.limit)
        kind = next((kind for kind in _KINDS if isinstance(error, kind)), Broken)
        return cls(kind.__name__, error.sentence)

    @property
    def error(self) -> FootnoteError:
        """The error that it was."""
        if self.kind == "BudgetSpent":
            return BudgetSpent(self.sentence, text_id=self.text_id, limit=self.limit)
        kind = next((kind for kind in _KINDS if kind.__name__ == self.kind), Broken)
        return kind(self.sentence)


_failure = TypeAdapter(Failure)
_verdict = TypeAdapter(Failure | None)


async def attempted(
    run: Run, work: Callable[[], Awaitable[T]], *, inputs: Mapping[str, str | int]
) -> T:
    """What ``work`` gives, unless it failed on an earlier attempt; ``inputs`` tell it from all
    other work. Raises what it raises."""
    inputs = {**inputs, "asked": run.now.isoformat()}  # an edited question begins anew
    earlier = run.kept("failure", inputs, _failure)
    if earlier is not None:
        raise earlier.error
    try:
        return await work()
    except StorageUnavailable:
        raise  # it could not be kept either
    except (BudgetSpent, Unavailable, Refused, Broken) as error:
        failure = Failure.of(error)

        async def kept() -> Failure:
            return failure

        await run.keep("failure", inputs, kept, _failure, title="")
        raise


async def checked(run: Run, *, inputs: Mapping[str, str | int]) -> None:
    """Raise ``BudgetSpent`` if another model call is not covered, or was not at this point on an
    earlier attempt; what was covered then is covered now."""

    async def look() -> Failure | None:
        try:
            run.budget.check_model_call(run.usage)
        except BudgetSpent as error:
            return Failure.of(error)
        return None

    inputs = {**inputs, "asked": run.now.isoformat()}
    refused = await run.keep("begin", inputs, look, _verdict, title="")
    if refused is not None:
        raise refused.error


class Remembering:
    """A reasoner that fails at the same turn of a loop on every attempt."""

    def __init__(self, run: Run, reasoner: TurnMaker, inputs: Mapping[str, str | int]) -> None:
        self.opens = reasoner.opens
        self._run = run
        self._reasoner = reasoner
        self._inputs = inputs

    async def next_turn(self, question: SubQuestion, desk: Desk) -> Turn:
        return await attempted(
            self._run,
            lambda: self._reasoner.next_turn(question, desk),
            inputs={**self._inputs, "turn": len(desk.turns)},
        )
