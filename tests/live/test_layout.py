"""Layout shift: nothing that is read moves while a page loads, works or ends, and the
question box at the bottom of the window covers nothing that one needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.live import demo
from tests.live.browser import ask, barriers, chromium, watched
from tests.live.stages import Stage
from tests.live.states import SPEECHES, Walk, open_states
from tests.scenario.serving import ForkServer

__all__ = ["chromium"]

MOST = 0.1  # cumulative layout shift that counts as good: https://web.dev/articles/cls
SIZES = ((1280, 800), (390, 780))
# Adds up what the browser says of each page of a tab, until the tab is closed.
WATCH = """
if (location.protocol.startsWith("http")) {
    const name = `moved ${location.pathname} ${performance.timeOrigin}`;
    new PerformanceObserver((list) => {
        for (const one of list.getEntries()) {
            const before = Number(sessionStorage.getItem(name) ?? 0);
            if (!one.hadRecentInput) sessionStorage.setItem(name, before + one.value);
        }
    }).observe({ type: "layout-shift", buffered: true });
}
"""
PAINTED = "new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then)))"


@pytest.fixture(scope="module")
def stage(fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with open_states(fork_server, tmp_path_factory.mktemp("layout")) as stage:
        yield stage


@pytest.fixture(autouse=True)
def _released(stage: Stage) -> Iterator[None]:
    yield
    stage.valve.shut = False
    stage.gate.release()


@pytest.fixture(params=SIZES, ids=["wide", "narrow"])
def page(request: pytest.FixtureRequest, chromium: Browser) -> Iterator[Page]:
    view = {"width": request.param[0], "height": request.param[1]}
    with watched(chromium, viewport=view, locale="en-GB") as browser:
        page = browser.context.new_page()
        page.add_init_script(WATCH)
        yield page


def moved(page: Page) -> dict[str, float]:
    """The layout shift of each page that the tab has shown, by its path and time."""
    page.evaluate(PAINTED)
    found: dict[str, str] = page.evaluate("({ ...sessionStorage })")
    return {name: float(value) for name, value in found.items() if name.startswith("moved")}


def at_work(stage: Stage, page: Page) -> None:
    """A deep question whose first sub-question is answered."""
    page.goto(stage.http)
    stage.gate.hold(after=2)
    ask(page, demo.QUESTION, "deep")
    stage.let_on(until=page.locator(".node.done"))


def writing(stage: Stage, page: Page) -> None:
    """The same, with the first words of the answer."""
    at_work(stage, page)
    stage.valve.shut = True
    stage.gate.release()
    expect(page.locator(".growing p")).not_to_be_empty()


def test_nothing_moves_in_any_state(stage: Stage, page: Page) -> None:
    seen = 0
    for _ in Walk(stage, page, SPEECHES[0]).states():
        page.evaluate(PAINTED)
        seen += 1
    assert seen > 12
    assert {name: value for name, value in moved(page).items() if value >= MOST} == {}


def test_an_answer_begins_where_it_stays(stage: Stage, page: Page) -> None:
    writing(stage, page)
    expect(page.locator(".worked .line").first).to_be_hidden()
    first = page.locator(".answer p").first
    before = first.bounding_box()
    stage.valve.shut = False
    expect(page.locator(".answered .sources")).to_be_attached()
    after = first.bounding_box()
    assert before is not None
    assert after is not None
    assert (after["x"], after["y"]) == (before["x"], before["y"])
    assert max(moved(page).values()) < MOST / 2


def test_a_plan_that_is_read_stays_open_through_the_end(stage: Stage, page: Page) -> None:
    at_work(stage, page)
    page.locator(".worked [data-id=searches] > summary").click()
    stage.gate.release()
    expect(page.locator(".answered")).to_be_visible()
    expect(page.locator(".worked [data-id=searches] .steps")).to_be_visible()
    expect(page.locator(".worked a.node.done")).not_to_have_count(0)


def test_seconds_at_work_are_counted_on_and_end_with_it(stage: Stage, page: Page) -> None:
    page.clock.install()
    at_work(stage, page)
    elapsed = page.locator(".now .elapsed")
    said = int((elapsed.text_content() or "").split()[1])
    page.clock.run_for(90_000)
    assert said + 89 <= int((elapsed.text_content() or "").split()[1]) <= said + 95
    expect(page.locator("[data-part=now]")).to_contain_text("Looking for: ")
    stage.gate.release()
    expect(page.locator(".answered")).to_be_visible()
    expect(elapsed).to_have_count(0)


# ---------------------------------------------------------------- the question box


def rect(page: Page, selector: str) -> dict[str, float]:
    found: dict[str, float] = page.locator(selector).evaluate("one => one.getBoundingClientRect()")
    return found


def test_the_box_is_at_the_bottom_and_the_last_lines_are_above_it(stage: Stage, page: Page) -> None:
    at_work(stage, page)
    height = page.evaluate("innerHeight")
    assert height - 24 <= rect(page, "#ask")["bottom"] <= height
    stage.gate.release()
    expect(page.locator(".answered")).to_be_visible()
    page.evaluate("scrollTo({ top: 1e6, behavior: 'instant' })")
    assert height - 24 <= rect(page, "#ask")["bottom"] <= height
    assert rect(page, ".answered")["bottom"] <= rect(page, "#ask")["top"]


FOCUSED = """() => {
    const one = document.activeElement, box = one.getBoundingClientRect();
    const ask = document.getElementById("ask"), top = document.querySelector(".top");
    const free = [top.getBoundingClientRect().bottom, ask.getBoundingClientRect().top];
    const isIn = document.querySelector(".turns").contains(one);
    return {
        name: one.outerHTML.slice(0, 100),
        isOver: one === ask.question,
        isSeen: !isIn || (box.bottom > free[0] && box.bottom <= free[1]),
    };
}"""


def test_the_focus_is_never_below_the_box(stage: Stage, page: Page) -> None:
    at_work(stage, page)
    stage.gate.release()
    expect(page.locator(".answered")).to_be_visible()
    page.emulate_media(reduced_motion="reduce")  # no scrolling that takes its time
    page.evaluate("scrollTo(0, 0)")
    hidden: list[Any] = []
    page.locator(".brand").focus()
    for _ in range(80):
        page.keyboard.press("Tab")
        told = page.evaluate(FOCUSED)
        if told["isOver"]:
            break
        hidden += [] if told["isSeen"] else [told["name"]]
    else:
        raise AssertionError("the keyboard does not come to the question box")
    assert hidden == []


PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
IDLE = 72  # pixels, of a box that nobody uses
SHOWN = 40  # pixels that a field is wide at least


def test_on_a_phone_the_box_is_one_line_until_it_is_used(stage: Stage, chromium: Browser) -> None:
    with watched(chromium, locale="en-GB", **PHONE) as browser:
        page = browser.context.new_page()
        page.goto(stage.http)
        ask(page, demo.QUESTION)
        expect(page.locator(".answered")).to_be_visible()
        box, title = page.locator("#question"), page.locator(".question h2").first
        assert rect(page, "#ask")["height"] <= IDLE
        assert rect(page, "#question")["right"] > rect(page, ".send")["left"]
        expect(page.locator(".send")).to_be_in_viewport(ratio=1)
        assert page.get_by_role("combobox", name="Depth").count() == 1
        assert barriers(page) == []
        box.focus()
        while page.evaluate("document.activeElement.id") != "depth":
            page.keyboard.press("Tab")
            assert page.evaluate("document.activeElement.closest('#ask') !== null")
        assert rect(page, "#depth")["width"] > SHOWN
        with page.expect_file_chooser() as chooser:
            page.locator("label.attach").tap()
        chooser.value.set_files(
            FilePayload(name="yard.md", mimeType="text/markdown", buffer=b"Oak.")
        )
        title.tap()
        expect(page.locator("#files .file")).to_be_in_viewport(ratio=1)
        page.locator("#files button").tap()
        box.fill("And then?")
        title.tap()
        assert rect(page, "#depth")["width"] > SHOWN
        box.press("Enter")
        expect(page.locator(".turn")).to_have_count(2)
        expect(box).not_to_be_focused()
        assert rect(page, "#ask")["height"] <= IDLE
