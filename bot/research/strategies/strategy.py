"""Strategies of gathering evidence for an answer: their protocol, declaration and choice.

A strategy is declared by a ``Declaration`` that a package names in its entry point group
``footnote.strategies``. Footnote's own are found in the same way: direct, iterate, graph,
revise, check.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint
from typing import Protocol

from bot.errors import InvalidSetting
from bot.messages import Depth
from bot.plugins import loaded, points
from bot.reasoning.evidence import Evidence
from bot.reasoning.questions import ANYWHERE, Rewritten, SubQuestion
from bot.reasoning.reasoner import Reasoner
from bot.research.answer.write import Written
from bot.research.evidence.queries import HITS_FETCHED, Asked
from bot.research.evidence.workspace import Reading
from bot.research.run import Run
from bot.search.provider import Query
from bot.settings import Settings

ENTRY_POINTS = "footnote.strategies"
DIRECT, ITERATE, GRAPH, REVISE = "direct", "iterate", "graph", "revise"
CHECK = "check"  # of the statements of a text
AUTO = "auto"
DEEP = 2  # times the searches and the budget of other questions


@dataclass(frozen=True, slots=True)
class Task:
    """The task of a strategy.

    ``question`` stands alone, ``links`` are the files and pages that the asker gave, ``by_model``
    tells whether a model is there to be asked, which may end on the way. ``on_text`` gets the whole
    text written so far as it grows.
    """

    run: Run
    question: Rewritten
    settings: Settings
    depth: Depth
    links: tuple[str, ...]
    by_model: Callable[[], bool]
    on_text: Callable[[str], None]

    @property
    def searches(self) -> int:
        """The number of searches one loop may make."""
        return self.settings.max_searches * (DEEP if self.depth == "deep" else 1)

    def sub_question(self) -> SubQuestion:
        """The question as one loop works on it."""
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

    def reading(self, reasoner: Reasoner) -> Reading:
        """The limits on the hits and pages that a reasoner is shown."""
        settings = self.settings
        return Reading(settings.topk, settings.read_tokens * reasoner.read_factor)


@dataclass(frozen=True, slots=True)
class Gathered:
    """The result of a strategy: the evidence, and the answer where the strategy wrote it itself."""

    evidence: Evidence
    written: Written | None = None


class Strategy(Protocol):
    """One strategy at work on one question.

    Whatever it does goes through the run (searching, reading, model calls, steps of its own), so
    that an interrupted run continues. It begins no tasks that outlive ``gather``.
    """

    async def gather(self, reasoner: Reasoner) -> Gathered | None:
        """Gather evidence; None where nothing came of it and a plainer strategy has to do.

        It may be called again with another reasoner after an error: what is done stays. Raises
        what the reasoner raises.
        """
        ...

    def so_far(self) -> Gathered | None:
        """The unfinished answer when the question is stopped; None where there is only what the run
        was shown."""
        ...

    def close(self) -> None:
        """It ends, however that came."""
        ...


class OneCall:
    """A strategy that is one function, and leaves nothing half done."""

    def __init__(self, task: Task, work: Callable[[Task, Reasoner], Awaitable[Evidence]]) -> None:
        self._task = task
        self._work = work

    async def gather(self, reasoner: Reasoner) -> Gathered:
        return Gathered(await self._work(self._task, reasoner))

    def so_far(self) -> None:
        return None

    def close(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Declaration:
    """A strategy by the name of its entry point; ``begin`` makes one for a task."""

    name: str
    begin: Callable[[Task], Strategy]


@cache
def _declared() -> dict[str, EntryPoint]:
    return {each.name: each for each in points(ENTRY_POINTS)}


def strategies() -> list[str]:
    """The names of all strategies."""
    return sorted(_declared())


@cache
def strategy(name: str) -> Declaration:
    """The strategy with this name, loaded when it is first needed: most questions need one of them.
    Raises ``InvalidSetting`` for a package whose strategy cannot be loaded."""
    return loaded(_declared()[name], Declaration, "strategy")


def check_strategy(settings: Settings) -> None:
    """Raises ``InvalidSetting`` where the settings name a strategy that does not exist or cannot be
    loaded."""
    if settings.strategy in _declared():
        strategy(settings.strategy)
    elif settings.strategy != AUTO:
        raise InvalidSetting(
            f"FOOTNOTE_STRATEGY is {settings.strategy}, which is no strategy: choose from "
            f"{', '.join((AUTO, *strategies()))}."
        )


def chosen(task: Task, *, is_report: bool) -> Sequence[str]:
    """The names of the strategies for a task, in the order in which they are tried."""
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
        # With a query for each of its parts a question needs no plan, unless it has too many.
        is_planned = task.by_model() and len(question.queries) > 1
        if question.depth == "deep" or not is_planned:
            plain = GRAPH
    return (REVISE, plain) if is_report else (plain,)


def prefetch(run: Run, question: Rewritten, settings: Settings) -> None:
    """Begin to search a question's queries, each where it will be asked."""
    asked = Asked(run.can_search, question.question)
    first = asked.first(question.queries, question.knowledge_queries, ANYWHERE)
    limit = settings.topk * HITS_FETCHED
    for _, query, _ in first.queries:
        run.prefetcher.search([Query(query.text, limit, question.language)], query.kind)
