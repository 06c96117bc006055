"""A reasoner of another package: it answers with the titles of the pages that it read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from bot.core.measurements import Observe
from bot.core.settings import Settings
from bot.reasoning.closest_reasoner import Closest
from bot.reasoning.evidence import AnswerDelta, CitationDelta, Evidence, Rewritten, TextDelta
from bot.reasoning.reasoner import Declaration, ReasonerFactory


class Headings(Closest):
    name = "headings"

    async def write(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> AsyncIterator[AnswerDelta]:
        for source in evidence.sources:
            first = source.passages[0]
            yield TextDelta(f"See “{source.title}”. ", opens=True, has_marks=False)
            yield CitationDelta(source.number, first.start, first.end)


@asynccontextmanager
async def _open(
    settings: Settings, observe: Callable[[str], Observe], wait: bool
) -> AsyncIterator[ReasonerFactory]:
    yield Headings


async def _check(settings: Settings) -> str:
    return "answers are titles"


REASONER = Declaration("headings", Settings, _open, _check)
