"""Helpers that make work on a graph's nodes reproducible after the process dies."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import TypeAdapter

from bot.core.errors import BudgetSpent
from bot.reasoning.evidence import SubQuestion, Turn, Workspace
from bot.reasoning.reasoner import OnAnswer
from bot.research.outcomes import Failure, attempted
from bot.research.run import Run
from bot.research.strategies.iterate import TurnMaker

_verdict = TypeAdapter(Failure | None)


async def checked(run: Run, *, inputs: Mapping[str, str | int]) -> None:
    """Raise ``BudgetSpent`` if another model call is not covered. The result of an earlier attempt
    at this point is repeated."""

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
    """A reasoner that repeats the failure of an earlier attempt at the same turn of a loop."""

    def __init__(self, run: Run, reasoner: TurnMaker, inputs: Mapping[str, str | int]) -> None:
        self.opens = reasoner.opens
        self._run = run
        self._reasoner = reasoner
        self._inputs = inputs

    async def next_turn(
        self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
    ) -> Turn:
        return await attempted(
            self._run,
            lambda: self._reasoner.next_turn(question, workspace, on_answer),
            inputs={**self._inputs, "turn": len(workspace.turns)},
        )
