"""Text by others renders inert in a real browser: nothing runs, nothing leads astray, nothing is
loaded from elsewhere, and no page is wider than a phone.

Once with a whole question: a web with poison as page titles, files with such names, a model that
repeats it all, and such a name in the proxy's header. And once with runs of every other platform
whose text is poison wherever people, pages or models can write it.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from bot.storage.store import open_store
from tests.fakes import sqlite
from tests.fakes.claude import Fail, Reply, citation, cited, researcher, says, text
from tests.fakes.engines import WebPage
from tests.fakes.server import serve
from tests.fakes.web_engines import FakeSearxng
from tests.live.browser import Watched, ask, chromium, scrolls_sideways, watched
from tests.live.poison import ADDRESSES, POISON, RAN
from tests.live.stages import Stage, beside, open_stage
from tests.scenario.serving import ForkServer
from tests.unit.adapters.web.pages.insight_stage import hostile_run

__all__ = ["chromium"]

ASKER = f"\"><img src=x onerror={RAN}>'{{{{7*7}}}}<script>{RAN}</script>"
SUBJECT = "canteen lunch price"
SLOW = 60_000  # milliseconds: the answer is all that a page has of poison
QUESTION = f"What is the {SUBJECT}? {POISON[0]} {POISON[9]}"
PHONE = {"width": 360, "height": 740}
EVERY = (*POISON, *ADDRESSES)
# What is unescaped shows with the first of them, wherever it is cut off.
KEPT = tuple(" ".join(EVERY[at : at + 4]) for at in range(0, len(EVERY), 4))

# Notes what is refused by the page's own policy; runs before any script of the page.
LISTEN = """
    window.refused = [];
    document.addEventListener("securitypolicyviolation", (event) =>
        refused.push(`${event.violatedDirective} refused ${event.blockedURI} ${event.sample}`));
