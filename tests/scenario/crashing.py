"""The process of ``tests.scenario.crash``, which dies around a commit that a test chooses."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.scenario.program import REPOSITORY


class Crashing:
    """Sends requests to the process, one line of JSON each way."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def do(self, folder: Path, commit: int = 0, **request: Any) -> dict[str, Any]:
        """The outcome of a request on the data of ``folder``; 0 is not to die."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = json.dumps({"folder": str(folder), "commit": commit, **request})
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        outcome: dict[str, Any] = json.loads(self._process.stdout.readline())
        return outcome


@contextmanager
def crashing(environment: Mapping[str, str]) -> Iterator[Crashing]:
    """The process, with this environment, for as long as the block takes."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.scenario.crash"],
        cwd=REPOSITORY,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Crashing(process)
    finally:
        process.kill()
        process.communicate()
