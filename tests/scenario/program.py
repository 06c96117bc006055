"""Running the real program, as a person would: its own process, its own data folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

COMMAND = [sys.executable, "-m", "bot"]
PATIENCE = 60  # seconds until a program counts as hung
REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ended:
    """A program that has ended; ``code`` is negative when it was killed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.out)
        return document


class Running(Protocol):
    """A program that was started."""

    def signal(self, number: signal.Signals) -> None: ...

    def finish(self) -> Ended:
        """Wait for its end; one that hangs fails the test with what it printed."""
        ...


class Starter(Protocol):
    """A way to start programs."""

    def begin(
        self, program: Program, arguments: Sequence[str], stdin: str, extra: Mapping[str, str]
    ) -> Running: ...


class CommandLine:
    """Starts them as a person does; most of a second is spent on imports."""

    def begin(
        self, program: Program, arguments: Sequence[str], stdin: str, extra: Mapping[str, str]
    ) -> Running:
        process = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=program.folder,
            env=program.environment(extra),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return _Alone(process, stdin)


@dataclass
class _Alone:
    _process: subprocess.Popen[str]
    _stdin: str

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def finish(self) -> Ended:
        try:
            out, err = self._process.communicate(self._stdin, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGKILL)
            out, err = self._process.communicate()
            raise AssertionError(f"the program hung; it printed:\n{out}\n{err}") from None
        assert "Traceback" not in err, err
        return Ended(self._process.returncode, out, err)


@dataclass
class Program:
    """``footnote`` with settings of its own; each call is a process."""

    folder: Path
    settings: dict[str, str] = field(default_factory=dict)
    starter: Starter = field(default_factory=CommandLine)

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

    def start(self, *arguments: str, stdin: str = "", **extra: str) -> Running:
        """Begin; whoever starts it ends it."""
        return self.starter.begin(self, arguments, stdin, extra)

    def run(self, *arguments: str, stdin: str = "", **extra: str) -> Ended:
        """Run to the end."""
        return self.start(*arguments, stdin=stdin, **extra).finish()
