"""Strategies for gathering evidence: their protocol and choice; direct, and the loop ``iterate``.

A package declares a strategy by a ``Declaration`` in its entry point group ``footnote.strategies``.
Footnote's own are found in the same way: direct, iterate, graph, revise, check.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import EntryPoint
from itertools import count
from typing import Protocol

from bot.core.errors import Broken, BudgetSpent, InvalidSetting, Refused
from bot.core.messages import Depth, StepState, StepView
from bot.core.plugins import load_part, points
from bot.core.settings import Settings
from bot.pages.page import Page
from bot.pages.urls import dedupe_key
from bot.reasoning.evidence import (
    ANYWHERE,
    AnswerDelta,
    CitationDelta,
    Evidence,
    Finish,
    Read,
    Reply,
    Rewritten,
    Source,
    SubQuestion,
    TextDelta,
    Turn,
    Workspace,
)
from bot.reasoning.reasoner import Researcher
from bot.research.budget import DEEP
from bot.research.composer import Composer, Written
from bot.research.run import Run
from bot.research.selection import matching, merge_sources, to_open
from bot.research.working_set import HITS_FETCHED, Reading, SentQueries, WorkspaceKeeper
from bot.search.provider import Query
from bot.text.terms import estimate

ENTRY_POINTS = "footnote.strategies"
DIRECT, ITERATE, GRAPH, REVISE = "direct", "iterate", "graph", "revise"
CHECK = "check"  # checks the statements of a text
AUTO = "auto"
SEARCHES = 5  # of one loop
HITS = 10  # shown to a reasoner for a query
READ_TOKENS = 1_200  # of one page's passages given to a reasoner
READING = Reading(HITS, READ_TOKENS)
ROUND = 10  # searches of one loop of exhaustive research


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

    def so_far(self) -> Gathered | None:
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


PAGES = 6  # read without a choice by a model


async def direct(
    run: Run,
    question: SubQuestion,
    reading: Reading,
    *,
    links: Sequence[str] = (),
    choosy: bool = False,
    pages: int = PAGES,
) -> Evidence:
    """Gather evidence without a model's choices: the links, the best page of each query, then the
    best overall, up to ``pages``; if ``choosy``, without those that match neither question nor
    query."""
    keeper = WorkspaceKeeper(run, question, Workspace(pages_left=run.budget.pages), reading)
    try:
        await keeper.give(
            links=links,
            queries=question.queries,
            knowledge_queries=question.knowledge_queries,
        )
        best = to_open(keeper.workspace.results, pages)
        if best:
            await keeper.carry_out(Turn((Read(tuple(best)),)))
    except BudgetSpent as error:
        run.notes.error(error, "rests-on-found")
    sources = merge_sources(keeper.workspace.sources)
    if choosy:
        sources = _matching(sources, question, links, run.rarity)
    return Evidence(
        sources=sources,
        enough=bool(sources),
        queries=tuple(run.queries),
        notes=tuple(keeper.unread),
    )


def _matching(
    sources: Sequence[Source],
    question: SubQuestion,
    links: Sequence[str],
    rarity: Mapping[str, float],
) -> tuple[Source, ...]:
    """Return the linked sources and those that clearly match the question or one of its queries;
    all if none does, since one may have the answer in other words."""
    wanted = [question.text, *question.queries, *question.knowledge_queries]
    linked = {dedupe_key(link) for link in links}
    pages = [as_page(source) for source in sources]
    fit = set(matching(wanted, pages, rarity, question=question))
    fit |= {source.url for source in sources if dedupe_key(source.url) in linked}
    return tuple(source for source in sources if source.url in fit) or tuple(sources)


def as_page(source: Source) -> Page:
    """Return a page with only the passages shown."""
    text = "\n\n".join(passage.text for passage in source.passages)
    return Page(source.url, source.title, text, source.fetched_at)


async def _direct(task: Task, reasoner: Researcher) -> Evidence:
    question, reading = task.sub_question(), READING
    return await direct(task.run, question, reading, links=task.links, choosy=True)


DIRECT_STRATEGY = Declaration(DIRECT, lambda task: OneCall(task, _direct))


TURNS_BEYOND_SEARCHES = 6  # turns for reading and finishing, on top of one per search
EMPTY_TURNS = 2  # consecutive, until the loop ends by itself
FULL = 18_000  # estimated tokens of passages, after which the loop is asked to end

EMPTY_NUDGE = "You called no tool. Search, read, or finish with your findings."
LAST_NUDGE = "This was the last turn for searching and reading: finish now with your findings."


async def iterate(
    run: Run,
    reasoner: Researcher,
    question: SubQuestion,
    reading: Reading,
    *,
    searches: int,
    pages: int | None = None,
    links: Sequence[str] = (),
    placed: Sequence[Source] = (),
    on_text: Callable[[str], None] | None = None,
    stage: Mapping[str, str | int] | None = None,
) -> Evidence:
    """Gather evidence for one question with at most ``searches`` searches, the first of them for
    the question's own queries, starting with the ``placed`` passages and the pages at ``links``. At
    most ``pages`` are chosen, by default as many as the run's budget covers.

    With ``on_text``, a reasoner that finds the whole answer in the results of the first search may
    write it at once, as the evidence's ``reply``; ``on_text`` gets the text so far.

    With a ``stage`` (inputs that identify this loop), a turn that failed on an earlier attempt
    fails again.

    Ends when the reasoner finishes, the budget is spent (added to the run's notes), the turns are
    used up, or no search works at all. Raises what the reasoner raises, except ``BudgetSpent``.
    """
    # The rewrite's queries are searched before the first turn. That saves a turn: the reasoner
    # begins by judging hits instead of requesting them.
    suggested = question.queries or question.knowledge_queries
    left = searches - bool(suggested)
    # Reserve half of the run's pages for those opened without being chosen.
    chosen = run.budget.pages - (run.budget.pages // 2 if reasoner.opens else 0)
    keeper = WorkspaceKeeper(
        run,
        question,
        Workspace(
            searches_left=left,
            pages_left=chosen if pages is None else pages,
            may_reply=on_text is not None,
        ),
        replace(reading, opened=reasoner.opens),
    )
    writing: list[Composer] = []

    def on_answer(delta: AnswerDelta) -> None:
        if on_text is not None:
            if not writing:
                writing.append(Composer(Evidence(sources=merge_sources(keeper.workspace.sources))))
            writing[0].add(delta)
            on_text(writing[0].text_so_far())

    finish: Finish | None = None
    reply: Reply | None = None
    empty = 0
    try:
        keeper.place(placed)
        await keeper.give(
            links=links,
            queries=question.queries,
            knowledge_queries=question.knowledge_queries,
        )
        last = searches + TURNS_BEYOND_SEARCHES
        for number in range(1, last + 1):
            if run.unanswered and not keeper.workspace.sources:
                break  # nothing can be found, so save the call
            work = partial(reasoner.next_turn, question, keeper.workspace, on_answer)
            named = {**(stage or {}), "turn": len(keeper.workspace.turns)}
            turn = await (work() if stage is None else run.attempted(work, inputs=named))
            reply = turn.reply
            finish = turn.finish
            if reply is not None:
                break
            if finish is not None:
                if finish.outgrown:
                    gap = run.texts("research-outgrown")
                    finish = replace(finish, missing=(*finish.missing, gap))
                break
            empty = 0 if turn.actions else empty + 1
            if empty == EMPTY_TURNS:
                break
            is_last = number >= last - 1 or _tokens(keeper.workspace.sources) > FULL
            nudge = EMPTY_NUDGE if empty else LAST_NUDGE if is_last else ""
            await keeper.carry_out(turn, nudge)
    except BudgetSpent as error:
        run.notes.error(error, "rests-on-found")
    if reply is not None:
        finish = Finish(enough=True)
    elif finish is None:
        finish = Finish(enough=False)
    return Evidence(
        sources=merge_sources(keeper.workspace.sources),
        carrying=merge_sources(finish.carrying),
        none_carries=finish.none_carries,
        findings=finish.findings,
        missing=finish.missing,
        enough=finish.enough,
        reply=reply.deltas if reply is not None else (),
        queries=keeper.searched,
        notes=tuple(keeper.unread),
        answer=finish.answer,
    )


def _tokens(sources: Iterable[Source]) -> int:
    return sum(estimate(passage.text) for source in sources for passage in source.passages)


async def _iterate(task: Task, reasoner: Researcher) -> Evidence:
    return await iterate(
        task.run,
        reasoner,
        task.sub_question(),
        READING,
        searches=task.searches,
        links=task.links,
        on_text=task.on_text,
    )


class Exhaustive(OneCall):
    """Loops that follow each other, each with the facts, gaps and queries of those before it, until
    one proves nothing new. The facts are the findings of the evidence."""

    _all = Evidence()

    async def gather(self, reasoner: Researcher) -> Gathered:
        """If the budget is spent, or a later loop fails, it ends with what there is."""
        run, asked, links = self._task.run, self._task.sub_question(), self._task.links
        for number in count(1):
            old = self._all
            asked = replace(asked, known=old.findings, missing=old.missing, tried=old.queries)
            self._show(number, "running", old)
            try:
                with run.branch(f"round-{number}"):
                    loop = iterate(run, reasoner, asked, READING, searches=ROUND, links=links)
                    self._add(old, await loop)
            except (Refused, Broken) as error:
                if number == 1:
                    raise
                run.notes.error(error, "rests-on-found")
            finally:
                self._show(number, "failed" if self._all is old else "done", old)
            if self._all.carrying == old.carrying:
                break
            if run.usage.searches >= run.budget.searches:
                run.note(run.texts("budget-searches", limit=run.budget.searches))
                break
        return Gathered(self._all)

    def _add(self, old: Evidence, found: Evidence) -> None:
        is_cut = not (found.enough or found.missing or found.findings or found.none_carries)
        named = found.for_writing().sources if is_cut or found.findings else found.carrying
        proof = merge_sources((*old.carrying, *named))
        facts = {finding.text: finding for finding in (*old.findings, *found.findings)}
        self._all = replace(
            found,
            sources=merge_sources(self._task.run.sources),
            carrying=proof,
            findings=tuple(facts.values()),
            missing=old.missing if is_cut else found.missing,
            enough=proof == old.carrying and not is_cut,
            queries=tuple(dict.fromkeys((*old.queries, *found.queries))),
        )

    def _show(self, number: int, state: StepState, old: Evidence) -> None:
        run, facts = self._task.run, [finding.text for finding in self._all.findings]
        counts = {"searches": run.usage.searches, "most": run.budget.searches, "facts": len(facts)}
        title, new = run.texts("exhaustive-round", **counts), tuple(facts[len(old.findings) :])
        run.show(StepView(f"round-{number}", "node", title, state, found=new))

    def so_far(self) -> Gathered | None:
        """Return the facts of the loops that have ended, each with the passages of its pages."""
        composer = Composer(self._all)
        for finding in self._all.findings:
            composer.add(TextDelta(f"- {finding.text}\n", opens=True, has_marks=False))
            for source in self._all.carrying:
                for passage in source.passages if source.number in finding.sources else ():
                    composer.add(CitationDelta(source.number, passage.start, passage.end))
        return Gathered(self._all, composer.finish()) if self._all.findings else None


ITERATE_STRATEGY = Declaration(
    ITERATE,
    lambda task: (Exhaustive if task.depth == "exhaustive" else OneCall)(task, _iterate),
)
