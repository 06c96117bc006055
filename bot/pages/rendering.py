"""Renders one page in a browser: from its address to the HTML shown, under the address rule.

A page is rendered in a profile of its own, which is deleted afterwards. All its requests go through
a ``GuardedProxy`` of its own. Service workers, downloads and WebSockets are disabled; frames,
pictures, media and fonts are not loaded; extra windows are closed and dialogs dismissed. The proxy
limits the bytes; the time and the memory of all processes are limited here.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from bot.core.errors import AddressRefused, FootnoteError
from bot.pages.browser import LOAD, Order
from bot.pages.guard import Allow, Guard
from bot.pages.guarded_proxy import GuardedProxy
from bot.pages.processes import memory_below
from bot.pages.urls import DEFAULT_PORTS, parse

if TYPE_CHECKING:
    from playwright.async_api import (
        Browser,
        BrowserContext,
        CDPSession,
        Dialog,
        Page,
        Request,
        Route,
    )

MEMORY_OF_ALL = 2_048 * 1_024**2  # bytes, for all processes of the browser together
WATCH_EVERY = 0.5  # seconds
REQUESTS = 400  # the most requests of one page
QUIET = 0.5  # seconds without requests and new text, after which a page is considered complete
LOOK_EVERY = 0.1  # seconds
CLOSE_SECONDS = 3.0

Problem = Literal[
    "start", "refused", "unreachable", "size", "memory", "slow", "crash", "downgrade", "file"
]

_NOT_LOADED = frozenset({"image", "media", "font", "texttrack", "eventsource", "ping", "manifest"})

_WITHOUT = """
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"]) {
  try { delete globalThis[name]; } catch {}
}
"""
_HAS_TEXT = "document.readyState === 'loading' ? -1 : document.body?.textContent.length ?? 0"


class Unrendered(Exception):
    """The reason that a page was not rendered."""

    def __init__(self, problem: Problem, detail: str = "") -> None:
        super().__init__(detail)
        self.problem: Problem = problem


async def render_page(browser: Browser, order: Order) -> tuple[str, str]:
    """Render a page; return its final address and HTML. Raises ``Unrendered``."""
    from playwright.async_api import Error

    guard = await _guard(order)
    proxy = GuardedProxy(guard, LOAD * order.most_bytes)
    port = await proxy.start()
    try:
        async with asyncio.timeout(order.seconds), _profile(browser, port, order) as context:
            rendering = asyncio.ensure_future(_Rendering(context, proxy, order).result())
            spent = asyncio.ensure_future(proxy.spent.wait())
            watching = asyncio.ensure_future(_too_much_memory())
            tasks: tuple[asyncio.Future[Any], ...] = (rendering, spent, watching)
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                if watching.done():
                    watching.result()
                if not rendering.done():
                    raise Unrendered("size")
                return rendering.result()
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
    except TimeoutError:
        raise Unrendered("slow") from None
    except Error as error:
        raise Unrendered("crash", str(error)[:500]) from None
    finally:
        await proxy.aclose()


async def _too_much_memory() -> None:
    """Raise ``Unrendered`` when the browser's processes together exceed their memory limit."""
    while True:
        await asyncio.sleep(WATCH_EVERY)
        if await asyncio.to_thread(memory_below, os.getpid()) > MEMORY_OF_ALL:
            raise Unrendered("memory")


async def _guard(order: Order) -> Guard:
    """The guard for a page: the operator's exceptions only apply to pages that need them.

    Otherwise a page of the internet could read an intranet: once loaded, it could have its own name
    resolve to a permitted address, so that both have the same origin.
    """
    allow = Allow.parse(order.allow)
    strict = Guard(allow.of_public_hosts, egress=order.egress)
    page = parse(order.url)
    try:
        await strict.route(page.scheme, page.host, page.port or DEFAULT_PORTS[page.scheme])
    except AddressRefused:
        return Guard(allow, egress=order.egress)
    except FootnoteError:
        pass  # it cannot be found now; the browser will report that
    return strict


@asynccontextmanager
async def _profile(browser: Browser, port: int, order: Order) -> AsyncIterator[BrowserContext]:
    from playwright.async_api import Error

    context = await browser.new_context(
        proxy={"server": f"http://127.0.0.1:{port}"},
        accept_downloads=False,
        service_workers="block",
        user_agent=_user_agent(browser.version, order.agent),
        viewport={"width": 1280, "height": 2_000},
    )
    try:
        yield context
    finally:
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await context.close()


def _user_agent(version: str, agent: str) -> str:
    """Chromium's own user agent followed by ours, so that no site takes it for a person's."""
    major = version.partition(".")[0]
    return (
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"
        f" Chrome/{major}.0.0.0 Safari/537.36 {agent}"
    )


