"""People who talk to each other in a thread that Footnote answered, on Slack and on Discord."""

from __future__ import annotations

import json
import signal
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

import pytest

from tests.fakes.claude import Reply, researcher, says
from tests.scenario.conftest import PLACES
from tests.scenario.discord_place import DiscordPlace
from tests.scenario.gate import Gate, ask_and_catch, until
from tests.scenario.places import (
    KEYS,
    Place,
    Said,
    the_answer,
    until_answered,
    until_shown,
    whole,
)
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, running
from tests.scenario.slack_place import SlackPlace

CHATTER = "Lunch at 12, Liu?"
FOLLOW_UP = "And who does it?"
ASKED_ALREADY = "This question was already asked"
NOTHING_ON_IT = "Why are the flamingos of Lake Nakuru in Kenya pink?"


@pytest.fixture(params=["slack", pytest.param("discord", marks=pytest.mark.slow)])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    with PLACES[request.param]() as place:
        yield place


def brain(request: Mapping[str, Any]) -> Reply:
    """The model of the fake, which knows what is said about lunch to be for other people."""
    asked = str(request["messages"])
    if (
        "<new_message" in asked
        and 'to="thread"' in asked
        and CHATTER in asked.split("<new_message")[1]
    ):
        return says(json.dumps({"kind": "chat", "for_us": False}))
    return researcher(request)


@pytest.fixture
def judging(thinking: Program, gate: Gate) -> Program:
    gate.claude.use(brain)
    return thinking


class Changes:
    """Counts the calls that change what is seen."""

    def __init__(self, place: Place) -> None:
        self.count = 0
        place.watch(self._witness)

    def _witness(self, done: bool) -> bool:
        self.count += not done
        return True


def rows(program: Program, query: str, *values: str) -> list[Any]:
    path = program.folder / "data" / "footnote.sqlite"
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=60)) as database:
        return database.execute(query, values).fetchall()


def until_heard(program: Program, text: str) -> None:
    """Wait until a message is stored as context, without a run."""
    query = """SELECT 1 FROM messages LEFT JOIN runs ON runs.message_id = messages.id
        WHERE text = ? AND runs.id IS NULL"""
    until(lambda: rows(program, query, text))


def ignored(program: Program) -> int:
    return len(rows(program, "SELECT 1 FROM audit WHERE deed = 'ignored'"))


def answered(program: Program, place: Place, said: Said) -> None:
    """Wait until the answer to the first question is shown and its run has ended."""
    the_answer(place, said)
    until(lambda: rows(program, "SELECT 1 FROM runs WHERE state = 'answered'"))


def test_talk_among_people_is_heard_and_no_topic(
    fork_server: ForkServer, chatty: Program, place: Place
) -> None:
    with running(fork_server, chatty, place):
        said = place.ask(KEYS)
        answered(chatty, place, said)
        changes = Changes(place)
        place.say(said, CHATTER)
        until_heard(chatty, CHATTER)
        place.say(said, f"{place.mention}{FOLLOW_UP}")
        assert "security team" in until_answered(place, said, 2)[1].text
        assert rows(chatty, "SELECT count(*) FROM runs") == [(2,)]
        assert changes.count > 0


def test_nothing_is_shown_before_the_model_has_decided_and_after_its_no(
    fork_server: ForkServer, judging: Program, place: Place, gate: Gate
) -> None:
    with running(fork_server, judging, place):
        said = place.ask(KEYS)
        answered(judging, place, said)
        changes = Changes(place)
        gate.hold()
        place.say(said, CHATTER)
        gate.wait_held()
        assert changes.count == 0
        gate.release()
        until(lambda: ignored(judging))
        until_heard(judging, CHATTER)
        place.tell_again()
        until(place.acknowledged)
        assert changes.count == 0
        assert ignored(judging) == 1
        assert rows(judging, "SELECT DISTINCT questions FROM spending") == [(1,)]
        (preparation,) = [c for c in gate.claude.calls if CHATTER in str(c)]
        place.say(said, f"{place.mention}{FOLLOW_UP}")
        assert "security team" in until_answered(place, said, 2)[1].text
        prepared = next(c for c in gate.claude.calls if FOLLOW_UP in str(c))
        assert 'to="people"' in str(prepared["messages"])
        assert 'to="people"' not in str(preparation["messages"])


def test_killed_before_the_decision_it_is_silent_after_it(
    fork_server: ForkServer, judging: Program, place: Place, gate: Gate
) -> None:
    with running(fork_server, judging, place) as program:
        said = place.ask(KEYS)
        answered(judging, place, said)
        gate.hold()
        place.say(said, CHATTER)
        gate.wait_held()
        program.signal(signal.SIGKILL)
        program.wait()
    shown = place.posts(said)
    gate.release()
    with running(fork_server, judging, place):
        until(lambda: ignored(judging))
    assert place.posts(said) == shown
    assert not place.at_work(said)
    assert place.whispers(said) == ""


