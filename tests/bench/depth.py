"""Ways of answering questions of several hops, side by side over the same peers.

The peers live in a process of their own and take the time that real ones do: 1.5 s to a model's
first token, 60 tokens/s, 0.4 s a search, 0.3 s a fetch. The model is scripted (``depth_brain``):
it asks for the right things in the right order, whichever loop asks it. Compared are the plain
loop and the loop by layers (``depth_reference``) and Footnote's own strategies, the real service
with its store, journal, search, fetching and the real SDK. Each question is worked with peers'
caches of its own. Questions are worked a few at once: what is waited for is the peers.

Ratios are of medians of pairs: the same question by the plain loop over by the other way. Billed
are input tokens at the full price and those written to the cache; those read from it, a tenth of
the price, stand apart. Wall over critical path is explained in ``depth_path``; the runs at once in
one process in ``depth_load``.

Run: python -m tests.bench depth [--quick] [--each N] [--at-once N] [--runs N] [--paths]
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import groupby

from tests.bench.depth_load import Load, measure
from tests.bench.depth_peers import Call, Latency, peers
from tests.bench.depth_tasks import CHAIN, PARTS, TWO, Task, chosen, load_tasks, load_texts
from tests.bench.depth_ways import LAYERS, PLAIN, Measured, Way, ways
from tests.bench.table import ms, print_table, tell

EACH = 5  # questions of each kind; the data has no more with independent parts
AT_ONCE = 12
APART = 0.3  # seconds between two questions' beginnings: in step they would wait for each other
RUNS = 100  # deep ones, in one process
QUICK_RUNS = 4
REFERENCES = (PLAIN, LAYERS)
QUICK = Latency(first_token=0.05, rate=2000, search=0.02, fetch=0.02)


@dataclass(frozen=True, slots=True)
class Sizes:
    """The extent of a measurement. ``pages`` of the corpus beside the gold ones, 0: all."""

    each: int = EACH
    at_once: int = AT_ONCE
    pages: int = 0
    runs: int = RUNS
    latency: Latency = field(default_factory=Latency)


async def run(sizes: Sizes) -> dict[str, list[Measured]]:
    """Every way over the same questions, a few at once; the references by themselves."""
    tasks = chosen(load_tasks(load_texts()), sizes.each)
    compared = ways()
    tell("starting the peers")
    with peers(sizes.latency, pages=sizes.pages) as base:
        tell("warming up")  # connections, caches, imports, here and of the peers
        await _worked(compared, tasks[:1], base, len(compared), "warm-up")
        results: dict[str, list[Measured]] = {}
        for names in (REFERENCES, [name for name in compared if name not in REFERENCES]):
            tell(f"{len(tasks)} questions by {', '.join(names)}; {sizes.at_once} at once")
            group = {name: compared[name] for name in names}
            results |= await _worked(group, tasks, base, sizes.at_once, "run")
        return results


async def _worked(
    compared: Mapping[str, Way], tasks: Sequence[Task], base: str, at_once: int, label: str
) -> dict[str, list[Measured]]:
    """All are made ready first: opening a store takes as much work as answering a question."""
    room = asyncio.Semaphore(at_once)
    ended = {task.id: 0 for task in tasks}

    async def one(place: int, task: Task, work: Callable[[], Awaitable[Measured]]) -> Measured:
        await asyncio.sleep(place * APART)
        async with room:
            measured = await work()
        ended[task.id] += 1
        if ended[task.id] == len(compared):
            tell(f"  {task.id} is done")
        return measured

    asked = [(name, task) for task in tasks for name in compared]
    async with AsyncExitStack() as ready:
        works = [
            await ready.enter_async_context(
                compared[name](task, base, f"{label}-{name.replace(' ', '-')}-{task.id}")
            )
            for name, task in asked
        ]
        # None is cancelled by another's failure: a cancelled store leaves its thread behind.
        outcomes = await asyncio.gather(
            *(
                one(place, task, work)
                for place, ((_, task), work) in enumerate(zip(asked, works, strict=True))
            ),
            return_exceptions=True,
        )
    results: dict[str, list[Measured]] = {name: [] for name in compared}
    for (name, _), outcome in zip(asked, outcomes, strict=True):
        if isinstance(outcome, BaseException):
            raise outcome
        results[name].append(outcome)
    return results


def tables(results: Mapping[str, Sequence[Measured]]) -> None:
    """Print what was measured."""
    for kind in (TWO, CHAIN, PARTS):
        rows = []
        for name, all_measured in results.items():
            of_kind = [m for m in all_measured if m.task.kind == kind]
            rows.append((name, *_columns(of_kind), *_against(results[PLAIN], of_kind)))
        header = ("wall", "calls", "billed", "cached", "pages", "recall", "faster", "cheaper")
        print_table((kind, *header), rows)
        print()
    rows = [
        (name, f"{_median(m.path for m in ms):.2f} s", f"{_median(_beyond(m) for m in ms):.1%}")
        for name, ms in results.items()
        if name not in REFERENCES
    ]
    print_table(("beyond the critical path (target under 5 %)", "path", "beyond"), rows)


def paths_table(results: Mapping[str, Sequence[Measured]]) -> None:
    """Print the critical path of each run of ours: seconds, and of a model's turn the tokens that
    it wrote. Searches and fetches that follow each other are added up."""
    for name, all_measured in results.items():
        for measured in all_measured if name not in REFERENCES else ():
            print(f"{name}, {measured.task.id}, {measured.wall:.1f} s: {_steps(measured.chain)}")
    print()


def _steps(chain: Sequence[Call]) -> str:
    steps = []
    for kind, calls in groupby(chain, key=lambda call: call.kind == "model"):
        if kind:
            steps += [f"{call.title} {call.seconds:.1f} ({call.output})" for call in calls]
        else:
            steps.append(f"wiki {sum(call.seconds for call in calls):.1f}")
    return " | ".join(steps)


def load_table(loads: Sequence[Load]) -> None:
    """Print what many deep runs at once took, and how they ended."""
    columns = ("wall", "alone", "all over one", "median", "cpu a run", "late slices", "longest")
    rows = [
        (
            load.kind,
            f"{load.wall:.1f} s",
            f"{load.alone:.1f} s",
            f"{load.wall / load.alone:.2f}",
            f"{load.median:.1f} s",
            ms(load.cpu / load.runs),
            load.late,
            ms(load.longest),
        )
        for load in loads
    ]
    print_table((f"{loads[0].runs} deep runs at once", *columns), rows)
    print(f"\nPeak memory of the first: {loads[0].memory:.0f} MB. Targets: all over one under 2,")
    print("memory under 600 MB, none failed. Late slices of the event loop are those over 10 ms.\n")
    ends = [(x.kind, x.complete, x.partial, x.not_found, x.failed, x.noted) for x in loads]
    header = ("how they ended", "all pages cited", "some", "not found", "failed", "with notes")
    print_table(header, ends)


def _columns(measured: Sequence[Measured]) -> tuple[str, ...]:
    return (
        f"{_median(m.wall for m in measured):.2f} s",
        f"{_median(m.calls for m in measured):.0f}",
        f"{_median(m.billed for m in measured):,.0f}",
        f"{_median(m.cached for m in measured):,.0f}",
        f"{_median(m.pages for m in measured):.0f}",
        f"{statistics.mean(m.recall for m in measured):.2f}",
    )


def _against(plain: Sequence[Measured], measured: Sequence[Measured]) -> tuple[str, str]:
    """The factors by which a way is faster and bills fewer tokens; medians of ratios."""
    of_task = {m.task.id: m for m in plain}
    pairs = [(of_task[m.task.id], m) for m in measured]
    faster = _median(p.wall / m.wall for p, m in pairs)
    cheaper = _median(p.billed / m.billed for p, m in pairs)
    return f"{faster:.2f}", f"{cheaper:.1f}"


def _beyond(measured: Measured) -> float:
    return measured.wall / measured.path - 1


def _median(values: Iterable[float]) -> float:
    return statistics.median(list(values))


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="depth", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a look in seconds, with fast peers")
    parser.add_argument("--each", type=int, default=EACH, help="questions of each kind")
    parser.add_argument("--at-once", type=int, default=AT_ONCE, help="questions worked at once")
    parser.add_argument("--runs", type=int, default=RUNS, help="deep runs at once; 0: none")
    parser.add_argument("--paths", action="store_true", help="the critical path of each run too")
    given = parser.parse_args(arguments)
    sizes = Sizes(given.each, given.at_once, runs=given.runs)
    if given.quick:
        sizes = Sizes(each=1, pages=300, runs=min(given.runs, QUICK_RUNS), latency=QUICK)
    if sizes.each:
        results = asyncio.run(run(sizes))
        if given.paths:
            paths_table(results)
        tables(results)
    if sizes.runs:
        print()
        load_table(measure(sizes.runs, sizes.latency, sizes.pages))
