"""What a search costs in a research of 5 searches and of 150, and whether the evidence survives it.

A scripted model works in the rounds of depth exhaustive: it searches one fact after the other, and
names the passages that prove facts when it finishes a round. It knows the facts, and else only what
the request shows. The rest is real: the rounds, the index of local documents, the journal in a
database. The fake Claude counts tokens and simulates prompt caching.

Recall is the share of the facts whose passage is in the evidence for the answer. Then the longest
research is killed at random points, right after a record of its journal, and goes on from the
database each time; its evidence and its steps must be those of the research that lived.

The pages are made up: each is about a place, and one of its sentences is the fact. With ``--pages``
they come from a JSON file of titles and texts, and the fact is the first sentence of a page.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

from bot.core.messages import RunOptions
from bot.operation.configuration import load_settings
from bot.reasoning.evidence import Evidence, Rewritten
from bot.reasoning.reasoner import ReasonerFactory, Researcher
from bot.research.budget import Account, Budget
from bot.research.library import Library
from bot.research.run import Resources, Run, RunQuestion
from bot.research.strategies import ITERATE_STRATEGY, LAST_NUDGE, Task
from bot.search.blend import Search as Blend
from bot.storage.journal import Journal, open_journal
from bot.storage.store import Store
from bot.text.sentences import sentences
from tests.bench.corpus import _Whole, a_store, indexed
from tests.bench.frame import options, print_table, tell
from tests.fakes.claude import FakeClaude, Reply, says, thinking, tool
from tests.fakes.claude_requests import search_results, user_texts
from tests.fakes.claude_stage import open_claude
from tests.fakes.journal import Killed, Mortal
from tests.fakes.server import serve
from tests.unit.samples import NOW, a_message, a_thread

PAGES, SEARCHES, KILLS = 10_000, (5, 20, 50, 150), 20
QUESTION = "When were these lighthouses built, and by whom?"
BUDGET = Budget(
    seconds=3_600.0,
    usd=1e6,
    model_calls=10_000,
    pages=10_000,
    input_tokens=10**9,
    searches=10_000,
    output_tokens=10**9,
)
SYLLABLES = re.findall(r"\w+", "ba de fi go lu ma ne po ri su ta ve wo xi ya ker lin mor dun gal")
SENTENCES = (
    "The harbour of {name} has {number} berths, most of them for boats from {other}.",
    "In summer a ferry to {other} leaves every {number} minutes, in winter once a day.",
    "About {number} families live there by fishing, others make rope and nets.",
    "Its market, held since the year {year}, is known for smoked eel and for grey wool.",
    "A storm in {year} carried off the old pier, and stones for a new one came from {other}.",
    "The parish church keeps a bell that was cast in {year} and weighs {number} stone.",
    "Travellers praise the path along the cliffs, which takes {number} minutes to walk.",
    "The council meets in a hall of {year}, whose roof was given by a merchant of {other}.",
)


@dataclass(frozen=True, slots=True)
class Fact:
    """The query that looks for a fact, and the words that state it on its page."""

    query: str
    words: str


def made_up(pages: int, seed: int = 7) -> tuple[dict[str, str], list[Fact]]:
    """Pages by title, of about 700 tokens, and the fact of each."""
    chance = random.Random(seed)
    names: dict[str, None] = {}
    while len(names) < pages:
        names["".join(chance.choices(SYLLABLES, k=4)).title()] = None
    known = list(names)
    texts: dict[str, str] = {}
    facts: list[Fact] = []
    for name in known:
        year, person = chance.randint(1700, 1930), chance.choice(known)
        words = f"The lighthouse of {name} was built in {year} by Ada {person}."
        said = [
            chance.choice(SENTENCES).format(
                name=name,
                other=chance.choice(known),
                year=chance.randint(1500, 1930),
                number=chance.randint(2, 90),
            )
            for _ in range(32)
        ]
        said.insert(chance.randrange(len(said)), words)
        texts[name] = "\n\n".join(" ".join(said[at : at + 4]) for at in range(0, len(said), 4))
        facts.append(Fact(f"{name} lighthouse built", words))
    return texts, facts


def from_file(path: Path) -> tuple[dict[str, str], list[Fact]]:
    texts: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    facts = []
    for title, text in texts.items():
        first = sentences(text)[:1]
        if first:
            words = text[first[0].start : first[0].end]
            facts.append(Fact(f"{title} {' '.join(words.split()[-3:])}", words))
    return texts, facts


# ---------------------------------------------------------------- the scripted model

LEFT = re.compile(r"Left: (\d+) search")
TRIED = re.compile(r"<tried>\n(.*?)\n</tried>", re.S)


def searcher(facts: Sequence[Fact]) -> Any:
    """A brain that searches for one fact after the other, and finishes a round without searches."""
    words = {fact.words for fact in facts}

    def brain(request: Mapping[str, Any]) -> Reply:
        said = "\n".join(user_texts(request))
        calls = [query for call in _calls(request) for query in call["input"]["queries"]]
        done = {*calls, *(query for tried in TRIED.findall(said) for query in tried.split("; "))}
        new = next((fact.query for fact in facts if fact.query not in done), None)
        at = len(done)
        thought = thinking(f"{at} of the facts were looked for. " + "So on to the next one. " * 12)
        if new is not None and LEFT.findall(said)[-1] != "0" and LAST_NUDGE not in said:
            return says(thought, tool("search", {"queries": [new]}, f"toolu_{at}"))
        proven = dict(_proven(request, words))
        found = [
            {"text": text, "pages": [int(at.partition(".")[0])]} for text, at in proven.items()
        ]
        conclusion = {"use": [*proven.values()], "enough": True, "missing": [], "answer": ""}
        return says(thought, tool("finish", {**conclusion, "findings": found}, f"toolu_{at}"))

    return brain


def _calls(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for message in request["messages"]:
        if message["role"] == "assistant":
            yield from (block for block in message["content"] if block["type"] == "tool_use")


def _proven(request: Mapping[str, Any], words: Collection[str]) -> Iterator[tuple[str, str]]:
    """The facts that the passages in view state, each with the number of its passage."""
    for result in search_results(request):
        for part in result["content"]:
            for sentence in sentences(part["text"]):
                text = part["text"][sentence.start : sentence.end]
                yield from ((fact, part["text"].split()[0]) for fact in words if fact in text)


# ---------------------------------------------------------------- one research


@dataclass
class Research:
    """One research in the database, and the attempts at it."""

    store: Store
    search: Blend
    make: ReasonerFactory
    searches: int
    id: str
    attempts: int = 0
    kept: frozenset[str] = field(default_factory=frozenset)  # the keys of all its steps

    async def attempt(self, dies_after: int = 0) -> Evidence:
        """Work on it to the end, or until so many records were kept, which raises ``Killed``."""
        message = a_message(QUESTION, a_thread(self.id), self.id)
        if not self.attempts:
            await self.store.accept(self.id, message, RunOptions(), NOW)
        now = NOW + self.attempts * timedelta(1)
        await self.store.claim(self.id, "bench", now, timedelta(seconds=1))
        self.attempts += 1
        journal = await open_journal(self.store.database, self.id, self.attempts)
        run = Run(
            RunQuestion(self.id, message, RunOptions(), NOW),
            Resources(Library(self.search, _Whole(), _nothing_stored, page_ttl=3600)),
            cast(Journal, Mortal(journal, dies_after)),
            Account(
                replace(BUDGET, searches=self.searches), lambda reply: None, None, journal.seconds
            ),
            lambda plan: None,
        )
        reasoner = self.make(run.calls)
        assert isinstance(reasoner, Researcher)
        question, settings = Rewritten("search", QUESTION), load_settings()
        task = Task(run, question, settings, "exhaustive", (), lambda text: None)
        try:
            gathered = await ITERATE_STRATEGY.begin(task).gather(reasoner)
            assert gathered is not None
            return gathered.evidence
        finally:
            again = await open_journal(self.store.database, self.id, self.attempts)
            self.kept = frozenset(again._finished)


async def _nothing_stored(url: str, since: object) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Cost:
    """What a research took: its requests, their input tokens (each, and all that were cached), the
    share of the facts named in the end, and seconds."""

    searches: int
    inputs: tuple[int, ...]
    cached: int
    recall: float
    seconds: float

    @property
    def per_search(self) -> float:
        return sum(self.inputs) / self.searches

    def row(self) -> list[str]:
        return [
            str(self.searches),
            str(len(self.inputs)),
            f"{self.recall:.0%}",
            f"{max(self.inputs):,}",
            f"{self.per_search:,.0f}",
            f"{self.cached / sum(self.inputs):.0%}",
            f"{self.seconds:.0f}",
        ]


HEADER = ["searches", "requests", "recall", "largest", "per search", "cached", "seconds"]


@dataclass
class Bench:
    """The pages in an index, a database, and a fake model."""

    store: Store
    search: Blend
    facts: Sequence[Fact]
    fake: FakeClaude
    make: ReasonerFactory

    async def cost(self, searches: int) -> tuple[Cost, Research, Evidence]:
        research = self._research(searches, str(searches))
        began = time.monotonic()
        evidence = await research.attempt()
        usages = [request.usage for request in self.fake.requests]
        read = [usage["cache_read_input_tokens"] for usage in usages]
        inputs = tuple(
            cached + usage["cache_creation_input_tokens"] + usage["input_tokens"]
            for cached, usage in zip(read, usages, strict=True)
        )
        named = "\n".join(p.text for source in evidence.carrying for p in source.passages)
        recall = sum(fact.words in named for fact in self.facts[:searches]) / searches
        cost = Cost(searches, inputs, sum(read), recall, time.monotonic() - began)
        return cost, research, evidence

    async def kill(self, lived: Research, evidence: Evidence, kills: int) -> str:
        """Kill such a research at random points; returns how it differs in the end from the one
        that lived, or ""."""
        chance = random.Random(kills)
        points = sorted(chance.sample(range(1, len(lived.kept)), kills))
        dying = self._research(lived.searches, f"{lived.id}-killed")
        for before, point in zip((0, *points), points, strict=False):
            try:
                await dying.attempt(dies_after=point - before)
            except Killed:
                continue
            return f"it was not killed at {point} of {len(lived.kept)}"
        if await dying.attempt() != evidence:
            return "the evidence is another"
        return "" if dying.kept == lived.kept else "it took other steps"

    def _research(self, searches: int, id: str) -> Research:
        self.fake.requests.clear()
        self.fake.cache = type(self.fake.cache)()
        self.fake.use(searcher(self.facts[:searches]))
        return Research(self.store, self.search, self.make, searches, id)


async def run(
    texts: Mapping[str, str], facts: Sequence[Fact], searches: Sequence[int], kills: int
) -> tuple[list[Cost], str]:
    """The cost of each research, and how the longest one differs if it is killed, or ""."""
    fake = FakeClaude()
    with ExitStack() as stack:
        url = stack.enter_context(serve(fake))
        settings = load_settings(anthropic_api_key="sk-test", anthropic_base_url=url)
        async with indexed(texts) as corpus, a_store() as store, open_claude(settings) as make:
            tell(f"{len(texts):,} pages are indexed")
            bench = Bench(store, Blend([corpus._documents]), facts, fake, make)
            costs = []
            for number in searches:
                cost, lived, evidence = await bench.cost(number)
                costs.append(cost)
                tell(f"{number} searches took {cost.seconds:.0f} s")
            return costs, await bench.kill(lived, evidence, kills)


def main(arguments: Sequence[str]) -> None:
    parser = options("flat", __doc__)
    parser.add_argument("--pages", type=Path, metavar="FILE", help="title → text, as JSON")
    given = parser.parse_args(arguments)
    searches, kills = ((2, 4), 2) if given.quick else (SEARCHES, KILLS)
    made = made_up(50 if given.quick else PAGES)
    texts, facts = from_file(given.pages) if given.pages else made
    random.Random(1).shuffle(facts)
    costs, difference = asyncio.run(run(texts, facts, searches, kills))
    print_table(HEADER, [cost.row() for cost in costs])
    ratio = costs[-1].per_search / costs[1].per_search
    print(f"\nper search, {costs[-1].searches} over {costs[1].searches}: {ratio:.2f}")
    print(f"{kills} kills: {difference or 'the same evidence by the same steps'}")
