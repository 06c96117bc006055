"""Pictures of each state of the console, wide and narrow, light and dark, English and Chinese.

``STATES=FOLDER`` keeps them there; without it they are made all the same and looked at by what can
be measured: that axe finds nothing, that nothing reaches out of the window, and that each is a
picture of its own.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.live.browser import barriers, chromium, scrolls_sideways, too_wide, watched
from tests.live.stages import Stage
from tests.live.states import SPEECHES, Speech, Walk, open_states
from tests.scenario.program import REPOSITORY
from tests.scenario.serving import ForkServer

__all__ = ["chromium"]

SIZES = ((1280, 800), (390, 780))  # CSS pixels, which are the picture's
THEMES = ("light", "dark")
OPERATED = ("sources", "sources-files")
PRIVATE = (str(Path.home()), str(REPOSITORY), "file:", "/tmp/")


@pytest.fixture(scope="module")
def stage(fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with open_states(fork_server, tmp_path_factory.mktemp("states")) as stage:
        yield stage


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("STATES", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.mark.parametrize("size", SIZES, ids=["wide", "narrow"])
@pytest.mark.parametrize("speech", SPEECHES, ids=lambda one: one.locale)
def test_each_state_has_its_pictures(
    stage: Stage, chromium: Browser, folder: Path, speech: Speech, size: tuple[int, int]
) -> None:
    view = {"width": size[0], "height": size[1]}
    shown = {"locale": speech.locale, "timezone_id": "UTC", "reduced_motion": "reduce"}
    faults, taken = [], list[Path]()
    with watched(chromium, viewport=view, **shown) as browser:
        page = browser.context.new_page()
        for state in Walk(stage, page, speech).states():
            # Operators see where folders are on the server, on their page alone.
            said = "" if state in OPERATED else page.locator("body").inner_text()
            faults += [f"{state}: shows {one}" for one in PRIVATE if one in said]
            if scrolls_sideways(page):
                faults.append(f"{state}: {scrolls_sideways(page)} pixels too wide")
            faults += [f"{state}: reaches out: {one}" for one in too_wide(page)]
            faults += [f"{state}: {one}" for one in barriers(page)]
            for theme in THEMES:
                path = folder / f"{speech.locale[:2]}-{state}-{size[0]}-{theme}.png"
                _take(page, path, theme)
                assert _size(path) == size
                taken.append(path)
            faults += [f"{state}, dark: {one}" for one in barriers(page, "color-contrast")]
            page.emulate_media(color_scheme="light")
    assert faults == []
    assert len({hashlib.sha256(path.read_bytes()).digest() for path in taken}) == len(taken)


def _take(page: Page, path: Path, theme: str) -> None:
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    page.screenshot(path=path, animations="disabled")


def _size(picture: Path) -> tuple[int, int]:
    """Of a PNG, from its header (RFC 2083)."""
    data = picture.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    return width, height
