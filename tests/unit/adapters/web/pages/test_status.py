"""The page with the state of all parts."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from adapters.web.templating import sentence_html
from bot.service.platform import Connection
from tests.unit.adapters.web.conftest import Browser, OpenConsole, Running

NOTHING = "http://127.0.0.1:9"  # a port that nothing listens on


def states(page: str) -> dict[str, str]:
    """The parts of the page in order, each with its state."""
    found = re.findall(r'<li class="standing (\w+)">\s*<h2>([^<]+?) <', page)
    return {name: state for state, name in found}


async def checked(browser: Browser) -> str:
    async with asyncio.timeout(60):
        while "data-refresh" in (page := (await browser.get("/status")).text):
            await asyncio.sleep(0.01)
    return page


async def test_the_first_page_does_not_wait_and_later_ones_say_what_was_found(
    open_console: OpenConsole, tmp_path: Path
) -> None:
    here = await open_console(wikipedia_url=NOTHING, data_dir=tmp_path)
    browser = await here.browser()
    first = states((await browser.get("/status")).text)
    assert first["Search (wikipedia)"] == "checking"
    page = await checked(browser)
    found = states(page)
    assert found.keys() == first.keys()
    assert next(iter(found.items())) == ("Search (wikipedia)", "problem")
    assert (found["Storage"], found["Budget"]) == ("works", "works")
    assert (found["Slack"], found["Model"]) == ("off", "off")
    assert 'href="/connect/slack">Connect Slack' in page
    assert 'href="/connect/claude">Connect Claude' in page


async def test_check_again_checks_again(open_console: OpenConsole, tmp_path: Path) -> None:
    here = await open_console(wikipedia_url=NOTHING, data_dir=tmp_path)
    browser = await here.browser()
    await checked(browser)
    answer = await browser.post("/status")
    assert (answer.status_code, answer.headers["location"]) == (303, "/status")
    assert "checking" in states((await browser.get("/status")).text).values()
    assert "checking" not in states(await checked(browser)).values()


async def test_a_lost_connection_is_a_problem_whatever_the_check_says(
    here: Running, browser: Browser
) -> None:
    connection = Connection()
    connection.mark_failed("Slack does not accept SLACK_BOT_TOKEN.")
    here.platform._console.observed.connections = {"slack": connection}
    page = (await browser.get("/status")).text
    assert states(page)["Slack"] == "problem"
    assert "Slack does not accept SLACK_BOT_TOKEN." in page


async def test_what_is_set_outside_of_the_console_is_not_offered_to_be_set_in_it(
    open_console: OpenConsole,
) -> None:
    here = await open_console(DISCORD_TOKEN="x")
    connection = Connection()
    connection.mark_failed("Discord does not accept DISCORD_TOKEN.")
    here.platform._console.observed.connections = {"discord": connection}
    page = (await (await here.browser()).get("/status")).text
    assert states(page)["Discord"] == "problem"
    assert sorted(re.findall(r'href="/connect/(\w+)"', page)) == ["claude", "slack"]


async def test_the_start_page_leads_operators_there_until_all_is_set_up(
    open_console: OpenConsole, browser: Browser
) -> None:
    line = '<p class="unconnected">'
    assert line in (await browser.get("/")).text
    here = await open_console(DISCORD_TOKEN="x", ANTHROPIC_API_KEY="x")
    assert line not in (await (await here.browser()).get("/")).text


def test_a_sentence_has_links_and_code_and_no_tags_of_others() -> None:
    said = sentence_html("None. See `x <b>` or https://example.com/a, <script>")
    assert said == (
        'None. See <code>x &lt;b&gt;</code> or <a href="https://example.com/a" '
        'rel="noreferrer">https://example.com/a</a>, &lt;script&gt;'
    )
