"""The short way: search the queries, read the best pages, done."""

from __future__ import annotations

from collections.abc import Sequence

from bot.errors import BudgetSpent
from bot.reasoning.desks import Desk, Read, Turn
from bot.reasoning.evidence import Evidence
from bot.reasoning.questions import SubQuestion
from bot.research.desk import DeskKeeper, Reading
from bot.research.gathered import merge_sources, to_open
from bot.research.run import Run

PAGES = 6  # read without anyone choosing


async def direct(
    run: Run,
    question: SubQuestion,
    reading: Reading,
    *,
    links: Sequence[str] = (),
) -> Evidence:
    """Gather evidence without a model's choices: the links, the best page of each query, the best
    of all."""
    keeper = DeskKeeper(run, question, Desk(pages_left=run.budget.pages), reading)
    try:
        await keeper.give(
            links=links,
            queries=question.queries,
            knowledge_queries=question.knowledge_queries,
        )
        best = to_open(keeper.desk.results, PAGES)
        if best:
            await keeper.carry_out(Turn((Read(tuple(best)),)))
    except BudgetSpent as error:
        run.notes.error(error, "rests-on-found")
    sources = merge_sources(keeper.desk.sources)
    return Evidence(
        sources=sources,
        enough=bool(sources),
        queries=tuple(run.queries),
        notes=tuple(keeper.unread),
    )
