"""The page of a run in a real browser: from a footnote to its words in the source, at every width.

Needs Debian's Chromium.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.scenario.program import Program
from tests.scenario.serving import ending, start_alone

pytestmark = pytest.mark.live

CHROMIUM = shutil.which("chromium")
HOSTILE = "</title><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"
QUESTION = "Who approves a journey that costs more than 2,000 euros?"
DOCUMENTS = {
    "travel.md": f"""# Travel policy {HOSTILE}

Travel is approved by the head of department. A journey that costs more than 2,000 euros is
approved by Maria Keller, the finance director. {HOSTILE}
""",
    "history.md": "# History\n\nMaria Keller founded the company in Bremen in 1987.\n",
}


@dataclass
class Console:
    """A console in which one question was asked; ``said`` is what browsers complained about."""

    url: str
    run: str
    browser: Browser
    said: list[str] = field(default_factory=list)

    def page(self, path: str) -> Page:
        page = self.browser.new_page(viewport={"width": 1280, "height": 900})
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("dialog", lambda dialog: self.said.append(f"dialog {dialog.message}"))
        page.goto(self.url + path)
        return page


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    folder = tmp_path_factory.mktemp("console")
    documents = folder / "documents"
    documents.mkdir()
    for name, text in DOCUMENTS.items():
        (documents / name).write_text(text, encoding="utf-8")
    program = Program(folder, {"FOOTNOTE_DOCS": str(documents)})
    asked = program.run("ask", "--json", QUESTION)
    assert asked.code == 0, asked.err
    with (
        ending(start_alone(program)) as serving,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield Console(serving.http, asked.json["run"], browser)
        browser.close()


def test_a_footnote_leads_to_its_words_in_the_stored_page(console: Console) -> None:
    page = console.page(f"/runs/{console.run}")
    number = page.locator(".because a.number").first
    anchor = (number.get_attribute("href") or "").removeprefix("#")
    number.click()
    quoted = page.locator(f"[id='{anchor}'] + mark")
    expect(quoted).to_be_in_viewport()
    expect(quoted).to_contain_text("Maria Keller")
    page.get_by_role("link", name=re.compile("the whole text")).first.click()
    expect(page.locator("mark").first).to_contain_text("Maria Keller")
    page.get_by_role("link", name="How this was answered").click()
    expect(page.locator("h1")).to_contain_text("Who approves a journey")


def test_what_a_page_says_of_itself_stays_text(console: Console) -> None:
    for path in (f"/runs/{console.run}", f"/runs/{console.run}/pages/1", "/overview"):
        page = console.page(path)
        assert page.evaluate("window.hacked") is None
        assert page.locator("main img, main script").count() == 0
    assert console.said == []


@pytest.mark.parametrize("path", ["/runs/RUN", "/runs/RUN/pages/1", "/overview"])
def test_nothing_is_wider_than_the_window(console: Console, path: str) -> None:
    page = console.page(path.replace("RUN", console.run))
    expect(page.locator("h1")).to_be_visible()
    for width in (390, 820, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("path", ["/runs/RUN", "/overview"])
def test_it_is_dark_where_the_system_is(console: Console, path: str) -> None:
    page = console.page(path.replace("RUN", console.run))
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
    page.get_by_label("Platform").select_option("terminal")
    page.wait_for_url("**/overview?*platform=terminal*")
    page.get_by_role("link", name=QUESTION).click()
    expect(page.locator("h1")).to_have_text(QUESTION)
    assert page.url.endswith(f"/runs/{console.run}")


def test_a_step_tells_its_time_to_who_cannot_see_its_bar(console: Console) -> None:
    page = console.page(f"/runs/{console.run}#steps")
    row = page.get_by_role("row", name=re.compile("Searching: ")).first
    expect(row).to_contain_text("done")
    expect(row).to_contain_text(re.compile(r"\d+ m?s"))
