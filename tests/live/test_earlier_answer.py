"""An earlier answer in the console: to be read, heard and opened while research goes on."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.live.browser import ask, barriers, chromium, scrolls_sideways, watched
from tests.live.stages import open_stage
from tests.scenario.conftest import DOCUMENTS
from tests.scenario.places import KEYS
from tests.scenario.serving import ForkServer

__all__ = ["chromium"]
TOLD = re.compile(r"Already answered here on \d+ \w+ \d{4}, sources still the same\.")
HEARD = re.compile(r"Already answered here on .* The master key is rotated every 90 days")


def test_an_earlier_answer_is_seen_heard_and_opened_before_the_new_one_is_there(
    fork_server: ForkServer, tmp_path: Path, chromium: Browser
) -> None:
    with (
        open_stage(fork_server, tmp_path, DOCUMENTS, FOOTNOTE_ANSWERED_BEFORE="beside") as stage,
        watched(chromium, viewport={"width": 390, "height": 844}) as browser,
    ):
        page = browser.context.new_page()
        page.goto(stage.http)
        ask(page, KEYS)
        expect(page.locator(".answered")).to_be_visible()
        (earlier,) = re.findall(r"/runs/(\w+)\"", page.content())[:1]

        page.goto(stage.http)
        stage.gate.hold()
        ask(page, KEYS)
        expect(page.locator("#status")).to_have_text(HEARD)
        link = page.get_by_role("link", name=TOLD)
        expect(link).to_have_attribute("href", f"/runs/{earlier}")
        assert barriers(page) == []
        assert scrolls_sideways(page) == 0

        stage.gate.release()
        expect(page.locator(".answered")).to_be_visible()
        expect(link).to_have_count(1)
        expect(link).to_have_attribute("href", f"/runs/{earlier}")
        assert barriers(page) == []
        link.click()
        expect(page.get_by_role("heading", level=1, name=KEYS)).to_be_visible()
