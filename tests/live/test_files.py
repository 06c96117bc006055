"""Files in the console, in a real Chromium: chosen, dropped, taken back, refused, used again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.live.browser import ask, barriers, chromium, too_wide, watched
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, Serving, ending, start_forked

__all__ = ["chromium"]

FOUNTAIN = "The fountain in the courtyard is drained every November by Olga Petrova.\n"
WHO = "Who drains the fountain in the courtyard?"
DROP = """([box, type, name, text]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], name, { type: "text/markdown" }));
    box.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


@pytest.fixture(scope="module")
def serving(fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("files")
    (folder / "documents").mkdir()
    (folder / "documents" / "canteen.md").write_text("# Canteen\n\nLunch costs 6.50 euros.\n")
    program = Program(folder, {"FOOTNOTE_DOCS": str(folder / "documents")})
    with ending(start_forked(fork_server, program, FOOTNOTE_FETCH_MAX_BYTES="20000")) as serving:
        yield serving


@pytest.fixture
def page(chromium: Browser, serving: Serving) -> Iterator[Page]:
    with watched(chromium, viewport={"width": 360, "height": 740}) as browser:
        page = browser.context.new_page()
        page.goto(serving.http)
        yield page


def choose(page: Page, *files: Path) -> None:
    with page.expect_file_chooser() as chooser:
        page.locator("label.attach").click()
    chooser.value.set_files(list(files))


def drop(page: Page, name: str, text: str) -> None:
    box = page.locator("#turns").element_handle()
    for kind in ("dragover", "drop"):
        page.evaluate(DROP, [box, kind, name, text])


def test_a_chosen_file_is_read_and_stays_at_hand(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "yard.md"
    path.write_text(FOUNTAIN)
    choose(page, path)
    chips = page.locator("#files .file")
    expect(chips).to_have_text(["yard.md×"])
    assert barriers(page) == []
    assert too_wide(page) == []

    ask(page, WHO)
    expect(page.locator(".answered").first).to_contain_text("Olga Petrova")
    expect(page.locator(".question .file")).to_have_text(["yard.md"])
    ticked = page.get_by_role("checkbox", name="yard.md")
    expect(ticked).to_be_checked()
    assert barriers(page) == []
    assert too_wide(page) == []

    ask(page, "When is the fountain drained?")
    expect(page.locator(".answered").nth(1)).to_contain_text("November")
    expect(page.locator(".question .file")).to_have_count(2)
    ticked.uncheck()
    ask(page, "Thank you!")
    expect(page.locator(".turn")).to_have_count(3)
    expect(page.locator(".question .file")).to_have_count(2)

    with page.expect_download() as download:
        page.locator(".question .file a").first.click()
    assert download.value.suggested_filename == "yard.md"
    assert download.value.path().read_text() == FOUNTAIN


def test_dropped_files_are_shown_and_can_be_taken_back(page: Page) -> None:
    drop(page, "one.md", "The first of the notes.\n")
    drop(page, "two.md", FOUNTAIN)
    drop(page, "two.md", FOUNTAIN)
    chips = page.locator("#files .file")
    expect(chips).to_have_text(["one.md×", "two.md×"])
    page.get_by_role("button", name="Remove one.md").click()
    expect(chips).to_have_text(["two.md×"])
    ask(page, WHO)
    expect(page.locator(".question .file")).to_have_text(["two.md"])
    expect(page.locator(".answered")).to_contain_text("Olga Petrova")


def test_a_file_that_cannot_be_taken_says_why_and_the_question_stays(page: Page) -> None:
    drop(page, "long.md", "A long text. " * 4_000)
    toast = page.locator("#toast")
    expect(toast).to_contain_text("long.md is larger than 0.02 MB")
    refused = page.locator("#files .file.refused")
    expect(refused).to_have_text(re.compile("long.md is larger"))
    drop(page, "yard.md", FOUNTAIN)
    drop(page, "empty.md", "\n")
    ask(page, WHO)
    expect(toast).to_contain_text("Not sent yet.")
    expect(page.locator("#question")).to_have_value(WHO)
    expect(page.locator("#files .file:not(.refused)")).to_have_text(["yard.md×"])
    expect(refused.last).to_contain_text("empty.md is empty")
    assert barriers(page) == []
    assert too_wide(page) == []
    page.locator("#question").press("Enter")
    expect(page.locator(".question .file")).to_have_text(["yard.md"])
    expect(page.locator(".answered")).to_contain_text("Olga Petrova")
