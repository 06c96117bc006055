"""A run of the graph in virtual time, with a reasoner whose plan and pace a test sets."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from bot.core.errors import FootnoteError
from bot.core.messages import RunOptions
from bot.reasoning.evidence import (
    Evidence,
    Finding,
    Finish,
    Read,
    Search,
    SubQuestion,
    Turn,
    Workspace,
)
from bot.reasoning.graphs import Graph, GraphEdit, NewNode
from bot.reasoning.reasoner import OnAnswer
from bot.research.budget import Account, Budget
from bot.research.graph import explore
from bot.research.run import Resources, Run, RunQuestion
from bot.research.working_set import Reading
from bot.storage.journal import Journal
from tests.fakes.journal import MemoryJournal
from tests.fakes.library import Shelf, a_library, a_shelf
from tests.fakes.reasoner import Scripted
from tests.fakes.virtual_time import now
from tests.unit.research.conftest import BUDGET
from tests.unit.samples import NOW, a_message

ASKED = SubQuestion("What is to be known about all this?", queries=("all this",))
READING = Reading(shown=2, page_tokens=200)
PLENTY = replace(BUDGET, pages=24)
PLANNING = 1.0  # seconds that a plan takes


def a_run(
    shelf: Shelf | None = None,
    journal: MemoryJournal | None = None,
    budget: Budget = PLENTY,
    locale: str = "en",
    prefetch_pages: int = 0,
) -> Run:
    return Run(
        RunQuestion("r1", replace(a_message(), locale=locale), RunOptions(), NOW),
        Resources(a_library(shelf or a_shelf()), prefetch_pages=prefetch_pages),
        cast(Journal, journal or MemoryJournal()),
        Account(budget, lambda reply: None),
        lambda plan: None,
    )


def found(text: str = "It is so.") -> Finish:
    return Finish((Finding(text),))


Ending = Finish | FootnoteError


@dataclass
class Timed(Scripted):
    """Works ``seconds`` on a sub-question and ends as ``endings`` say; all in virtual time."""

    seconds: Mapping[str, float] = field(default_factory=dict)
    endings: Mapping[str, Ending] = field(default_factory=dict)
    planning: Mapping[int, FootnoteError] = field(default_factory=dict)  # by turn
    asked: dict[str, SubQuestion] = field(default_factory=dict)
    desks_of: dict[str, list[Workspace]] = field(default_factory=dict)
    begun: dict[str, float] = field(default_factory=dict)
    ended: dict[str, float] = field(default_factory=dict)
    planned: list[float] = field(default_factory=list)

    async def next_turn(
        self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
    ) -> Turn:
        self.sees(question, workspace)
        await asyncio.sleep(self.seconds.get(question.text, 1.0))
        self.ended[question.text] = now()
        ending = self.endings.get(question.text, found(f"{question.text} Yes."))
        if isinstance(ending, FootnoteError):
            raise ending
        return Turn((ending,))

    def sees(self, question: SubQuestion, workspace: Workspace) -> None:
        self.asked[question.text] = question
        self.workspaces.append(workspace)
        self.desks_of.setdefault(question.text, []).append(workspace)
        self.begun.setdefault(question.text, now())

    async def plan(self, question: SubQuestion, graph: Graph) -> GraphEdit:
        self.planned.append(now())
        await asyncio.sleep(PLANNING)
        if len(graph.turns) in self.planning:
            raise self.planning[len(graph.turns)]
        return await super().plan(question, graph)


def node(id: str, *needs: str) -> NewNode:
    return NewNode(id, f"What is {id * 3}?", needs)


def text(id: str) -> str:
    return f"What is {id * 3}?"


LAST = "z"


def complete(*nodes: NewNode) -> tuple[GraphEdit, ...]:
    """A plan in which another node, which is left to the question itself, needs all of these."""
    return (GraphEdit((*nodes, node(LAST, *(each.id for each in nodes))), done=True),)


async def play(reasoner: Timed, run: Run | None = None, **options: object) -> Evidence:
    question = replace(ASKED, queries=())
    return await explore(run or a_run(), reasoner, question, READING, searches=10, **options)  # type: ignore[arg-type]


@dataclass
class Reader(Timed):
    """Searches for its question, reads ``reads`` of the hits in two turns, and finishes."""

    reads: tuple[int, ...] = (1,)

    async def next_turn(
        self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
    ) -> Turn:
        if len(workspace.turns) == 2:
            return await super().next_turn(question, workspace, on_answer)
        self.sees(question, workspace)
        return Turn((Read(self.reads, "r") if workspace.turns else Search(("fact",), "s"),))
