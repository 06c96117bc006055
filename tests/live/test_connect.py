"""A newcomer's walks: from a console with nothing configured to answers in a chat, by a model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.fakes.claude import FakeClaude
from tests.fakes.server import serve
from tests.live.browser import ask, barriers, chromium, scrolls_sideways, too_wide, watched
from tests.scenario.conftest import DOCUMENTS
from tests.scenario.discord_place import DiscordPlace, open_discord
from tests.scenario.places import KEYS, the_answer
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, ending, start_forked
from tests.scenario.slack_place import SlackPlace, open_slack
from tests.scenario.test_serve import health

__all__ = ["chromium"]

CONNECTED = "@footnote is in Footnote Test"
WRONG = "xoxb-not-this-one"
IN_DISCORD = "Logged in as footnote, in 1 server"
BY_CLAUDE = "Claude now searches, reads and writes the answers."


@pytest.fixture
def footnote(tmp_path: Path, fork_server: ForkServer) -> Program:
    for name, text in DOCUMENTS.items():
        path = tmp_path / "documents" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Program(tmp_path, {"FOOTNOTE_DOCS": str(tmp_path / "documents")}, starter=fork_server)


class Person:
    """Counts what somebody presses and fills in."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.presses = self.fields = 0

    def press(self, name: str, role: str = "button") -> None:
        self.presses += 1
        self.page.get_by_role(role, name=name, exact=True).first.click()  # type: ignore[arg-type]

    def enter(self, label: str, value: str) -> None:
        self.fields += 1
        self.page.get_by_label(label).fill(value)


def test_a_newcomer_connects_slack_in_the_browser(
    fork_server: ForkServer,
    footnote: Program,
    chromium: Browser,
) -> None:
    with open_slack() as place, watched(chromium) as browser:
        footnote.settings["FOOTNOTE_SLACK_API_URL"] = place.slack.api_url
        page = browser.context.new_page()
        person = Person(page)
        with ending(start_forked(fork_server, footnote)) as serving:
            page.goto(serving.http)
            person.press("Connect Slack", "link")
            _connect_with_a_mistake(person, place)
            expect(page.get_by_text(CONNECTED)).to_be_visible()
            expect(
                page.get_by_text("Invite it to a channel with /invite @footnote")
            ).to_be_visible()
            assert barriers(page) == []
            assert (person.presses, person.fields) == (3, 3)
            assert place.slack.bot_token not in page.content()
            assert "90 days" in the_answer(place, place.ask(KEYS))
            page.goto(f"{serving.http}/status")
            expect(page.locator("li.works", has_text=CONNECTED)).to_be_visible()
            expect(page.locator("li.works", has_text="Set in the console")).to_be_visible()
        with ending(start_forked(fork_server, footnote)) as serving:
            page.goto(f"{serving.http}/connect/slack")
            expect(page.get_by_text(CONNECTED)).to_be_visible()
            assert "90 days" in the_answer(place, place.ask(KEYS))
            _disconnect(person, "Bot User OAuth Token")
            assert "slack" not in health(f"{serving.http}/readyz")[1]["platforms"]
            assert "slack-secret" not in serving.said


def _connect_with_a_mistake(person: Person, place: SlackPlace) -> None:
    """The app-level token is right, the bot's at first is not: only that is entered again."""
    page = person.page
    person.enter("App-level token", place.slack.app_token)
    _refused(person, "Bot User OAuth Token", "Slack does not accept")
    expect(page.get_by_label("App-level token")).to_have_value("")
    expect(page.locator("#slack_app_token-said")).to_contain_text("Already entered")
    person.enter("Bot User OAuth Token", place.slack.bot_token)
    person.press("Test and connect")


def _refused(person: Person, label: str, why: str) -> None:
    """A wrong value is not accepted: the error stands at its field, which has the focus."""
    person.enter(label, WRONG)
    person.press("Test and connect")
    field = person.page.get_by_label(label)
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_be_focused()
    expect(field).to_have_accessible_description(re.compile(re.escape(why)))
    assert WRONG not in person.page.content()


def _disconnect(person: Person, label: str) -> None:
    """It ends with the form in which it can be connected again."""
    person.page.locator(".disconnect summary").click()
    person.press("Disconnect")
    expect(person.page.get_by_label(label)).to_be_visible()


