"""Documents made to take memory or time, handed to a running `footnote serve`, one after the other.

Each comes as an upload with a question, without a model. What counts is the memory of the process
that serves, at its peak, that of the processes below it together, and how long others wait: the
slowest of the looks at its health that are made all the time.

Run: python -m tests.bench memory [--quick] [--only PATTERN]
"""

from __future__ import annotations

import argparse
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from bot.pages.processes import memory_below
from tests.bench import programs
from tests.bench.startup import clean
from tests.bench.table import print_table, tell
from tests.fakes.bombs import BOMBS, LARGEST, Bomb

CONTAINER = 1_073  # MB of a container of 1 GB
PATIENCE = 120.0  # seconds for one question
LOOK_SECONDS = 0.05
QUESTION = "What does this file say about some words?"


@dataclass
class Measured:
    """Megabytes at the peak, seconds; ``outcome`` of the question."""

    outcome: str = ""
    main: int = 0
    below: int = 0
    seconds: float = 0.0
    stall: float = 0.0


@contextmanager
def program(folder: Path) -> Iterator[tuple[str, int]]:
    """A running `footnote serve`: its address and the number of its process."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = clean() | {
        "FOOTNOTE_DATA_DIR": str(folder),
        "FOOTNOTE_HTTP_PORT": str(port),
        "FOOTNOTE_WIKIPEDIA_URL": "http://127.0.0.1:9",
    }
    process = programs.start(["serve"], environment, folder, errors=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        ends = time.monotonic() + 60
        while not _is_well(address):
            if time.monotonic() > ends:
                raise RuntimeError("`footnote serve` did not start")
            time.sleep(0.1)
        yield address, process.pid
    finally:
        process.terminate()
        process.wait(30)


def _is_well(address: str) -> bool:
    try:
        return httpx.get(f"{address}/healthz", timeout=60).status_code == 200
    except httpx.HTTPError:
        return False


def measured(bomb: Bomb, data: bytes, address: str, pid: int) -> Measured:
    """Measure memory and stalls while a question with this file is worked on."""
    found = Measured()
    done = threading.Event()
    Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")  # the peak begins anew

    def watch() -> None:
        while not done.wait(LOOK_SECONDS):
            found.below = max(found.below, memory_below(pid) // 1_000_000)

    def look() -> None:
        with httpx.Client(timeout=60) as client:
            while not done.wait(LOOK_SECONDS):
                began = time.perf_counter()
                client.get(f"{address}/healthz")
                found.stall = max(found.stall, time.perf_counter() - began)

    threads = [threading.Thread(target=each) for each in (watch, look)]
    for thread in threads:
        thread.start()
    began = time.perf_counter()
    try:
        found.outcome = _asked(bomb, data, address)
    finally:
        found.seconds = time.perf_counter() - began
        done.set()
        for thread in threads:
            thread.join()
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    found.main = int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) // 1_000
    return found


def _asked(bomb: Bomb, data: bytes, address: str) -> str:
    with httpx.Client(base_url=address, timeout=60) as client:
        sent = client.post(
            "/api/questions", data={"question": QUESTION}, files={"files": (bomb.file, data)}
        )
        if sent.status_code >= 400:
            return "refused"
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            run = client.get(sent.json()["url"]).json()
            if run.get("answer"):
                return "quoted" if run["answer"].get("citations") else "not quoted"
            time.sleep(0.1)
    return "no answer"


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="memory", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small documents of each kind")
    parser.add_argument("--only", default="", help="a pattern of their names")
    given = parser.parse_args(arguments)
    chosen = [each for each in BOMBS if re.search(given.only, each.file)]
    rows: list[tuple[str, Measured, int]] = []
    with tempfile.TemporaryDirectory() as folder, program(Path(folder)) as (address, pid):
        for bomb in chosen:
            data = bomb.made(bomb.quick if given.quick else bomb.full)[:LARGEST]
            found = measured(bomb, data, address, pid)
            rows.append((bomb.file, found, len(data)))
            tell(f"{bomb.file}: {found}")
            if not Path(f"/proc/{pid}").exists():
                sys.exit(f"{bomb.file} ended the process")
    print_table(
        ("document", "bytes", "main, MB", "readers, MB", "seconds", "longest wait", "outcome"),
        [
            (
                name,
                f"{size:,}",
                found.main,
                found.below,
                f"{found.seconds:.1f}",
                f"{1000 * found.stall:.0f} ms",
                found.outcome,
            )
            for name, found, size in rows
        ],
    )
    most = max(found.main + found.below for _, found, _ in rows)
    print(
        f"\nat most {most:,} MB at once, of {CONTAINER:,} that a container of 1 GB has;"
        f" {os.cpu_count()} processors"
    )
