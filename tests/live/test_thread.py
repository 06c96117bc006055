"""A conversation in a real Chromium: its title bar, the actions under an answer, files dropped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.live import demo
from tests.live.browser import ask, barriers, chromium, scrolls_sideways, watched
from tests.live.stages import Stage, open_stage
from tests.scenario.serving import ForkServer

__all__ = ["chromium"]

QUESTION = "Who agrees to work abroad?"
DROP = """([target, kind, name]) => {
    const data = new DataTransfer();
    data.items.add(new File(["The canteen opens at 11:30."], name));
    const how = { bubbles: true, cancelable: true };
    const event = kind === "paste"
        ? new ClipboardEvent(kind, { ...how, clipboardData: data })
        : new DragEvent(kind, { ...how, dataTransfer: data });
    document.querySelector(target).dispatchEvent(event);
}"""


@pytest.fixture(scope="module")
def stage(fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("thread")
    with open_stage(fork_server, folder, demo.DOCUMENTS, demo.brain) as stage:
        yield stage


@pytest.fixture(params=[(1280, 800), (390, 780)], ids=["wide", "narrow"])
def page(stage: Stage, chromium: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """An answered conversation."""
    view = dict(zip(("width", "height"), request.param, strict=True))
    rights = ["clipboard-read", "clipboard-write"]
    with watched(chromium, viewport=view, permissions=rights, locale="en-GB") as browser:
        page = browser.context.new_page()
        page.goto(stage.http)
        ask(page, QUESTION, "quick")
        expect(page.locator("[data-over]")).to_be_visible()
        page.wait_for_load_state()  # the answer may be there before the scripts
        yield page
        assert scrolls_sideways(page) == 0


def clipboard(page: Page) -> str:
    return str(page.evaluate("navigator.clipboard.readText()"))


def test_sharing_and_watching_need_no_reload(page: Page) -> None:
    page.evaluate("window.here = true")
    share, watch, toast = page.locator("#share"), page.locator("#watch"), page.locator("#toast")
    share.locator("summary").click()
    share.get_by_role("button", name="Create a link").click()
    expect(share.locator("#link")).to_be_visible()
    assert barriers(page) == []
    share.get_by_role("button", name="Copy the link").click()
    expect(toast).to_have_text("Link copied.")
    assert "/shared/" in clipboard(page)
    share.get_by_role("button", name="Revoke the link").click()
    expect(share.locator("#link")).to_have_count(0)
    page.keyboard.press("Escape")

    watch.locator("summary").click()
    watch.get_by_role("button", name="Watch this").click()
    expect(toast).to_have_text("Watched daily: I post here when the answer changes.")
    expect(watch.locator("summary")).to_have_text("Watched daily")
    watch.locator("summary").click()
    watch.get_by_role("button", name="Stop").click()
    expect(watch.locator("summary")).to_have_text("Watch this")
    assert page.evaluate("window.here")


def test_a_question_is_edited_in_its_place(page: Page) -> None:
    heading, field = (
        page.locator(".question h2"),
        page.get_by_role("textbox", name="Edit the question"),
    )
    pencil = page.locator(".question .editing > summary")
    top = heading.bounding_box()
    pencil.click()
    expect(field).to_be_focused()
    expect(heading).to_be_hidden()
    at = field.bounding_box()
    assert top is not None
    assert at is not None
    assert abs(at["y"] - top["y"]) < 12  # pixels
    field.fill("Something else?")
    page.keyboard.press("Escape")
    expect(heading).to_have_text(QUESTION)
    expect(pencil).to_be_focused()
    pencil.click()
    expect(field).to_have_value(QUESTION)
    field.fill("Who agrees, and how long before?")
    page.get_by_role("button", name="Save").click()
    expect(heading).to_have_text("Who agrees, and how long before?")
    expect(page.locator("[data-over]")).to_be_visible()


def test_an_answer_is_regenerated_copied_and_corrected(page: Page) -> None:
    before = page.locator(".summary span").inner_text()
    page.get_by_role("button", name="Regenerate").click()
    expect(page.locator(".working")).to_have_count(0)
    expect(page.locator(".summary span")).not_to_have_text(before)
    assert page.locator("article.turn").count() == 1
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.locator("#toast")).to_have_text("Copied.")
    assert "[1] Working from abroad" in clipboard(page)
    page.locator(".correct > summary").click()
    field = page.locator(".correct textarea")
    expect(field).to_be_focused()
    expect(field).to_be_in_viewport(ratio=1)
    assert barriers(page) == []
    page.keyboard.type("It is 30 days since May 2026.")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("article.turn")).to_have_count(2)
    expect(page.locator(".question h2").last).to_have_text("It is 30 days since May 2026.")
    expect(page.locator("[data-over]")).to_have_count(2)


def test_files_are_dropped_anywhere_and_pasted_into_the_box(page: Page) -> None:
    overlay, files = page.locator(".drop"), page.locator("#files .file")
    page.evaluate(DROP, [".top", "dragover", "a.txt"])
    expect(overlay).to_have_text("Drop files to ask about them")
    assert overlay.bounding_box() == {"x": 0, "y": 0, **(page.viewport_size or {})}
    page.evaluate(DROP, [".top", "drop", "a.txt"])
    expect(overlay).to_be_hidden()
    page.evaluate(DROP, ["#question", "paste", "b.png"])
    expect(files).to_have_text(["a.txt×", "b.png×"])
