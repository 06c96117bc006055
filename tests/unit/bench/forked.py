"""Programs of the benches, forked instead of started: a second of imports less for each."""

from __future__ import annotations

import itertools
import signal
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

from tests.scenario.program import Program
from tests.scenario.serving import ForkServer

_numbers = itertools.count(1)


class Forked:
    """What the benches use of a ``Popen``."""

    def __init__(
        self,
        fork_server: ForkServer,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
    ) -> None:
        self._log = folder / f"forked-{next(_numbers)}.log"
        self._log.touch()
        program = Program(folder, {**environment})
        self._serving = fork_server.start(program, self._log, arguments, {})
        self.pid = self._serving.pid
        self.stderr = closing(self._lines())

    def _lines(self) -> Generator[str, None, None]:
        """What it logs, until it has ended."""
        with self._log.open(encoding="utf-8") as log:
            line, ended = "", False
            while not ended:
                ended = self._serving.has_ended(0.01)
                while part := log.readline():
                    line += part
                    if line.endswith("\n"):
                        yield line
                        line = ""

    def send_signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):  # it has ended
            self._serving.signal(number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> None:
        if not self._serving.has_ended(timeout):
            raise subprocess.TimeoutExpired("forked", timeout or 0.0)
