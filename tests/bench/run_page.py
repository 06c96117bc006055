"""Time and size of the page of a long run.

A run of 40 steps (searches with 30 hits each, pages of 20,000 characters read, model turns, a
report's revisions), read from SQLite, traced, drawn and rendered.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import statistics
import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter

from pydantic import TypeAdapter

from bot.answers import Answer, Citation, StepView, Usage
from bot.messages import RunOptions
from bot.pages.page import Page
from bot.reasoning.calls import ModelReply, ToolCall
from bot.research.outcomes import ReadOutcome, SearchOutcome
from bot.research.report.revision import Revision, changes
from bot.research.trace.trace import trace
from bot.search.provider import Hit
from bot.storage.journal import Journal, RecordedStep, open_journal, step_key
from bot.storage.store import Store
from bot.storage.traces import Traces
from tests.bench.table import print_table
from tests.unit.adapters.web.insight_stage import opened
from tests.unit.samples import a_message

WORDS = (
    "the",
    "tower",
    "of",
    "a",
    "city",
    "was",
    "built",
    "of",
    "stone",
    "and",
    "iron",
    "in",
    "years",
)
PAGES, SEARCHES, TURNS, PARTS, NODES = 12, 12, 8, 4, 4
ROUNDS = 15


def main(arguments: list[str]) -> None:
    del arguments
    asyncio.run(_measure())


async def _measure() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with opened(Path(folder)) as stage:
            steps = await _long_run(stage.store)
            await stage.get("/runs/long")  # what is loaded and compiled once
            reading, tracing, whole = [], [], []
            for _ in range(ROUNDS):
                began = perf_counter()
                kept = await Traces(stage.store).run("long")
                read = perf_counter()
                assert kept is not None
                trace(kept, lambda reply: None)
                traced = perf_counter()
                answer = await stage.get("/runs/long")
                whole.append(perf_counter() - traced)
                reading.append(read - began)
                tracing.append(traced - read)
                assert answer.status_code == 200
            page = await stage.get("/runs/long/pages/1")
            began = perf_counter()
            await stage.get("/runs/long/pages/1")
            of_page = perf_counter() - began
            rows = [
                ("steps", str(steps)),
                ("read from the database, ms", _ms(reading)),
                ("traced, ms", _ms(tracing)),
                ("whole request (median), ms", _ms(whole)),
                ("whole request (slowest), ms", f"{1_000 * max(whole):.0f}"),
                ("HTML, kB", f"{len(answer.content) / 1_000:.0f}"),
                ("HTML compressed, kB", f"{len(gzip.compress(answer.content)) / 1_000:.0f}"),
                ("a whole page, ms", f"{1_000 * of_page:.0f}"),
                ("a whole page, kB", f"{len(page.content) / 1_000:.0f}"),
            ]
            print_table(("the page of a long run", ""), rows)


def _ms(values: list[float]) -> str:
    return f"{1_000 * statistics.median(values):.0f}"


async def _long_run(store: Store) -> int:
    chance = random.Random(7)
    now = datetime.now(UTC)
    await store.accept("long", a_message("How was the tower built?"), RunOptions(), now)
    record = await store.claim("long", "host/1/x", now, timedelta(minutes=9))
    assert record is not None
    journal = await open_journal(store.database, record.id, record.attempt)
    keeper = _Keeper(journal, now)
    pages = [_page(number, chance, now) for number in range(PAGES)]
    for number in range(SEARCHES):
        hits = tuple(
            Hit(page.title, page.url, _text(chance, 30), "wikipedia")
            for page in chance.sample(pages, 4)
            + [_page(100 + n, chance, now, 1) for n in range(26)]
        )
        await keeper.step("search", SearchOutcome(hits), f"query {number}", {"n": number})
    for page in pages:
        outcome = ReadOutcome(page.url, page.hash, page.title)
        await keeper.step("read", outcome, page.title, {"url": page.url}, page)
    for number in range(TURNS):
        thought = {"type": "thinking", "thinking": _text(chance, 200)}
        content = (thought, ToolCall("c1", "search", {"queries": [_text(chance, 8)] * 3}))
        reply = ModelReply("claude-x", content, "tool_use", 9_000, 300)
        await keeper.step("think", reply, "Think", {"n": number})
    for number in range(PARTS):
        draft, revised = _text(chance, 120), _text(chance, 160)
        revision = Revision(number, f"Part {number}", draft, "revised", revised=revised)
        revision = replace(revision, changes=changes(draft, revised))
        await keeper.step("revision", revision, f"Part {number}", {"n": number})
    await journal.number(pages)
    citations = tuple(_citations(pages, chance))
    sentences = [f"{_text(chance, 18).capitalize()} [{one.number}]." for one in citations]
    nodes = tuple(
        StepView(
            f"node-{n}",
            "node",
            _text(chance, 9),
            "done",
            3.0,
            needs=(f"node-{n - 1}",) if n else (),
        )
        for n in range(NODES)
    )
    parents = [f"node-{n}" for n in range(NODES)]
    lines = tuple(replace(line, parent=chance.choice(parents)) for line in keeper.lines)
    answer = Answer(
        "answered", " ".join(sentences), "How was the tower built?", "long", citations,
        steps=(*nodes, *lines), usage=Usage(8, 12, 12, 72_000, 2_400, seconds=40.0, usd=0.3),
    )  # fmt: skip
    await store.save_answer(record.id, record.attempt, answer)
    await store.end(record.id, record.attempt, "answered", now + timedelta(seconds=44))
    return len(keeper.lines) + NODES


def _citations(pages: list[Page], chance: random.Random) -> list[Citation]:
    found = []
    for number, page in enumerate(pages, 1):
        for _ in range(5):
            start = chance.randrange(len(page.text) - 400)
            quote = page.text[start : start + 300]
            found.append(
                Citation(number, page.url, page.title, quote, page.hash, start, start + 300)
            )
    return found


def _page(number: int, chance: random.Random, now: datetime, words: int = 3_500) -> Page:
    return Page(f"https://example.org/{number}", f"Page {number}", _text(chance, words), now)


def _text(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(WORDS, k=words))


class _Keeper:
    def __init__(self, journal: Journal, now: datetime) -> None:
        self._journal = journal
        self._now = now
        self.lines: list[StepView] = []

    async def step(
        self, kind: str, result: object, title: str, inputs: dict[str, object],
        page: Page | None = None,
    ) -> None:  # fmt: skip
        key = step_key(kind, inputs)
        kept = json.loads(TypeAdapter(type(result)).dump_json(result))
        ended = self._now + timedelta(seconds=1.0 + len(self.lines))
        step = RecordedStep(key, kind, title, json.dumps(kept), 0.8, ended)
        await self._journal.record(step, page)
        self.lines.append(StepView(key[:12], kind, title, "done", 0.8))
