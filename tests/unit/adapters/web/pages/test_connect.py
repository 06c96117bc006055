"""Connecting chats and models in the console, without a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from adapters.web.pages.connect import Connectable, connectables, unconnected
from bot.core.texts import texts_for
from bot.operation.configuration import load_settings, settings_class
from bot.operation.kept_settings import KeptSettings
from tests.fakes.slack import FakeSlack
from tests.unit.adapters.slack.serving import MANIFEST
from tests.unit.adapters.web.conftest import Browser, OpenConsole, Running

WRONG = "xoxb-not-this-one"


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with FakeSlack(MANIFEST) as slack:
        yield slack


@pytest.fixture
async def here(open_console: OpenConsole, slack: FakeSlack, tmp_path: Path) -> Running:
    return await open_console(slack_api_url=slack.api_url, data_dir=tmp_path)


async def send(browser: Browser, path: str = "/connect/slack", **fields: str) -> httpx.Response:
    return await browser.post(path, **fields)


async def kept(here: Running) -> frozenset[str]:
    return (await KeptSettings(here.reception.given, here.store.database).read()).names


# ---------------------------------------------------------------- what is declared


@pytest.mark.parametrize("part", connectables().values(), ids=connectables())
def test_all_that_is_declared_has_its_texts_and_settings(part: Connectable) -> None:
    steps, texts = part.setup.steps(), texts_for("en")
    assert all(texts(step.text) for step in steps)
    assert all(texts(step.label) for step in steps if step.link or step.field)
    assert tuple(step.field for step in steps if step.field) == part.setup.fields
    assert set(part.setup.fields) <= settings_class().model_fields.keys()
    assert texts(part.setup.connected, name="@footnote")


def test_the_link_to_slack_makes_the_app_of_the_manifest_and_is_no_longer_than_links_may_be() -> (
    None
):
    link = connectables()["slack"].setup.steps()[0].link
    assert link.startswith("https://api.slack.com/apps?new_app=1&manifest_json=%7B%22")
    assert "connections" not in link
    assert "app_mentions%3Aread" in link
    assert len(link) < 8_000


def test_only_what_is_missing_is_offered() -> None:
    assert list(unconnected(load_settings())) == ["slack", "discord", "claude"]
    assert list(unconnected(load_settings(DISCORD_TOKEN="x"))) == ["claude"]
    assert list(unconnected(load_settings(ANTHROPIC_API_KEY="x"))) == ["slack", "discord"]


# ---------------------------------------------------------------- entering tokens


async def test_an_error_stands_at_its_field_and_the_other_value_need_not_come_again(
    here: Running, browser: Browser, slack: FakeSlack
) -> None:
    answer = await send(browser, slack_bot_token=WRONG, slack_app_token=slack.app_token)
    assert answer.status_code == 422
    assert re.search(r'id="slack_bot_token-said"[^>]*>Slack does not accept', answer.text)
    assert "Already entered" in answer.text
    assert WRONG not in answer.text
    assert slack.app_token not in answer.text
    assert await kept(here) == frozenset()
    assert not here.reception.restart.is_set()
    answer = await send(browser, slack_bot_token=slack.bot_token, slack_app_token="")
    assert (answer.status_code, answer.headers["location"]) == (303, "/connect/slack")
    assert await kept(here) == {"slack_bot_token", "slack_app_token"}
    assert here.reception.restart.is_set()
    assert "is starting with the new settings" in (await browser.get("/connect/slack")).text


async def test_a_value_may_be_copied_with_its_quotes(
    here: Running, browser: Browser, slack: FakeSlack
) -> None:
    tokens = {"slack_bot_token": slack.bot_token, "slack_app_token": slack.app_token}
    quoted = {field: f' "{token}"\n' for field, token in tokens.items()}
    shown = (await send(browser, **quoted, way="lines")).text
    assert f"SLACK_BOT_TOKEN={slack.bot_token}\n" in shown


async def test_values_entered_by_one_client_are_not_those_of_another(
    here: Running, browser: Browser, slack: FakeSlack
) -> None:
    await send(browser, slack_bot_token=WRONG, slack_app_token=slack.app_token)
    other = await send(await here.browser("::1"), slack_bot_token=slack.bot_token)
    assert other.status_code == 422
    assert re.search(r'id="slack_app_token-said"[^>]*>This is required', other.text)


async def test_the_lines_for_env_are_tested_shown_once_and_kept_nowhere(
    here: Running, browser: Browser, slack: FakeSlack
) -> None:
    tokens = {"slack_bot_token": slack.bot_token, "slack_app_token": slack.app_token}
    shown = (await send(browser, **tokens, way="lines")).text
    assert f"SLACK_BOT_TOKEN={slack.bot_token}\nSLACK_APP_TOKEN={slack.app_token}" in shown
    assert await kept(here) == frozenset()
    assert not here.reception.restart.is_set()
    assert slack.bot_token not in (await browser.get("/connect/slack")).text
    assert (
        "Slack does not accept"
        in (await send(browser, **tokens | {"slack_bot_token": WRONG}, way="lines")).text
    )


async def test_what_was_kept_is_dropped_by_disconnecting(here: Running, browser: Browser) -> None:
    keeping = KeptSettings(here.reception.given, here.store.database)
    await keeping.keep({"slack_bot_token": "xoxb-1", "discord_token": "x"})
    assert (await send(browser, "/connect/slack/drop")).status_code == 303
    assert await kept(here) == {"discord_token"}
    assert here.reception.restart.is_set()


# ---------------------------------------------------------------- where nothing can be entered


async def test_without_keys_a_database_elsewhere_keeps_no_secret(
    open_console: OpenConsole, slack: FakeSlack
) -> None:
    elsewhere = "postgresql+psycopg://footnote@127.0.0.1:9/footnote"
    here = await open_console(slack_api_url=slack.api_url, database_url=elsewhere)
    tokens = {"slack_bot_token": slack.bot_token, "slack_app_token": slack.app_token}
    answer = await send(await here.browser(), **tokens)
    assert answer.status_code == 422
    assert "Set FOOTNOTE_ENCRYPTION_KEYS" in answer.text


async def test_what_is_set_outside_is_said_and_not_offered(open_console: OpenConsole) -> None:
    here = await open_console(SLACK_BOT_TOKEN="xoxb-1", SLACK_APP_TOKEN="xapp-1")
    page = (await (await here.browser()).get("/connect/slack")).text
    assert "Slack is set up outside the console (SLACK_BOT_TOKEN, SLACK_APP_TOKEN)" in page
    assert 'action="/connect/slack' not in page


async def test_where_others_may_reach_the_console_nothing_can_be_entered(
    open_console: OpenConsole,
) -> None:
    here = await open_console(console_setup="off")
    browser = await here.browser()
    page = (await browser.get("/connect/discord")).text
    assert "Nothing can be entered here" in page
    assert 'name="discord_token"' not in page
    assert (await send(browser, "/connect/discord", discord_token="x")).status_code == 403
    assert (await send(browser, "/connect/discord/drop")).status_code == 403


async def test_it_is_for_operators_and_for_what_is_known(
    open_console: OpenConsole, browser: Browser
) -> None:
    assert (await browser.get("/connect/letterbox")).status_code == 404
    here = await open_console(console_user_header="X-User")
    person = await here.browser(**{"X-User": "ada"})
    assert (await person.get("/connect/slack")).status_code == 403
    assert (await person.get("/status")).status_code == 403
    assert (await send(person, slack_bot_token="xoxb-1")).status_code == 403
