"""Starting, watching and ending ``footnote serve``, as its own process."""

from __future__ import annotations

import itertools
import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.scenario.places import Place
from tests.scenario.program import COMMAND, PATIENCE, REPOSITORY, Ended, Program, Running

START_SECONDS = 60.0
END_SECONDS = 60.0
BRISK = {
    "FOOTNOTE_HTTP_PORT": "0",
    "FOOTNOTE_LOG_LEVEL": "info",
    "bot.reasoning.model_service.RETRIES": "0",
}


class Serving:
    """A running ``footnote serve``. ``log`` is the file of all that it prints."""

    def __init__(self, pid: int, log: Path, code: Callable[[], int | None]) -> None:
        self.pid = pid
        self.log = log
        self._code = code
        self._pidfd = os.pidfd_open(pid)

    def __del__(self) -> None:
        os.close(self._pidfd)

    @property
    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    @property
    def alive(self) -> bool:
        return not self.has_ended(0)

    def has_ended(self, seconds: float | None) -> bool:
        """Whether it has ended, or does so within these seconds; None: however long it takes."""
        return bool(select.select([self._pidfd], [], [], seconds)[0])

    def until_said(self, words: str, seconds: float = START_SECONDS) -> None:
        """Wait for a line; fails when the program ends without it."""
        until = time.monotonic() + seconds
        while words not in self.said:
            # Ending is what it is woken by; the log is looked at in between.
            ended = self.has_ended(0.01)
            if (ended and words not in self.said) or time.monotonic() > until:
                raise AssertionError(f"it never said {words!r}, but:\n{self.said}")

    @property
    def http(self) -> str:
        """The address at which it listens for HTTP, ``http://127.0.0.1:PORT``."""
        self.until_said("Listening for HTTP on ")
        found = re.search(r"Listening for HTTP on (\S+)\.", self.said)
        assert found is not None
        return found[1]

    def kill(self) -> None:
        """End it as a power cut would."""
        self.signal(signal.SIGKILL)
        self.wait()

    def signal(self, number: signal.Signals) -> None:
        # By the descriptor: it can never hit another process.
        signal.pidfd_send_signal(self._pidfd, number)

    def wait(self, seconds: float = END_SECONDS) -> int | None:
        """The exit code, once it has ended; None when it was killed."""
        if not self.has_ended(seconds):
            self.signal(signal.SIGKILL)
            raise AssertionError(f"it did not end within {seconds} s:\n{self.said}")
        assert "Traceback" not in self.said, self.said
        return self._code()

    def end(self) -> int | None:
        """Ask it to end, and wait."""
        if self.alive:
            self.signal(signal.SIGTERM)
        return self.wait()


@dataclass
class _Forked:
    """``Running``, of the fork_server."""

    _serving: Serving
    _out: Path

    def signal(self, number: signal.Signals) -> None:
        self._serving.signal(number)

    def finish(self) -> Ended:
        code = self._serving.wait(PATIENCE)
        out = self._out.read_text(encoding="utf-8")
        return Ended(-1 if code is None else code, out, self._serving.said)


@dataclass
class ForkServer:
    """The process that forks programs; one for all tests of a test process."""

    _process: subprocess.Popen[str] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(
        self,
        program: Program,
        log: Path,
        arguments: Sequence[str],
        extra: Mapping[str, str],
        *,
        stdin: Path = Path(os.devnull),
        out: Path | None = None,
    ) -> Serving:
        """Begin a program; what it prints goes to ``out``, or to its log where there is none."""
        request = {
            "arguments": arguments,
            "environment": program.environment(extra),
            "folder": str(program.folder),
            "in": str(stdin),
            "log": str(log),
            "out": str(out or log),
        }
        with self._lock:
            process = self._running(program)
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            pid = json.loads(process.stdout.readline())["pid"]

        def code() -> int | None:
            file = Path(f"{log}.code")
            return int(file.read_text()) if file.exists() else None

        return Serving(pid, log, code)

    def begin(
        self, program: Program, arguments: Sequence[str], stdin: str, extra: Mapping[str, str]
    ) -> Running:
        """A ``Starter``: the same as from the command line, for a tenth of its time."""
        log = program.folder / f"run-{next(_numbers)}.log"
        out, typed = log.with_suffix(".out"), log.with_suffix(".in")
        typed.write_text(stdin, encoding="utf-8")
        return _Forked(self.start(program, log, arguments, extra, stdin=typed, out=out), out)

    def _running(self, program: Program) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.scenario.fork_server"],
                cwd=REPOSITORY,
                env=program.environment({}),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        return self._process

    def close(self) -> None:
        if self._process is not None:
            self._process.communicate()


_numbers = itertools.count(1)


def start_forked(
    fork_server: ForkServer, program: Program, *options: str, command: str = "serve", **extra: str
) -> Serving:
    """A command as a forked child: starts in a tenth of the time."""
    log = program.folder / f"serve-{next(_numbers)}.log"
    log.touch()
    return fork_server.start(program, log, (command, *options), {**BRISK, **extra})


def start_alone(program: Program, command: str = "serve", **extra: str) -> Serving:
    """A command from the command line."""
    log = program.folder / f"serve-{next(_numbers)}.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            [*COMMAND, command],
            cwd=program.folder,
            env=program.environment({**BRISK, **extra}),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )

    def code() -> int | None:
        ended = process.wait()
        return None if ended < 0 else ended

    return Serving(process.pid, log, code)


@contextmanager
def ending(serving: Serving) -> Iterator[Serving]:
    """Ends it with the block, whatever happens; a test that passed wants a clean end."""
    try:
        yield serving
        if serving.alive:
            assert serving.end() == 0, serving.said
    except BaseException:
        sys.stderr.write(serving.said)
        raise
    finally:
        if serving.alive:
            serving.kill()


@contextmanager
def running(
    fork_server: ForkServer, program: Program, place: Place, **extra: str
) -> Iterator[Serving]:
    """`serve`, connected to the place."""
    before = place.connections
    with ending(start_forked(fork_server, program, **extra)) as serving:
        place.meet(program, serving)
        place.until(lambda: place.connections > before or not serving.alive)
        yield serving
