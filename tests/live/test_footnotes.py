"""A footnote leads to its source: beside the text, from below on a phone, without scripts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.live.browser import ask, barriers, chromium, watched
from tests.live.stages import Stage, open_stage
from tests.scenario.serving import ForkServer

__all__ = ["chromium"]

PADDING = "\n\n".join(f"Paragraph {n} says nothing of note about the weather." for n in range(40))
DOCUMENTS = {
    "keys.md": f"""# Keys

{PADDING}

## Rotation

The master key is rotated every **90 days** with `seal rotate`.

```sh
# once a quarter
seal rotate --key "$MASTER"
```

| key | days |
| --- | --- |
| master | 90 |
| session | 1 |

{PADDING}
""",
    "lunch.md": "# Lunch\n\nLunch in the canteen costs 6.50 euros. It is open from noon.\n",
}
QUESTION = "How often is the master key rotated?"
LUNCH = "What does lunch in the canteen cost?"
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 780}
QUOTED = "The master key is rotated every"
LEAST = 24  # CSS pixels: WCAG 2.2, criterion 2.5.8


@pytest.fixture(scope="module")
def stage(fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with open_stage(fork_server, tmp_path_factory.mktemp("footnotes"), DOCUMENTS) as stage:
        yield stage


@pytest.fixture(scope="module")
def conversation(stage: Stage, chromium: Browser) -> str:
    """The address of two questions with their answers."""
    with watched(chromium) as browser:
        page = browser.context.new_page()
        page.goto(stage.http)
        for number, question in enumerate((QUESTION, LUNCH), 1):
            ask(page, question)
            expect(page.locator(".answered")).to_have_count(number)
        return page.url.partition("#")[0]


@pytest.fixture(params=[DESK, PHONE], ids=["desk", "phone"])
def page(request: pytest.FixtureRequest, chromium: Browser, conversation: str) -> Iterator[Page]:
    with watched(chromium, viewport=request.param) as browser:
        page = browser.context.new_page()
        page.goto(conversation)
        expect(page.locator(".answered")).to_have_count(2)
        yield page


def top_of(element: Locator) -> float:
    """The distance from the top of the window, in pixels."""
    box = element.bounding_box()
    assert box is not None
    return box["y"]


def test_a_click_opens_the_source_at_the_quoted_words(page: Page) -> None:
    mark = page.locator(".answer .mark").first
    mark.scroll_into_view_if_needed()
    before = top_of(mark)
    mark.click()

    panel = page.locator("#source")
    expect(panel.locator("#source-title")).to_have_text("Keys")
    quoted = panel.locator("mark.at")
    expect(quoted.first).to_be_in_viewport()
    expect(panel.locator(".page-text p", has_text=QUOTED)).to_be_in_viewport()
    expect(panel.locator("h2", has_text="Rotation")).to_be_visible()
    expect(panel.locator("pre .hl-c")).to_have_text("# once a quarter")
    expect(panel.locator("td.right").first).to_have_text("90")
    expect(mark).to_be_focused()
    expect(mark).to_have_attribute("aria-expanded", "true")
    expect(mark).to_be_in_viewport()
    assert panel.bounding_box() is not None
    if (page.viewport_size or PHONE)["width"] == DESK["width"]:
        assert abs(top_of(mark) - before) < 2  # it stayed under the pointer
    assert [one for one in barriers(page) if "color-contrast" in one] == []

    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(mark).to_be_focused()


def test_arrow_keys_walk_the_footnotes(page: Page) -> None:
    marks = page.locator(".answer .mark")
    marks.first.focus()
    page.keyboard.press("Enter")
    panel = page.locator("#source")
    expect(panel.locator("#source-title")).to_have_text("Keys")
    for _ in range(marks.count() - 1):
        page.keyboard.press("ArrowRight")
    expect(marks.last).to_be_focused()
    expect(panel.locator("#source-title")).to_have_text("Lunch")
    page.keyboard.press("ArrowLeft")
    expect(marks.nth(marks.count() - 2)).to_be_focused()


def test_tab_leads_into_the_source_and_back(page: Page) -> None:
    mark = page.locator(".answer .mark").first
    mark.focus()
    page.keyboard.press("Enter")
    body = page.locator("#source .panel-body")
    expect(body.locator("mark.at").first).to_be_visible()
    page.keyboard.press("Tab")
    expect(body).to_be_focused()
    page.locator("#source h2 a").focus()
    page.keyboard.press("Shift+Tab")
    expect(mark).to_be_focused()


def test_a_second_click_closes_and_so_does_the_button(page: Page) -> None:
    mark, panel = page.locator(".answer .mark").first, page.locator("#source")
    for close in (mark, page.get_by_role("button", name="Close the source")):
        mark.click()
        expect(panel).to_be_visible()
        close.click()
        expect(panel).to_be_hidden()


def test_what_can_be_pressed_is_large_enough(page: Page) -> None:
    for mark in page.locator(".mark").all():
        box = mark.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= LEAST


def test_titles_lead_to_the_stored_page(page: Page) -> None:
    page.locator(".cards .name", has_text="Keys").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Keys")
    expect(page.locator(".page-text mark").first).to_be_visible()


def test_nothing_names_the_run_where_people_read(page: Page) -> None:
    run = page.locator("article.turn").first.get_attribute("data-run") or "?"
    assert run not in page.locator("main").inner_text()


def test_without_scripts_a_mark_leads_to_the_quote(chromium: Browser, conversation: str) -> None:
    with watched(chromium, java_script_enabled=False, viewport=PHONE) as browser:
        page = browser.context.new_page()
        page.goto(conversation)
        page.locator(".answer .mark").first.click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Keys")
        expect(page.locator("mark", has_text=QUOTED)).to_be_in_viewport()


def test_code_can_be_copied(chromium: Browser, conversation: str) -> None:
    with watched(chromium, permissions=["clipboard-read", "clipboard-write"]) as browser:
        page = browser.context.new_page()
        page.goto(conversation)
        page.locator(".answer .mark").first.click()
        page.locator("#source").get_by_role("button", name="Copy the code").click()
        expect(page.locator("#source .copy")).to_have_text("✓")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == '# once a quarter\nseal rotate --key "$MASTER"\n'


def test_back_closes_the_sheet_on_a_phone_and_a_closed_one_leaves_no_trace(page: Page) -> None:
    width = page.viewport_size
    assert width is not None
    mark, panel = page.locator(".answer .mark").first, page.locator("#source")
    steps = page.evaluate("history.length")
    mark.click()
    expect(panel.locator("mark.at").first).to_be_in_viewport()
    if width["width"] > PHONE["width"]:
        assert page.evaluate("history.length") == steps
        return
    page.go_back()
    expect(panel).to_be_hidden()
    expect(page.locator(".answered")).to_have_count(2)
    mark.click()
    expect(panel).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    page.go_back()
    expect(page).to_have_url("about:blank")


def test_no_card_lies_over_an_open_panel(chromium: Browser, conversation: str) -> None:
    with watched(chromium, viewport=DESK) as browser:
        page = browser.context.new_page()
        page.clock.install()
        page.goto(conversation)
        first, last = page.locator(".answer .mark").first, page.locator(".answer .mark").last
        card = page.get_by_role("tooltip")

        def look_at(one: Locator) -> None:
            one.hover()
            page.clock.run_for(1_000)

        look_at(last)
        expect(card).to_be_visible()
        look_at(page.locator("#question"))
        expect(card).to_have_count(0)
        first.click()
        expect(page.locator("#source mark.at").first).to_be_visible()
        look_at(last)
        expect(card).to_have_count(0)


def test_a_quote_of_a_whole_page_is_jumped_to(page: Page) -> None:
    page.goto(page.locator(".answer .mark").first.evaluate("one => one.href"))
    expect(page.locator(".stored")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


def test_moments_are_the_readers_also_in_the_panel(chromium: Browser, conversation: str) -> None:
    with watched(chromium, timezone_id="Asia/Tokyo") as browser:
        page = browser.context.new_page()
        page.goto(conversation)
        page.locator(".answer .mark").first.click()
        panel = page.locator("#source")
        expect(panel.locator("time")).to_have_count(1)
        expect(panel).not_to_contain_text("UTC")
        page.goto(page.locator(".answer .mark").first.evaluate("one => one.href"))
        expect(page.locator("main time")).to_have_count(1)
        expect(page.locator("main")).not_to_contain_text("UTC")
