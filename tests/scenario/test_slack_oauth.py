"""One Footnote in several Slack workspaces: installed by OAuth, each with its own sealed token."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.storage.encryption import new_key
from tests.fakes.server import serve
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_limits import UNLIMITED
from tests.fakes.slack_stage import Browser
from tests.fakes.slack_workspace import Tenant
from tests.scenario.gate import Gate, ask_and_catch, until
from tests.scenario.places import KEYS, LUNCH, the_answer, until_shown
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, Serving, ending, start_forked
from tests.scenario.slack_place import ADA, MANIFEST, SlackPlace

OTHER = Tenant("T0OTHER", "U0OTHERBOT", "B0OTHERBOT", "Other Company", "other")
READY = "slack is connected."


@dataclass
class Two:
    """Two workspaces of one Slack, in which the app is not installed yet."""

    one: SlackPlace
    other: SlackPlace

    @property
    def places(self) -> tuple[SlackPlace, SlackPlace]:
        return self.one, self.other


@pytest.fixture
def two() -> Iterator[Two]:
    with (
        FakeSlack(MANIFEST, rate_limits=UNLIMITED, installed=False) as one,
        FakeSlack(beside=one, tenant=OTHER, rate_limits=UNLIMITED) as other,
    ):
        yield Two(SlackPlace(one), SlackPlace(other))


@pytest.fixture
def key() -> str:
    return new_key()


@pytest.fixture
def settings(two: Two, key: str) -> dict[str, str]:
    oauth = two.one.slack.oauth
    return {
        "SLACK_CLIENT_ID": oauth.client_id,
        "SLACK_CLIENT_SECRET": oauth.client_secret,
        "SLACK_SIGNING_SECRET": two.one.slack.signing_secret,
        "FOOTNOTE_SLACK_API_URL": two.one.slack.api_url,
        "FOOTNOTE_ENCRYPTION_KEYS": key,
    }


@pytest.fixture
def many(footnote: Program, documents: Path, settings: dict[str, str]) -> Program:
    footnote.settings |= {"FOOTNOTE_DOCS": str(documents), **settings}
    return footnote


@pytest.fixture
def claude(gate: Gate) -> Iterator[dict[str, str]]:
    """Settings for a Claude who can be made to wait."""
    with serve(gate) as url:
        yield {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": url}


@contextmanager
def serving(fork_server: ForkServer, program: Program, two: Two, **extra: str) -> Iterator[Serving]:
    """`serve`, to which Slack delivers from now on."""
    with ending(start_forked(fork_server, program, **extra)) as running:
        running.until_said(READY)
        two.one.slack.oauth.redirect_urls = [f"{running.http}/slack/oauth_redirect"]
        for place in two.places:
            place.slack.deliver_to(f"{running.http}/slack/events")
        yield running


def stored(program: Program) -> bytes:
    """All that the database's files hold."""
    folder = program.folder / "data"
    return b"".join(path.read_bytes() for path in sorted(folder.glob("footnote.sqlite*")))


def rows(program: Program, query: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(program.folder / "data" / "footnote.sqlite") as db:
        return db.execute(query).fetchall()


def test_two_workspaces_install_it_ask_at_once_and_one_removes_it(
    fork_server: ForkServer, many: Program, two: Two
) -> None:
    one, other = two.one, two.other
    with serving(fork_server, many, two) as program:
        one.ask("Is anybody there?")
        assert not one.slack.deliveries  # nothing is installed
        for place in two.places:
            browser = Browser(place.slack, ADA)
            used = browser.install(program.http)
            assert (
                "invalid_state" in Browser(place.slack, ADA, browser.state_of(used)).get(used).text
            )
        assert one.slack.bot_token != other.slack.bot_token

        asked = [(place, place.ask(text)) for place in two.places for text in (KEYS, LUNCH)]
        for place, said in asked:
            the_answer(place, said)
        for place in two.places:
            calls = place.slack.calls()
            assert {call.error for call in calls} == {None}
            assert {call.args.get("channel", "C1GENERAL") for call in calls} == {"C1GENERAL"}
            assert len(place.slack.calls("chat.stopStream") + place.slack.calls("chat.postMessage"))

        kept = stored(many)
        for place in two.places:
            assert place.slack.team.encode() in kept
            assert place.slack.bot_token.encode() not in kept
        assert not any(place.slack.bot_token in program.said for place in two.places)

        for delivery in other.slack.uninstall():
            delivery.wait()
        assert rows(many, "SELECT team_id FROM slack_bots") == [(one.slack.team,)]
        assert rows(many, "SELECT team_id FROM slack_installations") == [(one.slack.team,)]
        assert "90 days" in the_answer(one, one.ask(KEYS))


def test_a_question_that_one_process_took_in_is_answered_by_another(
    fork_server: ForkServer, many: Program, two: Two, gate: Gate, claude: dict[str, str]
) -> None:
    place = two.other
    with serving(fork_server, many, two, **claude) as program:
        Browser(place.slack, ADA).install(program.http)
        said = ask_and_catch(place, gate)
        until_shown(place, said, "Searching: ")
        program.kill()
    gate.wait_empty()
    gate.release()
    with serving(fork_server, many, two, **claude):
        assert "90 days" in the_answer(place, said)
        assert len(gate.research) == 3
    assert not two.one.slack.calls("chat.postMessage")


def test_a_question_of_a_workspace_that_is_gone_ends_unposted(
    fork_server: ForkServer, many: Program, two: Two, gate: Gate, claude: dict[str, str]
) -> None:
    place = two.other
    with serving(fork_server, many, two, **claude) as program:
        for one in two.places:
            Browser(one.slack, ADA).install(program.http)
        ask_and_catch(place, gate)
        for delivery in place.slack.uninstall():
            delivery.wait()
        gate.release()
        until(lambda: rows(many, "SELECT state FROM runs") == [("failed",)])
        assert "90 days" in the_answer(two.one, two.one.ask(KEYS))
        refused = [call for call in place.slack.calls() if call.error == "account_inactive"]
        assert 0 < len(refused) < 10


def test_keys_can_be_changed_and_a_wrong_one_is_told(
    fork_server: ForkServer, many: Program, two: Two, key: str
) -> None:
    place, newer = two.one, new_key()
    with serving(fork_server, many, two) as program:
        Browser(place.slack, ADA).install(program.http)
    with ending(start_forked(fork_server, many, FOOTNOTE_ENCRYPTION_KEYS=newer)) as program:
        assert program.wait() == 2
        assert "No key of FOOTNOTE_ENCRYPTION_KEYS opens the tokens" in program.said
        assert newer not in program.said
    with serving(fork_server, many, two, FOOTNOTE_ENCRYPTION_KEYS=f"{newer},{key}"):
        the_answer(place, place.ask(KEYS))
    with serving(fork_server, many, two, FOOTNOTE_ENCRYPTION_KEYS=newer):
        the_answer(place, place.ask(LUNCH))
