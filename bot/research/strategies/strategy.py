"""Strategies for gathering evidence: their protocol, declaration and choice.

A package declares a strategy by a ``Declaration`` in its entry point group ``footnote.strategies``.
Footnote's own are found in the same way: direct, iterate, graph, revise, check.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint
from typing import Protocol

from bot.core.errors import InvalidSetting
from bot.core.messages import Depth
from bot.core.plugins import load_part, points
from bot.core.settings import Settings
from bot.reasoning.evidence import ANYWHERE, Evidence, Rewritten, SubQuestion
from bot.reasoning.reasoner import Researcher
from bot.research.answer.write import Written
from bot.research.evidence.queries import HITS_FETCHED, SentQueries
from bot.research.evidence.workspace import Reading
from bot.research.run import Run
from bot.search.provider import Query

ENTRY_POINTS = "footnote.strategies"
DIRECT, ITERATE, GRAPH, REVISE = "direct", "iterate", "graph", "revise"
CHECK = "check"  # checks the statements of a text
AUTO = "auto"
SEARCHES = 5  # of one loop
HITS = 10  # shown to a reasoner for a query
READ_TOKENS = 1_200  # of one page's passages given to a reasoner
READING = Reading(HITS, READ_TOKENS)
DEEP = 2  # times the searches and the budget of ordinary questions


@dataclass(frozen=True, slots=True)
class Task:
    """The task of a strategy.

    ``question`` is standalone, ``links`` are the asker's files and pages. ``on_text`` gets the
    whole text so far as it grows.
    """

    run: Run
    question: Rewritten
    settings: Settings
    depth: Depth
    links: tuple[str, ...]
    on_text: Callable[[str], None]

    @property
    def searches(self) -> int:
        """The maximum number of searches in one loop."""
        return SEARCHES * (DEEP if self.depth == "deep" else 1)

    def sub_question(self) -> SubQuestion:
        """Return the question in the form for one loop."""
        question = self.question
        searched = question.kind == "search"
        return SubQuestion(
            question.question,
            question.language,
            question.queries if searched else (),
            knowledge_queries=question.knowledge_queries if searched else (),
            scope=question.scope,
            whole=question.whole,
        )


@dataclass(frozen=True, slots=True)
class Gathered:
    """The result of a strategy: the evidence, and the answer if the strategy wrote it itself."""

    evidence: Evidence
    written: Written | None = None


class Strategy(Protocol):
    """A strategy working on one question.

    It does everything through the run (searching, reading, model calls, its own steps), so that an
    interrupted run can continue. It starts no tasks that outlive ``gather``.
    """

    async def gather(self, reasoner: Researcher) -> Gathered | None:
        """Gather evidence; returns None if it found nothing and a simpler strategy must be tried.

        Raises what the reasoner raises.
        """
        ...

    def so_far(self) -> Gathered | None:
        """Return the unfinished answer when the question is stopped; None if there are only the
        run's sources."""
        ...

    def close(self) -> None:
        """Clean up, however the work ended."""
        ...


class OneCall:
    """A strategy that is a single function, without intermediate results."""

    def __init__(self, task: Task, work: Callable[[Task, Researcher], Awaitable[Evidence]]) -> None:
        self._task = task
        self._work = work

    async def gather(self, reasoner: Researcher) -> Gathered:
        return Gathered(await self._work(self._task, reasoner))

    def so_far(self) -> None:
        return None

    def close(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Declaration:
    """The declaration of a strategy, named by its entry point; ``begin`` creates one for a task."""

    name: str
    begin: Callable[[Task], Strategy]


@cache
def _declared() -> dict[str, EntryPoint]:
    return {each.name: each for each in points(ENTRY_POINTS)}


def strategies() -> list[str]:
    """Return the names of all strategies."""
    return sorted(_declared())


@cache
def strategy(name: str) -> Declaration:
    """Load the strategy with this name when it is needed: most questions need only one. Raises
    ``InvalidSetting`` for a package whose strategy cannot be loaded."""
    return load_part(_declared()[name], Declaration, "strategy")


def check_strategy(settings: Settings) -> None:
    """Raise ``InvalidSetting`` if the settings name a strategy that does not exist or cannot be
    loaded."""
    if settings.strategy in _declared():
        strategy(settings.strategy)
    elif settings.strategy != AUTO:
        raise InvalidSetting(
            f"FOOTNOTE_STRATEGY is {settings.strategy}, which is not a strategy: choose from "
            f"{', '.join((AUTO, *strategies()))}."
        )


def strategies_for(task: Task, *, is_report: bool) -> Sequence[str]:
    """Return the names of the strategies for a task, in the order to try them."""
    if task.run.options.style == "check":
        return (CHECK,)
    if task.settings.strategy != AUTO:
        return (task.settings.strategy,)
    question, depth = task.question, task.depth
    plain = ITERATE
    searched = question.kind == "search"
    if question.whole or depth == "quick" or not (searched or depth == "deep"):
        plain = DIRECT
    elif depth == "deep":
        # A question with a query for each of its parts needs no plan, unless it has too many.
        is_planned = len(question.queries) > 1
        if question.depth == "deep" or not is_planned:
            plain = GRAPH
    return (REVISE, plain) if is_report else (plain,)


def prefetch(run: Run, question: Rewritten) -> None:
    """Prefetch a question's queries, each with the kind of provider it will be sent to."""
    asked = SentQueries(run.can_search, question.question)
    first = asked.first(question.queries, question.knowledge_queries, ANYWHERE)
    limit = HITS * HITS_FETCHED
    for _, query, _ in first.queries:
        run.prefetcher.search([Query(query.text, limit, question.language)], query.kind)
