"""The work and spending of a run in a stage that failed, for a repetition without the stage."""

from __future__ import annotations

from dataclasses import dataclass

from bot.answers import StepView, Usage
from bot.reasoning.evidence import Source
from bot.research.suggestions.suggest import Offer


@dataclass(frozen=True, slots=True)
class Used:
    """Everything by which what a run does next depends on what it has done, and its plan.

    ``counted`` are the keys of steps that were paid for. The seconds of ``spent`` mean nothing:
    the journal knows them.
    """

    spent: Usage
    counted: frozenset[str] = frozenset()
    lines: tuple[StepView, ...] = ()
    queries: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    offers: tuple[Offer, ...] = ()
    notes: tuple[str, ...] = ()
    is_answered: bool = False
    unanswered: str = ""

    def since(self, earlier: Used) -> Used:
        """The difference to an earlier moment of the same run."""
        spent, before = self.spent, earlier.spent
        return Used(
            spent=Usage(
                model_calls=spent.model_calls - before.model_calls,
                searches=spent.searches - before.searches,
                pages=spent.pages - before.pages,
                input_tokens=spent.input_tokens - before.input_tokens,
                output_tokens=spent.output_tokens - before.output_tokens,
                cached_tokens=spent.cached_tokens - before.cached_tokens,
                usd=spent.usd - before.usd,
            ),
            counted=self.counted - earlier.counted,
            lines=tuple(line for line in self.lines if line not in earlier.lines),
            queries=self.queries[len(earlier.queries) :],
            sources=self.sources[len(earlier.sources) :],
            offers=self.offers[len(earlier.offers) :],
            notes=self.notes[len(earlier.notes) :],
            is_answered=self.is_answered,
            unanswered=self.unanswered,
        )


NOTHING = Used(Usage())
