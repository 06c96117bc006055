"""The people of a crash campaign: what they do, and the replies that they expect."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field

from tests.bench.crash_plan import Act
from tests.bench.crash_stage import DEPOTS, Fact, Scene, facts
from tests.bench.crash_standing import FIRST_EUROS, Standing
from tests.scenario.places import Said

MOST_IN_THREAD = 6
OPEN_THREADS = 12  # the newest ones, in which people still speak


@dataclass
class Asked:
    """A question. ``wanted`` are words of its answer; after an edit, of the new one's."""

    said: Said
    at: float
    wanted: str
    before: str = ""  # what was wanted before it was edited
    edited: bool = False
    deleted: bool = False
    probe: bool = False


@dataclass
class Talk:
    """A thread: its questions in order, and whether "stop" was said in it."""

    scene: Scene
    asked: list[Asked] = field(default_factory=list)
    stops: list[Said] = field(default_factory=list)

    @property
    def root(self) -> Said:
        return self.asked[0].said

    @property
    def at_work(self) -> bool:
        """Return True if anybody sees that Footnote works there; a thread that is gone nobody
        sees."""
        place = self.scene.place
        is_gone = self.asked[0].deleted and not place.posts(self.root)
        return not is_gone and place.at_work(self.root)


class People:
    """Acts on all scenes in turn. ``watched`` are threads of standing questions, in which no
    other message is written."""

    def __init__(self, scenes: list[Scene], standing: Standing) -> None:
        self.talks: list[Talk] = []
        self.watched: list[Talk] = []
        self._standing = standing
        self.did: Counter[str] = Counter()
        self._scenes = scenes
        self._facts = facts()
        self._tickets = 0

    @property
    def all(self) -> list[Talk]:
        return [*self.talks, *self.watched]

    def do(self, act: Act) -> None:
        """One act, where it is possible; else a new question."""
        talk = self._talk(act.chance)
        match act.deed:
            case "look":
                self._standing.look(act.chance)
            case "follow up" if talk is not None and len(talk.asked) < MOST_IN_THREAD:
                self.follow_up(talk, act.chance)
            case "stop" if talk is not None and talk.scene.has_thread(talk.root):
                talk.stops.append(talk.scene.place.say(talk.root, "stop"))
            case "edit" if talk is not None and not talk.asked[-1].deleted:
                self._edit(talk, act.chance)
            case "delete" if talk is not None and not talk.asked[-1].deleted:
                talk.asked[-1].deleted = True
                talk.scene.place.delete(talk.asked[-1].said)
            case "tell again":
                for scene in self._scenes:
                    scene.tell_again()
            case _:
                self.did["ask"] += act.deed != "ask"
                self._ask(act.chance)
                if act.deed != "ask":
                    return
        self.did[act.deed] += 1

    def follow_up(self, talk: Talk, chance: float, *, probe: bool = False) -> None:
        fact, words = self._question(chance)
        place = talk.scene.place
        if not place.posts(talk.root):
            # Before Footnote is seen to take part, it is spoken to by name.
            words = f"{talk.scene.mention()} {words}"
        asked = Asked(place.say(talk.root, words), time.time(), fact.wanted, probe=probe)
        talk.asked.append(asked)

    def _ask(self, chance: float) -> None:
        fact, words = self._question(chance)
        scene = self._scenes[len(self.talks) % len(self._scenes)]
        asked = Asked(scene.place.ask(words), time.time(), fact.wanted)
        self.talks.append(Talk(scene, [asked]))

    def watch(self) -> None:
        """Ask something that will be watched."""
        scene = self._scenes[len(self.watched) % len(self._scenes)]
        pier = DEPOTS[len(self.watched)]
        said = scene.place.ask(self._standing.piers.question(pier))
        self.watched.append(Talk(scene, [Asked(said, time.time(), f"{FIRST_EUROS} euros")]))
        self._standing.watched[scene.event_key(said)] = pier

    def _edit(self, talk: Talk, chance: float) -> None:
        fact, words = self._question(chance)
        last = talk.asked[-1]
        last.before, last.wanted, last.edited = last.wanted, fact.wanted, True
        talk.scene.place.edit(last.said, words)

    def _question(self, chance: float) -> tuple[Fact, str]:
        self._tickets += 1
        fact = self._facts[int(chance * 7_919) % len(self._facts)]
        return fact, fact.question.format(self._tickets)

    def _talk(self, chance: float) -> Talk | None:
        """One of the newest threads in which one can speak."""
        fit = [t for t in self.talks if not t.asked[0].deleted and t.scene.has_thread(t.root)]
        newest = fit[-OPEN_THREADS:]
        return newest[int(chance * 104_729) % len(newest)] if newest else None
