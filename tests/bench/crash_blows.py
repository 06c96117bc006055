"""Strikes the blows of a crash campaign, and heals what they broke."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.bench.crash_plan import Blow
from tests.bench.crash_stage import Scene, Stage
from tests.fakes.proxy import Link


@dataclass
class Clock:
    """A schedule of calls, each with the time at which it is due."""

    due: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _began: float = field(default_factory=time.monotonic)

    def add(self, at: float, do: Callable[[], None]) -> None:
        """``at`` in seconds from the beginning."""
        heapq.heappush(self.due, (at, next(self._numbers), do))

    def later(self, seconds: float, do: Callable[[], None]) -> None:
        self.add(time.monotonic() - self._began + seconds, do)

    def run(self) -> None:
        """Do everything in its turn."""
        while self.due:
            at, _, do = heapq.heappop(self.due)
            time.sleep(max(0.0, self._began + at - time.monotonic()))
            do()


class Striker:
    """``struck`` is when each blow fell, of ``time.time``."""

    def __init__(self, stage: Stage, clock: Clock) -> None:
        self.struck: list[tuple[Blow, float]] = []
        self._stage = stage
        self._clock = clock
        self._outage: threading.Thread | None = None
        self._holds: Counter[int] = Counter()  # by port: how many blows keep a link from working
        self._armed: dict[str, Blow] = {}  # platform → what happens at its next post
        for scene in stage.scenes:
            self._watch(scene)

    def strike(self, blow: Blow) -> None:
        self.struck.append((blow, time.time()))
        match blow.what:
            case "kill" | "stop" if blow.whom == "postgres":
                self._end_postgres(blow)
            case "kill":
                crew = self._stage.crew
                crew.kill(crew.of(blow.whom, blow.which), blow.seconds)
            case "suspend":
                self._suspend(blow)
            case "kill before a post" | "kill after a post":
                self._armed[blow.whom] = blow
            case "answer lost":
                self._scene(blow.whom).place.cut()
            case "limit":
                self._scene(blow.whom).place.limit(1)
            case "cut":
                self._link(blow).cut()
            case _:
                self._break(blow)

    def heal(self) -> None:
        """Everything works from here on."""
        self._armed.clear()
        if self._outage is not None:
            self._outage.join()
        links = [member.link for member in self._stage.crew.members]
        for link in (*self._stage.links.values(), *links):
            link.heal()

    # ------------------------------------------------------------ one by one

    def _suspend(self, blow: Blow) -> None:
        crew = self._stage.crew
        member = crew.of(blow.whom, blow.which)
        held = crew.suspend(member)
        self._clock.later(blow.seconds, lambda: crew.resume(member, held))

    def _break(self, blow: Blow) -> None:
        link = self._link(blow)
        self._holds[link.port] += 1
        if blow.what == "gone":
            link.close()
        else:
            link.stall()

        def heal() -> None:
            self._holds[link.port] -= 1
            if not self._holds[link.port]:
                link.heal()

        self._clock.later(blow.seconds, heal)

    def _end_postgres(self, blow: Blow) -> None:
        postgres = self._stage.postgres

        def outage() -> None:
            if blow.what == "kill":
                postgres.kill()
            else:
                postgres.stop_at_once()
            time.sleep(blow.seconds)
            postgres.start()

        if self._outage is not None:
            self._outage.join()
        self._outage = threading.Thread(target=outage, name="outage")
        self._outage.start()

    def _link(self, blow: Blow) -> Link:
        role, _, database = blow.whom.partition("-")
        if database:
            return self._stage.crew.of(role, blow.which).link
        return self._stage.links[blow.whom]

    def _scene(self, name: str) -> Scene:
        return next(scene for scene in self._stage.scenes if scene.place.name == name)

    # ------------------------------------------------------------ at a post

    def _watch(self, scene: Scene) -> None:
        name = scene.place.name

        def witness(done: bool) -> bool:
            blow = self._armed.get(name)
            if blow is None or done != (blow.what == "kill after a post"):
                return True
            del self._armed[name]
            for member in self._stage.crew.members:
                if member.role == "worker":
                    self._stage.crew.kill(member, blow.seconds)
            return done  # what was sent by who is gone before did not arrive

        scene.place.watch(witness)