"""
LOOK = """() => {
    const found = [...refused];
    if ("hacked" in window) found.push("it ran");
    const links = ["href", "src", "action", "formaction", "poster", "data", "srcdoc", "ping"];
    const unknown =
        "iframe, object, embed, base, img, video, audio, math, body style, body link, body meta";
    for (const one of document.querySelectorAll(unknown)) found.push(one.outerHTML);
    for (const one of document.querySelectorAll("*")) {
        for (const { name, value } of one.attributes) {
            const led = links.includes(name) || name.endsWith(":href");
            const to = led ? new URL(value, location) : location;
            if (name.startsWith("on") || !["http:", "https:"].includes(to.protocol)) {
                found.push(`${one.tagName} ${name}=${value}`);
            }
            if (to.host === "evil.test" && name !== "href") found.push(`${one.tagName} ${name}`);
        }
        if (one.tagName === "SCRIPT" && !one.src.startsWith(`${location.origin}/static/`)) {
            found.push(one.outerHTML);
        }
    }
    return found;
}"""


def expect_inert(page: Page) -> None:
    """Nothing ran, and nothing could."""
    # Whatever waits for a pointer or for the focus gets it.
    page.mouse.move(180, 300)
    assert page.evaluate(LOOK) == []
    # A table with a word of a thousand letters scrolls in its place, but not the page.
    assert scrolls_sideways(page, ":root") == 0
    assert page.locator(".top").bounding_box() == {"x": 0, "y": 0, "width": 360, "height": 52}


# ---------------------------------------------------------------- a web, files and a model


def web(request: Request) -> HTMLResponse:
    """A page for each poison, which is its title, its heading and what it says."""
    said = html.escape(POISON[int(request.path_params["number"])])
    return HTMLResponse(
        f"<html><head><title>{said}</title></head><body><article><h1>{said}</h1>"
        f"<p>The {SUBJECT} is 6.50 euros. {said} The {SUBJECT} was 6 euros. {said}</p>"
        "</article></body></html>"
    )


def brain(request: Mapping[str, Any]) -> Reply | Fail:
    """A model that has been taken over: it plans poison, and writes it."""
    wanted = (request.get("output_config") or {}).get("format")
    fields = set(wanted["schema"].get("properties") or ()) if wanted else set()
    if "nodes" in fields:
        begun = any(message["role"] == "assistant" for message in request["messages"])
        nodes = [
            {"id": f"n{i}", "question": said, "needs": [], "queries": [f"{SUBJECT} {said[:60]}"]}
            for i, said in enumerate(POISON[:6])
            if not begun
        ]
        return says(json.dumps({"nodes": nodes, "done": begun, "missing": [*POISON[:3]]}))
    results = [
        block
        for message in request["messages"]
        if not isinstance(message["content"], str)
        for block in message["content"]
        if block["type"] == "search_result"
    ]
    if request.get("tools") or not results:
        return researcher(request)
    blocks = [text(f"{said}\n\n") for said in EVERY]
    for number, result in enumerate(results):
        where = {**citation(number, 0, 1), "cited_text": result["content"][0]["text"]}
        blocks[2 * number : 2 * number] = [cited(f"It is 6.50 {POISON[number]}", where), text(". ")]
    return Reply(tuple(blocks))


@dataclass
class Console:
    stage: Stage
    browser: Watched

    def page(self, path: str) -> Page:
        page = self.browser.context.new_page()
        page.goto(self.stage.http + path)
        return page


@pytest.fixture(scope="module")
def console(
    chromium: Browser, fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Console]:
    folder = tmp_path_factory.mktemp("hostile")
    beside(_remember(sqlite.migrated(folder / "data")))
    engine = FakeSearxng(pages=[])
    names = (*POISON[:5], POISON[9], POISON[21], "w" * 200)
    documents = {
        f"{said.replace('/', '⁄').replace(chr(10), ' ')}.md": f"The {SUBJECT} is 7 euros. {said}"
        for said in names
    }
    with (
        serve(Starlette(routes=[Route("/{number:int}/{name:path}", web)])) as site,
        serve(engine.app) as search,
        open_stage(
            fork_server,
            folder,
            documents,
            brain,
            FOOTNOTE_SEARXNG_URL=search,
            FOOTNOTE_PROVIDERS="local,searxng",
            FOOTNOTE_FETCH_ALLOW=urlsplit(site).netloc,
            FOOTNOTE_CONSOLE_USER_HEADER="X-User",
            FOOTNOTE_ADMINS=ASKER,
        ) as stage,
        watched(chromium, viewport=PHONE, extra_http_headers={"X-User": ASKER}) as browser,
    ):
        engine.pages += [
            WebPage(f"{site}/{n}/{quote(said[:40])}", said, f"{SUBJECT} {said}")
            for n, said in enumerate(POISON)
        ]
        engine.pages += [WebPage(url, url, f"{SUBJECT} {url}") for url in ADDRESSES]
        browser.context.add_init_script(LISTEN)
        yield Console(stage, browser)
        assert browser.elsewhere(stage.http) == []


async def _remember(database: str) -> None:
    store = await open_store(database)
    for number, said in enumerate(KEPT):
        await hostile_run(store, said, f"past{number}")
    await store.close()


def test_a_question_from_the_first_step_to_the_answer(console: Console) -> None:
    gate, valve = console.stage.gate, console.stage.valve
    page = console.page("/")
    gate.hold(after=2)
    files: list[FilePayload] = [
        {"name": f"{said}.md", "mimeType": "text/plain", "buffer": f"{SUBJECT}: {said}".encode()}
        for said in (POISON[1], POISON[9])
    ]
    page.locator("input[type=file]").set_input_files(files)
    for chip, file in zip(page.locator(".file").all(), files, strict=True):
        expect(chip).to_contain_text(file["name"])
    expect_inert(page)
    ask(page, QUESTION, "deep")
    expect(page.locator("svg.subquestions .node.running").first).to_be_visible()
    expect_inert(page)
    # What comes now comes through the stream of events.
    valve.shut = True
    gate.release()
    expect(page.locator(".growing")).not_to_be_empty()
    expect_inert(page)
    valve.shut = False
    expect(page.locator(".answered")).to_be_visible(timeout=SLOW)
    expect_inert(page)
    expect(page.locator("article.turn")).to_have_count(1)
    expect(page.locator(".question h2")).to_have_text(QUESTION)
    expect(page.locator(".turn .file").first).to_contain_text("onerror")
    expect(page.locator(".answer")).to_contain_text(POISON[0])
    expect(page.locator("[href^='http://evil.test']")).to_have_count(
        0
    )  # only what was read is linked
    assert page.locator(".sources li").count() > 3

    for mark in page.locator(".mark").all()[:4]:
        mark.hover()
        expect(page.get_by_role("tooltip")).to_be_visible()
        expect_inert(page)
    page.keyboard.press("Escape")
    page.reload()
    expect(page.locator(".answered")).to_be_visible()
    expect_inert(page)

    page.get_by_role("link", name="How was this answered?").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(QUESTION)
    expect(page.locator(".over")).to_contain_text(ASKER)
    expect_inert(page)
    for link in page.get_by_role("link", name="the whole text").all()[:3]:
        whole = page.context.new_page()
        whole.goto(console.stage.http + (link.get_attribute("href") or ""))
        expect(whole.locator(".page-text")).to_contain_text(SUBJECT)
        expect_inert(whole)
        whole.close()
    page.goto(f"{console.stage.http}/overview")
    expect(page.locator(".list").last).to_contain_text(POISON[0])
    expect_inert(page)


@pytest.mark.parametrize("number", range(len(KEPT)))
def test_a_run_in_which_all_words_are_poison(console: Console, number: int) -> None:
    page = console.page(f"/runs/past{number}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    expect_inert(page)
    page.close()
