"""`footnote serve --no-work` and `footnote worker`, as processes of their own on one PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.fakes.postgres import Postgres
from tests.scenario.gate import Gate, ask_and_catch, until
from tests.scenario.places import (
    KEYS,
    LUNCH,
    WHO,
    Place,
    Said,
    the_answer,
    until_answered,
    until_shown,
    whole,
)
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, Serving, ending, start_forked


@pytest.fixture
def shared(thinking: Program, postgres: Postgres) -> Program:
    """The program with Claude, on a PostgreSQL that processes share."""
    thinking.settings |= {"FOOTNOTE_DATABASE_URL": postgres.migrated()}
    return thinking


# What depends on no platform is tried on one.
on_slack = pytest.mark.parametrize("place", ["slack"], indirect=True)


@contextmanager
def listening(fork_server: ForkServer, program: Program, place: Place) -> Iterator[Serving]:
    with ending(start_forked(fork_server, program, "--no-work")) as listener:
        place.meet(program, listener)
        listener.until_said(place.ready)
        yield listener


@contextmanager
def a_worker(fork_server: ForkServer, program: Program, **settings: str) -> Iterator[Serving]:
    with ending(start_forked(fork_server, program, command="worker", **settings)) as worker:
        worker.until_said("Working on questions")
        yield worker


def catch(place: Place, gate: Gate) -> Said:
    """Ask, and return while the run waits for its second model call."""
    return ask_and_catch(place, gate, after=1)


def test_questions_are_answered_by_workers_and_not_where_they_are_heard(
    fork_server: ForkServer, shared: Program, place: Place
) -> None:
    with listening(fork_server, shared, place) as listener:
        said = place.ask(KEYS)
        lunch = place.ask(LUNCH)
        until(place.acknowledged)
        assert "90 days" not in whole(place, said)
        with a_worker(fork_server, shared), a_worker(fork_server, shared):
            assert "90 days" in the_answer(place, said)
            assert "6.50" in the_answer(place, lunch)
            place.say(said, WHO)
            assert "security team" in until_answered(place, said, 2)[-1].text
        assert listener.alive


@on_slack
def test_a_worker_that_is_killed_leaves_its_question_to_another(
    fork_server: ForkServer, shared: Program, place: Place, gate: Gate
) -> None:
    with listening(fork_server, shared, place), ExitStack() as stack:
        one = stack.enter_context(a_worker(fork_server, shared))
        said = catch(place, gate)
        place.until(lambda: place.posts(said))
        stack.enter_context(a_worker(fork_server, shared))
        one.kill()
        gate.wait_empty()
        gate.release()
        until_answered(place, said)
        assert "90 days" in the_answer(place, said)
        keys = [request.key for request in gate.claude.requests]
        assert len(keys) == len(set(keys)), "a finished model call was paid for twice"


@on_slack
def test_a_working_question_is_stopped_from_where_nobody_works_on_it(
    fork_server: ForkServer, shared: Program, place: Place, gate: Gate
) -> None:
    with listening(fork_server, shared, place), a_worker(fork_server, shared):
        said = catch(place, gate)
        place.stop(said)
        gate.wait_empty()
        gate.release()
        place.until(lambda: not place.at_work(said))
        until_shown(place, said, "topped")


@on_slack
def test_an_edited_question_is_answered_anew_in_the_same_reply(
    fork_server: ForkServer, shared: Program, place: Place, gate: Gate
) -> None:
    with listening(fork_server, shared, place), a_worker(fork_server, shared):
        said = catch(place, gate)
        place.until(lambda: place.posts(said))
        place.edit(said, LUNCH)
        gate.wait_empty()
        gate.release()
        assert "6.50" in the_answer(place, said)


@on_slack
def test_the_reply_to_a_deleted_question_goes_away(
    fork_server: ForkServer, shared: Program, place: Place, gate: Gate
) -> None:
    with listening(fork_server, shared, place), a_worker(fork_server, shared):
        said = catch(place, gate)
        place.until(lambda: place.posts(said))
        place.delete(said)
        gate.wait_empty()
        gate.release()
        place.until(lambda: whole(place, said) == "")


@on_slack
def test_alone_serve_works_as_well(fork_server: ForkServer, shared: Program, place: Place) -> None:
    with ending(start_forked(fork_server, shared)) as serving:
        serving.until_said(place.ready)
        assert "90 days" in the_answer(place, place.ask(KEYS))


def test_without_a_queue_a_sentence_says_what_is_missing(
    fork_server: ForkServer, footnote: Program
) -> None:
    with ending(start_forked(fork_server, footnote, command="worker")) as program:
        assert program.wait() == 2
        assert "needs PostgreSQL: set FOOTNOTE_DATABASE_URL" in program.said


@pytest.mark.parametrize("place", ["slack", "discord"], indirect=True)
def test_a_worker_with_a_token_that_is_not_accepted_takes_no_question(
    fork_server: ForkServer, shared: Program, place: Place
) -> None:
    name = {"slack": "SLACK_BOT_TOKEN", "discord": "DISCORD_TOKEN"}[place.name]
    shared.settings |= {name: "not-a-token.x.y"}
    with ending(start_forked(fork_server, shared, command="worker")) as worker:
        assert worker.wait() == 2
        assert name in worker.said
        assert "Working on questions" not in worker.said
