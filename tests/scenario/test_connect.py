"""Settings kept in the console, and `footnote serve` that restarts with them."""

from __future__ import annotations

import asyncio
import html
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from bot.operation.configuration import load_settings
from bot.operation.kept_settings import KeptSettings
from bot.storage.database import open_database
from tests.fakes import sqlite
from tests.scenario.gate import until
from tests.scenario.places import KEYS, the_answer
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, Serving, ending, start_forked
from tests.scenario.slack_place import SlackPlace, open_slack

STARTED = "Listening for HTTP on "


@pytest.fixture
def slack() -> Iterator[SlackPlace]:
    with open_slack() as place:
        yield place


@pytest.fixture
def plain(footnote: Program, documents: Path, slack: SlackPlace) -> Program:
    """The program with documents, and no chat."""
    footnote.settings |= {
        "FOOTNOTE_DOCS": str(documents),
        "FOOTNOTE_SLACK_API_URL": slack.slack.api_url,
    }
    return footnote


def enter(
    serving: Serving, slack: SlackPlace, path: str = "/connect/slack", **fields: str
) -> httpx.Response:
    """Send the form of a page, by default with the right tokens."""
    serving.until_said("web is connected")
    tokens = {"slack_bot_token": slack.slack.bot_token, "slack_app_token": slack.slack.app_token}
    with httpx.Client(base_url=serving.http, timeout=60, follow_redirects=True) as browser:
        page = browser.get("/connect/slack").text
        found = re.search(r'name="csrf" value="([^"]+)"', page)
        assert found is not None, page
        return browser.post(path, data={"csrf": found[1], **tokens, **fields})


def starts(serving: Serving) -> int:
    return serving.said.count(STARTED)


def test_what_is_entered_connects_in_place_and_at_the_next_start(
    fork_server: ForkServer, plain: Program, slack: SlackPlace
) -> None:
    with ending(start_forked(fork_server, plain)) as serving:
        assert enter(serving, slack).status_code == 200
        serving.until_said("slack is connected.")
        addresses = set(re.findall(rf"{STARTED}(\S+)\.", serving.said))
        assert len(addresses) == 1
        assert "90 days" in the_answer(slack, slack.ask(KEYS))
    with ending(start_forked(fork_server, plain)) as serving:
        serving.until_said("slack is connected.")
        assert enter(serving, slack, "/connect/slack/drop").status_code == 200
        until(lambda: starts(serving) == 2)
        serving.until_said("web is connected")
        assert "slack" not in httpx.get(f"{serving.http}/readyz", timeout=60).json()["platforms"]
        assert slack.slack.bot_token not in serving.said


@pytest.mark.slow
def test_a_kill_right_after_it_was_kept_loses_nothing(
    fork_server: ForkServer, plain: Program, slack: SlackPlace
) -> None:
    serving = start_forked(fork_server, plain)
    enter(serving, slack)
    serving.kill()
    with ending(start_forked(fork_server, plain)) as serving:
        serving.until_said("slack is connected.")


@pytest.mark.slow
def test_sigterm_while_it_restarts_ends_it_cleanly(
    fork_server: ForkServer, plain: Program, slack: SlackPlace
) -> None:
    with ending(start_forked(fork_server, plain)) as serving:
        enter(serving, slack)
        serving.signal(signal.SIGTERM)
        assert serving.wait() == 0


def test_a_refused_token_is_told_and_the_console_stays_at_every_start(
    fork_server: ForkServer, plain: Program, slack: SlackPlace
) -> None:
    with ending(start_forked(fork_server, plain)) as serving:
        enter(serving, slack)
        serving.until_said("slack is connected.")
    slack.slack.revoke()
    for _ in range(2):
        with ending(start_forked(fork_server, plain)) as serving:
            serving.until_said("slack does not work: Slack does not accept SLACK_BOT_TOKEN")
            page = httpx.get(f"{serving.http}/connect/slack", timeout=60).text
            assert "Slack does not accept SLACK_BOT_TOKEN" in page
            assert "Disconnect" in page


def test_kept_settings_that_make_the_start_fail_are_told_and_left_out(
    fork_server: ForkServer, plain: Program
) -> None:
    settings = load_settings(data_dir=plain.folder / "data")
    sqlite.migrated(settings.data_dir)

    async def keep() -> None:
        database = await open_database(settings.database)
        await KeptSettings(settings, database).keep({"reasoner": "nobody"})
        await database.close()

    asyncio.run(keep())
    why = "FOOTNOTE_REASONER is 'nobody'"
    with ending(start_forked(fork_server, plain)) as serving:
        serving.until_said(f"What was set in the console cannot be used: {why}")
        serving.until_said("web is connected")
        page = httpx.get(f"{serving.http}/status", timeout=60).text
        assert why in html.unescape(page)
