"""The time that Footnote adds to that of its peers, alone and with 200 runs in one process.

The fake Claude runs in a process of its own; documents are searched in a real index, journal and
store are real SQLite files. Latencies as in the targets: 1.5 s to the first token, 60 tokens/s,
0.4 s a search, 0.3 s a fetch. Beyond its peers is the time of a run in which none of them works:
each call of a peer is taken to last what the peer was told to take, from when it came, so that a
peer's own slowness counts too. A run is timed until its answer is posted: verdicts come after.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bot.core.logs import configure_logging
from bot.core.messages import RunOptions, Thread
from bot.operation.app import App, open_app
from bot.operation.configuration import load_settings
from bot.pages.page import Page
from bot.search.blend import Search, SearchResult
from bot.search.indexer import Indexer
from bot.search.provider import GivenText, ProviderKind, Query, Unread
from bot.search.registry import open_search
from tests.bench.frame import ms, options, percentile, print_table
from tests.fakes.poster import RememberingPoster
from tests.unit.samples import a_message


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds to a model's first token, tokens a second (0: at once), seconds of a search and of a
    fetch."""

    first_token: float = 1.5
    rate: float = 60.0
    search: float = 0.4
    fetch: float = 0.3

    def model(self, tokens: int) -> float:
        """Seconds of a model call with this many output tokens."""
        return self.first_token + (tokens / self.rate if self.rate else 0.0)


NONE, AS_REAL = Latency(0.0, 0.0, 0.0, 0.0), Latency()
QUICK = Latency(first_token=0.05, rate=2000, search=0.02, fetch=0.02)
ZERO_RUNS, SLOW_RUNS, AT_ONCE = 40, 3, 200
QUICK_RUNS = 2
TOPICS = ("tower", "bridge", "harbour", "library", "museum", "station", "market", "castle")


