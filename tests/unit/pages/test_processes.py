"""Memory limits of Footnote's own processes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bot.pages.processes import WorkerProcess

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells and limits this")

PEAK = """
from bot.pages.processes import own_pipes, peak_memory, send
_, replies = own_pipes()
send(replies, {"peak": peak_memory()}, b"")
"""


@LINUX
def test_the_peak_of_a_process_is_its_own_and_not_that_of_its_parent() -> None:
    large = "x = bytearray(300_000_000); import subprocess, sys; subprocess.run(sys.argv[1:])"
    peak = "from bot.pages.processes import peak_memory; print(peak_memory())"
    command = [sys.executable, "-c", large, sys.executable, "-c", peak]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert 1_000_000 < int(told.stdout) < 100_000_000


@LINUX
def test_a_process_that_is_asked_for_its_peak_tells_it() -> None:
    process = WorkerProcess((sys.executable, "-P", "-c", PEAK))
    told, _ = process.hear()
    process.kill()
    assert told["peak"] > 1_000_000


@LINUX
def test_memory_beyond_the_limit_is_refused() -> None:
    body = (
        "from bot.pages.processes import limit_memory; limit_memory(100_000_000)\n"
        "try: bytearray(200_000_000)\n"
        "except MemoryError: print('refused')"
    )
    told = subprocess.run([sys.executable, "-c", body], capture_output=True, text=True, check=True)
    assert told.stdout == "refused\n"
