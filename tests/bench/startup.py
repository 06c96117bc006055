"""The time of commands, Python's own start included, and its share that is not the work.

``ask`` answers a question from an index that is up to date and a database that exists; the model is
the fake Claude, without latency, in a process of its own. Beyond the run is the time of the command
less what the same question takes in a process that has answered one before: by processor time,
which a busy machine lengthens least, and by the clock, which is what a person waits for.

Machines differ, and so do versions of the SDK, which every question to Claude imports whole. What
an empty interpreter and ``import anthropic`` take is measured beside the commands, and the last
table says what of a command is neither the run nor the SDK.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from tests.bench.frame import clean, ms, options, print_table
from tests.bench.overhead import fake_claude, one_run, opened, question

RUNS, WARM_RUNS = 15, 5
UNCOUNTED = 1  # before those: bytecode, the operating system's caches
TARGETS = {"without a model": 0.5, "with a model": 0.9}  # seconds beyond the run


@dataclass(frozen=True, slots=True)
class Taken:
    """Medians of one command, seconds: on the clock and of the processor, and the same of the run
    alone in a process that is warm (0 where there is none)."""

    name: str
    wall: float
    processor: float
    warm_wall: float = 0.0
    warm_processor: float = 0.0

    @property
    def beyond(self) -> float:
        """Processor time beyond the run's."""
        return self.processor - self.warm_processor

    @property
    def waited(self) -> float:
        """Wall time beyond the run's."""
        return self.wall - self.warm_wall


def timed(
    runs: int, command: Sequence[str], environment: Mapping[str, str], uncounted: int = 0
) -> tuple[float, float]:
    """Median seconds of a command: on the clock, and of the processor, its children's included.
    So many runs come first and are not counted."""
    wall, processor = [], []
    for _ in range(uncounted + runs):
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, *command],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(process.pid, 0)
        wall.append(time.perf_counter() - began)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, list(command))
        processor.append(used.ru_utime + used.ru_stime)
    return statistics.median(wall[uncounted:]), statistics.median(processor[uncounted:])


EMPTY, SDK = "python -c pass", "import anthropic"


def commands(runs: int) -> list[Taken]:
    """The commands that do nothing but start, and what the machine itself needs for that."""
    return [
        Taken(name, *timed(runs, command, clean()))
        for name, command in (
            (EMPTY, ("-c", "pass")),
            (SDK, ("-c", SDK)),
            ("footnote --help", ("-m", "bot", "--help")),
            ("footnote ask --help", ("-m", "bot", "ask", "--help")),
        )
    ]


def answers(runs: int) -> list[Taken]:
    """``footnote ask --json``, without and with a model."""
    taken = []
    for name in TARGETS:
        model = fake_claude() if name == "with a model" else nullcontext("")
        with model as url, tempfile.TemporaryDirectory() as folder:
            warm = asyncio.run(_warm(Path(folder), url, min(runs, WARM_RUNS)))
            environment = clean() | {"FOOTNOTE_DATA_DIR": str(Path(folder) / "data")}
            if url:
                environment |= {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "sk-test"}
            documents = str(Path(folder) / "docs")
            command = ("-m", "bot", "ask", "--json", "--docs", documents, question(0))
            times = timed(runs, command, environment, UNCOUNTED)
            taken.append(Taken(f"ask {name}", *times, *warm))
    return taken


async def _warm(folder: Path, url: str, runs: int) -> tuple[float, float]:
    """Median seconds of the run by itself: on the clock, and of the processor."""
    wall, processor = [], []
    async with opened(folder, url) as (app, _):
        await one_run(app, 0)
        for _ in range(runs):
            began = time.process_time()
            wall.append(await one_run(app, 0))
            processor.append(time.process_time() - began)
    return statistics.median(wall), statistics.median(processor)


def main(arguments: Sequence[str]) -> None:
    parser = options("startup", __doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="of each command")
    given = parser.parse_args(arguments)
    runs = 1 if given.quick else given.runs
    started = {each.name: each for each in commands(runs)}
    rows = [(each.name, ms(each.wall), ms(each.processor)) for each in started.values()]
    print_table(("command", "median", "processor"), rows)
    print()
    taken = answers(runs)
    answered = [
        (
            each.name,
            *(
                ms(value)
                for value in (
                    each.wall,
                    each.processor,
                    each.warm_processor,
                    each.waited,
                    each.beyond,
                )
            ),
            f"< {ms(target)}",
        )
        for each, target in zip(taken, TARGETS.values(), strict=True)
    ]
    header = (
        "median",
        "processor",
        "the run, warm: processor",
        "waited beyond it",
        "beyond the run",
        "target",
    )
    print_table(("command", *header), answered)
    print()
    empty, sdk = started[EMPTY].processor, started[SDK].processor
    own = [
        (each.name, ms(rest), f"{rest / empty:.0f}")
        for each in taken
        for rest in [each.beyond - (sdk if "with a model" in each.name else 0.0)]
    ]
    print_table(("beyond the run and the SDK", "processor", "empty interpreters"), own)
