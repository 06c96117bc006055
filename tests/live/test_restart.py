"""Pages that are open in a real Chromium while `serve` starts with new settings in place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.live.browser import ask, chromium, watched
from tests.live.stages import open_stage
from tests.scenario.conftest import DOCUMENTS
from tests.scenario.gate import until
from tests.scenario.places import KEYS
from tests.scenario.serving import ForkServer

__all__ = ["chromium"]

STARTS = "starts with the new documents"
UNSENT = "Your question is not sent yet. Trying again…"
WATERED = "When is the roof garden watered?"
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
        ask(page, WATERED)
        expect(page.locator(".answered").nth(1)).to_contain_text("7:15")
        expect(page.locator(".turn")).to_have_count(2)
        assert page.evaluate("window.opened") == "once"


@pytest.mark.parametrize("scripts", [True, False])
def test_a_question_that_comes_during_a_restart_is_asked_once(
    fork_server: ForkServer, chromium: Browser, tmp_path: Path, scripts: bool
) -> None:
    """The page sends it again by itself, or without scripts keeps it to be sent again."""
    with (
        open_stage(fork_server, tmp_path, DOCUMENTS) as stage,
        watched(chromium) as operator,
        watched(chromium, java_script_enabled=scripts) as browser,
    ):
        page, other = browser.context.new_page(), operator.context.new_page()
        page.goto(stage.http)
        other.goto(stage.http)
        stage.gate.hold()
        ask(other, KEYS)
        stage.gate.wait_held()
        add_folder(other, stage.http, tmp_path / "garden")
        expect(other.get_by_role("status").filter(has_text=STARTS)).to_be_visible()
        page.locator("#question").fill(WATERED)
        page.get_by_role("button", name="Ask").click()
        if scripts:
            expect(page.locator("#toast")).to_have_text(UNSENT)
            stage.gate.release()
        else:
            expect(page.get_by_role("main")).to_contain_text("Try again in a moment.")
            expect(page.locator("textarea")).to_have_value(WATERED)
            stage.gate.release()
            until(lambda: stage.serving.said.count("Listening for HTTP on ") == 2)
            until(lambda: httpx.get(f"{stage.http}/readyz").is_success)
            page.get_by_role("button", name="Try again").click()
        expect(page.locator(".answered")).to_contain_text("7:15")
        expect(page.locator(".turn")).to_have_count(1)
        expect(page.locator("#question")).to_have_value("")
        expect(page.locator("#question")).to_be_editable()
        page.goto(f"{stage.http}/conversations")
        expect(page.get_by_role("main").get_by_role("link", name=WATERED)).to_have_count(1)
