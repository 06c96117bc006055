"""`footnote serve` as an operator sees it: wrong settings, health, several platforms, replicas."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.fakes.postgres import Postgres
from tests.scenario.discord_place import DiscordPlace, open_discord
from tests.scenario.gate import Gate, ask_and_catch, until
from tests.scenario.places import KEYS, LUNCH, the_answer, until_shown, whole
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, Serving, ending, running, start_alone, start_forked
from tests.scenario.slack_place import SlackPlace, open_slack


@pytest.fixture
def slack() -> Iterator[SlackPlace]:
    with open_slack() as place:
        yield place


@pytest.fixture
def discord() -> Iterator[DiscordPlace]:
    with open_discord() as place:
        yield place


@pytest.fixture
def place(slack: SlackPlace) -> SlackPlace:
    """The place of tests that need only one."""
    return slack


@pytest.fixture
def both(footnote: Program, documents: Path, slack: SlackPlace, discord: DiscordPlace) -> Program:
    footnote.settings |= {"FOOTNOTE_DOCS": str(documents), **slack.settings, **discord.settings}
    return footnote


def health(url: str) -> tuple[int, dict[str, Any]]:
    try:
        with urlopen(url, timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except HTTPError as error:
        return error.code, json.loads(error.read())


def states(body: dict[str, Any]) -> dict[str, str]:
    """Each platform with how it stands with it."""
    return {name: told["state"] for name, told in body["platforms"].items()}


# ---------------------------------------------------------------- options


def test_the_port_of_the_command_line_outweighs_the_setting(
    fork_server: ForkServer, footnote: Program, documents: Path
) -> None:
    options = ("--docs", str(documents), "--host", "127.0.0.1", "--port", "0")
    taken = {"FOOTNOTE_HTTP_HOST": "192.0.2.1", "FOOTNOTE_HTTP_PORT": "1"}
    with ending(start_forked(fork_server, footnote, *options, **taken)) as serving:
        assert health(f"{serving.http}/healthz")[0] == 200


# ---------------------------------------------------------------- systemd


@pytest.mark.parametrize("command", ["serve", "worker"])
def test_systemd_is_told_that_it_is_ready_alive_and_ending(
    fork_server: ForkServer, footnote: Program, postgres: Postgres, tmp_path: Path, command: str
) -> None:
    if command == "worker":
        footnote.settings |= {
            "FOOTNOTE_DATABASE_URL": postgres.migrated(),
            "FOOTNOTE_CONSOLE_TOKEN": "a-token-of-the-console",
        }
    options = ("--health-port", "0") if command == "worker" else ()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.settimeout(30)
        systemd.bind(str(tmp_path / "notify"))
        told = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "300000"}
        with ending(
            start_forked(fork_server, footnote, *options, command=command, **told)
        ) as serving:
            assert systemd.recv(100) == b"READY=1"
            assert health(f"{serving.http}/healthz")[0] == 200
            assert {systemd.recv(100) for _ in range(2)} == {b"WATCHDOG=1"}
            serving.signal(signal.SIGTERM)
            assert b"STOPPING=1" in iter(lambda: systemd.recv(100), None)
            assert serving.wait() == 0


# ---------------------------------------------------------------- wrong settings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SLACK_BOT_TOKEN", "xoxb-wrong"),
        ("SLACK_APP_TOKEN", "xapp-wrong"),
        ("SLACK_APP_TOKEN", ""),
        ("SLACK_BOT_TOKEN", ""),
    ],
)
def test_a_wrong_slack_token_ends_serve_with_its_name(
    fork_server: ForkServer, footnote: Program, slack: SlackPlace, name: str, value: str
) -> None:
    footnote.settings |= {**slack.settings, name: value}
    with ending(start_forked(fork_server, footnote)) as program:
        assert program.wait() == 2
        assert name in program.said
        assert value not in program.said or not value


def test_a_wrong_discord_token_ends_serve_with_its_name(
    fork_server: ForkServer, footnote: Program, discord: DiscordPlace
) -> None:
    footnote.settings |= {**discord.settings, "DISCORD_TOKEN": "wrong.token.indeed"}
    with ending(start_forked(fork_server, footnote)) as program:
        assert program.wait() == 2
        assert "DISCORD_TOKEN" in program.said
        assert "wrong.token.indeed" not in program.said


def test_a_platform_that_cannot_work_leaves_the_other_one_alone(
    fork_server: ForkServer, both: Program, slack: SlackPlace
) -> None:
    with running(fork_server, both, slack, DISCORD_TOKEN="wrong.token.indeed") as program:
        program.until_said("discord does not work")
        assert "90 days" in the_answer(slack, slack.ask(KEYS))
        status, body = health(f"{program.http}/readyz")
        assert (status, body["status"]) == (200, "ready")
        assert states(body) == {"slack": "connected", "discord": "failed", "web": "connected"}
        assert "DISCORD_TOKEN" in body["platforms"]["discord"]["why"]


@pytest.mark.parametrize("scope", ["chat:write", "files:read", "reactions:read"])
def test_the_doctor_names_a_scope_that_slack_did_not_grant(
    fork_server: ForkServer, footnote: Program, slack: SlackPlace, scope: str
) -> None:
    slack.slack.without_scopes(scope)
    footnote.settings |= slack.settings
    with ending(start_forked(fork_server, footnote, command="doctor")) as program:
        assert program.wait() == 1
        assert scope in program.said


def test_the_doctor_names_the_intent_that_is_off(
    fork_server: ForkServer, footnote: Program, discord: DiscordPlace
) -> None:
    discord.discord.app.content_intent = False
    footnote.settings |= discord.settings
    with ending(start_forked(fork_server, footnote, command="doctor")) as program:
        assert program.wait() == 1
        assert "Message Content Intent" in program.said


# ---------------------------------------------------------------- health and ending


def test_it_is_ready_once_any_platform_is_connected_and_names_the_others(
    fork_server: ForkServer, both: Program, slack: SlackPlace, discord: DiscordPlace
) -> None:
    slack.down()
    discord.down()
    with ending(start_forked(fork_server, both)) as program:
        program.until_said("web is connected.")
        assert health(f"{program.http}/healthz") == (200, {"status": "ok"})
        away = {"slack": "connecting", "discord": "connecting", "web": "connected"}
        until(lambda: "why" in health(f"{program.http}/readyz")[1]["platforms"]["slack"])
        status, body = health(f"{program.http}/readyz")
        assert (status, body["status"], states(body)) == (503, "not ready", away)
        assert "Slack" in body["platforms"]["slack"]["why"]
        assert "since" in body["platforms"]["slack"]
        slack.up()
        program.until_said(slack.ready)
        status, body = health(f"{program.http}/readyz")
        assert (status, states(body)) == (200, {**away, "slack": "connected"})
        assert "why" not in body["platforms"]["slack"]
        discord.up()
        program.until_said(discord.ready)
        status, body = health(f"{program.http}/readyz")
        assert (status, set(states(body).values())) == (200, {"connected"})


def test_it_is_not_ready_when_one_is_away_and_the_other_does_not_work(
    fork_server: ForkServer, both: Program, slack: SlackPlace
) -> None:
    slack.down()
    both.settings |= {"DISCORD_TOKEN": "wrong.token.indeed"}
    with ending(start_forked(fork_server, both)) as program:
        program.until_said("web is connected.")
        program.until_said("discord does not work")
        status, body = health(f"{program.http}/readyz")
        assert (status, body["status"]) == (503, "not ready")
        assert states(body) == {"slack": "connecting", "discord": "failed", "web": "connected"}
        assert "DISCORD_TOKEN" in body["platforms"]["discord"]["why"]


def test_ending_lets_a_working_question_be_answered(
    fork_server: ForkServer, thinking: Program, slack: SlackPlace, gate: Gate
) -> None:
    with running(fork_server, thinking, slack) as program:
        said = ask_and_catch(slack, gate)
        program.signal(signal.SIGTERM)
        program.until_said("Ending: ")
        status, body = health(f"{program.http}/readyz")
        assert (status, body["status"]) == (503, "ending")
        assert body["dispatcher"] == {"state": "ok", "working": 1}
        assert health(f"{program.http}/healthz") == (200, {"status": "ok"})
        gate.release()
        assert program.wait() == 0
        assert "90 days" in the_answer(slack, said)


# ---------------------------------------------------------------- several platforms


def test_while_slack_is_down_discord_answers_and_slack_follows_by_itself(
    fork_server: ForkServer, both: Program, slack: SlackPlace, discord: DiscordPlace
) -> None:
    with running(fork_server, both, slack) as program:
        program.until_said(discord.ready)
        slack.down()
        said = slack.ask(KEYS)
        assert "6.50" in the_answer(discord, discord.ask(LUNCH))
        assert whole(slack, said) == ""
        slack.up()
        assert "90 days" in the_answer(slack, said)


def test_a_platform_that_is_down_at_the_start_is_waited_for(
    both: Program, slack: SlackPlace, discord: DiscordPlace
) -> None:
    slack.down()
    discord.down()
    with ending(start_alone(both)) as program:
        until(lambda: discord.discord.requests() and slack.slack.calls())
        discord.up()
        program.until_said(discord.ready)
        assert "6.50" in the_answer(discord, discord.ask(LUNCH))
        slack.up()
        program.until_said(slack.ready)
        assert "90 days" in the_answer(slack, slack.ask(KEYS))


# ---------------------------------------------------------------- replicas


@contextmanager
def replica(fork_server: ForkServer, program: Program, slack: SlackPlace) -> Iterator[Serving]:
    with ending(start_forked(fork_server, program)) as serving:
        serving.until_said(slack.ready)
        yield serving


def by_http(slack: SlackPlace) -> dict[str, str]:
    return {
        "SLACK_BOT_TOKEN": slack.slack.bot_token,
        "SLACK_SIGNING_SECRET": slack.slack.signing_secret,
        "FOOTNOTE_SLACK_API_URL": slack.slack.api_url,
    }


def test_two_replicas_answer_an_event_that_both_are_told_once(
    fork_server: ForkServer, footnote: Program, documents: Path, slack: SlackPlace
) -> None:
    footnote.settings |= {"FOOTNOTE_DOCS": str(documents), **by_http(slack)}
    with (
        replica(fork_server, footnote, slack) as one,
        replica(fork_server, footnote, slack) as two,
    ):
        assert slack.slack.verify_url(f"{one.http}/slack/events")
        slack.slack.deliver_to(f"{one.http}/slack/events")
        asked = [slack.ask(KEYS if number % 2 else LUNCH) for number in range(6)]
        for delivery in list(slack.slack.deliveries):
            again = slack.slack.deliver_http(
                f"{two.http}/slack/events", delivery.payload, delivery.kind, attempt=1
            )
            assert again.acked
        for said in asked:
            the_answer(slack, said)


def test_a_replica_that_dies_is_replaced_by_the_other(
    fork_server: ForkServer, thinking: Program, slack: SlackPlace, gate: Gate
) -> None:
    for name in slack.settings:
        del thinking.settings[name]
    thinking.settings |= by_http(slack)
    with (
        replica(fork_server, thinking, slack) as one,
        replica(fork_server, thinking, slack),
    ):
        slack.slack.deliver_to(f"{one.http}/slack/events")
        said = ask_and_catch(slack, gate)
        until_shown(slack, said, "Searching: ")
        one.kill()
        gate.wait_empty()  # or its last call would still be counted
        gate.release()
        assert "90 days" in the_answer(slack, said)
        assert len(gate.research) == 3


def test_an_unsigned_event_is_refused(
    fork_server: ForkServer, footnote: Program, slack: SlackPlace
) -> None:
    footnote.settings |= by_http(slack)
    with replica(fork_server, footnote, slack) as program:
        url = f"{program.http}/slack/events"
        slack.slack.deliver_to(url, secret="another secret")
        said = slack.ask(KEYS)
        until(lambda: all(d.attempts and d.attempts[0].status for d in slack.slack.deliveries))
        assert {d.attempts[0].status for d in slack.slack.deliveries} == {401}
        assert whole(slack, said) == ""
