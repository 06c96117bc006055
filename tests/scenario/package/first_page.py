"""A strategy of another package: it reads the first page that is found, and nothing else."""

from __future__ import annotations

from bot.reasoning.evidence import Evidence, Read, Turn, Workspace
from bot.reasoning.reasoner import Researcher
from bot.research.strategies import READING, Declaration, OneCall, Task
from bot.research.working_set import WorkspaceKeeper


async def _first_page(task: Task, reasoner: Researcher) -> Evidence:
    question = task.sub_question()
    keeper = WorkspaceKeeper(task.run, question, Workspace(pages_left=1), READING)
    await keeper.give(
        links=task.links, queries=question.queries, knowledge_queries=question.knowledge_queries
    )
    hits = [hit.number for result in keeper.workspace.results for hit in result.hits]
    if hits:
        await keeper.carry_out(Turn((Read((min(hits),)),)))
    sources = tuple(keeper.workspace.sources)
    return Evidence(sources=sources, enough=bool(sources), queries=tuple(task.run.queries))


STRATEGY = Declaration("first-page", lambda task: OneCall(task, _first_page))
