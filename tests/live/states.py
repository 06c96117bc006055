"""The console in each of its states, in English and in Chinese, for tests that look at them.

One server holds a month of a company's questions and answers new ones; ``Walk`` leads a browser of
one language from state to state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Page, expect

from tests.fakes import sqlite
from tests.fakes.claude import Fail, Reply
from tests.live import demo, demo_chinese
from tests.live.browser import ask
from tests.live.stages import Stage, beside, open_stage
from tests.scenario.serving import ForkServer

UNREADABLE = "projects/2026/quality-management-handbook_draft_v2_final-revised.pdf"
CALLS_BEFORE_NODES = 2  # understanding, planning


@dataclass(frozen=True)
class Speech:
    """A language, and what its people ask and search for."""

    locale: str
    question: str
    words: str


SPEECHES = (
    Speech("en-GB", demo.QUESTION, "team lead"),
    Speech("zh-CN", demo_chinese.QUESTION, "团队负责人"),
)


def brain(request: Mapping[str, Any]) -> Reply | Fail:
    """Plays its part in the language of the question."""
    chinese = "办公" in str(request["messages"])
    return demo_chinese.brain(request) if chinese else demo.brain(request)


@contextmanager
def open_states(fork_server: ForkServer, folder: Path, **settings: str) -> Iterator[Stage]:
    """A console with a past. ``folder`` is for it alone."""
    beside(demo.fill(sqlite.migrated(folder / "data")))
    documents = {**demo.DOCUMENTS, **demo_chinese.DOCUMENTS, UNREADABLE: "no picture"}
    with open_stage(fork_server, folder, documents, brain, **settings) as stage:
        yield stage


def share(visitor: httpx.Client, thread: str) -> str:
    """Share a conversation as its reader does; the path of the link."""
    ours = {"Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded"}
    shared = visitor.post(f"/threads/{thread}/share", headers=ours, follow_redirects=True).text
    token = shared.partition("/shared/")[2].partition('"')[0]
    assert token, "the conversation is not shared"
    return f"/shared/{token}"


@dataclass
class Walk:
    """A browser's page that goes from state to state; ``states`` gives their names in order."""

    stage: Stage
    page: Page
    speech: Speech

    def states(self) -> Iterator[str]:
        """Each state by its name, while the page shows it."""
        page, stage, http = self.page, self.stage, self.stage.http
        page.goto(http)
        expect(page.locator("#question")).to_be_visible()
        yield "home"

        stage.gate.hold(after=CALLS_BEFORE_NODES)
        try:
            ask(page, self.speech.question, "deep")
            expect(page.locator(".node.running").first).to_be_visible()
            stage.let_on(until=page.locator(".node.done"))
            yield "in-work"
        finally:
            stage.gate.release()
        expect(page.locator(".answered")).to_be_visible()
        expect(page.locator(".answer")).not_to_contain_text("⚠")
        thread = page.url.partition("/threads/")[2].partition("#")[0]
        run = page.locator("article.turn").get_attribute("data-run")
        page.goto(f"{http}/threads/{thread}")
        expect(page.locator(".answered")).to_be_visible()
        yield "answer"

        page.locator(".answer .mark").nth(1).click()
        expect(page.locator("#source .page-text")).to_be_visible()
        yield "footnote"
        page.keyboard.press("Escape")

        page.get_by_role("button", name=self._not_helpful).click()
        expect(page.locator(".reason")).to_be_visible()
        expect(page.locator(".reason legend")).to_be_in_viewport()
        yield "feedback-form"

        page.goto(f"{http}/conversations")
        expect(page.locator(".entries li").first).to_be_visible()
        yield "conversations"
        page.locator("#q").fill(self.speech.words)
        page.locator("#q").press("Enter")
        expect(page.locator(".entries p").first).to_contain_text(self.speech.words)
        yield "search"

        with httpx.Client(base_url=http) as visitor:
            page.goto(http + share(visitor, thread))
        expect(page.locator(".answered")).to_be_visible()
        yield "shared"
        page.locator(".answer .mark").first.click()
        expect(page.locator("#source .page-text")).to_be_visible()
        yield "shared-footnote"
        for name, path, seen in (
            ("feedback", "/overview/feedback", "table.list"),
            ("unanswered", "/overview/unanswered", "table.list"),
            ("overview", "/overview", ".plot"),
            ("run", f"/runs/{run}", ".sentence"),
            ("stored-page", f"/runs/{run}/pages/1", ".page-text"),
            ("handbook", "/handbook", ".handbook"),
            ("sources", "/sources", ".folder"),
            ("sources-search", f"/sources/search?q={self.speech.words}", ".passages mark"),
        ):
            page.goto(http + path)
            expect(page.locator(seen).first).to_be_visible()
            yield name
        page.goto(f"{http}/sources")
        page.locator("a[href*='state=unreadable']").click()
        expect(page.locator("table.list")).to_be_visible()
        yield "sources-files"

    @property
    def _not_helpful(self) -> str:
        return "没帮助" if self.speech.locale.startswith("zh") else "Not helpful"
