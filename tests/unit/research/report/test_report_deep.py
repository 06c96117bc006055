"""Deep reports: what a graph of sub-questions found is what they are drafted from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest

from bot.core.messages import Depth
from bot.pages.page import Page
from bot.reasoning.evidence import Paragraph
from bot.reasoning.graphs import GraphEdit, NewNode
from bot.research.budget import Budget
from tests.fakes.library import Shelf, a_shelf
from tests.fakes.virtual_time import in_virtual_time, now
from tests.unit.research.report.test_report import QUESTION, SETTINGS, Play, Writer, first_page

PARTS = tuple(
    NewNode(id, question, queries=(query,))
    for id, question, query in [
        ("height", "How tall is the tower?", "Height of the tower"),
        ("builders", "How many workers built it?", "Builders of the tower"),
    ]
)


def planner() -> Writer:
    return Writer(answer=first_page, edits=(GraphEdit(PARTS, done=True),))


@pytest.mark.parametrize(
    ("asked", "judged", "is_deep"),
    [
        ("deep", "standard", True),
        ("auto", "deep", True),
        ("auto", "standard", False),
        ("standard", "deep", False),
    ],
)
@in_virtual_time
async def test_a_deep_report_looks_around_by_a_graph(
    asked: Depth, judged: Depth, is_deep: bool
) -> None:
    writer = planner()
    writer.rewritten = replace(QUESTION, depth=judged)
    answer = await Play(depth=asked).answer(writer)
    assert bool(writer.graphs) == is_deep
    assert [line.title for line in answer.steps if line.kind == "node"] == (
        [part.question for part in PARTS] if is_deep else []
    )
    assert "## Height" in answer.text


@in_virtual_time
async def test_the_draft_is_made_from_what_the_graph_has_read() -> None:
    writer = planner()
    writer.turns = ()
    writer.opens = 1
    await Play(depth="deep").report(writer)
    [seen] = writer.looked_at
    assert {source.title for source in seen.sources} >= {"Height", "Builders"}


@in_virtual_time
async def test_a_graph_that_takes_too_long_leaves_half_of_the_time_and_what_it_has_read() -> None:
    class Slow(Writer):
        async def next_turn(self, *args: object):  # type: ignore[no-untyped-def]
            if self.workspaces:
                await self._call("think", len(self.workspaces))
            return await super().next_turn(*args)  # type: ignore[arg-type]

    writer = Slow(answer=first_page, edits=(GraphEdit(PARTS, done=True),), opens=1)
    writer.slow = {"think": SETTINGS.max_seconds}
    play = Play(depth="deep")
    report, run = await play.report(writer)
    [seen] = writer.looked_at
    assert {source.title for source in seen.sources} >= {"Height"}
    assert report.is_sourced
    healthy = planner()
    resumed, rerun = await play.again().report(healthy)
    assert healthy.graphs == [], "what was missed is not tried again"
    assert healthy.looked_at == writer.looked_at
    assert resumed.written == report.written
    assert rerun.usage.pages == run.usage.pages


@in_virtual_time
async def test_a_graph_leaves_the_rest_of_the_budget_to_the_paragraphs() -> None:
    play = Play(depth="deep")
    whole: list[Budget] = []

    class Looking(Writer):
        async def plan(self, *args: object):  # type: ignore[no-untyped-def]
            whole.append(run.budget)
            return await super().plan(*args)  # type: ignore[arg-type]

    writer = Looking(answer=first_page, edits=(GraphEdit(PARTS, done=True),))
    pipeline = play.pipeline(writer)
    run = pipeline._run
    await pipeline.research()
    assert whole[0] == Budget.of(play.settings)
    assert run.budget == Budget.of(play.settings, times=2)


TOPICS = ("Height", "Builders", "Colour", "Weight")


@dataclass
class Timed(Shelf):
    """Knows when each page was first asked for."""

    at: dict[str, float] = field(default_factory=dict)

    async def read(self, url: str) -> Page | None:
        self.at.setdefault(url, now())
        return await super().read(url)


@in_virtual_time
async def test_pages_of_each_next_paragraph_are_read_while_one_is_revised() -> None:
    texts = [f"{topic} is told here, in part {n}." for topic in TOPICS for n in (1, 2, 3)]
    shelf = Timed(a_shelf(*texts).pages, urls={"tower": []})
    drafts = tuple(Paragraph(topic, "", "It is so.") for topic in TOPICS)
    writer = Writer(answer=first_page, asking="{}", drafts=drafts)
    await Play(shelf).report(writer, prefetch_pages=5)  # as many as two of them may take
    for before, topic in pairwise(TOPICS):
        first = min(at for url, at in shelf.at.items() if shelf.pages[url].title == topic)
        assert writer.begun[f"revise {before}"] <= first < writer.begun[f"query {topic}"]
