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
from bot.operation.kept_settings import KEY, KeptSettings
from bot.storage.database import open_database
from tests.fakes import sqlite
from tests.fakes.claude import FakeClaude
from tests.fakes.server import serve
from tests.scenario.gate import until
from tests.scenario.places import KEYS, the_answer
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, Serving, ending, start_forked
from tests.scenario.slack_place import SlackPlace, open_slack
from tests.scenario.test_sources import change, until_started

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
    tokens = {"slack_bot_token": slack.slack.bot_token, "slack_app_token": slack.slack.app_token}
    return send(serving, path, **tokens, **fields)


def send(serving: Serving, path: str, **fields: str) -> httpx.Response:
    serving.until_said("web is connected")
    with httpx.Client(base_url=serving.http, timeout=60, follow_redirects=True) as browser:
        return browser.post(path, data=fields, headers={"Origin": serving.http})


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


# ---------------------------------------------------------------- in the terminal


@pytest.fixture
def entered(fork_server: ForkServer, footnote: Program, documents: Path) -> Iterator[Program]:
    """The program, after Claude's key and a folder were entered in its console."""
    with serve(FakeClaude()) as url:
        footnote.settings |= {"ANTHROPIC_BASE_URL": url}
        with ending(start_forked(fork_server, footnote)) as serving:
            assert send(serving, "/connect/claude", anthropic_api_key="sk-ant").status_code == 200
            until_started(serving, 2)
            change(serving, "add-folder", path=str(documents), sure="yes")
            until_started(serving, 3)
        yield footnote


WHO = "Who approves expensive journeys?"


def test_a_question_in_the_terminal_uses_what_was_entered(entered: Program, tmp_path: Path) -> None:
    ended = entered.run("ask", "--json", WHO)
    assert ended.json["reasoner"] == "claude", ended.err
    assert ended.json["citations"][0]["url"].endswith("/documents/travel.md")
    assert ended.err.count("console") == 0

    (tmp_path / "note.md").write_text("# Journeys\n\nAda approves expensive journeys.\n")
    named = entered.run("ask", "--json", "--docs", str(tmp_path / "note.md"), WHO)
    assert [each["url"] for each in named.json["citations"]] == [(tmp_path / "note.md").as_uri()]
    assert entered.run("ask", "--json", WHO, FOOTNOTE_REASONER="closest").json["reasoner"] == (
        "closest"
    ), "what is set elsewhere wins"


def test_a_lost_key_file_is_named_once_and_the_question_is_answered(entered: Program) -> None:
    key = entered.folder / "data" / KEY
    key.unlink()
    ended = entered.run("ask", "--json", WHO)
    assert (ended.code, ended.json["reasoner"]) == (0, "closest")
    assert "Maria Keller" in str(ended.json["citations"]), "the folder is kept in plain"
    assert ended.err.count(f"{key} is missing, unreadable or another key.") == 1
    assert "✗ Set in the console: Keys and tokens" in entered.run("doctor").out
