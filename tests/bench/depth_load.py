"""Many deep runs at once in one process: what they take over one alone, and their memory.

Each run has a question of its own, as far as the data goes. The wiki is asked by the real provider
but without its rate limit (20 requests a second, which Wikipedia is owed and which a hundred runs
would wait for): measured is what the process itself adds. The run that took longest is then worked
alone, with nothing cached, and is what the whole is compared with.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from pathlib import Path

import httpx

from bot.app import App, open_app
from bot.messages import RunOptions
from bot.search.blend import Search
from bot.search.mediawiki import MediaWiki
from tests.bench.depth_peers import Latency, peers
from tests.bench.depth_tasks import Task, load_tasks, load_texts
from tests.bench.depth_ways import ask, bench_settings
from tests.fakes.poster import RememberingPoster

DEEP = RunOptions(depth="deep", style="answer")
WARM_UP = "warm-up"  # a tag
LATE = 0.010  # seconds: a slice of the event loop that others notice


@dataclass(frozen=True, slots=True)
class Load:
    """``wall`` of all ``runs``, ``alone`` of the slowest by itself, ``cpu`` of all, in seconds;
    ``memory`` is the peak in MB; ``late`` counts the event loop's slices over 10 ms while all were
    worked, ``longest`` is the longest of them in seconds; ``failed`` runs gave no answer."""

    runs: int
    failed: int
    wall: float
    alone: float
    cpu: float
    memory: float
    late: int
    longest: float


def measure(runs: int, latency: Latency, pages: int) -> Load:
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
    return Load(**json.loads(child.stdout))


async def _load(runs: int, latency: Latency, pages: int) -> Load:
    tasks = list(islice(cycle(load_tasks(load_texts())), runs))
    with peers(latency, pages=pages) as base:
        async with _opened(base, WARM_UP) as app:
            await ask(app, tasks[0].question, DEEP)
        async with _opened(base, "load") as app:
            slices = asyncio.create_task(_late_slices())
            cpu, started = time.process_time(), time.perf_counter()
            taken = await asyncio.gather(*(_timed(app, task) for task in tasks))
            wall, cpu = time.perf_counter() - started, time.process_time() - cpu
            slices.cancel()
            late = (await asyncio.gather(slices, return_exceptions=True))[0]
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        slowest = max(zip(taken, tasks, strict=True), key=lambda pair: pair[0])[1]
        async with _opened(base, "alone") as app:
            alone = abs(await _timed(app, slowest))
    assert isinstance(late, list)
    return Load(
        runs=runs,
        failed=sum(seconds < 0 for seconds in taken),
        wall=wall,
        alone=alone,
        cpu=cpu,
        memory=memory,
        late=len(late),
        longest=max(late, default=0.0),
    )


async def _timed(app: App, task: Task) -> float:
    """Seconds of a run, negative when it failed."""
    started = time.perf_counter()
    answer = await ask(app, task.question, DEEP)
    seconds = time.perf_counter() - started
    return seconds if answer.status in ("answered", "not_found") else -seconds


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
async def _opened(base: str, tag: str) -> AsyncIterator[App]:
    with tempfile.TemporaryDirectory() as folder:
        settings = bench_settings(base, tag, Path(folder))
        client = httpx.AsyncClient(http2=True, timeout=15)
        search = Search([MediaWiki(settings, client)], close=client.aclose)
        async with open_app(settings, {"terminal": RememberingPoster()}, search=search) as app:
            yield app


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.depth_load")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--latency", type=json.loads, default={})
    parser.add_argument("--pages", type=int, default=0)
    given = parser.parse_args(arguments)
    load = asyncio.run(_load(given.runs, Latency(**given.latency), given.pages))
    sys.stdout.write(json.dumps(asdict(load)))


if __name__ == "__main__":
    main(sys.argv[1:])
