"""The console in a real Chromium, as a newcomer uses it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.fakes.server import serve
from tests.scenario.conftest import documents, footnote, gate, nursery
from tests.scenario.gate import Gate
from tests.scenario.places import KEYS, LUNCH, WHO
from tests.scenario.program import Program
from tests.scenario.serving import Nursery, Serving, ending, start_forked

__all__ = ["documents", "footnote", "gate", "nursery"]

pytestmark = pytest.mark.live
WIDTHS = (1280, 820, 390)
expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.fail("Chromium is not installed: .ci/install-live does so.")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """Pages that may say nothing on their console: no broken script, no refused style."""
    context = chromium.new_context()
    context.set_default_timeout(20_000)
    said: list[str] = []
    context.on("console", lambda message: said.append(message.text))
    context.on("weberror", lambda error: said.append(str(error.error)))
    yield context
    context.close()
    assert [line for line in said if "ERR_" not in line] == []


@pytest.fixture
def serving(nursery: Nursery, footnote: Program, documents: Path, gate: Gate) -> Iterator[Serving]:
    """The console with documents, and with Claude who can be made to wait."""
    with serve(gate) as url:
        footnote.settings |= {
            "FOOTNOTE_DOCS": str(documents),
            "ANTHROPIC_API_KEY": "sk-test",
            "ANTHROPIC_BASE_URL": url,
        }
        with ending(start_forked(nursery, footnote)) as serving:
            yield serving


def visit(context: BrowserContext, serving: Serving) -> Page:
    page = context.new_page()
    page.goto(serving.http)
    return page


def ask(page: Page, question: str) -> None:
    box = page.get_by_role("textbox", name="What you would like to know")
    box.fill(question)
    box.press("Enter")


def test_a_newcomer_asks_watches_checks_and_asks_on(
    serving: Serving, context: BrowserContext, gate: Gate
) -> None:
    page = visit(context, serving)
    gate.hold(after=1)
    ask(page, KEYS)
    expect(page.locator(".plan li").first).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    gate.release()
    answer = page.locator(".answered")
    expect(answer).to_contain_text("90 days")

    card = page.get_by_role("tooltip")
    page.locator(".mark").first.hover()
    expect(card).to_contain_text("The master key is rotated every 90 days")
    expect(card).to_contain_text("read on")
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)
    page.locator(".mark").first.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(card).to_contain_text("Keys")

    ask(page, WHO)
    expect(page.locator("article.turn")).to_have_count(2)
    expect(page.locator(".answered").nth(1)).to_contain_text("security team")
    page.get_by_role("link", name="How was this answered?").first.click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_a_reload_in_the_middle_goes_on_and_a_second_tab_sees_the_same(
    serving: Serving, context: BrowserContext, gate: Gate
) -> None:
    page = visit(context, serving)
    gate.hold(after=1)
    ask(page, LUNCH)
    expect(page.locator(".working")).to_be_visible()
    page.reload()
    expect(page.locator(".plan li").first).to_be_visible()
    other = context.new_page()
    other.goto(page.url)
    gate.release()
    for each in (page, other):
        expect(each.locator(".answered")).to_contain_text("6.50")
    ask(other, KEYS)
    expect(page.locator("article.turn")).to_have_count(2)
    expect(page.locator(".answered").nth(1)).to_contain_text("90 days")


def test_stop_stops(serving: Serving, context: BrowserContext, gate: Gate) -> None:
    page = visit(context, serving)
    gate.hold(after=1)
    ask(page, KEYS)
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".answered")).to_be_visible()
    expect(page.locator(".working")).to_have_count(0)
    gate.release()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_window(
    serving: Serving, context: BrowserContext, width: int, scheme: str
) -> None:
    page = visit(context, serving)
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": width, "height": 800})
    ask(page, KEYS)
    expect(page.locator(".answered")).to_contain_text("90 days")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_scripts_it_works_too(serving: Serving, chromium: Browser) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = visit(context, serving)
    page.get_by_role("textbox", name="What you would like to know").fill(KEYS)
    page.get_by_role("button", name="Ask", exact=True).click()
    for _ in range(200):
        if page.locator(".answered").count():
            break
        # Where scripts are only kept from running, Chromium does not read what is for those
        # without: the page does not reload itself.
        page.reload()
    expect(page.locator(".answered")).to_contain_text("90 days")
    context.close()
