"""From an answer in a chat to the page that tells how it came about, and to what operators see."""

from __future__ import annotations

import json
import signal
import urllib.error
import urllib.request
from typing import Any

import pytest
from lxml import html as lxml_html  # type: ignore[import-untyped]
from prometheus_client.parser import text_string_to_metric_families

from tests.fakes.postgres import Postgres
from tests.scenario.gate import Gate, ask_and_catch, until
from tests.scenario.places import KEYS, Place, the_answer, until_answered
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, Serving, ending, running, start_forked

TOKEN = "a-long-enough-token"
PUBLIC = "https://footnote.example.com"


def got(url: str) -> str:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request, timeout=60) as response:
        body: bytes = response.read()
    return body.decode()


def page(url: str) -> Any:
    return lxml_html.document_fromstring(got(url))


def numbers(url: str) -> dict[tuple[str, ...], float]:
    """Every sample by its name and the values of its labels."""
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(got(url))
        for sample in family.samples
    }


@pytest.mark.parametrize("place", ["slack", "discord"], indirect=True)
def test_an_answer_can_be_looked_into_and_is_counted(
    fork_server: ForkServer, chatty: Program, place: Place
) -> None:
    chatty.settings |= {"FOOTNOTE_PUBLIC_URL": PUBLIC, "FOOTNOTE_CONSOLE_TOKEN": TOKEN}
    with running(fork_server, chatty, place) as program:
        metrics = f"{program.http}/metrics"
        numbers(metrics)  # from here on it counts
        said = place.ask(KEYS)
        (post,) = until_answered(place, said, 1)
        place.press(said, "details")
        place.until(lambda: "How was this answered?" in place.whispers(said))

        # The end is kept when the answer is shown; before, it is not known what the run rests on.
        ended = ("footnote_run_seconds_count", place.name, "answered")
        place.until(lambda: numbers(metrics).get(ended) == 1)
        trace = page(f"{program.http}/runs/{post.run}")
        (question,) = trace.xpath("//h1")
        assert KEYS in question.text_content()
        marked = [mark.text_content() for mark in trace.xpath("//mark")]
        assert any("90 days" in words for words in marked)

        overview = page(f"{program.http}/overview?platform={place.name}")
        assert overview.xpath(f"//a[@href='/runs/{post.run}']")

        # Its cost is counted in a transaction of its own.
        asked = ("footnote_questions_total", place.name)
        place.until(lambda: numbers(metrics).get(asked) == 1)
        after = numbers(metrics)
        assert after["footnote_step_seconds_count", "search"] >= 1
        told = {key for key in after if key[0] == "footnote_platform_calls_total"}
        assert any(place.name in key and "200" in key for key in told), told


# ---------------------------------------------------------------- every kind of process

on_slack = pytest.mark.parametrize("place", ["slack"], indirect=True)


def readiness(program: Serving) -> tuple[int, dict[str, Any]]:
    try:
        return 200, json.loads(got(f"{program.http}/readyz"))
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_the_console_alone_is_ready_and_tells_its_numbers(
    fork_server: ForkServer, footnote: Program
) -> None:
    with ending(start_forked(fork_server, footnote)) as program:
        program.until_said("web is connected.")
        status, body = readiness(program)
        assert (status, body["status"]) == (200, "ready")
        assert body["database"] == {"state": "ok"}
        assert body["dispatcher"] == {"state": "ok", "working": 0}
        assert body["platforms"]["web"]["state"] == "connected"
        told = numbers(f"{program.http}/metrics")
        assert told["footnote_database_up",] == 1
        assert ("footnote_queue_workers",) not in told


@on_slack
def test_without_a_console_the_numbers_are_there_all_the_same(
    fork_server: ForkServer, chatty: Program, place: Place
) -> None:
    with running(fork_server, chatty, place, FOOTNOTE_CONSOLE="off") as program:
        program.until_said(place.ready)
        status, body = readiness(program)
        assert (status, set(body["platforms"])) == (200, {"slack"})
        told = numbers(f"{program.http}/metrics")
        assert any(key[0] == "footnote_platform_calls_total" for key in told)


