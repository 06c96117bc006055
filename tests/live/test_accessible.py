"""The console for people who do not see it, see little of it, or have no mouse.

What axe-core finds on every page, light and dark, and what it cannot find: where the keyboard
leads, what is said aloud, what moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.live.browser import (
    WIDTHS,
    Watched,
    ask,
    barriers,
    chromium,
    scrolls_sideways,
    too_wide,
    watched,
)
from tests.live.stages import CALLS_BEFORE_PARTS, DECLINED, DEEP, Stage, open_stage, until_answered
from tests.live.states import share
from tests.scenario.conftest import DOCUMENTS
from tests.scenario.places import KEYS
from tests.scenario.serving import ForkServer

__all__ = ["chromium"]

TOKEN = "a-token-of-the-tests"


@dataclass
class Console:
    """A console that asks for its token, with one answered question; ``browser`` has signed in."""

    stage: Stage
    browser: Watched
    run: str
    thread: str
    shared: str  # the path of the link to it

    def page(self, path: str = "/") -> Page:
        page = self.browser.context.new_page()
        path = path.replace("RUN", self.run).replace("THREAD", self.thread)
        page.goto(self.stage.http + path.replace("SHARED", self.shared))
        return page


@pytest.fixture(scope="module")
def console(
    chromium: Browser, fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Console]:
    folder = tmp_path_factory.mktemp("accessible")
    with (
        open_stage(fork_server, folder, DOCUMENTS, FOOTNOTE_CONSOLE_TOKEN=TOKEN) as stage,
        httpx.Client(base_url=stage.http, headers={"Authorization": f"Bearer {TOKEN}"}) as api,
        watched(chromium) as browser,
    ):
        asked = api.post("/api/questions", json={"question": DEEP, "depth": "deep"}).json()
        until_answered(api, asked["run"])
        shared = share(api, asked["thread"])
        console = Console(stage, browser, asked["run"], asked["thread"], shared)
        page = console.page()
        page.get_by_label("Token").fill(TOKEN)
        page.keyboard.press("Enter")
        expect(page.locator("#question")).to_be_focused()
        page.close()
        yield console


@pytest.fixture(autouse=True)
def _closed_in_the_end(console: Console) -> Iterator[None]:
    """Each open conversation keeps a connection, and Chromium has six for one server."""
    yield
    for page in console.browser.context.pages:
        page.close()


@pytest.fixture
def at_work(console: Console) -> Iterator[Page]:
    """A question in parts that are being worked on, until the test is over."""
    page = console.page()
    console.stage.gate.hold(after=CALLS_BEFORE_PARTS)
    ask(page, DEEP, "deep")
    expect(page.locator(".node.running")).to_have_count(3)
    yield page
    console.stage.gate.release()
    expect(page.locator(".answered")).to_be_visible()


def expect_open(page: Page) -> None:
    """Nothing keeps anyone out, light and dark, and nothing is wider than any window."""
    found = barriers(page)
    page.emulate_media(color_scheme="dark")
    found += [f"dark: {one}" for one in barriers(page, "color-contrast")]
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate("new Promise((drawn) => requestAnimationFrame(drawn))")
        if scrolls_sideways(page):
            found.append(f"{width}: {scrolls_sideways(page)} pixels too wide")
        found += [f"{width}: reaches out: {one}" for one in too_wide(page)]
        if width == min(WIDTHS):
            narrow = barriers(page, "scrollable-region-focusable", "target-size")
            found += [f"{width}: {one}" for one in narrow]
    assert found == []


# ---------------------------------------------------------------- what axe finds
# ``test_states`` lets it look at all other pages.


def test_whose_session_is_over_signs_in_and_goes_on(console: Console) -> None:
    """What was being written is there again."""
    page = console.page()
    console.browser.context.clear_cookies()
    page.locator("#question").press_sequentially("And then?")
    page.locator("#question").press("Enter")
    page.get_by_label("Token").fill(TOKEN)
    page.keyboard.press("Enter")
    expect(page.locator("#question")).to_have_value("And then?")


def test_signing_in(console: Console) -> None:
    page = console.page("/sign-in")
    expect_open(page)
    page.get_by_label("Token").fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    expect_open(page)


@pytest.mark.parametrize(
    "path",
    ["/threads/nowhere", "/handbook/architecture", "/handbook/settings", "/preferences", "/keys"],
)
def test_a_page(console: Console, path: str) -> None:
    expect_open(console.page(path))


def test_an_answer_with_an_open_card_and_an_open_menu(console: Console) -> None:
    page = console.page("/threads/THREAD")
    page.locator(".mark").first.hover()
    expect(page.get_by_role("tooltip")).to_be_visible()
    expect_open(page)
    page.locator(".question .more > summary").click()
    expect(page.get_by_role("button", name="Delete")).to_be_visible()
    expect_open(page)


def test_two_answers_from_the_same_sources(console: Console) -> None:
    page = console.page()
    for count in (1, 2):
        ask(page, KEYS)
        expect(page.locator(".answered")).to_have_count(count)
    expect_open(page)


def test_a_failed_answer(console: Console) -> None:
    page = console.page()
    ask(page, DECLINED)
    expect(page.locator(".answer.failed")).to_be_visible()
    expect_open(page)


def test_a_phone_offers_all_that_a_desk_does(console: Console) -> None:
    page = console.page("/threads/THREAD")
    page.set_viewport_size({"width": min(WIDTHS), "height": 740})
    page.locator("#question").focus()  # the box shows all that it offers
    ways = page.locator("label.attach, #question, #depth, .send, .more > summary, .drawer summary")
    assert ways.count() == 10
    for way in ways.all():
        box = way.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 24  # CSS pixels: WCAG 2.2, criterion 2.5.8


# ---------------------------------------------------------------- by keyboard


def focused(page: Page) -> str | None:
    """The name of the element that has the focus, None when the page has none; it must be seen."""
    told: dict[str, str] | None = page.evaluate(
        """() => {
            const one = document.activeElement, style = getComputedStyle(one);
            if (one === document.body) return null;
            const named = one.labels?.[0] ?? one, words = named.innerText ?? named.textContent;
            const box = one.closest(".ask"), frame = box && getComputedStyle(box, "::after");
            const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
            return {
                name: words.trim() || one.getAttribute("aria-label"),
                seen: ring || one.id === "main" || (one.id === "question" && frame !== null),
            };
        }"""
    )
    if told is None:
        return None
    assert told["seen"], f"{told['name']} does not show that it has the focus"
    return told["name"]


def test_the_keyboard_leads_everywhere_in_the_order_of_the_page(console: Console) -> None:
    page = console.page("/threads/THREAD")
    order = []
    for _ in range(60):
        page.keyboard.press("Tab")
        order.append(focused(page))
        if order[-1] == "Ask" and len(order) > 5:
            break
    wanted = [
        "Skip to the content",
        "Footnote",
        "Overview",
        "New question",
        "More about this question",
        "1",  # a footnote
        "How was this answered?",
        "Helpful",
        "What you would like to know",
        "Depth",
        "Ask",
    ]
    where = [order.index(name, 3 if name == "Ask" else 0) for name in wanted]
    assert where == sorted(where), order


def test_without_a_mouse(console: Console) -> None:
    page = console.page()
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.type(KEYS)
    page.keyboard.press("Enter")
    expect(page.locator(".answered")).to_contain_text("90 days")
    expect(page.locator(".bar", has_text="Watch this")).to_be_visible()

    page.keyboard.press("/")
    expect(page.locator("#question")).to_be_focused()
    page.locator("a.skip").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    for menu in ("Share", "Watch this", "More about this conversation", "Edit the question"):
        page.keyboard.press("Tab")
        assert focused(page) == menu
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Edit the question")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Save")).to_be_hidden()
    assert focused(page) == "Edit the question"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Delete the question")).to_be_visible()
    page.keyboard.press("Escape")
    assert focused(page) == "More about this question"

    for _ in range(8):  # past the work, to the first footnote
        page.keyboard.press("Tab")
        if focused(page) == "1":
            break
    card = page.get_by_role("tooltip")
    expect(card).to_contain_text("The master key is rotated every 90 days")
    described = page.locator(".mark").first.get_attribute("aria-describedby")
    assert described == card.get_attribute("id")
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)
    assert focused(page) == "1"
    page.keyboard.press("Enter")
    expect(page.locator("#source .page-text mark.at").first).to_be_in_viewport()
    assert focused(page) == "1"


@pytest.mark.parametrize(
    "path",
    [
        *("/conversations", "/conversations?q=key", "/overview/feedback"),
        *("/overview/unanswered", "/preferences", "/keys", "/overview", "SHARED", "/runs/RUN"),
        *("/sources", "/sources/search?q=key"),
    ],
)
def test_each_stop_of_the_keyboard_has_a_name_and_is_seen(console: Console, path: str) -> None:
    page = console.page(path)
    stops = list[str]()
    for _ in range(80):
        page.keyboard.press("Tab")
        stop = focused(page)
        if stop is None:
            break
        stops.append(stop)
    else:
        raise AssertionError(f"the keyboard finds no end: {stops}")
    assert stops[:2] == ["Skip to the content", "Footnote"]
    assert all(stops), stops


def test_who_stops_an_answer_by_keyboard_stays_with_its_question(at_work: Page) -> None:
    at_work.get_by_role("button", name="Stop").focus()
    at_work.keyboard.press("Enter")
    expect(at_work.locator(".answered")).to_be_visible()
    expect(at_work.get_by_role("heading", level=2, name=DEEP)).to_be_focused()


# ---------------------------------------------------------------- what is said, what moves

OVERHEAR = """() => {
    const status = document.getElementById("status");
    window.said = [];
    new MutationObserver(() => said.push(status.textContent)).observe(status, { childList: true });
}"""


def test_progress_is_said_now_and_then_and_the_end_at_once(console: Console) -> None:
    page = console.browser.context.new_page()
    page.clock.install()
    page.goto(console.stage.http)
    console.stage.gate.hold(after=CALLS_BEFORE_PARTS)
    ask(page, DEEP, "deep")
    expect(page.locator(".node.running")).to_have_count(3)
    page.clock.pause_at(datetime.now() + timedelta(minutes=1))
    page.evaluate(OVERHEAR)
    console.stage.let_on(until=page.locator(".node.done"))
    assert page.evaluate("said") == []
    page.clock.run_for(6_000)
    expect(page.locator("#status")).not_to_be_empty()
    assert len(page.evaluate("said")) < 2
    console.stage.gate.release()
    expect(page.locator("#status")).to_have_text("The answer is ready.")
    assert len(page.evaluate("said")) < 3


def test_nothing_moves_for_who_wants_no_motion(at_work: Page) -> None:
    moving = "document.getAnimations().filter((one) => one.playState === 'running').length"
    assert at_work.evaluate(moving) > 0
    at_work.emulate_media(reduced_motion="reduce")
    assert at_work.evaluate(moving) == 0
    assert at_work.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
