"""The reasoner without a model: it finds, follows and quotes, and says that it does.

All of it is a pure function of what it is given, so a replayed run comes out the same. What weighs
whole pages is done in a thread: it may take a tenth of a second, which other runs would wait.

How a follow-up is made to stand alone is in ``extractive.rewrite``, how a question is cut into
parts in ``extractive.plan``, what is searched and read next in ``extractive.hops``, what is quoted
in ``extractive.quotes``, how the answer is written in ``extractive.answer``, earlier answers told
again in ``extractive.recall``, a report's outline and its parts in ``extractive.report``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from bot.messages import Message, Transcript
from bot.reasoning.calls import ModelCalls
from bot.reasoning.evidence import (
    AnswerDelta,
    Claim,
    Evidence,
    Manuscript,
    Paragraph,
    Statement,
    Verdict,
)
from bot.reasoning.extractive import answer, hops, recall, rewrite
from bot.reasoning.questions import Rewritten, SubQuestion
from bot.reasoning.reasoner import OnAnswer, OnQueries, Pairs
from bot.reasoning.workspace import Turn, Workspace

if TYPE_CHECKING:
    from bot.reasoning.graphs import Graph, GraphEdit


class Extractive:
    """See the module docstring. Implements ``Reasoner``; makes no model calls, raises nothing.

    ``instructions`` are the operator's words on tone and language: nothing here has a tone.
    """

    name = "extractive"
    opens = 0  # it chooses in no time
    read_factor = 4

    def __init__(self, calls: ModelCalls) -> None:
        del calls  # every reasoner is given them

    async def rewrite(
        self, transcript: Transcript, message: Message, instructions: str = ""
    ) -> Rewritten:
        """The message as a standalone question, from the thread's words alone."""
        return rewrite.rewrite(transcript, message)

    async def next_turn(
        self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
    ) -> Turn:
        """The next searches or reads, or the end with the best passages as findings."""
        return await asyncio.to_thread(hops.next_turn, question, workspace)

    async def plan(
        self, question: SubQuestion, graph: Graph, on_queries: OnQueries | None = None
    ) -> GraphEdit:
        """The parts into which the question's own words cut it."""
        from bot.reasoning.extractive import plan

        return plan.plan(question, graph)

    async def write(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> AsyncIterator[AnswerDelta]:
        """The best passages as quotations with their citations, or what earlier answers had."""
        written = {"sources": recall.sources, "thread": recall.thread}
        quoting = written.get(question.kind, answer.write)
        for delta in await asyncio.to_thread(_all, quoting, question, evidence):
            yield delta

    async def draft(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> tuple[Paragraph, ...]:
        """An outline from the sections of the pages found, each with its passages."""
        from bot.reasoning.extractive import report

        return await asyncio.to_thread(report.draft, question, evidence)

    async def queries(self, question: Rewritten, manuscript: Manuscript) -> tuple[str, ...]:
        """The paragraph's topic in keywords."""
        from bot.reasoning.extractive import report

        return report.queries(question, manuscript)

    async def revise(
        self,
        question: Rewritten,
        manuscript: Manuscript,
        evidence: Evidence,
        instructions: str = "",
    ) -> AsyncIterator[AnswerDelta]:
        """The passages on the paragraph's topic as quotations with their citations."""
        from bot.reasoning.extractive import report

        quoted = await asyncio.to_thread(_all, report.revise, question, manuscript, evidence)
        for delta in quoted:
            yield delta

    async def statements(self, text: str) -> tuple[Statement, ...]:
        """The sentences with figures, dates or names."""
        from bot.reasoning.extractive import statements

        return await asyncio.to_thread(statements.statements, text)

    async def verify(self, question: str, claims: Sequence[Claim]) -> tuple[Verdict | None, ...]:
        """Nothing: what it quotes is compared letter by letter."""
        return (None,) * len(claims)

    async def compare(self, question: str, pairs: Pairs) -> tuple[bool | None, ...]:
        """Nothing: it knows no other words for the same."""
        return (None,) * len(pairs)

    async def restate(
        self, question: str, answer: str, claims: Sequence[Claim], verdicts: Sequence[Verdict]
    ) -> tuple[str, ...]:
        """Nothing: it has no words of its own."""
        return ("",) * len(claims)


def _all(quoting: Callable[..., Iterator[AnswerDelta]], *args: object) -> list[AnswerDelta]:
    return list(quoting(*args))
