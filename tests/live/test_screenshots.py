"""The README's pictures of the console are made here; ``SCREENSHOTS=FOLDER`` keeps them there.

Without it they are made all the same, faster and for nobody, and those that are committed are
looked at: that there is one of each, small, and shown.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.fakes import sqlite
from tests.live import demo
from tests.live.browser import ask, chromium, scrolls_sideways, watched
from tests.live.stages import Stage, beside, open_stage
from tests.scenario.gate import until
from tests.scenario.program import REPOSITORY
from tests.scenario.serving import ForkServer

__all__ = ["chromium"]

COMMITTED = REPOSITORY / "bot" / "handbook"
NAMES = ("console-plan", "console-answer", "console-run", "console-overview")
SIZE = (900, 580)  # pixels
DISTANT = 0.7  # of their size, for pages that have much to show
LARGEST = 120_000  # bytes
# Of a model that takes its time: seconds until it begins, tokens a second.
PENSIVE = (0.8, 150.0)


@dataclass
class Camera:
    """Takes pictures with ``browser`` into ``folder``."""

    browser: Browser
    folder: Path

    @contextmanager
    def at(self, url: str, scale: float = 1.0) -> Iterator[Page]:
        """A page that is shown at ``scale``."""
        view = {"width": round(SIZE[0] / scale), "height": round(SIZE[1] / scale)}
        shown = {"locale": "en-GB", "timezone_id": "UTC", "device_scale_factor": scale}
        with watched(self.browser, viewport=view, **shown) as browser:
            page = browser.context.new_page()
            page.goto(url)
            yield page

    def take(self, page: Page, name: str) -> None:
        assert scrolls_sideways(page) == 0
        shown = page.locator("body").inner_text()
        for private in (str(Path.home()), str(REPOSITORY), "file:", "/tmp/", "localhost"):
            assert private not in shown
        picture = self.folder / f"{name}.png"
        page.screenshot(path=picture, animations="disabled")
        expect_picture(picture)


@pytest.fixture
def stage(fork_server: ForkServer, tmp_path: Path) -> Iterator[Stage]:
    beside(demo.fill(sqlite.migrated(tmp_path / "data")))
    with open_stage(fork_server, tmp_path, demo.DOCUMENTS, demo.brain) as stage:
        if "SCREENSHOTS" in os.environ:
            stage.gate.claude.first_token, stage.gate.claude.rate = PENSIVE
        yield stage


@pytest.fixture
def camera(chromium: Browser, tmp_path: Path) -> Camera:
    return Camera(chromium, Path(os.environ.get("SCREENSHOTS", tmp_path)))


def test_the_pictures_are_made(stage: Stage, camera: Camera) -> None:
    gate = stage.gate
    with camera.at(stage.http, DISTANT) as page:
        gate.hold(after=2)  # understanding, planning
        ask(page, demo.QUESTION, "deep")
        expect(page.locator(".node.running")).to_have_count(3)
        stage.let_on(until=page.locator(".node.done"))
        expect(page.locator(".node")).to_have_count(len(demo.NODES))
        camera.take(page, "console-plan")
        conversation = page.url
    gate.release()

    with camera.at(conversation, 0.8) as page:
        expect(page.locator(".answered")).to_be_visible()
        expect(page.locator(".answer")).not_to_contain_text("⚠")
        page.locator(".mark").nth(1).hover()
        expect(page.get_by_role("tooltip")).to_contain_text("The team lead agrees")
        camera.take(page, "console-answer")
        explained = page.get_by_role("link", name="How was this answered?").get_attribute("href")

    run = f"{stage.http}/api{str(explained).partition('#')[0]}"
    until(lambda: httpx.get(run).json()["state"] == "answered")
    with camera.at(f"{stage.http}{explained}", DISTANT) as page:
        expect(page.locator(".sentence")).not_to_have_count(0)
        camera.take(page, "console-run")
    with camera.at(f"{stage.http}/overview", DISTANT) as page:
        expect(page.locator(".plot")).to_have_count(2)
        camera.take(page, "console-overview")


@pytest.mark.parametrize("name", NAMES)
def test_the_readme_shows_each_of_them(name: str) -> None:
    expect_picture(COMMITTED / f"{name}.png")
    assert (COMMITTED / f"{name}.png").stat().st_size < LARGEST
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert f"](bot/handbook/{name}.png)" in readme


def expect_picture(picture: Path) -> None:
    """It is a PNG (RFC 2083) of the size that all of them have."""
    data = picture.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == SIZE
