"""A real Chromium: pages that are watched while they are used, and axe-core's view of them.

Debian's Chromium, and axe-core from ``.ci/.live``; ``.ci/install-live`` puts both there.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    Request,
    expect,
    sync_playwright,
)

from tests.live.emulate import MODULES

AXE = MODULES / "axe-core"
AXE_VERSION = "4.14.1"
PATIENCE = 60_000  # milliseconds until what should come counts as missing
WIDTHS = (360, 800, 1280)
# Two pages of the address bar that each window would otherwise load, unseen, in a renderer of
# their own: more work than most pages of ours.
WITHOUT_ADDRESS_BAR = "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup"

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One for each module: while it is there, no loop of asyncio can run in this thread."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("Chromium is not installed: run .ci/install-live as root")
    arguments = [WITHOUT_ADDRESS_BAR, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


@dataclass
class Watched:
    """A browser's profile. ``said`` is what its pages complained about: scripts that broke, styles
    and scripts that the policy refused, dialogs; ``asked`` the URLs that they loaded."""

    context: BrowserContext
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.context.set_default_timeout(PATIENCE)
        self.context.on("console", self._hear)
        self.context.on("weberror", lambda error: self.said.append(str(error.error)))
        self.context.on("dialog", self._refuse)
        self.context.on("request", self._note)

    def _hear(self, message: ConsoleMessage) -> None:
        # A stream that ends with its server, and answers that are no 200, are told there too.
        if "ERR_" not in message.text and "Failed to load resource" not in message.text:
            self.said.append(message.text)

    def _refuse(self, dialog: Dialog) -> None:
        self.said.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _note(self, request: Request) -> None:
        self.asked.append(request.url)

    def elsewhere(self, http: str) -> list[str]:
        """The addresses that were loaded from anywhere but this server."""
        ours = urlsplit(http).netloc
        return [url for url in self.asked if urlsplit(url).netloc != ours]


@contextmanager
def watched(browser: Browser, **options: Any) -> Iterator[Watched]:
    """A new profile; fails at its end when a page of it had anything to complain about."""
    context = browser.new_context(**options)
    try:
        found = Watched(context)
        yield found
    finally:
        context.close()
    assert not found.said, found.said


def ask(page: Page, question: str, depth: str = "") -> None:
    """Put a question as people do: Enter sends it once the page's scripts are there."""
    page.wait_for_load_state("domcontentloaded")
    if depth:
        page.locator("#depth").select_option(depth)
    box = page.locator("#question")
    box.fill(question)
    box.press("Enter")


def scrolls_sideways(page: Page, places: str = ":root, .scroll:has(> table)") -> int:
    """By how many pixels a page is wider than its window, or a table than its place."""
    wide: int = page.evaluate(
        """(places) => Math.max(...[...document.querySelectorAll(places)]
            .map((one) => one.scrollWidth - one.clientWidth))""",
        places,
    )
    return wide


def too_wide(page: Page) -> list[str]:
    """The elements that reach out of the window and cannot be scrolled to."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("body *")]
            .filter((one) => one.getBoundingClientRect().right > innerWidth + 0.5)
            .filter((one) => !one.closest(".unseen, .scroll, .scrolled, .wide, pre"))
            .map((one) => one.outerHTML.slice(0, 200))"""
    )
    return found


# ---------------------------------------------------------------- axe


@cache
def _axe() -> str:
    package = AXE / "package.json"
    if not package.exists() or json.loads(package.read_text())["version"] != AXE_VERSION:
        pytest.skip(f"axe-core {AXE_VERSION} is not installed: run .ci/install-live as root")
    return (AXE / "axe.min.js").read_text(encoding="utf-8")


def barriers(page: Page, *rules: str) -> list[str]:
    """The accessibility faults that axe-core finds on a page, one line each; nothing is left out.

    axe-core goes in through the debugger, past the page's content policy, which stays as it is.
    ``rules`` are the only ones asked for; all of them by default.
    """
    if not page.evaluate("typeof axe !== 'undefined'"):
        page.evaluate(f"() => {{ {_axe()} }}")
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    found = page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{one['impact']}: {one['id']}: {node['html'][:200]} ({node['failureSummary']})"
        for one in found["violations"]
        for node in one["nodes"]
    ]
