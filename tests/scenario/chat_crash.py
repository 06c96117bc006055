"""Programs that are killed while they post, and what is to be seen once another one has started."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.fakes.claude import FakeClaude
from tests.fakes.claude_brain import doubter
from tests.fakes.server import serve
from tests.scenario.gate import until
from tests.scenario.paid import Kept, Paid, paid
from tests.scenario.places import OpenPlace, Place, Post, Said, finished, whole
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, Serving, ending, start_forked

# Long enough for the plan to be shown and changed before there is an answer.
THINKING_SECONDS = 0.45
PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Moment:
    """Just before, or just after, the ``call``-th call (from 1) that changes what is seen."""

    call: int
    after: bool

    def __str__(self) -> str:
        return f"{'after' if self.after else 'before'} call {self.call}"


class Trap:
    """Kills a program at a moment; counts the calls there were."""

    def __init__(self, place: Place) -> None:
        self.calls = 0
        self.sprung = False
        self._moment: Moment | None = None
        self._victim: Serving | None = None
        self._lock = threading.Lock()
        place.watch(self._witness)

    def arm(self, victim: Serving, moment: Moment | None) -> None:
        with self._lock:
            self.calls, self.sprung = 0, False
            self._victim, self._moment = victim, moment

    def disarm(self) -> bool:
        """It kills nothing any more; whether it has."""
        with self._lock:
            self._moment = None
            return self.sprung

    def _witness(self, done: bool) -> bool:
        with self._lock:
            self.calls += not done
            if self._moment != Moment(self.calls, done):
                return True
            assert self._victim is not None
            self._victim.signal(signal.SIGKILL)
            self._moment, self.sprung = None, True
            return False


@dataclass(frozen=True, slots=True)
class Outcome:
    """The final posts of a thread, and what was paid for them."""

    posts: Sequence[Post]
    calls: int
    kills: int
    paid: Paid


def run_and_kill(
    fork_server: ForkServer,
    open_place: OpenPlace,
    prepared: Program,
    folder: Path,
    question: str,
    moments: Sequence[Moment] = (),
) -> Outcome:
    """Ask in a place of its own; the first program dies at the first moment, the second at the
    second, and so on; the last one lives. ``prepared`` has a data folder with the index."""
    shutil.copytree(prepared.folder, folder)
    claude = FakeClaude(first_token=THINKING_SECONDS)
    claude.use(doubter)  # so that every answer is amended
    with open_place() as place, serve(claude) as url:
        model = {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": url}
        program = Program(folder, {**prepared.settings, **place.settings, **model})
        trap = Trap(place)
        said: Said | None = None
        kills = 0
        for moment in (*moments, None):
            before = place.connections
            with ending(start_forked(fork_server, program)) as serving:
                place.meet(program, serving)
                trap.arm(serving, moment)
                if said is None:
                    place.until(lambda: place.connections)
                    said = place.ask(question)
                asked = said
                try:
                    until(lambda: trap.sprung or _is_over(program, place, asked), PATIENCE)  # noqa: B023
                except TimeoutError:
                    when = ", then ".join(map(str, moments))
                    raise AssertionError(f"killed {when}: {whole(place, asked)}") from None
                if not trap.disarm():
                    # Where all was done already it may have just begun, and could not yet end well.
                    place.until(lambda: place.connections > before)  # noqa: B023
                    break
                serving.wait()
                kills += 1
        assert said is not None
        return Outcome(place.posts(said), trap.calls, kills, paid(claude.requests, _steps(program)))


def _is_over(program: Program, place: Place, said: Said) -> bool:
    """Return True if the run has ended, in the store and for all to see."""
    return finished(place, said) and _state(program) == "answered"


def _state(program: Program) -> str:
    rows = _rows(program, "SELECT state FROM runs")
    return str(rows[0][0]) if rows else ""


def _steps(program: Program) -> list[Kept]:
    rows = _rows(program, "SELECT run_id, key, kind, at, result FROM steps")
    return [
        Kept(run, key, kind, datetime.fromisoformat(at).replace(tzinfo=UTC), result)
        for run, key, kind, at, result in rows
    ]


def _rows(program: Program, query: str) -> list[Any]:
    path = program.folder / "data" / "footnote.sqlite"
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=60)) as database:
        return database.execute(query).fetchall()