@on_slack
def test_a_listener_and_its_workers_are_watched_each_for_itself(
    fork_server: ForkServer, thinking: Program, place: Place, postgres: Postgres
) -> None:
    thinking.settings |= {"FOOTNOTE_DATABASE_URL": postgres.migrated()}
    with ending(start_forked(fork_server, thinking, "--no-work")) as listener:
        listener.until_said(place.ready)
        status, body = readiness(listener)
        told = body["dispatcher"]
        assert (status, told["state"], told["workers"]) == (200, "no workers", 0)
        assert "footnote worker" in told["why"]
        worker = start_forked(fork_server, thinking, "--health-port", "0", command="worker")
        with ending(worker):
            worker.until_said("Working on questions")
            until(lambda: readiness(listener)[1]["dispatcher"] == {**IDLE, "workers": 1})
            until(lambda: readiness(worker)[0] == 200)
            status, body = readiness(worker)
            assert body["dispatcher"] == {**IDLE, "workers": 1}
            assert body["platforms"]["slack"]["state"] == "connected"

            assert "90 days" in the_answer(place, place.ask(KEYS))
            counted = numbers(f"{worker.http}/metrics")
            assert counted["footnote_queue_workers",] == 1
            posted = [key for key in counted if key[0] == "footnote_platform_calls_total"]
            assert any("chat" in method for _, method, *_ in posted), posted
            replies = ("footnote_model_request_seconds_count", "claude-sonnet-5-5", "ok")
            assert counted[replies] >= 1
            assert counted["footnote_provider_request_seconds_count", "ok", "local"] >= 1
            heard = numbers(f"{listener.http}/metrics")
            assert replies not in heard, "the listener asks no model"
            assert heard["footnote_questions_total", "slack"] == 1
        until(lambda: readiness(listener)[1]["dispatcher"]["state"] == "no workers")


IDLE = {"state": "ok", "working": 0}


@on_slack
def test_a_worker_that_is_told_to_end_says_so_at_once_and_finishes(
    fork_server: ForkServer, thinking: Program, place: Place, postgres: Postgres, gate: Gate
) -> None:
    thinking.settings |= {"FOOTNOTE_DATABASE_URL": postgres.migrated()}
    listen = start_forked(fork_server, thinking, "--no-work")
    work = start_forked(fork_server, thinking, "--health-port", "0", command="worker")
    with ending(listen) as listener, ending(work) as worker:
        listener.until_said(place.ready)
        worker.until_said("Working on questions")
        said = ask_and_catch(place, gate, after=1)
        worker.signal(signal.SIGTERM)
        worker.until_said("Ending: ")
        status, body = readiness(worker)
        assert (status, body["status"], body["dispatcher"]["working"]) == (503, "ending", 1)
        assert numbers(f"{worker.http}/metrics")["footnote_queue_running",] == 1
        gate.release()
        assert worker.wait() == 0
        assert "90 days" in the_answer(place, said)


@on_slack
def test_a_connection_that_is_lost_is_named_until_there_is_another(
    fork_server: ForkServer, chatty: Program, place: Place
) -> None:
    with running(fork_server, chatty, place) as program:
        program.until_said(place.ready)
        place.down()
        place.lose_connection()
        until(lambda: readiness(program)[0] == 503)
        told = readiness(program)[1]["platforms"]["slack"]
        assert told["state"] == "lost"
        assert told["since"]
        until(lambda: "why" in readiness(program)[1]["platforms"]["slack"])
        place.up()
        until(lambda: readiness(program)[0] == 200)


def test_lists_that_forgot_the_console_are_told_by_doctor_and_at_the_start(
    fork_server: ForkServer, footnote: Program
) -> None:
    footnote.settings["FOOTNOTE_ALLOW_CHANNELS"] = "C0123"
    with ending(start_forked(fork_server, footnote)) as program:
        program.until_said("No one may ask in the console. FOOTNOTE_ALLOW_CHANNELS does not name")
        program.until_said("web is connected.")
    with ending(start_forked(fork_server, footnote, command="doctor")) as program:
        program.until_said("FOOTNOTE_ALLOW_CHANNELS does not name the console: add local")
        program.wait()
