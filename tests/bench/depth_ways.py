"""One question worked in one way, and what it took: by a reference loop or by Footnote itself."""

from __future__ import annotations

import asyncio
import re
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import anthropic
import httpx

from bot.answers import Answer
from bot.app import App, open_app
from bot.messages import RunOptions, Thread
from bot.settings import Settings, load_settings
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
    """What one question took. ``wall`` and ``path`` (the critical one) in seconds; ``billed`` are
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


Way = Callable[[Task, str, str], Awaitable[Measured]]
"""Works a task with the peers at a base URL, under a tag."""


async def plain_loop(task: Task, base: str, tag: str) -> Measured:
    return await _referred(reference.plain, task, base, tag)


async def loop_by_layers(task: Task, base: str, tag: str) -> Measured:
    return await _referred(reference.by_layers, task, base, tag)


async def _referred(
    loop: Callable[[Task, reference.Model, reference.Wiki], Awaitable[str]],
    task: Task,
    base: str,
    tag: str,
) -> Measured:
    url = f"{base}/{tag}"
    async with (
        anthropic.AsyncAnthropic(api_key=KEY, base_url=f"{url}/claude") as client,
        httpx.AsyncClient(timeout=30) as wiki,
    ):
        started = time.perf_counter()
        text = await loop(task, reference.Model(client), reference.Wiki(url, wiki))
        wall = time.perf_counter() - started
    assert text, (task, "no answer")
    return await measured(task, wall, base, tag)


def footnote(options: RunOptions, opening: asyncio.Lock) -> Way:
    """Footnote with its default settings, asked with these options.

    ``opening`` is held while it opens: Alembic migrates one database of a process at a time.
    """

    async def way(task: Task, base: str, tag: str) -> Measured:
        async with AsyncExitStack() as stack:
            async with opening:
                app = await stack.enter_async_context(opened(base, tag))
            started = time.perf_counter()
            answer = await ask(app, task.question, options)
            wall = time.perf_counter() - started
        # A strategy that reads too little may find nothing; that is what is measured.
        assert answer.status in ("answered", "not_found"), (task, answer)
        return await measured(task, wall, base, tag)

    return way


def ways() -> dict[str, Way]:
    """All ways compared, the plain loop first."""
    opening = asyncio.Lock()
    return {
        PLAIN: plain_loop,
        LAYERS: loop_by_layers,
        "direct": footnote(RunOptions(depth="quick", style="answer"), opening),
        "iterate": footnote(RunOptions(depth="standard", style="answer"), opening),
        "graph": footnote(RunOptions(depth="deep", style="answer"), opening),
        "revise": footnote(RunOptions(depth="standard", style="report"), opening),
    }


@asynccontextmanager
async def opened(base: str, tag: str, **more: object) -> AsyncIterator[App]:
    """Footnote over the peers, with a data folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        settings = bench_settings(base, tag, Path(folder), **more)
        async with open_app(settings, {"terminal": RememberingPoster()}) as app:
            yield app


def bench_settings(base: str, tag: str, folder: Path, **more: object) -> Settings:
    return load_settings(
        data_dir=folder,
        anthropic_api_key=KEY,
        anthropic_base_url=f"{base}/{tag}/claude",
        wikipedia_url=f"{base}/{tag}/w",
        providers=("wikipedia",),
        fetch_allow=(re.sub(r"^http://", "", base),),
        **more,
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