@contextmanager
def fake_claude(latency: Latency = NONE) -> Iterator[str]:
    """The fake in a process of its own; yields its base URL."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "tests.fakes.claude"),
            *("--first-token", str(latency.first_token), "--rate", str(latency.rate)),
            "--trusting",
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


Span = tuple[float, float]  # when something began and ended, seconds


@dataclass
class Slow:
    """A search that takes as long as one over the network. ``calls`` are the spans of time, of
    ``time.time``, that its peers were told to take."""

    search_: Search
    latency: Latency
    calls: list[Span] = field(default_factory=list)

    async def unread(self, *_: object) -> Unread:
        return Unread()

    def price(self, providers: tuple[str, ...] = (), kind: ProviderKind | None = None) -> float:
        return 0.0

    def can_search(self, providers: tuple[str, ...] = ()) -> frozenset[ProviderKind]:
        return frozenset()

    async def search(
        self, query: Query, providers: tuple[str, ...] = (), kind: ProviderKind | None = None
    ) -> SearchResult:
        await self._take(self.latency.search)
        return await self.search_.search(query, providers, kind)

    async def read(self, url: str) -> Page | GivenText | None:
        await self._take(self.latency.fetch)
        return await self.search_.read(url)

    async def aclose(self) -> None:
        await self.search_.aclose()

    async def _take(self, seconds: float) -> None:
        began = time.time()
        self.calls.append((began, began + seconds))
        await asyncio.sleep(seconds)


def write_documents(folder: Path) -> None:
    for number, topic in enumerate(TOPICS):
        sections = "\n\n".join(
            f"## Part {part}\n\nThe {topic} number {part} was built in {1800 + part + number} and "
            f"is {10 + part} metres high. " + "Many people have written about it since. " * 10
            for part in range(20)
        )
        (folder / f"{topic}.md").write_text(f"# The {topic}\n\n{sections}\n")


@asynccontextmanager
async def opened(
    folder: Path, url: str, latency: Latency = NONE
) -> AsyncIterator[tuple[App, Slow]]:
    """A Footnote over documents, with its search; ``url`` is of the fake Claude, or "" for none."""
    settings = load_settings(
        data_dir=folder / "data",
        docs=(str(folder / "docs"),),
        verify="off",
        **({"anthropic_api_key": "sk-test", "anthropic_base_url": url} if url else {}),
    )
    (folder / "docs").mkdir(parents=True, exist_ok=True)
    write_documents(folder / "docs")
    Indexer(settings.index_path).index(settings.docs)
    search = Slow(open_search(settings), latency)
    async with open_app(settings, {"terminal": RememberingPoster()}, search=search) as app:
        yield app, search


def question(number: int) -> str:
    """One that a document answers."""
    return f"When was the {TOPICS[number % len(TOPICS)]} number {number % 20} built?"


async def one_run(app: App, number: int) -> float:
    """Seconds from the message to the posted answer."""
    thread = Thread("terminal", "bench", "c", f"{number}-{time.monotonic_ns()}")
    started = time.perf_counter()
    message = a_message(question(number), thread)
    run_id, _ = await app.service.accept(message, RunOptions())
    await app.dispatcher.submit(run_id, thread)
    await app.dispatcher.wait(run_id)
    seconds = time.perf_counter() - started
    run = await app.store.run(run_id)
    assert run is not None
    assert run.answer is not None
    assert run.answer.status == "answered", run.answer
    return seconds


def model_calls(url: str, latency: Latency) -> list[Span]:
    """The spans that the model was told to take for each request so far, up to where the request
    was cut off; forgets them."""
    with urllib.request.urlopen(f"{url}/_log") as response:
        requests = json.load(response)["requests"]
    urllib.request.urlopen(urllib.request.Request(f"{url}/_log", method="DELETE")).close()
    return [
        (began, min(each["ended"], began + latency.model(each["usage"]["output_tokens"])))
        for each in requests
        if each["status"] == 200 and (began := each["at"])
    ]


def covered(spans: Iterable[Span]) -> float:
    """Seconds in which at least one of the spans is going on."""
    seconds, until = 0.0, -math.inf
    for began, ended in sorted(spans):
        seconds += max(0.0, ended - max(began, until))
        until = max(until, ended)
    return seconds


async def zero_latency(url: str, runs: int) -> list[float]:
    """Seconds of each run with peers that take no time of their own."""
    with tempfile.TemporaryDirectory() as folder:
        async with opened(Path(folder), url) as (app, _):
            await one_run(app, 0)  # connections, caches, imports
            return [await one_run(app, number) for number in range(runs)]


async def with_latency(url: str, runs: int, latency: Latency) -> list[tuple[float, float]]:
    """Of each run, the seconds it took and those of them in which a peer worked."""
    taken = []
    with tempfile.TemporaryDirectory() as folder:
        async with opened(Path(folder), url, latency) as (app, search):
            await one_run(app, 0)
            model_calls(url, latency)
            for number in range(runs):
                search.calls.clear()
                seconds = await one_run(app, number)
                taken.append((seconds, covered((*model_calls(url, latency), *search.calls))))
    return taken


async def at_once(url: str, count: int, latency: Latency) -> dict[str, float]:
    """Compare so many runs at once in this process with one, in seconds and megabytes."""
    with tempfile.TemporaryDirectory() as folder:
        async with opened(Path(folder), url, latency) as (app, _):
            await one_run(app, 0)
            alone = await one_run(app, 0)
            cpu = time.process_time()
            started = time.perf_counter()
            each = await asyncio.gather(*(one_run(app, number) for number in range(count)))
            wall = time.perf_counter() - started
            return {
                "alone": alone,
                "wall": wall,
                "slowest": max(each),
                "cpu": time.process_time() - cpu,
                "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }


def main(arguments: Sequence[str]) -> None:
    parser = options("overhead", __doc__)
    parser.add_argument("--at-once", type=int, default=0, help=argparse.SUPPRESS)  # in a process
    given = parser.parse_args(arguments)
    latency = QUICK if given.quick else AS_REAL
    if given.at_once:
        configure_logging("warning")  # on stderr: what is measured is read from stdout
        with fake_claude(latency) as url:
            print(json.dumps(asyncio.run(at_once(url, given.at_once, latency))))
        return
    count = QUICK_RUNS if given.quick else AT_ONCE
    with fake_claude() as url:
        zero = asyncio.run(zero_latency(url, 1 if given.quick else ZERO_RUNS))
    with fake_claude(latency) as url:
        slow = asyncio.run(with_latency(url, 1 if given.quick else SLOW_RUNS, latency))
    many = _in_a_process(count, ("--quick",) if given.quick else ())
    beyond = statistics.median(wall / path - 1 for wall, path in slow)
    rows = [
        ("zero latency, median", ms(statistics.median(zero)), "< 60 ms"),
        ("zero latency, p95", ms(percentile(zero, 0.95)), ""),
        ("with latency, median", f"{statistics.median(wall for wall, _ in slow):.2f} s", ""),
        ("of it with a peer at work", f"{statistics.median(path for _, path in slow):.2f} s", ""),
        ("beyond its peers", f"{beyond:.1%}", "< 5 %"),
        (f"{count} at once, wall", f"{many['wall']:.2f} s", ""),
        ("over one run alone", f"{many['wall'] / many['alone']:.2f}", "< 1.5"),
        ("processor time a run", ms(many["cpu"] / count), ""),
        ("peak memory", f"{many['memory']:.0f} MB", "< 400 MB"),
    ]
    print_table(("overhead", "measured", "target"), rows)


def _in_a_process(count: int, options: Sequence[str]) -> dict[str, float]:
    """``at_once`` in a process that has done nothing before: its memory is measured."""
    child = subprocess.run(
        [sys.executable, "-m", "tests.bench.overhead", "--at-once", str(count), *options],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    told: dict[str, float] = json.loads(child.stdout)
    return told


if __name__ == "__main__":
    main(sys.argv[1:])
