"""Reports that were interrupted: what was missed is not done again, but everything that was done
and spent until then is there."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from bot.core.answers import StepView
from bot.core.errors import CredentialsRefused, ModelBroken
from bot.pages.page import Page
from bot.reasoning.evidence import AnswerDelta, Evidence, Manuscript, Paragraph
from bot.reasoning.questions import Rewritten
from bot.research.run import Run
from tests.fakes.library import Shelf, a_shelf
from tests.fakes.virtual_time import in_virtual_time
from tests.unit.research.report.test_report import PLENTY, Play, Writer, first_page, topical

ADDRESS = "https://example.org/{}"
SLOW = ADDRESS.format(2)
TITLES = ("Height", "Builders", "Colour", "Weight", "Age", "Owner")


@dataclass
class SlowShelf(Shelf):
    """One of its pages takes ``seconds``."""

    seconds: float = 0.0

    async def read(self, url: str) -> Page | None:
        if url == SLOW:
            await asyncio.sleep(self.seconds)
        return await super().read(url)


def slow_shelf(seconds: float) -> SlowShelf:
    found = {"tower": [], "Height": [1, 2, 3], "Builders": [4, 5, 6], "Colour": [6, 3, 1]}
    urls = {
        query if query == "tower" else f"{query} of the tower": [ADDRESS.format(n) for n in pages]
        for query, pages in found.items()
    }
    pages = a_shelf(*[f"{title} of the tower is {n}." for n, title in enumerate(TITLES, 1)]).pages
    return SlowShelf(pages, urls=urls, seconds=seconds)


def without_seconds(run: Run) -> object:
    lines = {line.id: replace(line, seconds=0.0) for line in run.steps}
    spent = replace(run.usage, seconds=0.0)
    return spent, lines, run.queries, run.sources, list(run.notes), run.unanswered


@in_virtual_time
async def test_after_a_missed_reading_the_same_pages_are_chosen_and_the_same_is_asked() -> None:
    play = Play(slow_shelf(99.0), budget=replace(PLENTY, pages=4))
    report, run = await play.report(Writer(answer=first_page))
    assert [one.fate for one in play.revisions] == ["unsourced", "revised", "unsourced"]
    assert run.usage.pages == 4

    again = play.again(shelf=slow_shelf(0.0))
    writer = Writer(answer=first_page)
    resumed, rerun = await again.report(writer)
    assert writer.sent == []
    assert (again.shelf.read_urls, again.shelf.searched) == ([], [])
    assert again.journal.writes == 0
    assert resumed.written == report.written
    assert resumed.evidence == report.evidence
    assert without_seconds(rerun) == without_seconds(run)


@dataclass
class Broken(Writer):
    """Makes its calls, and then nothing of what they gave."""

    breaks: frozenset[str] = field(default_factory=frozenset)

    async def draft(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> tuple[Paragraph, ...]:
        drafted = await super().draft(question, evidence, instructions)
        self._break("draft")
        return drafted

    async def queries(self, question: Rewritten, manuscript: Manuscript) -> tuple[str, ...]:
        queries = await super().queries(question, manuscript)
        self._break(f"query {manuscript.paragraph.topic}")
        return queries

    async def revise(
        self,
        question: Rewritten,
        manuscript: Manuscript,
        evidence: Evidence,
        instructions: str = "",
    ) -> AsyncIterator[AnswerDelta]:
        async for delta in super().revise(question, manuscript, evidence, instructions):
            yield delta
        self._break(f"revise {manuscript.paragraph.topic}")

    def _break(self, name: str) -> None:
        if name in self.breaks:
            raise ModelBroken("It wrote nonsense.")


@pytest.mark.parametrize("stage", ["draft", "query Builders", "revise Builders"])
@in_virtual_time
async def test_what_a_failed_stage_has_spent_stays_spent_in_the_next_attempt(stage: str) -> None:
    play = Play()
    report, run = await play.report(Broken(answer=first_page, breaks=frozenset({stage})))
    again = play.again()
    resumed, rerun = await again.report(Broken(answer=first_page, breaks=frozenset({stage})))
    assert run.usage.model_calls > 0
    assert without_seconds(rerun) == without_seconds(run)
    assert resumed.written == report.written


# ---------------------------------------------------------------- lines that stay open


def open_lines(steps: tuple[StepView, ...]) -> list[StepView]:
    return [line for line in steps if line.state in ("running", "waiting")]


@in_virtual_time
async def test_a_stopped_report_leaves_no_line_open() -> None:
    play, writer = Play(), topical()
    writer.slow = {"revise Builders": 5.0}
    pipeline = play.pipeline(writer)
    work = asyncio.create_task(pipeline.research())
    while "revise Builders" not in writer.sent:
        await asyncio.sleep(0.1)
    work.cancel()
    await asyncio.wait({work})
    answer = await pipeline.stopped_answer()
    states = {line.title: line.state for line in answer.steps if line.kind == "paragraph"}
    assert states == {"Height": "done", "Builders": "failed", "Colour": "failed"}
    assert not open_lines(answer.steps)


@in_virtual_time
async def test_a_report_that_fails_leaves_no_line_open() -> None:
    play, writer = Play(), topical()
    writer.failing = {"revise Builders": CredentialsRefused("The key was refused.")}
    with pytest.raises(CredentialsRefused):
        await play.answer(writer)
    assert not open_lines(play.plans[-1].steps)
    states = {line.title: line.state for line in play.plans[-1].steps if line.kind == "paragraph"}
    assert states == {"Height": "done", "Builders": "failed", "Colour": "failed"}


# ---------------------------------------------------------------- the words of its plan


@pytest.mark.parametrize("slow", ["draft", "query Builders", "revise Builders"])
@pytest.mark.parametrize("locale", ["zh-Hans", "zh-Hant"])
@in_virtual_time
async def test_what_a_stage_came_to_is_said_in_the_askers_language(slow: str, locale: str) -> None:
    play, writer = Play(locale=locale), Writer(answer=first_page, slow={slow: 11.0})
    _, run = await play.report(writer)
    [lapse] = [line for line in run.steps if line.kind == "lapse"]
    assert lapse.state == "failed"
    ours = [lapse.title, lapse.detail]
    ours += [line.detail for line in run.steps if line.kind == "paragraph"]
    ours += [line.title.partition("：")[0] for line in run.steps if line.kind == "revision"]
    assert not [words for words in ours if re.search("[A-Za-z]", words)]


@in_virtual_time
async def test_what_is_left_out_is_said_in_the_askers_language() -> None:
    play = Play(budget=replace(PLENTY, model_calls=3), locale="zh-Hans")
    _, run = await play.report(topical())
    details = [line.detail for line in run.steps if line.kind == "paragraph"]
    assert details == ["", "已略去", "已略去"]


# ---------------------------------------------------------------- what other runs would wait for


class Watching(ThreadPoolExecutor):
    """Knows by name what was given to its threads."""

    def __init__(self) -> None:
        super().__init__(1)
        self.given: list[str] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        self.given.append(getattr(fn.args[0], "__name__", ""))  # as asyncio.to_thread wraps it
        return super().submit(fn, *args, **kwargs)


@in_virtual_time
async def test_draft_and_revision_are_compared_in_a_thread() -> None:
    asyncio.get_running_loop().set_default_executor(threads := Watching())
    await Play().report(topical())
    assert threads.given.count("changes") == 3
