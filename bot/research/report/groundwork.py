"""Gathers the evidence for a report: a first overview, then pages for each paragraph."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from bot.pages.page import Page
from bot.pages.urls import dedupe_key
from bot.reasoning.evidence import (
    Evidence,
    Paragraph,
    QueryResult,
    Read,
    SubQuestion,
    Turn,
    Workspace,
)
from bot.reasoning.reasoner import Researcher
from bot.research.budget.budget import Budget
from bot.research.evidence.queries import HITS_FETCHED
from bot.research.evidence.relevance import best_hits, fitting, merge_sources
from bot.research.evidence.workspace import Reading, WorkspaceKeeper
from bot.research.strategies.graph import explore
from bot.research.strategies.strategy import HITS, READ_TOKENS, READING, SEARCHES, Task
from bot.search.provider import Query
from bot.text.terms import content_words

FIRST_PAGES = 4  # read before drafting: enough for an outline
FIRST_FITTING = 2  # of them that are given to a paragraph they match
FIRST_TOKENS = 500  # of passages per page
PAGES = 3  # read for one paragraph
GUESSED_WORDS = 8  # words of the query expected for a draft


class Groundwork:
    """See the module docstring."""

    def __init__(self, task: Task) -> None:
        self._run = task.run
        self._question = task.question
        self._settings = task.settings
        self._links = task.links
        self._asked = task.sub_question()
        self._first = Evidence()
        self._read: list[Evidence] = []

    @property
    def evidence(self) -> Evidence:
        """All evidence read."""
        sources = merge_sources([s for one in self._read for s in one.sources])
        return Evidence(sources=sources, enough=True, queries=tuple(self._run.queries))

    async def look_around(self, reasoner: Researcher) -> Evidence:
        """Read the pages found by the question's own queries and links."""
        del reasoner  # the best pages are read without asking a model
        self._first = await self._gather(self._asked, FIRST_TOKENS, FIRST_PAGES)
        return self._first

    async def explore(self, reasoner: Researcher) -> Evidence:
        """Explore the question by a graph of sub-questions, within the budget of an ordinary
        question: the rest is reserved for the paragraphs. Raises what
        ``research.strategies.graph.explore`` raises.
        """
        settings, whole = self._settings, self._run.budget
        self._run.budget = Budget.of(settings)
        try:
            found = await explore(
                self._run,
                reasoner,
                self._asked,
                READING,
                searches=SEARCHES,
                links=self._links,
            )
        finally:
            self._run.budget = whole
        self._read.append(found)
        self._first = found
        return found

    def evidence_so_far(self) -> Evidence:
        """Return the evidence of an unfinished overview."""
        self._first = Evidence(
            sources=merge_sources(self._run.sources), queries=tuple(self._run.queries)
        )
        self._read.append(self._first)
        return self._first

    async def read_for(self, paragraph: Paragraph, queries: tuple[str, ...]) -> Evidence:
        """Read the best pages for a paragraph's queries, with the passages about its content."""
        asked = self._question
        # The draft itself best describes the passages that would support it (Gao et al., Precise
        # Zero-Shot Dense Retrieval without Relevance Labels, ACL 2023).
        text = f"{asked.question}\n{paragraph.heading}\n{paragraph.text}"
        about = SubQuestion(
            text, asked.language, queries, knowledge_queries=queries, scope=asked.scope
        )
        wanted = [paragraph.heading or paragraph.purpose]
        known = [source.url for source in self._first.sources if source.url not in self._links]
        pages = [
            page for page in await self._run.read(known[:FIRST_PAGES]) if isinstance(page, Page)
        ]
        fit = await asyncio.to_thread(fitting, wanted, pages, self._run.rarity)
        return await self._gather(about, READ_TOKENS, PAGES, fit[:FIRST_FITTING])

    def search_ahead(self, paragraph: Paragraph) -> None:
        """Start to search for the topic of the next paragraph's draft."""
        if self._question.kind == "links":
            return
        topic = content_words(f"{paragraph.heading} {self._question.question}")
        guess = " ".join(dict.fromkeys(topic[:GUESSED_WORDS]))
        if guess:
            limit = HITS * HITS_FETCHED
            self._run.prefetcher.search([Query(guess, limit, self._question.language)])

    async def _gather(
        self, about: SubQuestion, tokens: int, pages: int, known: Sequence[str] = ()
    ) -> Evidence:
        """Read the asker's links, the ``known`` pages and the best pages of all queries, with the
        passages about ``about``."""
        reading = Reading(HITS, tokens)
        workspace = Workspace(pages_left=self._run.budget.pages)
        keeper = WorkspaceKeeper(self._run, about, workspace, reading)
        await keeper.give(
            links=(*self._links, *known),
            queries=about.queries,
            knowledge_queries=about.knowledge_queries,
        )
        best = self._affordable(keeper.workspace.results, pages)
        if best:
            # Pages read for an earlier paragraph are free, so take all of them.
            keeper.workspace = replace(keeper.workspace, pages_left=len(best))
            await keeper.carry_out(Turn((Read(tuple(best)),)))
        if not keeper.workspace.sources:  # pages of the overview may help too, and are already read
            first = self._first.sources[:FIRST_PAGES]
            await keeper.give(links=[source.url for source in first])
        evidence = Evidence(
            sources=merge_sources(keeper.workspace.sources),
            enough=True,
            queries=about.queries,
            notes=tuple(keeper.unread),
        )
        self._read.append(evidence)
        return evidence

    def _affordable(self, results: Sequence[QueryResult], pages: int) -> list[int]:
        """Return the best hits; if no more pages may be read, the best of those already read."""
        hits = {hit.number: hit.hit for result in results for hit in result.hits}
        read = {dedupe_key(source.url) for source in self._run.sources}
        left = self._run.budget.pages - self._run.usage.pages
        chosen: list[int] = []
        for number in best_hits(results):
            url = hits[number].url
            if dedupe_key(url) not in read:
                if left <= 0:
                    continue
                left -= 1
            chosen.append(number)
            if len(chosen) == pages:
                break
        return chosen
