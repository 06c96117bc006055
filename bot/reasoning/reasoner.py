"""The protocol of a reasoner.

A reasoner thinks; it never searches, fetches or stores. The core (``bot.research``) carries out
its actions and keeps the workspace. What it is given and what it returns are values: ``questions``,
``workspace``, ``graphs``, ``drafts``, ``evidence``; how its calls are paid is in ``calls``.

Every method must be a pure function of its arguments and of the replies to its model calls, so
that an interrupted run can be replayed from its journal.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Protocol

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
from bot.reasoning.questions import Rewritten, SubQuestion
from bot.reasoning.workspace import Turn, Workspace

if TYPE_CHECKING:
    from bot.reasoning.graphs import Graph, GraphEdit

OnAnswer = Callable[[AnswerDelta], None]
OnQueries = Callable[[tuple[str, ...]], None]
Pairs = Sequence[tuple[str, str]]  # an earlier sentence, and the one that is in its place now


class Reasoner(Protocol):
    """A reasoner. Claude and the extractive reasoner implement all of it.

    Every method raises ``ModelUnavailable``, ``CredentialsRefused``, ``ModelRefused``,
    ``ModelBroken`` or ``BudgetSpent``, nothing else of its own.

    ``opens`` of the best pages of a search are shown to it with the hits: where a turn takes
    seconds, choosing them would cost more than showing one in vain. Of each page it is shown
    ``read_factor`` times the tokens that the settings allow: without a model, words cost nothing.
    """

    name: str
    opens: int
    read_factor: int

    async def rewrite(
        self, transcript: Transcript, message: Message, instructions: str = ""
    ) -> Rewritten: ...

    async def next_turn(
        self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
    ) -> Turn:
        """The next actions. ``on_answer`` may get the deltas of a ``Reply`` before all of the turn
        is there; a ``Restart`` takes them back."""
        ...

    async def plan(
        self, question: SubQuestion, graph: Graph, on_queries: OnQueries | None = None
    ) -> GraphEdit:
        """Sub-questions to begin with or to add; a reply that is none is the edit's problem.
        ``on_queries`` may be called before all of the edit is there, with what a sub-question that
        needs no other will probably ask first."""
        ...

    def write(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> AsyncIterator[AnswerDelta]: ...

    async def draft(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> tuple[Paragraph, ...]:
        """The paragraphs of a report, 3 to 8 of them if there is that much to say.

        ``evidence`` is what a first look found; a draft rests on memory as well.
        """
        ...

    async def queries(self, question: Rewritten, manuscript: Manuscript) -> tuple[str, ...]:
        """1 to 3 queries for what the paragraph in hand has to be checked against."""
        ...

    def revise(
        self,
        question: Rewritten,
        manuscript: Manuscript,
        evidence: Evidence,
        instructions: str = "",
    ) -> AsyncIterator[AnswerDelta]:
        """The paragraph in hand, corrected against the evidence and resting on nothing else.

        What was not found comes last, as a block quote; so does the whole when nothing was.
        """
        ...

    async def statements(self, text: str) -> tuple[Statement, ...]:
        """The statements of a text that is to be checked, in its order, the weightiest if there
        are many."""
        ...

    async def verify(self, question: str, claims: Sequence[Claim]) -> tuple[Verdict | None, ...]:
        """Judge whether the quotes of each claim of an answer say so; None where unknown."""
        ...

    async def compare(self, question: str, pairs: Pairs) -> tuple[bool | None, ...]:
        """Judge whether the earlier and the present sentence of each pair say the same; None where
        unknown."""
        ...

    async def restate(
        self, question: str, answer: str, claims: Sequence[Claim], verdicts: Sequence[Verdict]
    ) -> tuple[str, ...]:
        """Claims of an answer that were not found supported, in words that their quotes bear out;
        "" where the quotes have none."""
        ...


ReasonerFactory = Callable[[ModelCalls], Reasoner]
