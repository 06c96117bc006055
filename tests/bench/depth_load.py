"""Many deep runs at once in one process: what they take over one alone, how they end, their memory.

Each run has a question of its own, as far as the data goes. They are worked twice. Once the wiki is
asked by the real provider but without its rate limit: measured is what the process itself adds. The
run that took longest is then worked alone, with nothing cached, and is what the whole is compared
with. And once with the provider as it is configured, with the 20 requests a second that Wikipedia
is owed: that is what a hundred people would see.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict, dataclass, replace
from itertools import cycle, islice
from pathlib import Path

import httpx

from bot.answers import Answer
from bot.app import App, open_app
from bot.logs import configure_logging
from bot.messages import RunOptions
from bot.search.blend import Search
from bot.search.mediawiki import MediaWiki
from bot.search.registry import open_search
from bot.settings import Settings
from tests.bench.depth_peers import Latency, peers
from tests.bench.depth_tasks import Task, load_tasks, load_texts
from tests.bench.depth_ways import ask, bench_settings
from tests.bench.table import tell
from tests.fakes.poster import RememberingPoster

DEEP = RunOptions(depth="deep", style="answer")
WARM_UP = "warm-up"  # a tag
UNLIMITED, LIMITED = "without the wiki's rate limit", "with it"
LATE = 0.010  # seconds: a slice of the event loop that others notice


@dataclass(frozen=True, slots=True)
class Load:
    """``wall`` of all ``runs``, ``alone`` of the slowest by itself (0: not measured), ``median`` of
    the runs, ``cpu`` of all, in seconds; ``memory`` is the peak so far in MB; ``late`` counts the
    event loop's slices over 10 ms while all were worked, ``longest`` is the longest of them in
    seconds. Runs end ``complete`` (every page that the question needs is cited), ``partial``,
    ``not_found`` or ``failed``; ``noted`` ones say that something was cut short or not reached."""

    kind: str
    runs: int
    wall: float
    alone: float
    median: float
    cpu: float
    memory: float
    late: int
    longest: float
    complete: int
    partial: int
    not_found: int
    failed: int
    noted: int


@dataclass(frozen=True, slots=True)
class _Run:
    task: Task
    seconds: float
    answer: Answer


def measure(runs: int, latency: Latency, pages: int) -> list[Load]:
    """In a process of its own, so that its memory is this measurement's alone."""
    child = subprocess.run(
        [
            *(sys.executable, "-m", "tests.bench.depth_load", "--runs", str(runs)),
            *("--latency", json.dumps(asdict(latency)), "--pages", str(pages)),
        ],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return [Load(**load) for load in json.loads(child.stdout)]


async def _measured(runs: int, latency: Latency, pages: int) -> list[Load]:
    tasks = list(islice(cycle(load_tasks(load_texts())), runs))
    with peers(latency, pages=pages) as base:
        tell("load: warming up")
        async with _unlimited(base, WARM_UP) as app:
            await ask(app, tasks[0].question, DEEP)
        tell(f"load: {runs} runs at once, {UNLIMITED}")
        async with _unlimited(base, "unlimited") as app:
            free, slowest = await _load(app, UNLIMITED, tasks)
        tell("load: the slowest of them alone")
        async with _unlimited(base, "alone") as app:
            alone = (await _timed(app, slowest)).seconds
        tell(f"load: {runs} runs at once, {LIMITED}")
        async with _limited(base, "limited") as app:
            held, _ = await _load(app, LIMITED, tasks)
    return [replace(load, alone=alone) for load in (free, held)]


async def _load(app: App, kind: str, tasks: Sequence[Task]) -> tuple[Load, Task]:
    """Run all tasks at once; gives the load, and the task that took longest."""
    slices = asyncio.create_task(_late_slices())
    cpu, started = time.process_time(), time.perf_counter()
    done = await asyncio.gather(*(_timed(app, task) for task in tasks))
    wall, cpu = time.perf_counter() - started, time.process_time() - cpu
    slices.cancel()
    late = await slices
    ends = [_end(run) for run in done]
    load = Load(
        kind=kind,
        runs=len(done),
        wall=wall,
        alone=0.0,
        median=statistics.median(run.seconds for run in done),
        cpu=cpu,
        memory=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        late=len(late),
        longest=max(late, default=0.0),
        complete=ends.count("complete"),
        partial=ends.count("partial"),
        not_found=ends.count("not_found"),
        failed=ends.count("failed"),
        noted=sum(bool(run.answer.notes) for run in done),
    )
    return load, max(done, key=lambda run: run.seconds).task


def _end(run: _Run) -> str:
    """The kind of end that a run had; see ``Load``."""
    if run.answer.status != "answered":
        return "not_found" if run.answer.status == "not_found" else "failed"
    cited = {citation.title for citation in run.answer.citations}
    return "complete" if cited.issuperset(run.task.titles) else "partial"


async def _timed(app: App, task: Task) -> _Run:
    started = time.perf_counter()
    answer = await ask(app, task.question, DEEP)
    return _Run(task, time.perf_counter() - started, answer)


async def _late_slices() -> list[float]:
    """By how much the event loop came late, each time over ``LATE``; until cancelled."""
    late: list[float] = []
    try:
        while True:
            due = time.perf_counter() + LATE / 10
            await asyncio.sleep(LATE / 10)
            if time.perf_counter() - due > LATE:
                late.append(time.perf_counter() - due)
    except asyncio.CancelledError:
        return late


@asynccontextmanager
async def _unlimited(base: str, tag: str) -> AsyncIterator[App]:
    with tempfile.TemporaryDirectory() as folder:
        settings = bench_settings(base, tag, Path(folder))
        client = httpx.AsyncClient(http2=True, timeout=15)
        search = Search([MediaWiki(settings, client)], close=client.aclose)
        async with _opened(settings, search) as app:
            yield app


@asynccontextmanager
async def _limited(base: str, tag: str) -> AsyncIterator[App]:
    with tempfile.TemporaryDirectory() as folder:
        settings = bench_settings(base, tag, Path(folder))
        async with _opened(settings, open_search(settings)) as app:
            yield app


def _opened(settings: Settings, search: Search) -> AbstractAsyncContextManager[App]:
    """As ``footnote serve`` opens it."""
    posters = {"terminal": RememberingPoster()}
    return open_app(settings, posters, search=search, role="serve")


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.depth_load")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--latency", type=json.loads, default={})
    parser.add_argument("--pages", type=int, default=0)
    given = parser.parse_args(arguments)
    configure_logging("ERROR")  # on stderr: stdout is for what was measured
    loads = asyncio.run(_measured(given.runs, Latency(**given.latency), given.pages))
    sys.stdout.write(json.dumps([asdict(load) for load in loads]))


if __name__ == "__main__":
    main(sys.argv[1:])
