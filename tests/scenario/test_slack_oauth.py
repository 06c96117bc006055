"""One Footnote in several Slack workspaces: installed by OAuth, each with its own sealed token."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from bot.storage.seal import new_key
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_limits import UNLIMITED
from tests.fakes.slack_oauth import SIGNED_IN
from tests.fakes.slack_workspace import Tenant
from tests.scenario.gate import Gate, ask_and_catch, until
from tests.scenario.places import KEYS, LUNCH, the_answer, until_shown, whole
from tests.scenario.program import Program
from tests.scenario.serving import Nursery, Serving, ending, start_forked
from tests.scenario.slack_place import ADA, MANIFEST, SlackPlace

OTHER = Tenant("T0OTHER", "U0OTHERBOT", "B0OTHERBOT", "Other Company", "other")
READY = "slack is connected."


@dataclass
class Browser:
    """An admin's, signed in to Slack; what ends TLS before Footnote lets it keep its cookies."""

    slack: FakeSlack
    cookies: dict[str, str] = field(default_factory=dict)

    def get(self, url: str) -> httpx.Response:
        """Without following where it is sent."""
        at_slack = url.startswith(self.slack.base)
        cookies = {SIGNED_IN: f"{self.slack.team}-{ADA}"} if at_slack else self.cookies
        header = "; ".join(f"{name}={value}" for name, value in cookies.items())
        answer = httpx.get(url, headers={"Cookie": header}, trust_env=False)
        if not at_slack:
            self.cookies |= dict(answer.cookies)
        return answer

    def to_slack(self, serving: Serving) -> str:
        """Where it is sent from /slack/install."""
        begun = self.get(f"{serving.http}/slack/install")
        assert begun.status_code == 302
        return begun.headers["Location"]

    def back(self, authorize_url: str) -> str:
        """Where Slack sends it once its owner said yes."""
        agreed = self.get(authorize_url)
        assert agreed.status_code == 302, agreed.text
        return agreed.headers["Location"]

    def install(self, serving: Serving) -> str:
        """The whole way; returns the last address."""
        address = self.back(self.to_slack(serving))
        done = self.get(address)
        assert done.status_code == 200, done.text
        assert "Thank you" in done.text
        return address


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


@contextmanager
def serving(nursery: Nursery, program: Program, two: Two, **extra: str) -> Iterator[Serving]:
    """`serve`, to which Slack delivers from now on."""
    with ending(start_forked(nursery, program, **extra)) as running:
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
    nursery: Nursery, many: Program, two: Two
) -> None:
    one, other = two.one, two.other
    with serving(nursery, many, two) as program:
        one.ask("Is anybody there?")
        assert not one.slack.deliveries  # nothing is installed
        for place in two.places:
            Browser(place.slack).install(program)
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
