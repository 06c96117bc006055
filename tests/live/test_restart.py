"""Pages that are open in a real Chromium while `serve` starts with new settings in place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.live.browser import ask, chromium, watched
from tests.live.stages import open_stage
from tests.scenario.conftest import DOCUMENTS
from tests.scenario.places import KEYS
from tests.scenario.serving import ForkServer

__all__ = ["chromium"]

STARTS = "starts with the new documents"
GARDEN = "# Garden\n\nThe roof garden is watered at 7:15 by Ines Duarte.\n"


def add_folder(page: Page, http: str, folder: Path) -> None:
    folder.mkdir()
    (folder / "garden.md").write_text(GARDEN, encoding="utf-8")
    page.goto(f"{http}/sources")
    page.get_by_label("Add a folder of this server").fill(str(folder))
    page.get_by_role("button", name="Look into it").click()
    page.get_by_role("button", name="Add the folder").click()


@pytest.mark.parametrize("drain", [60, 0])
def test_a_question_in_work_and_a_new_folder_need_no_reload(
    fork_server: ForkServer, chromium: Browser, tmp_path: Path, drain: int
) -> None:
    seconds: dict[str, Any] = {"bot.operation.serving.DRAIN_SECONDS": str(drain)}
    with (
        open_stage(fork_server, tmp_path, DOCUMENTS, **seconds) as stage,
        watched(chromium) as browser,
    ):
        page, sources = browser.context.new_page(), browser.context.new_page()
        page.goto(stage.http)
        stage.gate.hold(after=2)
        ask(page, KEYS)
        stage.gate.wait_held()
        expect(page.locator("[data-part=now]")).to_have_text("Writing the answer")
        page.evaluate("window.opened = 'once'")
        add_folder(sources, stage.http, tmp_path / "garden")
        if drain:
            expect(sources.get_by_role("status").filter(has_text=STARTS)).to_be_visible()
            stage.gate.release()
        folder = sources.locator(".folder", has_text=str(tmp_path / "garden"))
        expect(folder).to_contain_text("1 of 1 file is searched")
        expect(sources.get_by_text(STARTS)).to_have_count(0)
        stage.gate.release()
        expect(page.locator(".answered")).to_contain_text("every 90 days")
        expect(page.locator(".answered")).to_have_count(1)
        ask(page, "When is the roof garden watered?")
        expect(page.locator(".answered").nth(1)).to_contain_text("7:15")
        expect(page.locator(".turn")).to_have_count(2)
        assert page.evaluate("window.opened") == "once"
