"""Many tabs in a real Chromium, which has six connections to a host for all of them."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.live.browser import Watched, ask, chromium, watched
from tests.live.stages import Stage, open_stage
from tests.scenario.conftest import DOCUMENTS
from tests.scenario.gate import until
from tests.scenario.places import KEYS, LUNCH
from tests.scenario.serving import ForkServer

__all__ = ["chromium"]

TABS = 7  # more than it has connections
# A headless browser has no tab that is out of view: this is what it would tell its pages.
VIEW = """
    let hidden = location.protocol === "http:" && localStorage.opened === "behind";
    Object.defineProperty(document, "hidden", {get: () => hidden});
    window.look = (there) => {
        hidden = !there;
        document.dispatchEvent(new Event("visibilitychange"));
    };
"""


@pytest.fixture(scope="module")
def stage(fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with open_stage(fork_server, tmp_path_factory.mktemp("tabs"), DOCUMENTS) as stage:
        yield stage


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Watched]:
    with watched(chromium) as browser:
        browser.context.add_init_script(VIEW)
        yield browser


def open_streams(stage: Stage) -> int:
    told = httpx.get(f"{stage.http}/metrics").text
    (line,) = [line for line in told.splitlines() if line.startswith("footnote_event_streams ")]
    return int(float(line.split()[1]))


def look_at(page: Page, others: list[Page]) -> None:
    for other in others:
        if other is not page:
            other.evaluate("look(false)")
    page.evaluate("look(true)")


def test_a_tab_out_of_view_holds_no_connection_and_shows_all_when_it_is_back(
    stage: Stage, browser: Watched
) -> None:
    stage.gate.hold(after=1)
    first = browser.context.new_page()
    first.goto(stage.http)
    ask(first, KEYS)
    expect(first.locator(".working")).to_have_count(1)
    tabs = [first]
    for _ in range(TABS - 1):
        page = browser.context.new_page()
        page.goto(first.url)
        expect(page.locator(".working")).to_have_count(1)
        tabs.append(page)
        look_at(page, tabs)
    until(lambda: open_streams(stage) == 1, 20)

    # what is sent from the one in view arrives, and is shown there
    ask(tabs[-1], LUNCH)
    expect(tabs[-1].locator(".turn")).to_have_count(2)
    stage.gate.release()
    for words in ("90 days", "6.50"):
        expect(tabs[-1].locator("#turns")).to_contain_text(words)
    expect(first.locator(".turn")).to_have_count(1)

    look_at(first, tabs)
    for words in ("90 days", "6.50"):
        expect(first.locator("#turns")).to_contain_text(words)
    expect(first.locator(".turn")).to_have_count(2)


def test_a_tab_that_was_opened_out_of_view_begins_when_it_is_looked_at(
    stage: Stage, browser: Watched
) -> None:
    page = browser.context.new_page()
    page.goto(stage.http)
    ask(page, KEYS)
    expect(page.locator(".answered")).to_have_count(1)
    behind = browser.context.new_page()
    page.evaluate("localStorage.opened = 'behind'")
    behind.goto(page.url)
    ask(page, LUNCH)
    expect(page.locator(".answered")).to_have_count(2)
    expect(behind.locator(".answered")).to_have_count(1)
    behind.evaluate("look(true)")
    expect(behind.locator(".answered")).to_have_count(2)
