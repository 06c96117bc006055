"""Work over whole pages leaves the event loop to other runs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.pages.passages import Passage
from bot.reasoning.evidence import Evidence, Manuscript, Paragraph, Source
from bot.reasoning.extractive.reasoner import Extractive
from bot.reasoning.questions import Rewritten, SubQuestion
from bot.reasoning.workspace import Workspace
from tests.fakes.calls import MemoryCalls

QUESTION = Rewritten("search", "How tall is the tower?")


class Watched(Evidence):
    """Evidence that knows which threads looked at its sources."""

    threads: set[int]

    def __getattribute__(self, name: str) -> Any:
        if name == "sources":
            object.__getattribute__(self, "threads").add(threading.get_ident())
        return super().__getattribute__(name)


def watched() -> Watched:
    passage = Passage(0, 28, "The tower is 330 metres tall.", "Height")
    source = Source(1, "https://e.org/1", "Tower", (passage,), "h", datetime.now(UTC))
    evidence = object.__new__(Watched)
    object.__setattr__(evidence, "threads", set())
    Evidence.__init__(evidence, (source,))
    return evidence


class WatchedDesk(Workspace):
    """A workspace that knows which threads looked at its outcomes."""

    threads: set[int]

    def __getattribute__(self, name: str) -> Any:
        if name == "given":
            object.__getattribute__(self, "threads").add(threading.get_ident())
        return super().__getattribute__(name)


async def drained(deltas: Any) -> list[Any]:
    return [delta async for delta in deltas]


WORK: dict[str, Callable[[Extractive, Evidence], Any]] = {
    "write": lambda it, evidence: drained(it.write(QUESTION, evidence)),
    "draft": lambda it, evidence: it.draft(QUESTION, evidence),
    "revise": lambda it, evidence: drained(
        it.revise(QUESTION, Manuscript((), Paragraph("", "", "tower")), evidence)
    ),
}


@pytest.mark.parametrize("work", WORK)
async def test_pages_are_weighed_in_another_thread(work: str) -> None:
    evidence = watched()
    assert await WORK[work](Extractive(MemoryCalls()), evidence)
    assert evidence.threads
    assert threading.get_ident() not in evidence.threads


async def test_a_desk_is_weighed_in_another_thread() -> None:
    workspace = object.__new__(WatchedDesk)
    object.__setattr__(workspace, "threads", set())
    Workspace.__init__(workspace)
    await Extractive(MemoryCalls()).next_turn(SubQuestion(QUESTION.question), workspace)
    assert workspace.threads
    assert threading.get_ident() not in workspace.threads