def test_a_newcomer_connects_discord_in_the_browser(
    fork_server: ForkServer, footnote: Program, chromium: Browser
) -> None:
    with open_discord() as place, watched(chromium) as browser:
        footnote.settings["FOOTNOTE_DISCORD_API_URL"] = place.discord.url
        place.discord.app.content_intent = False
        page = browser.context.new_page()
        person = Person(page)
        with ending(start_forked(fork_server, footnote)) as serving:
            page.goto(serving.http)
            person.press("Connect Discord", "link")
            _refused(person, "Bot token", "Discord does not accept")
            person.enter("Bot token", place.discord.token)
            person.press("Test and connect")
            expect(page.get_by_role("alert")).to_contain_text("switch on Message Content Intent")
            place.discord.app.content_intent = True
            person.press("Test and connect")
            expect(page.get_by_text(IN_DISCORD)).to_be_visible()
            expect(page.get_by_text("ask with /ask, or mention it")).to_be_visible()
            assert barriers(page) == []
            assert (person.presses, person.fields) == (4, 2)
            assert place.discord.token not in page.content()
            assert "90 days" in _answer_to_a_command(place)
        with ending(start_forked(fork_server, footnote)) as serving:
            page.goto(f"{serving.http}/connect/discord")
            expect(page.get_by_text(IN_DISCORD)).to_be_visible()
            assert "90 days" in the_answer(place, place.ask(KEYS))
            _disconnect(person, "Bot token")
            assert "discord" not in health(f"{serving.http}/readyz")[1]["platforms"]
            assert place.discord.token not in serving.said


def _answer_to_a_command(place: DiscordPlace) -> str:
    """What the thread of ``/ask`` shows once it is answered."""
    discord = place.discord
    place.until(discord.registered)
    discord.people.slash(place.ada, place.general, "ask", {"question": KEYS})
    place.until(
        lambda: "[Helpful]" in "".join(map(discord.transcript, discord.threads_in(place.general)))
    )
    (thread,) = discord.threads_in(place.general)
    return discord.transcript(thread)


def test_a_newcomer_connects_claude_in_the_browser(
    fork_server: ForkServer, footnote: Program, chromium: Browser
) -> None:
    claude = FakeClaude(key="sk-ant-right")
    with serve(claude) as url, watched(chromium) as browser:
        footnote.settings["ANTHROPIC_BASE_URL"] = url
        page = browser.context.new_page()
        person = Person(page)
        passages = page.get_by_text("no language model has read them")
        with ending(start_forked(fork_server, footnote)) as serving:
            page.goto(serving.http)
            person.press("Connect Claude", "link")
            _refused(person, "API key", "invalid API key")
            person.enter("API key", "sk-ant-right")
            person.press("Test and connect")
            expect(page.get_by_text(BY_CLAUDE)).to_be_visible()
            assert barriers(page) == []
            assert (person.presses, person.fields) == (3, 2)
            assert "sk-ant-right" not in page.content()
            person.press("Ask", "link")
            ask(page, KEYS)
            expect(page.get_by_text("every 90 days").first).to_be_visible()
            expect(page.get_by_text("Sources (1)")).to_be_visible()
            expect(passages).to_have_count(0)
        with ending(start_forked(fork_server, footnote)) as serving:
            page.goto(f"{serving.http}/connect/claude")
            expect(page.get_by_text(BY_CLAUDE)).to_be_visible()
            _disconnect(person, "API key")
            asked = len(claude.requests)
            person.press("Ask", "link")
            ask(page, KEYS)
            expect(passages).to_be_visible()
            assert len(claude.requests) == asked > 0
            assert "sk-ant-right" not in serving.said


@pytest.mark.parametrize(
    "path", ["/connect/slack", "/connect/discord", "/connect/claude", "/status"]
)
@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1280, "dark")])
def test_the_pages_have_no_barriers_and_fit(
    fork_server: ForkServer,
    footnote: Program,
    chromium: Browser,
    path: str,
    width: int,
    scheme: str,
) -> None:
    with (
        ending(start_forked(fork_server, footnote)) as serving,
        watched(chromium, viewport={"width": width, "height": 800}, color_scheme=scheme) as browser,
    ):
        page = browser.context.new_page()
        page.goto(f"{serving.http}{path}")
        expect(page.locator("[data-refresh]")).to_have_count(0)
        assert barriers(page) == []
        assert scrolls_sideways(page) == 0
        assert too_wide(page) == []


def test_without_scripts_it_works_too(
    fork_server: ForkServer, footnote: Program, chromium: Browser
) -> None:
    with open_slack() as place, watched(chromium, java_script_enabled=False) as browser:
        footnote.settings["FOOTNOTE_SLACK_API_URL"] = place.slack.api_url
        with ending(start_forked(fork_server, footnote)) as serving:
            page = browser.context.new_page()
            page.goto(f"{serving.http}/connect/slack")
            _connect_with_a_mistake(Person(page), place)
            expect(page.get_by_text(CONNECTED)).to_be_visible()
            page.goto(f"{serving.http}/status")
            expect(page.locator("li.works", has_text=CONNECTED)).to_be_visible()
