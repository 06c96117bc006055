"""The database goes away while Footnote works, or has no room, and is there again."""

from __future__ import annotations

import json
import resource
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.mortal_postgres import MortalPostgres, a_mortal_postgres
from tests.scenario.gate import Gate, ask_and_catch, until
from tests.scenario.places import LUNCH, Place, the_answer
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, Serving, ending, start_forked

BEGAN, ENDED = "database does not work, waiting", "database works again"

# What depends on no platform is tried on one; that of Slack is what waits longest by itself.
pytestmark = pytest.mark.parametrize("place", ["slack"], indirect=True)


@pytest.fixture(scope="module")
def mortal() -> Iterator[MortalPostgres]:
    with a_mortal_postgres() as server:
        yield server


def health(program: Serving) -> tuple[int, dict[str, Any]]:
    try:
        with urllib.request.urlopen(f"{program.http}/readyz", timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def number(program: Serving, name: str) -> float:
    """A metric without labels, as Prometheus would read it."""
    with urllib.request.urlopen(f"{program.http}/metrics", timeout=60) as answer:
        text = answer.read().decode()
    return next(float(line.split()[1]) for line in text.splitlines() if line.startswith(f"{name} "))


def lines(program: Serving, words: str) -> list[str]:
    return [line for line in program.said.splitlines() if words in line]


def assert_told_once(program: Serving) -> None:
    """As installed the log has a warning when it began and one when it ended, and no others."""
    until(lambda: health(program)[0] == 200)
    assert len(lines(program, BEGAN)) == len(lines(program, ENDED)) == 1, program.said
    told = [line for line in lines(program, "level=") if "level=info" not in line]
    assert len(told) == 2, program.said


def assert_paid_once(gate: Gate) -> None:
    keys = [request.key for request in gate.claude.requests]
    assert len(keys) == len(set(keys)), "a finished model call was paid for twice"


def test_a_run_and_a_new_question_outlast_the_database(
    fork_server: ForkServer, thinking: Program, place: Place, gate: Gate, mortal: MortalPostgres
) -> None:
    thinking.settings |= {"FOOTNOTE_DATABASE_URL": mortal.url}
    as_installed = {"FOOTNOTE_LOG_LEVEL": "warning"}
    listen = start_forked(fork_server, thinking, "--no-work", **as_installed)
    work = start_forked(
        fork_server, thinking, "--health-port", "0", command="worker", **as_installed
    )
    with ending(listen) as listener, ending(work) as worker:
        listener.until_said(place.ready)
        worker.until_said("Working on questions")
        said = ask_and_catch(place, gate, after=1)
        assert (health(listener)[0], health(worker)[0]) == (200, 200)

        mortal.stop_at_once()
        late = place.ask(LUNCH)
        for program in (listener, worker):
            until(lambda program=program: health(program)[0] == 503)
            _, body = health(program)
            assert body["status"] == "not ready"
            assert "The database" in body["database"]["why"]
            assert body["database"]["since"]
        answered = len(gate.claude.requests)
        gate.release()
        until(lambda: len(gate.claude.requests) > answered)

        mortal.start()
        assert "90 days" in the_answer(place, said)
        assert "6.50" in the_answer(place, late)
        assert_paid_once(gate)
        for program in (listener, worker):
            assert_told_once(program)


def test_a_run_and_a_new_question_outlast_a_full_disk(
    fork_server: ForkServer, thinking: Program, place: Place, gate: Gate
) -> None:
    """On SQLite; the disk is as full as the process may make its files large."""
    with ending(start_forked(fork_server, thinking, FOOTNOTE_LOG_LEVEL="warning")) as program:
        program.until_said(place.ready)
        said = ask_and_catch(place, gate, after=1)
        allowed, hard = resource.prlimit(program.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(program.pid, resource.RLIMIT_FSIZE, (4096, hard))
        late = place.ask(LUNCH)
        gate.release()
        until(lambda: health(program)[0] == 503)
        assert "disk full" in health(program)[1]["database"]["why"]
        assert number(program, "footnote_database_up") == 1
        assert number(program, "footnote_database_writable") == 0
        resource.prlimit(program.pid, resource.RLIMIT_FSIZE, (allowed, hard))
        assert "90 days" in the_answer(place, said)
        assert "6.50" in the_answer(place, late)
        assert number(program, "footnote_database_writable") == 1
        assert_paid_once(gate)
        assert_told_once(program)


def test_a_database_that_is_started_later_is_waited_for(
    fork_server: ForkServer, chatty: Program, place: Place, mortal: MortalPostgres
) -> None:
    """Containers start in any order."""
    mortal.stop_at_once()
    chatty.settings |= {"FOOTNOTE_DATABASE_URL": mortal.url}
    listen = start_forked(fork_server, chatty, "--no-work", FOOTNOTE_LOG_LEVEL="warning")
    work = start_forked(fork_server, chatty, command="worker", FOOTNOTE_LOG_LEVEL="warning")
    with ending(listen) as listener, ending(work) as worker:
        for program in (listener, worker):
            program.until_said(BEGAN)
            assert "cannot be reached" in program.said
        mortal.start()
        listener.until_said(place.ready)
        worker.until_said("Working on questions")
        for program in (listener, worker):
            assert len(lines(program, BEGAN)) == len(lines(program, ENDED)) == 1, program.said
