"""Running the real program, as a person would: its own process, its own data folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-m", "bot"]
PATIENCE = 60  # seconds until a program counts as hung
REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ended:
    """A program that has ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.out)
        return document


@dataclass
class Program:
    """``footnote`` with settings of its own; each call is a process."""

    folder: Path
    settings: dict[str, str] = field(default_factory=dict)

    def environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        ours = ("FOOTNOTE_", "ANTHROPIC_", "SLACK_", "DISCORD_")
        inherited = {name: v for name, v in os.environ.items() if not name.startswith(ours)}
        return {
            **inherited,
            "PYTHONPATH": str(REPOSITORY),
            "FOOTNOTE_DATA_DIR": str(self.folder / "data"),
            "NO_PROXY": "*",
            **self.settings,
            **extra,
        }

    def start(self, *arguments: str, **extra: str) -> subprocess.Popen[str]:
        """Begin; whoever starts it ends it."""
        return subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=self.folder,
            env=self.environment(extra),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, stdin: str = "", **extra: str) -> Ended:
        """Run to the end."""
        return finish(self.start(*arguments, **extra), stdin)


def finish(process: subprocess.Popen[str], stdin: str = "") -> Ended:
    """Wait for a program; one that hangs fails the test with what it printed."""
    try:
        out, err = process.communicate(stdin, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(f"the program hung; it printed:\n{out}\n{err}") from None
    assert "Traceback" not in err, err
    return Ended(process.returncode, out, err)
