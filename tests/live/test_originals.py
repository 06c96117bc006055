"""Documents opened as they are from the page of a run, in a real Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Download, Page, expect

from bot.storage.tables import UNFINISHED
from tests.fakes.pdf import pdf, typed
from tests.live.browser import Watched, chromium, watched
from tests.scenario.gate import until
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, Serving, ending, start_forked

__all__ = ["chromium"]

HOSTILE = "<script>document.title = 'ran'</script><img src=/conversations onerror=alert(1)>"
PAGE = f"<!doctype html><title>{{}} lamp</title><p>The {{}} lamp is lit at dusk.</p>{HOSTILE}"
NIGHT = "The old lamp is lit at dusk, for 3 € – “as always”.\n"
FILES = {
    "plan.pdf": pdf([typed(["The amber lamp is lit at dusk."])]),
    "page.html": PAGE.format("Brown", "brown").encode(),
    "page.xhtml": PAGE.format("Coral", "coral").encode(),
    "notes.md": PAGE.format("Denim", "denim").encode(),
    "lamps.csv": b"lamp,when\nebony,The ebony lamp is lit at dusk\n",
    "old.txt": NIGHT.encode("cp1252"),
}
LAMPS = dict(zip(FILES, ("amber", "brown", "coral", "denim", "ebony", "old"), strict=True))
PDF_VIEWER = "chrome-extension://mhjfbmdgcfjbbpaeojofohoefgiehjai/"  # Chromium's own


@pytest.fixture(scope="module")
def serving(fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("originals")
    (folder / "documents").mkdir()
    for name, content in FILES.items():
        (folder / "documents" / name).write_bytes(content)
    program = Program(folder, {"FOOTNOTE_DOCS": str(folder / "documents")})
    with ending(start_forked(fork_server, program)) as serving:
        serving.until_said("Indexed in")
        yield serving


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Watched]:
    with watched(chromium) as browser:
        yield browser


@pytest.fixture
def open_original(browser: Watched, serving: Serving) -> Callable[[str], Page]:
    """Ask for a file by its lamp, and open it from its page as it was read; returns its tab."""

    def opened(name: str) -> Page:
        page = browser.context.new_page()
        with httpx.Client(base_url=serving.http, timeout=60) as api:
            asked = {"question": f"When is the {LAMPS[name]} lamp lit?"}
            run = api.post("/api/questions", json=asked).json()["run"]
            until(lambda: api.get(f"/api/runs/{run}").json()["state"] not in UNFINISHED)
        page.goto(f"{serving.http}/runs/{run}/pages/1")
        expect(page.locator(".where")).to_contain_text(name)
        with browser.context.expect_page() as found:
            page.get_by_role("link", name="Open original").click()
        return found.value

    return opened


def test_a_pdf_file_opens_in_the_viewer_of_the_browser(
    browser: Watched, open_original: Callable[[str], Page]
) -> None:
    with browser.context.expect_event("request", lambda one: one.url.startswith(PDF_VIEWER)):
        open_original("plan.pdf")


@pytest.mark.parametrize("name", ["notes.md", "lamps.csv", "old.txt"])
def test_texts_are_shown_as_they_are_written(
    open_original: Callable[[str], Page], name: str
) -> None:
    opened = open_original(name)
    wanted = NIGHT if name == "old.txt" else FILES[name].decode()
    expect(opened.locator("pre")).to_have_text(wanted)
    assert opened.evaluate("[document.contentType, origin]") == ["text/plain", "null"]
    assert opened.title() == ""


@pytest.mark.parametrize("name", ["page.html", "page.xhtml"])
def test_pages_are_saved_and_never_run(
    browser: Watched, open_original: Callable[[str], Page], name: str, tmp_path: Path
) -> None:
    downloads: list[Download] = []
    browser.context.on("page", lambda new: new.on("download", lambda one: downloads.append(one)))
    opened = open_original(name)
    if not opened.is_closed():
        opened.wait_for_event("close")
    (download,) = downloads
    assert download.suggested_filename == name
    download.save_as(tmp_path / name)
    assert (tmp_path / name).read_bytes() == FILES[name]
