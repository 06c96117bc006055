"""A graph that dies at any step goes on where it was: the same requests, and none of them twice.

The nodes work at the same time and what they do ends in another order on every attempt, while each
sees page numbers, findings and remarks: whatever of that depended on the order would change a
request, and a changed request is a step that the journal does not know.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, cast

import pytest

from bot.core.messages import Message, RunOptions
from bot.operation.configuration import load_settings
from bot.pages.page import Page
from bot.reasoning.evidence import Evidence, SubQuestion
from bot.reasoning.reasoner import ReasonerFactory, Researcher
from bot.research.budget import Account
from bot.research.graph import explore
from bot.research.run import Resources, Run, RunQuestion
from bot.research.working_set import Reading
from bot.storage.journal import Journal, open_journal
from bot.storage.store import Store
from tests.fakes.claude import FakeClaude, researcher, says
from tests.fakes.claude_stage import open_claude
from tests.fakes.journal import Killed, Mortal
from tests.fakes.library import Shelf, a_library
from tests.fakes.server import serve
from tests.unit.research.conftest import BUDGET
from tests.unit.samples import NOW, a_message, a_thread

ASKED = SubQuestion(
    "When did the Forth Bridge open; where was its builder born; then who ruled that town?"
)
READING = Reading(shown=3, page_tokens=100)
TEXTS = (
    "Forth Bridge. It opened in 1890 and was built by William Arrol, whom many towns know.",
    "Tay Bridge. It fell in 1879; its builder was Thomas Bouch, born in Thursby.",
    "Arrol was born in Houston, a town in Renfrewshire, and was a builder of bridges.",
    "Houston is a town that the Forth family ruled when its bridge was new.",
    "Thursby is a town where a builder of railways was born, and a bishop ruled.",
)
PLANS = (
    {
        "nodes": [
            {"id": "a", "question": "When did the Forth Bridge open?", "queries": ["Forth open"]},
            {"id": "b", "question": "Where was Arrol the builder born?", "queries": ["builder"]},
            {"id": "c", "question": "Who ruled the town of b?", "needs": ["b"]},
            {"id": "d", "question": "Which bridge fell?", "needs": ["nothing"]},
        ],
        "done": False,
    },
    {"nodes": [{"id": "d", "question": "Which bridge fell?", "queries": ["bridge fell"]}]},
    {"nodes": [{"id": "e", "question": "Where was Thomas Bouch born?", "needs": ["d"]}]},
    {"nodes": [], "done": True},
)


@dataclass
class Uneven(Shelf):
    """A shelf whose answers come in another order every time."""

    async def read(self, url: str) -> Page | None:
        for _ in range(random.randrange(8)):
            await asyncio.sleep(0)
        return await super().read(url)


def planner(request: Any) -> Any:
    """The fake's researcher, with a plan that is corrected once and extended twice."""
    wanted = (request.get("output_config") or {}).get("format")
    if wanted:
        turn = sum(message["role"] == "assistant" for message in request["messages"])
        return says(json.dumps(PLANS[turn]))
    return researcher(request)


@pytest.fixture
async def claude() -> AsyncIterator[tuple[FakeClaude, ReasonerFactory]]:
    fake = FakeClaude(planner)
    with serve(fake) as url:
        settings = load_settings(anthropic_api_key="sk-test", anthropic_base_url=url)
        async with open_claude(settings) as make:
            yield fake, make


@dataclass
class Process:
    """Attempts at one run of a store."""

    store: Store
    make: ReasonerFactory
    message: Message
    id: str
    attempts: int = 0

    async def attempt(self, dies_after: int = 0) -> Evidence:
        if not self.attempts:
            await self.store.accept(self.id, self.message, RunOptions(), NOW)
        now = NOW + self.attempts * timedelta(1)
        await self.store.claim(self.id, "h/1/x", now, timedelta(seconds=1))
        self.attempts += 1
        journal = await open_journal(self.store.database, self.id, self.attempts)
        shelf = Uneven(
            {
                f"https://example.org/{number}": Page(
                    f"https://example.org/{number}", text.split(".")[0], text, NOW
                )
                for number, text in enumerate(TEXTS, start=1)
            }
        )
        budget = replace(BUDGET, model_calls=60, pages=20, input_tokens=10**6, usd=100.0)
        run = Run(
            RunQuestion(self.id, self.message, RunOptions(), NOW),
            Resources(a_library(shelf)),
            cast(Journal, Mortal(journal, dies_after)),
            Account(budget, lambda reply: 0.0, None, journal.seconds),
            lambda plan: None,
        )
        reasoner = self.make(run.calls)
        assert isinstance(reasoner, Researcher)
        return await explore(run, reasoner, ASKED, READING, searches=10)

    async def kept(self) -> Counter[str]:
        """The kinds of all steps in the journal."""
        journal = await open_journal(self.store.database, self.id, self.attempts)
        return Counter(step.kind for step in journal._finished.values())


def told(evidence: Evidence) -> tuple[Any, ...]:
    """The texts of the evidence by URL: numbers are given in the order pages come."""
    urls = {source.number: source.url for source in evidence.sources}
    findings = [(f.text, sorted(urls[n] for n in f.sources)) for f in evidence.findings]
    pages = {s.url: [p.text for p in s.passages] for s in evidence.sources}
    return findings, pages, evidence.missing, evidence.enough, evidence.queries


@pytest.mark.slow
async def test_killed_after_any_step_it_asks_the_same_and_nothing_finished_again(
    store: Store, claude: tuple[FakeClaude, ReasonerFactory]
) -> None:
    fake, make = claude

    def process(name: str) -> Process:
        return Process(store, make, a_message(ASKED.text, a_thread(name), name), name)

    whole = process("whole")
    expected = told(await whole.attempt())
    kinds = await whole.kept()
    assert kinds["plan"] == len(PLANS)
    assert kinds["think"] >= 5  # a node ends in its first turn where the opened pages tell
    assert kinds["read"] >= 4

    # Every second step: the crash campaign kills at all of them.
    for step in range(1, kinds.total(), 2):
        dying = process(f"dies-{step}")
        fake.requests.clear()
        with pytest.raises(Killed):
            await dying.attempt(dies_after=step)
        journal = await open_journal(store.database, dying.id, dying.attempts)
        paid = sum(s.kind in ("plan", "think") for s in journal._finished.values())
        fake.requests.clear()
        assert told(await dying.attempt()) == expected, step
        assert await dying.kept() == kinds, f"another request after dying at step {step}"
        # A request that was under way at the death may reach the server as late as now.
        asked = {json.dumps(request.body, sort_keys=True) for request in fake.requests}
        assert len(asked) == kinds["plan"] + kinds["think"] - paid, step


async def test_an_attempt_at_a_finished_graph_asks_nobody(
    store: Store, claude: tuple[FakeClaude, ReasonerFactory]
) -> None:
    fake, make = claude
    process = Process(store, make, a_message(ASKED.text), "r")
    first = await process.attempt()
    fake.requests.clear()
    assert await process.attempt() == first
    assert fake.requests == []
