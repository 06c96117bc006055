"""The console in a real Chromium: as a newcomer uses it, and what operators look at."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.live.browser import Watched, ask, chromium, watched
from tests.live.stages import CALLS_BEFORE_PARTS, DEEP, Stage, open_stage, until_answered
from tests.scenario.conftest import DOCUMENTS
from tests.scenario.places import KEYS, LUNCH, WHO
from tests.scenario.serving import ForkServer

__all__ = ["chromium"]

TRAINS = "How many days ahead are train tickets booked?"


@pytest.fixture(scope="module")
def stage(fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with open_stage(fork_server, tmp_path_factory.mktemp("browser"), DOCUMENTS) as stage:
        yield stage


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Watched]:
    with watched(chromium) as browser:
        yield browser


def visit(browser: Watched, url: str) -> Page:
    page = browser.context.new_page()
    page.goto(url)
    return page


def test_the_whole_way_of_a_newcomer(stage: Stage, browser: Watched) -> None:
    # first visit
    page = visit(browser, stage.http)
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "Ask, and get an answer you can check"
    )

    # question, live plan: a graph whose nodes wait, are worked on, and are done
    stage.gate.hold(after=CALLS_BEFORE_PARTS)
    ask(page, DEEP, "deep")
    graph = page.locator("svg.subquestions")
    expect(graph.locator(".node.running")).to_have_count(3)
    expect(graph.locator(".node.waiting", has_text="founded the company")).to_have_count(1)
    expect(graph.locator("path.edge")).to_have_count(3)
    stage.let_on(until=graph.locator(".node.done"))
    expect(page.locator(".plan .done")).not_to_have_count(0)
    stage.gate.release()

    # answer
    answers = page.locator(".answered")
    for words in ("90 days", "6.50 euros", "Bremen"):
        expect(answers).to_contain_text(words)
    expect(graph).to_be_hidden()

    # the quote under the mouse, and under the keyboard
    card = page.get_by_role("tooltip")
    mark = answers.locator(".mark").first
    title = page.locator(f".sources li[data-n='{mark.inner_text()}'] .name").inner_text()
    mark.hover()
    expect(card).to_contain_text(title)
    quote = card.locator("blockquote").first.inner_text()
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)
    page.get_by_role("link", name="How was this answered?").focus()
    for _ in range(20):
        if mark.evaluate("one => one === document.activeElement"):
            break
        page.keyboard.press("Shift+Tab")
    expect(card.locator("blockquote").first).to_have_text(quote)

    # follow-up
    ask(page, WHO, "standard")
    expect(answers).to_have_count(2)
    expect(answers.nth(1)).to_contain_text("security team")
    conversation = page.url

    # run page, highlighted source
    page.get_by_role("link", name="How was this answered?").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(DEEP)
    expect(graph.locator("a.node.done, .node.done")).to_have_count(12)
    number = page.locator(".because a.number").first
    quoted = page.locator(f"[id='{(number.get_attribute('href') or '')[1:]}'] + mark")
    number.click()
    expect(quoted).to_be_in_viewport()
    page.get_by_role("link", name=re.compile("the whole text")).first.click()
    expect(page.locator(".page-text mark").first).to_be_visible()
    page.get_by_role("link", name="How this was answered").click()
    page.get_by_role("link", name="To the conversation").click()
    expect(answers).to_have_count(2)

    # stop
    stage.gate.hold()
    ask(page, LUNCH)
    page.get_by_role("button", name="Stop").click()
    expect(answers.nth(2)).to_contain_text("Stopped")
    expect(page.locator(".working")).to_have_count(0)
    stage.gate.release()

    # reload in mid-answer: what was written is there, and goes on
    stage.valve.shut = True
    ask(page, KEYS)
    growing = page.locator(".growing")
    expect(growing).not_to_be_empty()
    written = growing.inner_text().rstrip(".")  # a mark will stand before the full stop
    page.reload()
    expect(growing).to_contain_text(written)

    # two tabs show the same, also what comes from the other one
    other = visit(browser, conversation)
    expect(other.locator(".growing")).to_contain_text(written)
    stage.valve.shut = False
    for each in (page, other):
        expect(each.locator(".answered")).to_have_count(4)
        expect(each.locator(".answered").nth(3)).to_contain_text("90 days")
        assert each.locator(".answered").nth(3).inner_text().count(written) == 1
    ask(other, "And what does lunch cost?")
    expect(page.locator(".answered")).to_have_count(5)
    expect(other.locator(".answered")).to_have_count(5)
    shown = "Array.from(document.querySelectorAll('.turn'), (one) => one.innerText)"
    assert page.evaluate(shown) == other.evaluate(shown)
    assert browser.elsewhere(stage.http) == []


def test_the_overview_leads_to_the_page_of_a_run_and_follows_its_filters(
    stage: Stage, browser: Watched
) -> None:
    with httpx.Client(base_url=stage.http) as api:
        run = api.post("/api/questions", json={"question": TRAINS}).json()["run"]
        until_answered(api, run)
    page = visit(browser, f"{stage.http}/overview")
    page.get_by_label("Platform").select_option("web")
    page.wait_for_url("**/overview?*platform=web*")
    page.get_by_role("region", name="Latest questions").get_by_role("link", name=TRAINS).click()
    expect(page.locator("h1")).to_have_text(TRAINS)
    assert page.url.endswith(f"/runs/{run}")

    # A step has its time in words too, and a file has no path on the disk.
    row = page.get_by_role("row", name=re.compile("Searching: ")).first
    expect(row).to_contain_text("done")
    expect(row).to_contain_text(re.compile(r"\d+ m?s"))
    expect(page.locator(".page .small").first).to_contain_text("…/documents/travel.md")
    assert "file:" not in page.locator("main").inner_text()


def test_the_page_of_a_run_follows_it_and_leaves_open_what_is_read(
    stage: Stage, browser: Watched
) -> None:
    stage.gate.hold(after=CALLS_BEFORE_PARTS)
    page = visit(browser, stage.http)
    ask(page, DEEP, "deep")
    expect(page.locator(".node.running").first).to_be_visible()
    run = page.locator("article.turn").get_attribute("data-run")
    followed = visit(browser, f"{stage.http}/runs/{run}")
    expect(followed.locator(".badge")).to_have_text("Working")
    said = followed.locator("tr.said details").first
    said.locator("summary").click()
    stage.gate.release()
    expect(followed.locator(".sentence").first).to_be_visible()
    expect(said).to_have_attribute("open", "")
    expect(said.locator("summary")).to_be_focused()
