"""Footnote's processes in a crash campaign, and the supervisor that starts them again."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes.proxy import Link
from tests.scenario.places import Place
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, Serving, start_forked

LOOK_SECONDS = 0.05
RESTART_SECONDS = 0.5  # after a process has ended by itself

RUNS = ("Listening for HTTP", "Working on questions")  # what a process says that heeds signals


@dataclass
class Member:
    """A place for one process: what runs there, and its own link to PostgreSQL."""

    role: str
    program: Program
    link: Link
    command: tuple[str, ...]
    serving: Serving | None = None
    due: float = 0.0  # when it is started again
    killed: bool = True  # by the campaign, and not of its own
    suspended: bool = False


@dataclass
class Crew:
    """Use as a context manager. ``ended`` counts by role and code what ended of its own accord."""

    fork_server: ForkServer
    members: list[Member]
    places: Sequence[Place]
    ended: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)  # tracebacks
    logs: list[Path] = field(default_factory=list)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Crew:
        self._thread = threading.Thread(target=self._supervise, name="crew", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._over.set()
        assert self._thread is not None
        self._thread.join()
        for member in self.members:
            if member.serving is not None and member.serving.alive:
                member.serving.signal(signal.SIGKILL)

    def until_ready(self, connected: Sequence[str]) -> None:
        """Wait until all take questions: listeners once they have said all that is given."""
        for member in self.members:
            words = connected if member.role == "listener" else ["Working on questions"]
            while member.serving is None:
                time.sleep(LOOK_SECONDS)
            for said in words:
                member.serving.until_said(said)

    def of(self, role: str, which: int) -> Member:
        """One of a role's members; those that run come first."""
        with self._lock:
            mine = [member for member in self.members if member.role == role]
            running = [m for m in mine if m.serving is not None and not m.suspended]
            return (running or mine)[which % len(running or mine)]

    def kill(self, member: Member, seconds: float) -> None:
        """End a process as a power cut would; another one starts after so many seconds."""
        with self._lock:
            member.due = max(member.due, time.monotonic() + seconds)
            member.suspended = False
            if member.serving is not None:
                member.killed = True
                member.serving.signal(signal.SIGKILL)

    def suspend(self, member: Member) -> Serving | None:
        """Hold a process; ``resume`` what is returned."""
        with self._lock:
            if member.serving is None or not member.serving.alive:
                return None
            member.suspended = True
            member.serving.signal(signal.SIGSTOP)
            return member.serving

    def resume(self, member: Member, held: Serving | None) -> None:
        with self._lock:
            if held is not None and held is member.serving and held.alive:
                held.signal(signal.SIGCONT)
                member.suspended = False

    def end(self) -> None:
        """Ask all to end in order; those that do not in time are killed."""
        self._over.set()
        assert self._thread is not None
        self._thread.join()
        servings = [member.serving for member in self.members if member.serving is not None]
        # One that was replaced a moment ago may not heed signals yet: it ends by them.
        starting = [one for one in servings if not any(line in one.said for line in RUNS)]
        for serving in servings:
            if serving.alive:
                serving.signal(signal.SIGTERM)
        for member in self.members:
            if member.serving is not None:
                code = member.serving.wait()
                ended_early = code is None and member.serving in starting
                if code != 0 and not ended_early:
                    self.broken.append(f"{member.role} ended with {code}: {member.serving.log}")

    def _supervise(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            with self._lock:
                for member in self.members:
                    self._look_after(member)

    def _look_after(self, member: Member) -> None:
        now = time.monotonic()
        if member.serving is not None and not member.serving.alive:
            self._read(member, member.serving)
            member.serving = None
            if not member.killed:
                member.due = now + RESTART_SECONDS
        if member.serving is None and now >= member.due:
            member.killed = member.suspended = False
            command, *options = member.command
            member.serving = start_forked(
                self.fork_server,
                member.program,
                *options,
                command=command,
                **{"bot.reasoning.model_service.RETRIES": "4"},
            )
            self.logs.append(member.serving.log)
            if member.role == "listener":
                for place in self.places:
                    place.meet(member.program, member.serving)

    def _read(self, member: Member, serving: Serving) -> None:
        if "Traceback" in serving.said:
            self.broken.append(f"{member.role} broke: {serving.log}")
        if not member.killed:
            last = serving.said.strip().rpartition("\n")[2]
            self.ended[f"{member.role}: {last[:150]}"] += 1
