"""The console under a path that people reach it at, such as /footnote behind a proxy."""

from __future__ import annotations

import re

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from bot.operation.health import http_endpoint
from tests.unit.adapters.web.conftest import Browser, OpenConsole
from tests.unit.adapters.web.pages.test_conversation import thread_of

TOKEN = "a token of the console"
PREFIXED = {
    "public_url": "https://example.com/footnote/",
    "console_token": TOKEN,
}
LED = re.compile(r'\b(?:href|src|action|data-[a-z]+)="(/[^"]*)"')


async def signed_in(open_console: OpenConsole) -> Browser:
    browser = await (await open_console(**PREFIXED)).browser(base="https://example.com")
    shown = await browser.client.post("/sign-in", data={"token": TOKEN, "to": "/overview"})
    assert shown.headers["location"] == "/footnote/overview"
    cookie = shown.headers["set-cookie"]
    assert "; Path=/footnote;" in cookie
    browser.client.headers["cookie"] = cookie.partition(";")[0]
    return browser


async def test_all_that_pages_lead_to_is_below_the_path(open_console: OpenConsole) -> None:
    browser = await signed_in(open_console)
    run = await browser.answered()
    pages = ("/", await thread_of(browser, run), f"/runs/{run}", "/overview", "/sign-out")
    for path in (*pages, "/handbook", "/handbook/console", "/no-such-page"):
        html = (await browser.get(path)).text
        led = LED.findall(html)
        assert led
        assert [each for each in led if not each.startswith("/footnote/")] == []


async def test_redirects_and_addresses_for_programs_are_below_the_path(
    open_console: OpenConsole,
) -> None:
    browser = await signed_in(open_console)
    asked = await browser.post("/ask", question="How tall is the tower?")
    assert asked.headers["location"].startswith("/footnote/threads/")
    stranger = await browser.running.browser(base="https://example.com")
    assert (await stranger.client.get("/overview")).headers["location"] == (
        "/footnote/sign-in?to=/overview"
    )
    reloaded = await browser.client.get("/sources/upload")
    assert reloaded.headers["location"] == "/footnote/sources"
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    told = await stranger.client.post("/api/questions", json={"question": "Why?"}, headers=bearer)
    assert told.json()["events"].startswith("/footnote/api/runs/")


@pytest.mark.parametrize(
    ("asked", "heard"),
    [
        ("/footnote/a/b", "/a/b"),  # the proxy leaves the path in
        ("/a/b", "/a/b"),  # the proxy takes it away
        ("/footnote", "/"),
        ("/footnote/", "/"),
        ("/footnotes", "/footnotes"),
        ("/footnote/footnote/a", "/footnote/a"),
    ],
)
async def test_requests_are_heard_with_the_path_and_without(asked: str, heard: str) -> None:
    async def path(request: Request) -> PlainTextResponse:
        return PlainTextResponse(request.url.path)

    routes = [Route("/{rest:path}", path)]
    async with (
        http_endpoint("127.0.0.1", 0, routes, root="/footnote") as address,
        httpx.AsyncClient(base_url=address) as client,
    ):
        assert (await client.get(asked)).text == heard
