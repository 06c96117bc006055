"""Writing the answer while the loop's last turn still lists its findings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from bot.errors import ModelUnavailable
from bot.messages import Transcript
from bot.reasoning.desks import Desk, Finish, Read, Turn
from bot.reasoning.evidence import AnswerDelta, Evidence, Finding
from bot.reasoning.extractive import Extractive
from bot.reasoning.questions import Rewritten, SubQuestion
from bot.reasoning.reasoner import OnEnough
from bot.research.road import Road
from bot.settings import load_settings
from tests.fakes.library import a_shelf
from tests.fakes.reasoner import Scripted
from tests.unit.research.conftest import OpenRun

FOUND = (Finding("The tower is 330 m tall.", (1,)),)
TEXT = "Eiffel tower is 330 m tall."
FINISH = Finish(FOUND)


@dataclass
class Telling(Scripted):
    """Says that it has enough, then waits until ``wrote`` before its turn ends with ``finish``."""

    finish: Finish = FINISH
    is_enough: bool = True
    fails: bool = False
    wrote: asyncio.Event = field(default_factory=asyncio.Event)

    async def next_turn(
        self, question: SubQuestion, desk: Desk, on_enough: OnEnough | None = None
    ) -> Turn:
        if not desk.turns:
            return Turn((Read((1,)),))
        if self.is_enough and on_enough is not None:
            on_enough()
            async with asyncio.timeout(5):
                await self.wrote.wait()
        if self.fails:
            raise ModelUnavailable("The model is away.")
        return Turn((self.finish,))

    async def write(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> AsyncIterator[AnswerDelta]:
        async for delta in super().write(question, evidence, instructions):
            yield delta
            self.wrote.set()


async def the_road(open_run: OpenRun, reasoner: Telling, shown: list[str]) -> Road:
    reasoner.rewritten = Rewritten("search", "How tall is it?", queries=("tower",))
    run = await open_run(a_shelf(TEXT))
    settings = load_settings()
    return Road(run, reasoner, Extractive(run.calls), Transcript(), settings, shown.append)


async def test_the_answer_is_written_before_the_findings_are_listed(open_run: OpenRun) -> None:
    reasoner, shown = Telling(), list[str]()
    answer = await (await the_road(open_run, reasoner, shown)).walk()
    assert answer.status == "answered"
    [evidence] = reasoner.evidence  # written once
    assert (evidence.enough, evidence.findings) == (True, ())
    assert shown


@pytest.mark.parametrize("is_enough", [True, False])
async def test_what_is_written_does_not_depend_on_when(open_run: OpenRun, is_enough: bool) -> None:
    """A resumed run finds the whole turn in its journal, and must ask for the same answer."""
    reasoner = Telling(is_enough=is_enough)
    await (await the_road(open_run, reasoner, [])).walk()
    [evidence] = reasoner.evidence
    assert (evidence.enough, evidence.findings, len(evidence.sources)) == (True, (), 1)


@pytest.mark.parametrize(
    "finish", [Finish(FOUND, enough=False), Finish(FOUND, missing=("its colour",))]
)
async def test_a_turn_that_ends_otherwise_is_written_from_anew(
    open_run: OpenRun, finish: Finish
) -> None:
    reasoner = Telling(finish=finish)
    answer = await (await the_road(open_run, reasoner, [])).walk()
    assert answer.status == "answered"
    assert [evidence.findings for evidence in reasoner.evidence] == [(), FOUND]


async def test_a_turn_that_fails_leaves_the_answer_to_quotations(open_run: OpenRun) -> None:
    reasoner = Telling(fails=True)
    answer = await (await the_road(open_run, reasoner, [])).walk()
    assert (answer.status, answer.reasoner) == ("answered", "extractive")
    assert len(asyncio.all_tasks()) == 1


async def test_a_stop_ends_both(open_run: OpenRun) -> None:
    reasoner, shown = Telling(), list[str]()
    reasoner.wrote = asyncio.Event()
    road = await the_road(open_run, reasoner, shown)
    reasoner.answer = lambda question, evidence: []
    walking = asyncio.create_task(road.walk())
    async with asyncio.timeout(5):
        while not reasoner.evidence:
            await asyncio.sleep(0)
    walking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await walking
    assert len(asyncio.all_tasks()) == 1
    assert (await road.stopped()).status == "stopped"
