"""The plan of a crash campaign, all from one seed: kills, broken networks, and what people say
meanwhile."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

What = Literal[
    "kill",
    "kill before a post",
    "kill after a post",
    "suspend",
    "stop",
    "gone",
    "cut",
    "stall",
    "answer lost",
    "limit",
]
Deed = Literal["ask", "follow up", "stop", "edit", "delete", "tell again", "look"]


@dataclass(frozen=True, slots=True)
class Blow:
    """At ``at`` (seconds from the beginning) something is done to ``whom`` for ``seconds``.

    kill: ``kill -9``, started again after them. suspend: SIGSTOP, then SIGCONT. stop: an immediate
    stop of PostgreSQL. gone: a peer's port is closed. cut: connections are reset, once. stall:
    nothing moves on them. answer lost: the next post takes effect, and nobody is told. limit: the
    next calls are told to come later. The kills at a post hit all workers, just before or after the
    next call that changes what is seen takes effect there.

    ``whom`` is a role of processes ("listener", "worker"), "postgres", or another peer; a role's
    link to PostgreSQL is "listener-postgres".
    """

    at: float
    what: What
    whom: str
    seconds: float
    which: int  # of several of a role

    @property
    def name(self) -> str:
        return f"{self.whom} {self.what}"


@dataclass(frozen=True, slots=True)
class Act:
    """An action of a person at ``at``; ``chance`` (0 to 1) chooses the scene.

    look: a look at a standing question falls due, mostly after its page has changed.
    """

    at: float
    deed: Deed
    chance: float


@dataclass(frozen=True, slots=True)
class Plan:
    """``watched`` questions are answered, and watched, before the rest begins."""

    blows: Sequence[Blow]
    acts: Sequence[Act]
    watched: int = 0


# How often each blow comes in a deck, and how long it lasts (seconds, from – to).
_DECK: Sequence[tuple[str, What, int, tuple[float, float]]] = (
    ("listener", "kill", 4, (0.0, 2.0)),
    ("worker", "kill", 6, (0.0, 3.0)),
    ("{platform}", "kill before a post", 1, (0.0, 2.0)),
    ("{platform}", "kill after a post", 2, (0.0, 2.0)),
    ("{platform}", "answer lost", 1, (0.0, 0.0)),
    ("{platform}", "limit", 1, (0.0, 0.0)),
    ("postgres", "kill", 2, (0.0, 2.0)),
    ("postgres", "stop", 2, (0.0, 2.0)),
    ("claude", "gone", 2, (0.3, 2.5)),
    ("claude", "cut", 2, (0.0, 0.0)),
    ("claude", "stall", 1, (0.5, 4.0)),
    ("{platform}", "gone", 2, (0.3, 2.5)),
    ("{platform}", "cut", 2, (0.0, 0.0)),
    ("{platform}", "stall", 1, (0.5, 4.0)),
    ("worker-postgres", "cut", 2, (0.0, 0.0)),
    ("worker-postgres", "stall", 1, (0.5, 5.0)),
    ("worker-postgres", "stall", 1, (22.0, 26.0)),  # longer than a lease lasts
    ("worker-postgres", "gone", 1, (0.3, 3.0)),
    ("listener-postgres", "cut", 1, (0.0, 0.0)),
    ("listener-postgres", "stall", 1, (0.5, 5.0)),
    ("worker", "suspend", 1, (0.5, 8.0)),
    ("worker", "suspend", 1, (22.0, 26.0)),
)

_DEEDS: Mapping[Deed, int] = {
    "ask": 40,
    "follow up": 40,
    "stop": 4,
    "edit": 6,
    "delete": 4,
    "tell again": 6,
    "look": 30,
}


WATCHED = 6  # standing questions


def planned(
    seed: int, kills: int, platforms: Sequence[str], *, between: float, asking: float
) -> Plan:
    """``kills`` blows, one every ``between`` seconds on average, and acts every ``asking`` ones.

    The kinds are dealt from shuffled decks, so that each comes about as often as it should.
    """
    chance = random.Random(seed)
    deck: list[tuple[str, What, tuple[float, float]]] = []
    blows: list[Blow] = []
    at = 1.0
    for _ in range(kills):
        if not deck:
            deck = _deck(platforms)
            chance.shuffle(deck)
        whom, what, (shortest, longest) = deck.pop()
        at += min(chance.expovariate(1 / between), 4 * between)
        blows.append(Blow(at, what, whom, chance.uniform(shortest, longest), chance.randrange(100)))
    acts: list[Act] = []
    deeds = list(_DEEDS)
    now = 0.0
    while now < at:
        deed = chance.choices(deeds, [*_DEEDS.values()])[0] if now > 0 else "ask"
        acts.append(Act(now, deed, chance.random()))
        now += chance.expovariate(1 / asking)
    return Plan(tuple(blows), tuple(acts), WATCHED)


def _deck(platforms: Sequence[str]) -> list[tuple[str, What, tuple[float, float]]]:
    deck = []
    for whom, what, times, seconds in _DECK:
        for name in platforms if whom == "{platform}" else [whom]:
            deck += [(name, what, seconds)] * times
    return deck
