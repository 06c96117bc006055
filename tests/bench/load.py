"""Questions from a thousand workspaces, worked by real workers on one PostgreSQL.

Everything is a process of its own: a PostgreSQL that keeps what it commits, filled with threads
that have a history; a `footnote serve --no-work` that takes signed events of Slack in; workers; and
the peers, with the latencies of the real ones (``load_peers``). Phases:

    counting     a few questions, with every statement written to the server's log
    backlog      all questions are accepted before a worker begins, and worked off by one worker and
                 by two, so many at once in each that they wait for peers and not for a processor:
                 what a second worker adds
    all at once  as many in work as there are questions, over two workers: memory, and the processor
                 time of a question
    arrivals     questions that come at a rate two workers can take; to some a follow-up comes at
                 once: queue delay, and the delay behind the lock of a thread

All take some 20 minutes on two idle cores, 160 questions take under five.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.core.messages import Thread
from tests.bench.frame import Running, ms, options, percentile, print_table, tell
from tests.bench.load_stage import Stage, Used, Watch, a_stage, used
from tests.bench.load_store import Run
from tests.bench.load_words import follow_up, question_about

THREADS, QUESTIONS = 10_000, 1_000
CONCURRENCY = 32  # of a worker, in the backlog
RATE, ARRIVALS = 3.0, 180  # questions a second, and how many
FOLLOWED = 4  # of so many, one is followed up at once
COUNTED, IDLE_SECONDS = 24, 10.0
MOST_SECONDS = 1_200.0
PHASES = "counting,backlog,all,arrivals"
SETTLE_SECONDS = 2.0

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Worked:
    """A phase. ``acknowledged`` are seconds, memory is in MB: of a worker that has done nothing,
    and the peak of one, without and with the processes that read pages for it."""

    workers: int
    runs: list[Run]
    used: Used
    committed: int
    rolled_back: int
    grown: int
    logged: int
    asked: Counter[str]
    acknowledged: list[float]
    idle: float
    peak: float
    peak_with_children: float
    connections: int
    at_once: int

    @property
    def rate(self) -> float:
        """Questions a second in the middle: from a tenth of them answered to nine tenths."""
        ended = sorted(run.ended for run in self.runs if run.ended is not None)
        first, last = len(ended) // 10, len(ended) * 9 // 10
        return (last - first) / (ended[last] - ended[first])

    @property
    def seconds(self) -> list[float]:
        """The seconds that each run was in work."""
        return [
            run.ended - run.started
            for run in self.runs
            if run.started is not None and run.ended is not None
        ]

    @property
    def answered(self) -> int:
        return sum(run.state == "answered" for run in self.runs)


class Asking:
    """Hands out questions: each has a topic of its own, and a thread that nobody else asks in."""

    def __init__(self, threads: Sequence[Thread]) -> None:
        # Neighbours in the store are of one workspace, people who ask at a time are not.
        spread = [thread for first in range(10) for thread in threads[first::10]]
        self._threads = itertools.cycle(spread)
        self._topics = itertools.count(1_000_000)

    def questions(self, count: int, *, followed: int = 0) -> list[tuple[Thread, str]]:
        """``count`` of them, and a follow-up after each ``followed`` ones (0: none)."""
        found = []
        for number, topic, thread in zip(range(count), self._topics, self._threads, strict=False):
            found.append((thread, question_about(topic)))
            if followed and number % followed == 0:
                found.append((thread, follow_up(topic)))
        return found


def main(arguments: list[str]) -> None:
    parser = options("load", __doc__)
    parser.add_argument("--threads", type=int, default=THREADS, help="in the store")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="in flight")
    parser.add_argument("--workers", default="1,2", help="in the backlog, one after the other")
    parser.add_argument("--concurrency", type=int, default=CONCURRENCY, help="there, of each")
    parser.add_argument("--arrivals", type=int, default=ARRIVALS)
    parser.add_argument("--rate", type=float, default=RATE, help="of arrivals, a second")
    parser.add_argument("--phases", default=PHASES)
    given = parser.parse_args(arguments)
    phases = given.phases.split(",")
    if given.quick:
        given.threads, given.questions, given.workers, phases = 100, 8, "1", ["backlog"]
    began = time.perf_counter()
    with a_stage(given.threads) as stage:
        tell(f"{given.threads} threads are in the store")
        asking = Asking(stage.threads)
        warm_up(stage, asking)
        if "counting" in phases:
            tell("counting statements")
            counting(stage, asking)
        if "backlog" in phases:
            backlog(stage, asking, given.questions, given.concurrency, given.workers)
        if "all" in phases:
            tell("all at once")
            all_at_once(stage, asking, given.questions)
        if "arrivals" in phases:
            tell("arrivals")
            arrivals(stage, asking, given.arrivals, given.rate)
        _complain("listener", stage.listener.complaints)
    print(f"\n{time.perf_counter() - began:.0f} s in all")


# ---------------------------------------------------------------- phases


def warm_up(stage: Stage, asking: Asking) -> None:
    """Connections, caches, and the pages of the database that every question touches."""
    with stage.workers(1, CONCURRENCY):
        stage.ask(asking.questions(8))
        until_idle(stage)


def counting(stage: Stage, asking: Asking) -> None:
    """Statements of a question, without what an idle worker sends anyway."""
    with stage.workers(1, CONCURRENCY) as workers:
        time.sleep(SETTLE_SECONDS)
        with stage.base.listening() as idle:
            time.sleep(IDLE_SECONDS)
        with stage.base.listening() as busy:
            began = time.perf_counter()
            stage.ask(asking.questions(COUNTED))
            until_idle(stage)
            seconds = time.perf_counter() - began
        _complain("worker", workers[0].complaints)
    share = seconds / IDLE_SECONDS
    each = {kind: (busy[kind] - idle[kind] * share) / COUNTED for kind in sorted({*busy, *idle})}
    rows = [
        (kind, f"{count:.1f}", f"{idle[kind] / IDLE_SECONDS:.1f}")
        for kind, count in sorted(each.items(), key=lambda one: -one[1])
        if count >= 0.05 or idle[kind]
    ]
    total = sum(each.values()), sum(idle.values()) / IDLE_SECONDS
    rows.insert(0, ("all", f"{total[0]:.1f}", f"{total[1]:.1f}"))
    header = ("statements", "a question", "a second, idle (listener and worker)")
    print_table(header, rows)
    print(flush=True)


def backlog(stage: Stage, asking: Asking, count: int, concurrency: int, workers: str) -> None:
    phases = []
    for each in map(int, workers.split(",")):
        tell(f"{count} questions, {each} worker(s)")
        phases.append(work_off(stage, asking.questions(count), each, concurrency))
    heads = [f"{phase.workers} x {concurrency} at once" for phase in phases]
    print_table(("backlog", *heads), _columns(phases))
    if len(phases) > 1:
        first, last = phases[0], phases[-1]
        ratio = last.rate / first.rate
        linear = ratio / (last.workers / first.workers)
        print(
            f"{last.workers} workers to {first.workers}: {ratio:.2f}, linear to {linear - 1:+.1%}"
        )
    print(flush=True)


def all_at_once(stage: Stage, asking: Asking, count: int) -> None:
    phase = work_off(stage, asking.questions(count), 2, -(-count // 2))
    print_table((f"all at once: {count}", "measured"), _columns([phase]))
    print(flush=True)


def arrivals(stage: Stage, asking: Asking, count: int, rate: float) -> None:
    with stage.workers(2, 256) as workers:
        asked = asking.questions(count * FOLLOWED // (FOLLOWED + 1), followed=FOLLOWED)
        phase = _measured(stage, workers, lambda: stage.ask(asked, rate))
    delays, wakes = delays_of(phase.runs)
    rows = [
        ("questions, follow-ups among them", f"{len(phase.runs)}, {len(wakes)}"),
        ("answered", f"{phase.answered}"),
        ("event to acknowledgement, p50 / p99", _both(phase.acknowledged)),
        ("queue delay (accepted to claimed), p50 / p99", _both(delays)),
        ("follow-up behind its thread (freed to claimed), p50 / p99", _both(wakes)),
        ("in work, p50 / p99", _both(phase.seconds)),
    ]
    print_table((f"arrivals: {rate:g} a second", "measured"), rows)
    print(flush=True)


# ---------------------------------------------------------------- measuring


def work_off(
    stage: Stage, questions: Sequence[tuple[Thread, str]], workers: int, concurrency: int
) -> Worked:
    """Accept all, then let workers begin."""
    stage.base.clear()
    acknowledged = stage.ask(questions)
    with stage.workers(workers, concurrency) as started:
        return _measured(stage, started, lambda: acknowledged)


def _measured(stage: Stage, workers: Sequence[Running], ask: Callable[[], list[float]]) -> Worked:
    """Ask, and wait until all is answered."""
    if not stage.base.unfinished():
        stage.base.clear()
    before = used(stage, workers), stage.base.counted(), stage.asked()
    watch = Watch(stage.base, workers)
    acknowledged = ask()
    until_idle(stage)
    watch.close()
    spent, counted = used(stage, workers) - before[0], stage.base.counted()
    for worker in workers:
        _complain("worker", worker.complaints)
    return Worked(
        len(workers),
        stage.base.runs(),
        spent,
        counted.committed - before[1].committed,
        counted.rolled_back - before[1].rolled_back,
        counted.bytes - before[1].bytes,
        counted.log - before[1].log,
        stage.asked() - before[2],
        acknowledged,
        statistics.mean(watch.idle),
        max(watch.peak),
        max(watch.peak_with_children),
        watch.connections,
        watch.working,
    )


def until_idle(stage: Stage) -> None:
    """Wait until no question is left."""
    deadline = time.monotonic() + MOST_SECONDS
    while left := stage.base.unfinished():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{left} questions are left")
        time.sleep(0.5)


def delays_of(runs: Sequence[Run]) -> tuple[list[float], list[float]]:
    """Seconds from acceptance to claim of those that waited for nobody, and of follow-ups from the
    end of what they waited for."""
    delays, wakes = [], []
    freed: dict[str, float] = {}
    for run in runs:
        assert run.started is not None
        assert run.ended is not None
        before = freed.get(run.thread_key, 0.0)
        if before > run.accepted:
            wakes.append(run.started - before)
        else:
            delays.append(run.started - run.accepted)
        freed[run.thread_key] = run.ended
    return delays, wakes


# ---------------------------------------------------------------- tables


def _columns(phases: Sequence[Worked]) -> list[Row]:
    rows = [_cells(phase) for phase in phases]
    return [(name, *(row[name] for row in rows)) for name in rows[0]]


def _cells(phase: Worked) -> dict[str, str]:
    count = len(phase.runs)
    share = {name: getattr(phase.used, name) / count for name in Used.__slots__}
    memory = (phase.peak - phase.idle) / (phase.at_once / phase.workers)
    calls = ("model", "search", "page")
    slack = sum(n for name, n in phase.asked.items() if name not in (*calls, "other"))
    took = [run.ended for run in phase.runs if run.ended is not None]
    begun = [run.started for run in phase.runs if run.started is not None]
    return {
        "answered, and not at the first attempt": f"{phase.answered} of {count}, "
        f"{sum(run.attempt > 1 for run in phase.runs)}",
        "questions a second": f"{phase.rate:.2f}",
        "wall": f"{max(took) - min(begun):.0f} s",
        "in work, p50 / p99": _both(phase.seconds),
        "at once, most": f"{phase.at_once}",
        "transactions a question": f"{phase.committed / count:.1f}",
        "rolled back a question": f"{phase.rolled_back / count:.1f}",
        "database connections, most": f"{phase.connections}",
        "database growth a question": f"{phase.grown / count / 1024:.0f} kB",
        "... written to its log (WAL)": f"{phase.logged / count / 1024:.0f} kB",
        "calls of model / search / page / Slack": " / ".join(
            f"{n / count:.1f}" for n in (*(phase.asked[name] for name in calls), slack)
        ),
        "processor a question: worker": ms(share["worker"]),
        "... reading pages": ms(share["extraction"]),
        "... PostgreSQL": ms(share["postgres"]),
        "... listener": ms(share["listener"]),
        "... peers (not ours)": ms(share["peers"]),
        "memory of a worker, idle": f"{phase.idle:.0f} MB",
        "... peak": f"{phase.peak:.0f} MB",
        "... with its page readers": f"{phase.peak_with_children:.0f} MB",
        "... a question in work": f"{memory * 1024:.0f} kB",
    }


def _both(values: Sequence[float]) -> str:
    if not values:
        return "none"
    middle, late = statistics.median(values), percentile(values, 0.99)
    return f"{middle:.1f} / {late:.1f} s" if middle > 2 else f"{ms(middle)} / {ms(late)}"


def _complain(who: str, lines: Sequence[str]) -> None:
    for line in lines[:5]:
        print(f"{who}: {line}", file=sys.stderr)
    if len(lines) > 5:
        print(f"{who}: ... and {len(lines) - 5} more", file=sys.stderr)
