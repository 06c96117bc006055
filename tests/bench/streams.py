"""The load of 500 open pages on the console, and the delay until they show what has happened.

The console runs in a process of its own, a second one beside it where runs are worked on elsewhere,
on a real PostgreSQL. A run's reply is made to show plans that carry the moment they were made; a
browser's delay is the time from there until it has the event, so the time of the drawing in it is
left out. Everything is on this machine, whose processor both sides share.
"""

from __future__ import annotations

import asyncio
import re
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import httpx

from tests.bench.streams_client import Browser, Server, a_server, a_slow_reader, left, opened
from tests.bench.table import percentile, print_table, tell
from tests.fakes.postgres import a_postgres

SIZES = (1, 100, 500)
MANY = SIZES[-1]
CHANGES, PAUSE = 20, 0.2  # of a plan while delays are taken
IDLE_SECONDS = 4.0
CHURNED, AT_A_TIME = 2_000, 100  # half of them at one run, half at threads of their own
VISITS = 12
SETTLE_SECONDS = 1.5  # until all have been told what is there
WRITTEN, WRITE_PAUSE = 160, 0.05  # pieces of an answer while somebody reads nothing of it
PATIENCE = 2.0  # of the server with a reader that reads nothing
PLACE, RUN = "work", "run0"
PAGE = f"/threads/{PLACE}/events"

Row = tuple[str, str, str]


def main(arguments: list[str]) -> None:
    del arguments
    asyncio.run(_measure())


async def _measure() -> None:
    with tempfile.TemporaryDirectory() as folder:
        places = iter(Path(folder, str(number)) for number in range(9))
        rows = await _one_process(next(places))
        async with a_server(next(places), patience=PATIENCE) as server:
            rows += await _slow_reader(server)
            rows += await _first_visit(server)
        with a_postgres() as postgres:
            rows += await _two_processes(next(places), next(places), postgres.migrated())
    print_table(("event streams", "measured", "target"), rows)


# ---------------------------------------------------------------- where it is worked on


async def _one_process(folder: Path) -> list[Row]:
    rows: list[Row] = []
    async with a_server(folder) as server:
        await server.do("begin", PLACE, RUN)
        for size in SIZES:
            tell(f"{size} at one run")
            before = await server.do("used")
            browsers = await opened(server, [PAGE] * size)
            after = await server.do("used")
            idle = await _idle(server)
            delays, share = await _delays(server, server, browsers)
            rows += [
                (f"{size} at one run: delay p50/p95/max, ms", _three(delays), "< 150"),
                ("  processor at 5 changes/s", f"{share:.0%}", ""),
                ("  statements a second, idle", f"{idle['statements']:.1f}", "same for all"),
            ]
            if size == MANY:
                kept = (after["memory"] - before["memory"]) * 1000 / size
                took, answers = await _finished(server, browsers)
                rows += [
                    ("  memory a stream, kB", f"{kept:.0f}", ""),
                    ("  memory of the process, MB", f"{after['memory']:.0f}", ""),
                    ("  processor, idle", f"{idle['cpu']:.1%}", ""),
                    ("  answer at p50/p95/max, ms", _three(answers), ""),
                    ("  answer's processor time, ms", f"{took * 1000:.0f}", ""),
                ]
            await left(server, browsers)
        rows += await _many_threads(server)
    return rows


