"""Asking in a real Chromium: the plan at work, what is searched, and what goes without scripts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FloatRect, Locator, Page, expect

from tests.fakes import sqlite
from tests.live import demo
from tests.live.browser import ask, chromium, scrolls_sideways, watched
from tests.live.stages import DEEP, Stage, open_stage
from tests.scenario.gate import until
from tests.scenario.serving import ForkServer

__all__ = ["chromium"]

SIZES = [(1280, 800), (390, 780)]
PARTS = "How long may I work from another country, and who agrees?"


@pytest.fixture(scope="module")
def stage(fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("asking")
    sqlite.migrated(folder / "data")
    with open_stage(
        fork_server, folder, demo.DOCUMENTS, demo.brain, FOOTNOTE_PROVIDERS="local,wikipedia"
    ) as stage:
        yield stage


@pytest.fixture(autouse=True)
def _released(stage: Stage) -> Iterator[None]:
    yield
    stage.gate.release()


def box(one: Locator) -> FloatRect:
    found = one.bounding_box()
    assert found is not None
    return found


def overlap(one: Locator, other: Locator) -> bool:
    a, b = box(one), box(other)
    beside = a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"]
    apart = a["y"] + a["height"] <= b["y"] or b["y"] + b["height"] <= a["y"]
    return not (beside or apart)


def only_documents(page: Page) -> None:
    page.get_by_label("Wikipedia").uncheck()


# ---------------------------------------------------------------- the plan


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_what_is_done_now_is_in_view_and_stop_lies_over_nothing(
    stage: Stage, chromium: Browser, width: int, height: int
) -> None:
    with watched(chromium, viewport={"width": width, "height": height}) as browser:
        page = browser.context.new_page()
        page.goto(stage.http)
        only_documents(page)
        stage.gate.hold(after=2)
        ask(page, f"{demo.QUESTION} ({width})", "deep")
        now, stop = page.locator("[data-part=now]"), page.get_by_role("button", name="Stop")
        expect(page.locator(".node.running").first).to_be_visible()
        stage.let_on(until=page.locator(".node.done"))
        assert page.locator(".plan > details").count() + 1 <= 5
        for scrolled in (0, 300, 10_000):
            page.evaluate("y => scrollTo(0, y)", scrolled)
            expect(now).to_be_in_viewport()
            for other in (now, page.locator("#ask"), page.locator(".top")):
                assert not overlap(stop, other)
        assert not overlap(now, page.locator("#ask"))
        assert scrolls_sideways(page) == 0
        stage.gate.release()
        expect(page.locator(".answered")).to_be_visible()
        folded = page.locator(".worked > summary")
        expect(folded).to_contain_text("Researched in")
        expect(page.locator(".worked .steps").first).to_be_hidden()
        folded.click()
        page.locator(".worked summary", has_text="Read").last.click()
        expect(page.locator(".worked .steps .site").first).to_be_visible()


def test_nodes_show_what_they_have_found(stage: Stage, chromium: Browser) -> None:
    with watched(chromium) as browser:
        page = browser.context.new_page()
        page.goto(stage.http)
        only_documents(page)
        stage.gate.hold(after=2)
        ask(page, f"{demo.QUESTION} And then?", "deep")
        expect(page.locator(".node.running").first).to_be_visible()
        stage.let_on(until=page.locator(".node.done"))
        done, finding = page.locator("a.node.done").first, page.locator(".finding.shown")
        for _ in range(5):
            done.hover()  # what comes meanwhile may move the node away from under the mouse
            with suppress(AssertionError):
                expect(finding).to_have_count(1, timeout=2_000)
                break
        expect(finding).to_have_count(1)
        expect(finding.locator(".facts-found li")).not_to_have_count(0)
        page.locator("#question").hover()
        expect(finding).to_have_count(0)
        done.focus()  # as Tab does
        expect(finding).to_have_count(1)
        page.keyboard.press("Escape")
        expect(finding).to_have_count(0)
        done.press("Enter")
        expect(finding).to_have_count(1)
        page.locator("#question").hover()
        expect(finding).to_have_count(1)  # kept, as it was pressed


def test_a_line_that_was_unfolded_stays_so_while_it_changes(
    stage: Stage, chromium: Browser
) -> None:
    with watched(chromium) as browser:
        page = browser.context.new_page()
        page.goto(stage.http)
        only_documents(page)
        stage.gate.hold()
        ask(page, DEEP, "deep")
        searches = page.locator(".plan details[data-id=searches]")
        stage.let_on(until=searches.locator("summary"))  # which call brings it is not fixed
        searches.locator("summary").click()
        stage.let_on(until=page.locator(".node.done"))
        assert searches.get_attribute("open") is not None


# ---------------------------------------------------------------- before asking


def test_a_draft_survives_a_reload_and_is_gone_once_it_is_sent(
    stage: Stage, chromium: Browser
) -> None:
    with watched(chromium) as browser:
        page = browser.context.new_page()
        page.goto(stage.http)
        question = page.locator("#question")
        question.press_sequentially("Who agrees")
        page.reload()
        expect(question).to_have_value("Who agrees")
        only_documents(page)
        question.press("Enter")
        expect(page.locator(".turn")).to_have_count(1)
        page.goto(stage.http)
        expect(question).to_have_value("")


def test_what_is_told_lies_over_neither_box_nor_header(stage: Stage, chromium: Browser) -> None:
    with watched(chromium, viewport={"width": 390, "height": 780}) as browser:
        page = browser.context.new_page()
        page.goto(stage.http)
        for switch in page.locator("[name=source]").all():
            switch.uncheck()
        ask(page, "Who agrees?")
        toast = page.locator("#toast")
        expect(toast).to_have_text("Choose at least one source to search.")
        assert not overlap(toast, page.locator("#question"))
        assert not overlap(toast, page.locator(".top"))


def test_a_growing_box_covers_nothing(stage: Stage, chromium: Browser) -> None:
    with watched(chromium, viewport={"width": 390, "height": 500}) as browser:
        page = browser.context.new_page()
        page.goto(stage.http)
        page.locator("#question").fill("Who agrees to the days abroad?\n" * 30)
        for scrolled in (0, 10_000):
            page.evaluate("y => scrollTo({ top: y, behavior: 'instant' })", scrolled)
            for other in (".welcome", ".examples"):
                assert not overlap(page.locator("#ask"), page.locator(other))


# ---------------------------------------------------------------- preferences


def test_a_theme_goes_before_that_of_the_system(stage: Stage, chromium: Browser) -> None:
    with watched(chromium, color_scheme="light") as browser:
        page = browser.context.new_page()
        page.goto(stage.http)
        paper = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(paper)
        page.emulate_media(color_scheme="dark")
        dark = page.evaluate(paper)
        assert light != dark
        page.emulate_media(color_scheme="light")
        page.get_by_label("Preferences").click()
        page.get_by_label("Appearance").select_option("dark")
        page.get_by_label("Language").select_option("zh-Hans")
        page.get_by_role("button", name="Save").click()
        expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
        assert page.evaluate(paper) == dark


def test_a_refusal_stays_until_somebody_writes_again(stage: Stage, chromium: Browser) -> None:
    with watched(chromium) as browser:
        page = browser.context.new_page()
        page.clock.install()
        page.goto(stage.http)
        question = page.locator("#question")
        question.fill("😀")
        question.press("Enter")
        expect(page.locator("#toast")).to_have_text("Please write your question in words.")
        page.clock.run_for(60_000)
        expect(page.locator("#toast")).not_to_be_empty()
        question.press("W")
        expect(page.locator("#toast")).to_be_empty()


def test_a_button_that_reaches_no_server_does_not_speak_of_a_question(
    stage: Stage, chromium: Browser
) -> None:
    with watched(chromium) as browser:
        page = browser.context.new_page()
        page.goto(stage.http)
        only_documents(page)
        ask(page, demo.QUESTION)
        page.route("**/feedback", lambda route: route.abort())
        page.get_by_role("button", name="Helpful", exact=True).click()
        expect(page.locator("#toast")).to_have_text("This could not be sent. Please try again.")


def test_enter_sends_an_edited_question_too(stage: Stage, chromium: Browser) -> None:
    with watched(chromium) as browser:
        page = browser.context.new_page()
        page.goto(stage.http)
        only_documents(page)
        ask(page, demo.QUESTION)
        expect(page.locator(".answered")).to_be_visible()
        page.get_by_title("Edit the question").click()
        box = page.locator(".edit textarea")
        box.press("Shift+Enter")
        expect(box).to_have_value(f"{demo.QUESTION}\n")
        box.fill("Who agrees to it?")
        box.press("Enter")
        expect(page.locator(".question h2")).to_have_text("Who agrees to it?")
        expect(box).not_to_be_visible()


def test_the_name_above_is_on_one_line_in_any_window(stage: Stage, chromium: Browser) -> None:
    """Also where somebody enlarges the page to twice its size."""
    with watched(chromium, locale="de") as browser:
        page = browser.context.new_page()
        page.goto(stage.http)
        heights = {}
        for width in (1280, 840, 720, 640, 500, 390):
            page.set_viewport_size({"width": width, "height": 600})
            heights[width] = box(page.locator(".top"))["height"]
        assert len(set(heights.values())) == 1, heights


def test_what_is_pressed_is_not_on_paper(stage: Stage, chromium: Browser) -> None:
    with watched(chromium) as browser:
        page = browser.context.new_page()
        page.goto(stage.http)
        only_documents(page)
        ask(page, demo.QUESTION)
        expect(page.locator(".answered")).to_be_visible()
        pressed = page.locator(".editing summary, main button").filter(visible=True)
        expect(pressed).not_to_have_count(0)
        page.emulate_media(media="print")
        expect(pressed).to_have_count(0)


def test_the_keys_are_told_where_one_is(stage: Stage, chromium: Browser) -> None:
    with watched(chromium) as browser:
        page = browser.context.new_page()
        page.goto(stage.http)
        page.locator("#main").focus()
        page.keyboard.press("?")
        dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
        expect(dialog).to_contain_text("Go to the question box")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)


# ---------------------------------------------------------------- without scripts


@pytest.mark.parametrize("width", [1280, 390])
def test_without_scripts_the_whole_form_works(
    stage: Stage, chromium: Browser, width: int, tmp_path: Path
) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("# Notes\n\nThe gate code of the canteen is 4711.\n", encoding="utf-8")
    view = {"width": width, "height": 780}
    with watched(chromium, viewport=view, java_script_enabled=False) as browser:
        page = browser.context.new_page()
        page.goto(stage.http)
        for control in page.locator("#ask :is(textarea, select, input[type=file], .send)").all():
            assert box(control)["width"] >= 40
            assert box(control)["x"] + box(control)["width"] <= width
        assert box(page.locator("#attached"))["width"] > 200
        only_documents(page)
        page.locator("#attached").set_input_files(notes)
        page.locator("#depth").select_option("quick")
        page.locator("#question").fill("What is the gate code of the canteen?")
        page.locator(".send").click()
        expect(page.locator(".answered")).to_have_count(1)  # the page reloads itself
        expect(page.locator(".file", has_text="notes.md").first).to_be_visible()
        expect(page.locator("#depth")).to_have_value("quick")
        page.locator("#question").fill("Who agrees to the days?")
        page.locator(".send").click()
        expect(page.locator(".answered")).to_have_count(2)
        assert page.locator("[name=source][value=wiki]").is_checked() is False


def test_latin_letters_are_never_set_in_a_chinese_font(stage: Stage, chromium: Browser) -> None:
    """A Latin face that is named, or the browser's own for the page, comes before all Chinese ones,
    whichever fonts are installed."""
    with watched(chromium, locale="zh-CN") as browser:
        page = browser.context.new_page()
        page.goto(stage.http)
        client = browser.context.new_cdp_session(page)
        client.send("DOM.enable")
        client.send("CSS.enable")
        page.locator("h1").evaluate("one => one.textContent = 'Don’t ask'")
        root = client.send("DOM.getDocument")["root"]["nodeId"]
        node = client.send("DOM.querySelector", {"nodeId": root, "selector": "h1"})["nodeId"]

        def families() -> list[str]:
            fonts = client.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
            return [each["familyName"] for each in fonts]

        until(lambda: bool(families()))  # it is painted
        assert [each for each in families() if "CJK" in each] == []


def test_everything_works_under_a_path(
    fork_server: ForkServer, chromium: Browser, tmp_path: Path
) -> None:
    """As behind a proxy that leaves the path in."""
    sqlite.migrated(tmp_path / "data")
    under = {"FOOTNOTE_PUBLIC_URL": "http://127.0.0.1/footnote"}
    with (
        open_stage(fork_server, tmp_path, demo.DOCUMENTS, demo.brain, **under) as stage,
        watched(chromium) as browser,
    ):
        page = browser.context.new_page()
        page.goto(f"{stage.http}/footnote/")
        stage.gate.hold(after=2)
        ask(page, demo.QUESTION, "deep")
        expect(page.locator(".node.running").first).to_be_visible()
        stage.gate.release()
        expect(page.locator(".answered")).to_be_visible()
        page.locator("#main").focus()
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
        page.keyboard.press("Escape")
        page.get_by_role("link", name="How was this answered?").click()
        expect(page.locator(".sentence")).not_to_have_count(0)
        page.get_by_role("link", name="Handbook").click()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert [url for url in browser.asked if "/footnote/" not in url] == []
