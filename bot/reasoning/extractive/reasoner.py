"""The reasoner without a model: it searches, follows names, and quotes, and says so in its answers.

Every method is a pure function of its arguments, so a replayed run has the same result. Work on
whole pages runs in a thread: it may take 0.1 s, which would block other runs.

``extractive.rewrite`` makes follow-ups standalone, ``extractive.plan`` divides questions,
``extractive.hops`` chooses the next searches and reads, ``extractive.quotes`` the quotes;
``extractive.answer`` writes the answer, ``extractive.recall`` repeats earlier answers, and
``extractive.report`` makes reports.
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
    Restated,
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

    The operator's ``instructions`` on tone and language are ignored: quotes have no tone.
    """

    name = "extractive"
    opens = 0  # choosing costs no time here
    read_factor = 4

    def __init__(self, calls: ModelCalls) -> None:
        del calls  # not needed

    async def rewrite(
        self, transcript: Transcript, message: Message, instructions: str = ""
    ) -> Rewritten:
        """Return the message as a standalone question, using only words of the thread."""
        return await asyncio.to_thread(rewrite.rewrite, transcript, message)

    async def next_turn(
        self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
    ) -> Turn:
        """Return the next searches or reads, or a finish with the best passages as findings."""
        return await asyncio.to_thread(hops.next_turn, question, workspace)

    async def plan(
        self, question: SubQuestion, graph: Graph, on_queries: OnQueries | None = None
    ) -> GraphEdit:
        """Return the parts given by the question's own words."""
        from bot.reasoning.extractive import plan

        return plan.plan(question, graph)

    async def write(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> AsyncIterator[AnswerDelta]:
        """The best passages as quotations with citations, or the content of earlier answers."""
        written = {"sources": recall.sources, "thread": recall.thread}
        quoting = written.get(question.kind, answer.write)
        for delta in await asyncio.to_thread(_all, quoting, question, evidence):
            yield delta

    async def draft(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> tuple[Paragraph, ...]:
        """Return an outline from the sections of the pages found, each with its passages."""
        from bot.reasoning.extractive import report

        return await asyncio.to_thread(report.draft, question, evidence)

    async def queries(self, question: Rewritten, manuscript: Manuscript) -> tuple[str, ...]:
        """Return the paragraph's topic in keywords."""
        from bot.reasoning.extractive import report

        return report.queries(question, manuscript)

    async def revise(
        self,
        question: Rewritten,
        manuscript: Manuscript,
        evidence: Evidence,
        instructions: str = "",
    ) -> AsyncIterator[AnswerDelta]:
        """Yield the passages on the paragraph's topic as quotations with citations."""
        from bot.reasoning.extractive import report

        quoted = await asyncio.to_thread(_all, report.revise, question, manuscript, evidence)
        for delta in quoted:
            yield delta

    async def statements(self, text: str) -> tuple[Statement, ...]:
        """Return the sentences with figures, dates or names."""
        from bot.reasoning.extractive import statements

        return await asyncio.to_thread(statements.statements, text)

    async def verify(
        self, question: str, text: str, claims: Sequence[Claim]
    ) -> tuple[Verdict | None, ...]:
        """Return no verdicts: quotes are compared letter by letter."""
        return (None,) * len(claims)

    async def compare(self, question: str, pairs: Pairs) -> tuple[bool | None, ...]:
        """Return no judgement: this reasoner cannot compare meanings."""
        return (None,) * len(pairs)

    async def restate(
        self,
        question: str,
        answer: str,
        claims: Sequence[Claim],
        verdicts: Sequence[Verdict],
        others: Sequence[Claim] = (),
    ) -> tuple[Restated, ...]:
        """Return nothing: this reasoner cannot reword."""
        return (Restated(),) * len(claims)


def _all(quoting: Callable[..., Iterator[AnswerDelta]], *args: object) -> list[AnswerDelta]:
    return list(quoting(*args))