class _Rendering:
    """One page while it loads."""

    def __init__(self, context: BrowserContext, proxy: GuardedProxy, order: Order) -> None:
        self._context = context
        self._proxy = proxy
        self._order = order
        self._asked = 0
        self._waiting: set[Request] = set()
        self._page: Page | None = None
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def result(self) -> tuple[str, str]:
        await self._context.add_init_script(_WITHOUT)
        await self._context.route(re.compile(""), self._decide)
        await self._context.route_web_socket(re.compile(""), lambda socket: socket.close())
        page = self._page = await self._context.new_page()
        self._context.on("page", _close)  # windows that the page opens
        self._context.on("request", self._begun)
        self._context.on("requestfinished", self._ended)
        self._context.on("requestfailed", self._ended)
        page.on("dialog", _dismiss)
        page.on("crash", lambda _: self._fail("crash"))
        page.on("download", lambda _: self._fail("file"))
        work = asyncio.ensure_future(self._work(page))
        try:
            await asyncio.wait((work, self._failed), return_when=asyncio.FIRST_COMPLETED)
            if self._failed.done():
                self._failed.result()
            return work.result()
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            self._failed.cancel()

    async def _work(self, page: Page) -> tuple[str, str]:
        from playwright.async_api import Error

        ends = monotonic() + 0.6 * self._order.seconds  # the rest is for reading the page
        try:
            await page.goto(self._order.url, wait_until="commit", timeout=0)
        except Error as error:
            host = urlsplit(self._order.url).hostname or ""
            if self._proxy.refused:
                raise Unrendered("refused", self._proxy.refused[0]) from None
            raise Unrendered("unreachable", f"{host}: {error.message[:300]}") from None
        session = await self._context.new_cdp_session(page)
        await self._settle(session, ends)
        serialize = files("bot.pages").joinpath("serialized.js").read_text(encoding="utf-8")
        html = await _evaluated(session, f"({serialize})({self._order.most_bytes})")
        if not isinstance(html, str):
            raise Unrendered("crash", "no HTML")
        return page.url, html

    async def _settle(self, session: CDPSession, ends: float) -> None:
        """Wait until nothing changes or the time is up; then the page is read as it is."""
        from playwright.async_api import Error

        known, since = -1, monotonic()
        while monotonic() < ends:
            try:
                length = await _evaluated(session, _HAS_TEXT)
            except Error:  # the page is navigating to another one
                length = -1
            now = monotonic()
            if length != known or self._waiting:
                known, since = length, now
            elif now - since >= QUIET and known >= 0:
                return
            await asyncio.sleep(LOOK_EVERY)

    async def _decide(self, route: Route, request: Request) -> None:
        self._asked += 1
        is_needed = (
            request.resource_type not in _NOT_LOADED
            and urlsplit(request.url).scheme in ("http", "https")
            # Frames are not read, and each frame of another site would need a process of its own.
            and (not request.is_navigation_request() or self._is_ours(request))
        )
        if not is_needed or self._asked > REQUESTS:
            await route.abort("blockedbyclient")
        else:
            await route.continue_()

    def _is_ours(self, request: Request) -> bool:
        """True if a navigation is of the page itself, and not of a frame or another window."""
        from playwright.async_api import Error

        try:
            return self._page is not None and request.frame == self._page.main_frame
        except Error:  # a window that is not open yet
            return False

    def _begun(self, request: Request) -> None:
        self._waiting.add(request)
        leads_down = self._order.url.startswith("https:") and request.url.startswith("http:")
        if leads_down and request.is_navigation_request() and self._is_ours(request):
            self._fail("downgrade")

    def _ended(self, request: Request) -> None:
        self._waiting.discard(request)

    def _fail(self, problem: Problem) -> None:
        if not self._failed.done():
            self._failed.set_exception(Unrendered(problem))


async def _evaluated(session: CDPSession, expression: str) -> Any:
    """Evaluate an expression in an isolated world, where the page's scripts have changed nothing
    (https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-createIsolatedWorld).
    """
    tree = await session.send("Page.getFrameTree")
    frame = tree["frameTree"]["frame"]["id"]
    world = await session.send(
        "Page.createIsolatedWorld", {"frameId": frame, "worldName": "footnote"}
    )
    answer = await session.send(
        "Runtime.evaluate",
        {
            "expression": expression,
            "contextId": world["executionContextId"],
            "returnByValue": True,
        },
    )
    if "exceptionDetails" in answer:
        said = str(answer["exceptionDetails"].get("exception", {}).get("description", ""))
        raise Unrendered("size" if "too large" in said else "crash", said[:300])
    return answer["result"].get("value")


async def _close(page: Page) -> None:
    from playwright.async_api import Error

    with contextlib.suppress(Error):
        await page.close()


async def _dismiss(dialog: Dialog) -> None:
    from playwright.async_api import Error

    with contextlib.suppress(Error):
        await dialog.dismiss()
