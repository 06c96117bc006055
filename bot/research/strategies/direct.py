"""The simplest strategy: search the queries and read the best pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.core.errors import BudgetSpent
from bot.pages.page import Page
from bot.pages.urls import dedupe_key
from bot.reasoning.evidence import Evidence, Read, Source, SubQuestion, Turn, Workspace
from bot.reasoning.reasoner import Researcher
from bot.research.evidence.relevance import fitting, merge_sources, to_open
from bot.research.evidence.workspace import Reading, WorkspaceKeeper
from bot.research.run import Run
from bot.research.strategies.strategy import DIRECT, READING, Declaration, OneCall, Task

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
        sources = _fitting(sources, question, links, run.rarity)
    return Evidence(
        sources=sources,
        enough=bool(sources),
        queries=tuple(run.queries),
        notes=tuple(keeper.unread),
    )


def _fitting(
    sources: Sequence[Source],
    question: SubQuestion,
    links: Sequence[str],
    rarity: Mapping[str, float],
) -> tuple[Source, ...]:
    """Return the linked sources and those that clearly match the question or one of its queries;
    all if none does, since one may have the answer in other words."""
    wanted = [question.text, *question.queries, *question.knowledge_queries]
    linked = {dedupe_key(link) for link in links}
    pages = [_shown(source) for source in sources]
    fit = set(fitting(wanted, pages, rarity, question=question))
    fit |= {source.url for source in sources if dedupe_key(source.url) in linked}
    return tuple(source for source in sources if source.url in fit) or tuple(sources)


def _shown(source: Source) -> Page:
    """Return the passages shown of a page, as one text."""
    text = "\n\n".join(passage.text for passage in source.passages)
    return Page(source.url, source.title, text, source.fetched_at)


async def _direct(task: Task, reasoner: Researcher) -> Evidence:
    question, reading = task.sub_question(), READING
    return await direct(task.run, question, reading, links=task.links, choosy=True)


STRATEGY = Declaration(DIRECT, lambda task: OneCall(task, _direct))
