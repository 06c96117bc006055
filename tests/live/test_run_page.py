"""What operators look at, in a real browser: the page of a run, and the overview."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.live.browser import Watched, chromium, watched
from tests.live.stages import open_stage
from tests.scenario.conftest import DOCUMENTS, nursery
from tests.scenario.gate import until
from tests.scenario.places import KEYS
from tests.scenario.serving import Nursery

__all__ = ["chromium", "nursery"]

pytestmark = pytest.mark.live


@dataclass
class Console:
    """A console in which one question was answered."""

    http: str
    run: str
    browser: Watched

    def page(self, path: str) -> Page:
        page = self.browser.context.new_page()
        page.goto(self.http + path.replace("RUN", self.run))
        return page


@pytest.fixture(scope="module")
def console(
    chromium: Browser, nursery: Nursery, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Console]:
    with (
        open_stage(nursery, tmp_path_factory.mktemp("run"), DOCUMENTS) as stage,
        httpx.Client(base_url=stage.http) as api,
        watched(chromium) as browser,
    ):
        run = api.post("/api/questions", json={"question": KEYS}).json()["run"]
        until(lambda: api.get(f"/api/runs/{run}").json()["state"] == "answered")
        yield Console(stage.http, run, browser)


@pytest.mark.parametrize("path", ["/", "/runs/RUN", "/overview"])
def test_it_is_dark_where_the_system_is(console: Console, path: str) -> None:
    page = console.page(path)
    brightness = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        brightness.append(sum(map(int, re.findall(r"\d+", colour)[:3])))
    assert brightness[0] > 600 > 200 > brightness[1]


def test_the_overview_leads_to_the_page_of_a_run_and_follows_its_filters(
    console: Console,
) -> None:
    page = console.page("/overview")
    page.get_by_label("Platform").select_option("web")
    page.wait_for_url("**/overview?*platform=web*")
    page.get_by_role("link", name=KEYS).click()
    expect(page.locator("h1")).to_have_text(KEYS)
    assert page.url.endswith(f"/runs/{console.run}")


def test_a_step_tells_its_time_to_who_cannot_see_its_bar(console: Console) -> None:
    page = console.page("/runs/RUN#steps")
    row = page.get_by_role("row", name=re.compile("Searching: ")).first
    expect(row).to_contain_text("done")
    expect(row).to_contain_text(re.compile(r"\d+ m?s"))


def test_where_a_file_lies_on_the_disk_is_not_shown(console: Console) -> None:
    page = console.page("/runs/RUN")
    expect(page.locator(".page .small").first).to_contain_text("…/documents/keys.md")
    assert "file:" not in page.locator("main").inner_text()