async def _many_threads(server: Server) -> list[Row]:
    """Each stream is at another thread; one of them works."""
    tell(f"{MANY} at as many threads")
    await server.do("threads", MANY, 3)
    await server.do("begin", "other", "run1")
    others = [f"/threads/over{number}/events" for number in range(MANY - 1)]
    began = time.monotonic()
    browsers = await opened(server, [*others, "/threads/other/events"])
    took = time.monotonic() - began
    idle = await _idle(server)
    delays, _ = await _delays(server, server, browsers[-1:], run="run1")
    rows = [
        (f"{MANY} threads, one works: delay p50/p95/max, ms", _three(delays), "< 150"),
        ("  opened in, s", f"{took:.1f}", ""),
        ("  statements a second, idle", f"{idle['statements']:.1f}", "same for all"),
        ("  processor, idle", f"{idle['cpu']:.1%}", ""),
    ]
    await left(server, browsers)
    rows += await _churn(server)
    browsers = await opened(server, [*others, "/threads/other/events"])
    began = time.monotonic()
    await server.do("end")
    async with asyncio.timeout(30):
        await asyncio.gather(*(browser.gone.wait() for browser in browsers))
        closed = time.monotonic() - began
        await asyncio.to_thread(server.process.wait)
    rows += [
        (f"shutdown with {MANY}: all are closed after, s", f"{closed:.2f}", ""),
        ("  the process has ended after, s", f"{time.monotonic() - began:.2f}", "< 3"),
    ]
    return rows


