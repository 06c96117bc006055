"""Turns of a conversation in a real Chromium: how questions and answers come, look and fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from adapters.web.templating import files
from tests.fakes import sqlite
from tests.fakes.claude import Fail, Reply
from tests.live import demo
from tests.live.browser import ask, chromium, watched
from tests.live.stages import Stage, open_stage
from tests.scenario.serving import ForkServer

__all__ = ["chromium"]

LONG = "Please look at this report of a trip abroad, and tell me who agrees to the days. " * 37


REFUSED = "How may a refused key be noticed?"
keys = iter([Fail(401, "invalid x-api-key")])


def brain(request: Mapping[str, Any]) -> Reply | Fail:
    """Refuses the key when one question is asked for the first time."""
    refused = next(keys, None) if REFUSED in str(request["messages"]) else None
    return refused or demo.brain(request)


@pytest.fixture(scope="module")
def stage(fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("turns")
    sqlite.migrated(folder / "data")
    with open_stage(fork_server, folder, demo.DOCUMENTS, brain) as stage:
        yield stage


@pytest.fixture
def page(stage: Stage, chromium: Browser) -> Iterator[Page]:
    with watched(chromium, viewport={"width": 1280, "height": 600}) as browser:
        page = browser.context.new_page()
        page.goto(stage.http)
        yield page


def answered(page: Page, question: str = demo.QUESTION, count: int = 1) -> None:
    ask(page, question)
    expect(page.locator(".answered")).to_have_count(count)


# ---------------------------------------------------------------- what comes is shown


def test_a_turn_that_comes_before_the_response_is_shown(page: Page) -> None:
    answered(page)

    def late(route: Route) -> None:
        response = route.fetch()
        expect(page.locator(".turn")).to_have_count(2)
        route.fulfill(response=response)

    page.route("**/deeper", late)
    page.get_by_role("button", name="Dig deeper").click()
    later = page.locator(".turn + .turn")
    expect(later.locator("h2")).to_be_in_viewport()
    expect(page.locator(".sources").first).not_to_be_in_viewport()
    expect(later.locator(".depth")).to_have_text("Deep")
    expect(page.locator(".turn").first.locator(".depth")).to_have_count(0)


def test_a_button_leads_to_what_came_out_of_view(page: Page) -> None:
    answered(page)
    other = page.context.new_page()
    other.goto(page.url)
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    newest = page.get_by_role("button", name="Newest")
    expect(newest).to_be_hidden()
    answered(other, "Who agrees?", count=2)
    expect(newest).to_be_visible()
    newest.click()
    expect(page.locator(".turn h2").last).to_be_in_viewport()
    expect(newest).to_be_hidden()


# ---------------------------------------------------------------- long and foreign questions


@pytest.mark.parametrize("scripts", [True, False])
def test_a_long_question_is_four_lines_until_it_is_unfolded(
    stage: Stage, chromium: Browser, scripts: bool
) -> None:
    with watched(chromium, java_script_enabled=scripts) as browser:
        page = browser.context.new_page()
        page.goto(stage.http)
        page.locator("#question").fill(LONG)
        page.locator(".send").click()
        expect(page.locator(".answered")).to_have_count(1)
        title = page.locator(".question h2")
        folded = title.bounding_box()
        assert folded is not None
        assert folded["height"] < 110
        page.get_by_text("Show all").click()
        unfolded = title.bounding_box()
        assert unfolded is not None
        assert unfolded["height"] > 400
        page.get_by_text("Show less").click()
        expect(page.get_by_text("Show all")).to_be_visible()


@pytest.mark.parametrize(
    "question", ["كم يوما يمكنني العمل من بلد آخر؟", "כמה ימים מותר לעבוד בחו״ל?"]
)
def test_a_question_in_arabic_or_hebrew_begins_at_the_right(page: Page, question: str) -> None:
    answered(page, question)
    page.locator("#question").fill(question)
    for place in ("#question", ".question h2"):
        assert page.locator(place).evaluate("one => getComputedStyle(one).direction") == "rtl"


# ---------------------------------------------------------------- exports


def test_no_word_of_an_exported_table_is_broken(page: Page) -> None:
    cells = "<td>Administration</td><td>Instructions</td><td>Requirements</td>" * 3
    style = files()["export.css"].decode()
    page.set_viewport_size({"width": 390, "height": 780})
    page.goto("about:blank")
    page.set_content(
        f"<style>{style}</style><main><div class=wide><table><tr>{cells}</tr></table></div></main>"
    )
    assert page.locator("tr").evaluate("one => one.offsetHeight") < 60  # one line
    assert page.locator(".wide").evaluate("one => one.scrollWidth > one.clientWidth")


# ---------------------------------------------------------------- failures


def test_a_failure_says_why_to_its_operator_and_can_be_tried_again(page: Page) -> None:
    answered(page)  # what comes to an open page is said
    ask(page, REFUSED)
    failed = page.locator(".answer.failed")
    expect(failed).to_contain_text("ANTHROPIC_API_KEY was not accepted")
    expect(page.locator("#status")).to_have_text("The question could not be answered.")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".answered:not(.failed)")).to_have_count(2)
    expect(page.locator(".turn")).to_have_count(2)