def test_an_edited_message_among_people_is_a_question_once_it_mentions_footnote(
    fork_server: ForkServer, judging: Program, place: Place
) -> None:
    with running(fork_server, judging, place):
        said = place.ask(KEYS)
        answered(judging, place, said)
        changes = Changes(place)
        chatter = place.say(said, CHATTER)
        until(lambda: ignored(judging))
        until_heard(judging, CHATTER)
        place.edit(chatter, "Lunch at 1, Liu?")
        until(place.acknowledged)
        assert changes.count == 0
        place.edit(chatter, f"{place.mention}{FOLLOW_UP}")
        assert "security team" in until_answered(place, said, 2)[1].text


@pytest.mark.parametrize("kind", ["with a model", "without"])
def test_an_unaddressed_question_that_finds_nothing_leaves_no_reply(
    fork_server: ForkServer, judging: Program, place: Place, kind: str
) -> None:
    settings = {} if kind == "with a model" else {"FOOTNOTE_REASONER": "closest"}
    with running(fork_server, judging, place, **settings):
        said = place.ask(KEYS)
        answered(judging, place, said)
        changes = Changes(place)
        place.say(said, NOTHING_ON_IT)
        until(lambda: ignored(judging))
        until_heard(judging, NOTHING_ON_IT)
        the_answer(place, said)
        assert not place.at_work(said)
        assert (changes.count > 0) == (kind == "with a model")


def test_a_message_that_mentions_somebody_else_is_never_answered(
    fork_server: ForkServer, judging: Program, place: Place, gate: Gate
) -> None:
    if isinstance(place, SlackPlace):
        whom = "<@U2LIU>"
    else:
        assert isinstance(place, DiscordPlace)
        whom = place.discord.member(place.guild, "Liu").mention
    with running(fork_server, judging, place):
        said = place.ask(KEYS)
        answered(judging, place, said)
        asked, changes = len(gate.claude.requests), Changes(place)
        place.say(said, f"And who does it, {whom}?")
        until(lambda: rows(judging, "SELECT 1 FROM messages WHERE text LIKE 'And who does it%'"))
        assert (changes.count, len(gate.claude.requests)) == (0, asked)
        the_answer(place, said)


def mention_alone(place: Place, said: Said) -> None:
    """Mention Footnote in the thread without a word, and wait until the mention is refused."""

    def refusals() -> int:
        return (whole(place, said) + place.whispers(said)).count(ASKED_ALREADY)

    before = refusals()
    place.say(said, place.mention)
    place.until(lambda: refusals() > before)


def test_a_bare_mention_does_not_ask_again_what_is_being_answered(
    fork_server: ForkServer, judging: Program, place: Place, gate: Gate
) -> None:
    with running(fork_server, judging, place):
        said = ask_and_catch(place, gate)
        until_shown(place, said, place.searching)
        mention_alone(place, said)
        place.say(said, f"{place.mention}{FOLLOW_UP}")
        until(lambda: rows(judging, "SELECT 1 FROM runs WHERE state = 'accepted'"))
        mention_alone(place, said)
        gate.release()
        until(lambda: rows(judging, "SELECT count(*) FROM runs WHERE state = 'answered'") == [(2,)])
        assert rows(judging, "SELECT count(*) FROM runs") == [(2,)]


def test_a_bare_mention_addresses_the_question_above(
    fork_server: ForkServer, judging: Program, place: Place, gate: Gate
) -> None:
    with running(fork_server, judging, place):
        said = place.ask(KEYS)
        answered(judging, place, said)
        gate.hold()
        place.say(said, CHATTER)
        gate.wait_held()
        mention_alone(place, said)
        gate.wait_empty()
        gate.release()
        until_answered(place, said, 2)
        assert ignored(judging) == 0
        assert rows(judging, "SELECT count(*) FROM runs") == [(2,)]


def test_who_may_not_ask_is_told_nothing_for_talk_among_people(
    fork_server: ForkServer, judging: Program, place: Place
) -> None:
    with running(fork_server, judging, place):
        said = place.ask(KEYS)
        answered(judging, place, said)
    with running(fork_server, judging, place, FOOTNOTE_ALLOW_USERS="nobody"):
        place.say(said, CHATTER)
        until(place.acknowledged)
        place.say(said, FOLLOW_UP)
        place.until(lambda: place.denied in place.whispers(said))
        assert place.whispers(said).count(place.denied) == 1
