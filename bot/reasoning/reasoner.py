"""The protocols of reasoners.

A reasoner decides; it never searches, fetches or stores. The core (``bot.research``) carries out
its actions and maintains the workspace. Its inputs and outputs are values of ``questions``,
``workspace``, ``graphs`` and ``evidence``; ``calls`` has the budgeted model calls.

Every method must be a pure function of its arguments and of the replies to its model calls, so
that an interrupted run can be replayed from its journal.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from bot.core.messages import Message, Transcript
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
from bot.reasoning.questions import Rewritten, SubQuestion
from bot.reasoning.workspace import Turn, Workspace

if TYPE_CHECKING:
    from bot.reasoning.graphs import Graph, GraphEdit

OnAnswer = Callable[[AnswerDelta], None]
OnQueries = Callable[[tuple[str, ...]], None]
Pairs = Sequence[tuple[str, str]]  # an earlier sentence and its present replacement


class Reasoner(Protocol):
    """Makes a message a standalone question, and writes an answer from what was gathered for it.

    Every method raises ``ModelUnavailable``, ``CredentialsRefused``, ``ModelRefused``,
    ``ModelBroken`` or ``BudgetSpent``, and no other errors of its own.
    """

    name: str

    async def rewrite(
        self, transcript: Transcript, message: Message, instructions: str = ""
    ) -> Rewritten: ...

    def write(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> AsyncIterator[AnswerDelta]: ...


@runtime_checkable
class Researcher(Reasoner, Protocol):
    """A reasoner that also decides what to search and read; every model is one.

    The best ``opens`` pages of a search are shown to it with the hits: if a turn takes seconds,
    choosing them would cost more than showing one unnecessarily.
    """

    opens: int

    async def next_turn(
        self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
    ) -> Turn:
        """Return the next actions. ``on_answer`` may get the deltas of a ``Reply`` before the turn
        is complete; a ``Restart`` revokes them."""
        ...

    async def plan(
        self, question: SubQuestion, graph: Graph, on_queries: OnQueries | None = None
    ) -> GraphEdit:
        """Return initial or additional sub-questions; a malformed reply becomes the edit's problem.
        ``on_queries`` may be called before the edit is complete, with the likely first queries of a
        sub-question without dependencies."""
        ...

    async def draft(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> tuple[Paragraph, ...]:
        """Return the paragraphs of a report, 3 to 8 if there is enough material.

        ``evidence`` is from a first overview; the model's memory is used too.
        """
        ...

    async def queries(self, question: Rewritten, manuscript: Manuscript) -> tuple[str, ...]:
        """Return 1 to 3 queries for pages to check the current paragraph against."""
        ...

    def revise(
        self,
        question: Rewritten,
        manuscript: Manuscript,
        evidence: Evidence,
        instructions: str = "",
    ) -> AsyncIterator[AnswerDelta]:
        """Yield the current paragraph, corrected against the evidence and using nothing else.

        What was not found comes last, as a block quote; if nothing was found, the whole text is
        one.
        """
        ...

    async def statements(self, text: str) -> tuple[Statement, ...]:
        """Return the statements of a text to be checked, in order; if many, the most important."""
        ...

    async def verify(
        self, question: str, text: str, claims: Sequence[Claim]
    ) -> tuple[Verdict | None, ...]:
        """Judge whether the quotes of each claim of a text support it; None if unknown. The text
        (Markdown) answers the question, if that is not ""."""
        ...

    async def compare(self, question: str, pairs: Pairs) -> tuple[bool | None, ...]:
        """Judge whether the earlier and the present sentence of each pair mean the same; None if
        unknown."""
        ...

    async def restate(
        self,
        question: str,
        answer: str,
        claims: Sequence[Claim],
        verdicts: Sequence[Verdict],
        others: Sequence[Claim] = (),
    ) -> tuple[Restated, ...]:
        """Reword unsupported claims of an answer so that their quotes support them, or those of its
        ``others``."""
        ...


ReasonerFactory = Callable[[ModelCalls], Reasoner]
