"""What Footnote adds to the time its peers take, alone and with 200 runs in one process.

The fake Claude runs in a process of its own; documents are searched in a real index, journal and
store are real SQLite files. Latencies as in the targets: 1.5 s to the first token, 60 tokens/s,
0.4 s a search, 0.3 s a fetch. The critical path of a run is what its model calls (first token plus
output tokens at that rate), one search and one fetch take one after another.
"""

from __future__ import annotations

import asyncio
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.app import App, open_app
from bot.messages import RunOptions, Thread
from bot.pages.page import Page
from bot.search.blend import Search, SearchResult
from bot.search.indexer import Indexer
from bot.search.provider import ProviderKind, Query
from bot.search.registry import open_search
from bot.settings import load_settings
from tests.bench.table import ms, percentile, print_table
from tests.fakes.poster import RememberingPoster
from tests.unit.samples import a_message

FIRST_TOKEN, RATE, SEARCH, FETCH = 1.5, 60.0, 0.4, 0.3
MODEL_CALLS = 4  # of a standard run of the fake's researcher: rewrite, read, finish, write
ZERO_RUNS, SLOW_RUNS, AT_ONCE = 40, 3, 200
TOPICS = ("tower", "bridge", "harbour", "library", "museum", "station", "market", "castle")


@contextmanager
def fake_claude(first_token: float, rate: float) -> Iterator[str]:
    """The fake in a process of its own; yields its base URL."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "tests.fakes.claude"),
            *("--first-token", str(first_token), "--rate", str(rate), "--trusting"),
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


@dataclass
class Slow:
    """A search that takes as long as one over the network."""

    search_: Search
    search_seconds: float
    fetch_seconds: float

    def can_search(self, providers: tuple[str, ...] = ()) -> frozenset[ProviderKind]:
        return frozenset()

    async def search(
        self, query: Query, providers: tuple[str, ...] = (), kind: ProviderKind | None = None
    ) -> SearchResult:
        await asyncio.sleep(self.search_seconds)
        return await self.search_.search(query, providers, kind)

    async def read(self, url: str) -> Page | None:
        await asyncio.sleep(self.fetch_seconds)
        return await self.search_.read(url)

    async def aclose(self) -> None:
        await self.search_.aclose()


def write_documents(folder: Path) -> None:
    for number, topic in enumerate(TOPICS):
        sections = "\n\n".join(
            f"## Part {part}\n\nThe {topic} number {part} was built in {1800 + part + number} and "
            f"is {10 + part} metres high. " + "Many people have written about it since. " * 10
            for part in range(20)
        )
        (folder / f"{topic}.md").write_text(f"# The {topic}\n\n{sections}\n")


@asynccontextmanager
async def opened(folder: Path, url: str, slow: bool) -> AsyncIterator[App]:
    settings = load_settings(
        data_dir=folder / "data",
        docs=(str(folder / "docs"),),
        **({"anthropic_api_key": "sk-test", "anthropic_base_url": url} if url else {}),
    )
    (folder / "docs").mkdir(parents=True, exist_ok=True)
    write_documents(folder / "docs")
    Indexer(settings.index_path).index(settings.docs)
    search = Slow(open_search(settings), SEARCH if slow else 0, FETCH if slow else 0)
    async with open_app(settings, {"terminal": RememberingPoster()}, search=search) as app:
        yield app


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


def critical_path(url: str, calls: int) -> float:
    """Seconds that the model calls of the last run, one search and one fetch take."""
    with urllib.request.urlopen(f"{url}/_log") as response:
        log = json.load(response)
    requests = log["requests"][-calls:]
    tokens: int = sum(request["usage"]["output_tokens"] for request in requests)
    return calls * FIRST_TOKEN + tokens / RATE + SEARCH + FETCH


async def zero_latency() -> list[float]:
    with fake_claude(0, 0) as url, tempfile.TemporaryDirectory() as folder:
        async with opened(Path(folder), url, slow=False) as app:
            await one_run(app, 0)  # connections, caches, imports
            return [await one_run(app, number) for number in range(ZERO_RUNS)]


async def with_latency() -> list[tuple[float, float]]:
    taken = []
    with fake_claude(FIRST_TOKEN, RATE) as url, tempfile.TemporaryDirectory() as folder:
        async with opened(Path(folder), url, slow=True) as app:
            for number in range(SLOW_RUNS):
                seconds = await one_run(app, number)
                taken.append((seconds, critical_path(url, MODEL_CALLS)))
    return taken


async def at_once(count: int) -> dict[str, float]:
    with fake_claude(FIRST_TOKEN, RATE) as url, tempfile.TemporaryDirectory() as folder:
        async with opened(Path(folder), url, slow=True) as app:
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


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--at-once"]:
        print(json.dumps(asyncio.run(at_once(int(arguments[1])))))
        return
    zero = asyncio.run(zero_latency())
    slow = asyncio.run(with_latency())
    child = subprocess.run(
        [sys.executable, "-m", "tests.bench.overhead", "--at-once", str(AT_ONCE)],
        check=True,
        capture_output=True,
        text=True,
    )
    many = json.loads(child.stdout)
    beyond = statistics.median(wall / path - 1 for wall, path in slow)
    rows = [
        ("zero latency, median", ms(statistics.median(zero)), "< 60 ms"),
        ("zero latency, p95", ms(percentile(zero, 0.95)), ""),
        ("with latency, median", f"{statistics.median(wall for wall, _ in slow):.2f} s", ""),
        ("its critical path", f"{statistics.median(path for _, path in slow):.2f} s", ""),
        ("beyond the critical path", f"{beyond:.1%}", "< 5 %"),
        (f"{AT_ONCE} at once, wall", f"{many['wall']:.2f} s", ""),
        ("over one run alone", f"{many['wall'] / many['alone']:.2f}", "< 1.5"),
        ("processor time a run", ms(many["cpu"] / AT_ONCE), ""),
        ("peak memory", f"{many['memory']:.0f} MB", "< 400 MB"),
    ]
    print_table(("overhead", "measured", "target"), rows)


if __name__ == "__main__":
    main(sys.argv[1:])