async def _churn(server: Server) -> list[Row]:
    tell(f"{CHURNED} come and go")
    await _come_and_go(server, CHURNED // 4)  # what grows once
    before = await server.do("used")
    await _come_and_go(server, CHURNED)
    after = await server.do("used")
    return [
        (f"{CHURNED} come and go: streams left", str(after["streams"]), "0"),
        ("  memory more, MB", f"{after['memory'] - before['memory']:.1f}", "< 5"),
        (
            "  processor time each, ms",
            f"{(after['cpu'] - before['cpu']) * 1000 / CHURNED:.1f}",
            "",
        ),
    ]


async def _come_and_go(server: Server, times: int) -> None:
    for _ in range(times // AT_A_TIME):
        half = AT_A_TIME // 2
        paths = [f"/threads/over{number}/events" for number in range(half)] + [PAGE] * half
        await left(server, await opened(server, paths))


# ---------------------------------------------------------------- readers of all kinds


async def _slow_reader(server: Server) -> list[Row]:
    """One reader takes nothing; it must not hold up another one, nor be held for ever."""
    tell("a reader that reads nothing")
    await server.do("begin", PLACE, RUN)
    path = f"/api/runs/{RUN}/events"
    (other,) = await opened(server, [path])
    before = await server.do("used")
    slow = await a_slow_reader(server, path)
    while (await server.do("used"))["streams"] < 2:
        await asyncio.sleep(0.05)
    began, most = time.monotonic(), 0.0
    await server.do("write", RUN, WRITTEN, WRITE_PAUSE, 4_000)
    while (now := await server.do("used"))["streams"] > 1:
        most = max(most, now["memory"])
        await asyncio.sleep(0.05)
    took = time.monotonic() - began
    await server.do("written")
    slow.close()
    (again,) = await opened(server, [path])
    while not again.last_id:
        await asyncio.sleep(0.01)
    await left(server, [other, again])
    return [
        ("a reader that reads nothing: cut off after, s", f"{took:.1f}", ""),
        ("  of which the server's patience", f"{PATIENCE:.1f}", ""),
        ("  memory held for it, MB", f"{most - before['memory']:.1f}", "< 5"),
        ("  another one got, MB", f"{other.received / 1e6:.1f}", ""),
        (
            "  who comes again has what another one has",
            _yes(again.last_id == other.last_id),
            "yes",
        ),
    ]


async def _first_visit(server: Server) -> list[Row]:
    tell("a first visit")
    sizes, taken, plain = [0], [], 0
    for _ in range(VISITS):
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}") as client:
            began = time.perf_counter()
            answers = [await client.get("/")]
            paths = _loaded(answers[0].text)
            for path in paths:  # grows by what scripts import
                answers.append(await client.get(path))
                if path.endswith(".js"):
                    found = _IMPORTED.findall(answers[-1].text)
                    named = [f"{path.rpartition('/')[0]}/{name}" for name in found]
                    paths += [name for name in named if name not in paths]
            taken.append(time.perf_counter() - began)
            sizes = [int(answer.headers["content-length"]) for answer in answers]
            plain = sum(len(answer.content) for answer in answers)
    return [
        ("first visit: requests", str(len(sizes)), ""),
        ("  kB over the wire, in all", f"{sum(sizes) / 1000:.1f}", "< 25"),
        ("  kB of the page alone", f"{sizes[0] / 1000:.1f}", ""),
        ("  kB unpacked, in all", f"{plain / 1000:.1f}", ""),
        ("  one after another, median ms", f"{statistics.median(taken[2:]) * 1000:.0f}", ""),
    ]


# Of modules; those that are imported as a function come later, if at all.
_IMPORTED = re.compile(r'(?:from|import) "\./(.+?)"')


def _loaded(page: str) -> list[str]:
    found = re.findall(r'(?:href|src)="(/static/[^"#]+)', page)
    return sorted({path for path in found if not path.endswith(".png")})  # for whoever installs it


# ---------------------------------------------------------------- where others work


async def _two_processes(here: Path, there: Path, url: str) -> list[Row]:
    rows: list[Row] = []
    async with AsyncExitStack() as stack:
        console = await stack.enter_async_context(a_server(here, url))
        worker = await stack.enter_async_context(a_server(there, url))
        await worker.do("begin", PLACE, RUN)
        for size in SIZES:
            tell(f"{size} at a run of another process")
            browsers = await opened(console, [PAGE] * size)
            idle = await _idle(console)
            before = await worker.do("used"), await console.do("used")
            delays, _ = await _delays(worker, console, browsers, pause=0.5)
            after = await worker.do("used"), await console.do("used")
            said = [
                (then["statements"] - now["statements"])
                for now, then in zip(before, after, strict=True)
            ]
            rows += [
                (f"{size}, another process works: delay, ms", _three(delays), "< 150"),
                (
                    "  statements a change, there and here",
                    " / ".join(f"{n / CHANGES:.1f}" for n in said),
                    "1 / -",
                ),
                ("  statements a second, idle", f"{idle['statements']:.1f}", "same for all"),
            ]
            await left(console, browsers)
    return rows


# ---------------------------------------------------------------- measuring


async def _idle(server: Server) -> dict[str, float]:
    """The processor time and statements of a second in which nothing happens."""
    await asyncio.sleep(SETTLE_SECONDS)
    before = await server.do("used")
    await asyncio.sleep(IDLE_SECONDS)
    after = await server.do("used")
    return {name: (after[name] - before[name]) / IDLE_SECONDS for name in ("cpu", "statements")}


async def _delays(
    worker: Server,
    console: Server,
    browsers: Sequence[Browser],
    *,
    run: str = RUN,
    pause: float = PAUSE,
) -> tuple[list[float], float]:
    """Milliseconds of all events at all browsers, and the share of a processor of the console."""
    for browser in browsers:
        browser.delays.clear()
    before = await console.do("used")
    await worker.do("play", run, CHANGES, pause)
    await asyncio.sleep(0.5)
    after = await console.do("used")
    delays = [delay for browser in browsers for delay in browser.delays]
    return delays, (after["cpu"] - before["cpu"]) / (CHANGES * pause)


async def _finished(server: Server, browsers: Sequence[Browser]) -> tuple[float, list[float]]:
    for browser in browsers:
        browser.delays.clear()
        browser.told.clear()
    before = await server.do("used")
    await server.do("finish", RUN)
    async with asyncio.timeout(30):
        await asyncio.gather(*(browser.told.wait() for browser in browsers))
    after = await server.do("used")
    return after["cpu"] - before["cpu"], [browser.delays[0] for browser in browsers]


def _three(values: Sequence[float]) -> str:
    return f"{percentile(values, 0.5):.0f} / {percentile(values, 0.95):.0f} / {max(values):.0f}"


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"


if __name__ == "__main__":
    main([])
