"""The tree that a screen reader is given of three pages: roles, names and live regions, as kept.

``TREES=renew .venv/bin/pytest -n 0 -m slow tests/live/test_tree.py`` writes the files in ``trees``
again; read the difference as somebody would who hears it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.live import demo
from tests.live.browser import ask, chromium, watched
from tests.live.stages import Stage, open_stage
from tests.scenario.gate import until
from tests.scenario.serving import ForkServer

__all__ = ["chromium"]

TREES = Path(__file__).with_name("trees")
# Differences from one run to the next: times, costs, names of files in the test's folder.
VARYING = (
    (r"\b[A-Z][a-z]{2} \d{1,2}, \d{4}(?:, \d{1,2}:\d\d [AP]M)?", "DATE"),
    (r"\b\d{4}-\d\d-\d\d(?: \d\d:\d\d(?: UTC)?)?", "DATE"),
    (r"\b\d+(?:\.\d+)? (?:ms|s)\b", "SECONDS"),
    (r"\$\d+\.\d+", "COST"),
    (r"/url: .*", "/url: ..."),
    (r"\d+ searches · \d+ pages read", "WORK"),
    (r"- status: The answer is ready\.", "- status"),  # said once, whenever the stream told it
)


@pytest.fixture(scope="module")
def stage(fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("tree")
    with open_stage(fork_server, folder, demo.DOCUMENTS, demo.brain) as stage:
        until(lambda: f"{len(demo.DOCUMENTS)} documents" in httpx.get(stage.http).text)
        yield stage


def tree_of(page: Page) -> str:
    tree = page.locator("body").aria_snapshot()
    for varying, name in VARYING:
        tree = re.sub(varying, name, tree)
    return f"{tree}\n"


def test_pages_are_heard_as_they_are_kept(stage: Stage, chromium: Browser) -> None:
    trees = {}
    with watched(chromium, locale="en-GB", timezone_id="UTC") as browser:
        page = browser.context.new_page()
        page.goto(stage.http)
        expect(page.locator("#question")).to_be_focused()
        trees["home"] = tree_of(page)
        ask(page, demo.QUESTION, "deep")
        expect(page.locator(".answered")).to_be_visible()
        page.goto(page.url.partition("#")[0])
        page.locator(".answer .mark").nth(1).click()
        expect(page.locator("#source .page-text")).to_be_visible()
        trees["answer"] = tree_of(page)
        page.goto(f"{stage.http}/conversations")
        expect(page.locator(".entries li")).to_have_count(1)
        trees["conversations"] = tree_of(page)
    if os.environ.get("TREES") == "renew":
        TREES.mkdir(exist_ok=True)
        for name, tree in trees.items():
            (TREES / f"{name}.yaml").write_text(tree, encoding="utf-8")
    assert trees == {path.stem: path.read_text(encoding="utf-8") for path in TREES.glob("*.yaml")}
