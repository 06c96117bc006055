"""The list of conversations in two tabs, and where one is after deleting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.live import demo
from tests.live.browser import ask, chromium, watched
from tests.live.stages import Stage, open_stage
from tests.scenario.serving import ForkServer

__all__ = ["chromium"]


@pytest.fixture
def stage(fork_server: ForkServer, tmp_path: Path) -> Iterator[Stage]:
    with open_stage(fork_server, tmp_path, demo.DOCUMENTS, demo.brain) as stage:
        yield stage


def test_the_list_follows_other_tabs_and_a_deletion_leads_to_all(
    stage: Stage, chromium: Browser
) -> None:
    with watched(chromium, locale="en-GB") as browser:
        other = browser.context.new_page()
        other.goto(stage.http)
        page = browser.context.new_page()
        page.goto(stage.http)
        ask(page, "Who agrees to work abroad?", "quick")
        expect(page.locator("[data-over]")).to_be_visible()
        named = other.locator("#threads").get_by_role("link", name="Who agrees to work abroad?")
        other.bring_to_front()
        expect(named).to_be_visible()

        page.bring_to_front()
        page.locator("#about > summary").click()
        page.get_by_label("Name of the conversation").fill("Abroad")
        page.get_by_role("button", name="Rename").click()
        expect(page).to_have_title("Abroad · Footnote")
        other.bring_to_front()
        expect(other.locator("#threads").get_by_role("link", name="Abroad")).to_be_visible()

        page.bring_to_front()
        page.locator("#about > summary").click()
        page.get_by_text("Delete the conversation").click()
        page.get_by_role("button", name="Delete for good").click()
        expect(page).to_have_url(f"{stage.http}/conversations")
        expect(page.locator("#threads li")).to_have_count(0)
