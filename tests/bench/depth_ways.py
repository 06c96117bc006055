"""One question worked in one way, and what it took: by a reference loop or by Footnote itself."""

from __future__ import annotations

import asyncio
import re
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import anthropic
import httpx

from bot.answers import Answer
from bot.app import App, open_app
from bot.configuration import load_settings
from bot.messages import RunOptions, Thread
from bot.settings import Settings
from tests.bench import depth_reference as reference
from tests.bench.depth_path import chain, critical_path
from tests.bench.depth_peers import Call, read_log
from tests.bench.depth_tasks import Task
from tests.fakes.poster import RememberingPoster
from tests.unit.samples import a_message

KEY = "sk-test"
PLAIN, LAYERS = "plain loop", "loop by layers"


@dataclass(frozen=True, slots=True)
class Measured:
    """The cost of one question. ``wall`` and ``path`` (the critical one) in seconds; ``billed`` are
    input tokens at the full price and those written to the cache, ``cached`` those read from it;
    ``recall`` is the share of gold pages of which the text that counts was shown to the model;
    ``chain`` are the calls of the critical path."""

    task: Task
    wall: float
    path: float
    calls: int
    billed: int
    cached: int
    pages: int
    recall: float
    chain: tuple[Call, ...]


Way = Callable[[Task, str, str], AbstractAsyncContextManager[Callable[[], Awaitable[Measured]]]]
"""Makes ready for a task with the peers at a base URL, under a tag; what it gives works it."""


def referred(loop: Callable[[Task, reference.Model, reference.Wiki], Awaitable[str]]) -> Way:
    """A reference loop."""

    @asynccontextmanager
    async def way(
        task: Task, base: str, tag: str
    ) -> AsyncIterator[Callable[[], Awaitable[Measured]]]:
        url = f"{base}/{tag}"
        async with (
            anthropic.AsyncAnthropic(api_key=KEY, base_url=f"{url}/claude") as client,
            httpx.AsyncClient(timeout=30) as wiki,
        ):

            async def work() -> Measured:
                started = time.perf_counter()
                text = await loop(task, reference.Model(client), reference.Wiki(url, wiki))
                wall = time.perf_counter() - started
                assert text, (task, "no answer")
                return await measured(task, wall, base, tag)

            yield work

    return way


def footnote(options: RunOptions) -> Way:
    """Footnote with its default settings, asked with these options."""

    @asynccontextmanager
    async def way(
        task: Task, base: str, tag: str
    ) -> AsyncIterator[Callable[[], Awaitable[Measured]]]:
        async with opened(base, tag) as app:

            async def work() -> Measured:
                started = time.perf_counter()
                answer = await ask(app, task.question, options)
                wall = time.perf_counter() - started
                # A strategy that reads too little may find nothing; that is what is measured.
                assert answer.status in ("answered", "partial", "not_found"), (task, answer)
                return await measured(task, wall, base, tag)

            yield work

    return way


def ways() -> dict[str, Way]:
    """All ways compared, the plain loop first."""
    return {
        PLAIN: referred(reference.plain),
        LAYERS: referred(reference.by_layers),
        "direct": footnote(RunOptions(depth="quick", style="answer")),
        "iterate": footnote(RunOptions(depth="standard", style="answer")),
        "graph": footnote(RunOptions(depth="deep", style="answer")),
        "revise": footnote(RunOptions(depth="standard", style="report")),
    }


@asynccontextmanager
async def opened(base: str, tag: str, **more: object) -> AsyncIterator[App]:
    """Footnote over the peers, with a data folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        settings = bench_settings(base, tag, Path(folder), **more)
        async with open_app(settings, {"terminal": RememberingPoster()}) as app:
            yield app


def bench_settings(base: str, tag: str, folder: Path, **more: object) -> Settings:
    """Answers are timed until they are posted: verdicts come after, see the bench of verdicts."""
    return load_settings(
        data_dir=folder,
        anthropic_api_key=KEY,
        anthropic_base_url=f"{base}/{tag}/claude",
        wikipedia_url=f"{base}/{tag}/w",
        providers=("wikipedia",),
        fetch_allow=(re.sub(r"^http://", "", base),),
        **{"verify": "off", **more},
    )


async def ask(app: App, question: str, options: RunOptions) -> Answer:
    """The posted answer."""
    thread = Thread("terminal", "bench", "c", f"{time.monotonic_ns()}")
    run_id, _ = await app.service.accept(a_message(question, thread), options)
    await app.dispatcher.submit(run_id, thread)
    await app.dispatcher.wait(run_id)
    run = await app.store.run(run_id)
    assert run is not None
    assert run.answer is not None
    return run.answer


async def measured(task: Task, wall: float, base: str, tag: str) -> Measured:
    calls = await asyncio.to_thread(read_log, base, tag)
    return summed(task, wall, calls)


def summed(task: Task, wall: float, calls: list[Call]) -> Measured:
    model = [call for call in calls if call.kind == "model"]
    proven = {title for call in model for title in call.proven}
    return Measured(
        task=task,
        wall=wall,
        path=critical_path(calls),
        calls=len(model),
        billed=sum(call.full_price + call.cache_written for call in model),
        cached=sum(call.cache_read for call in model),
        pages=sum(call.kind == "fetch" for call in calls),
        recall=len(proven.intersection(task.titles)) / len(task.titles),
        chain=tuple(replace(calls[at], seconds=seconds) for at, seconds in chain(calls)),
    )
