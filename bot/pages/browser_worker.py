"""The process that renders pages: Playwright, and a Chromium that it starts.

The browser resolves no names, and its only route out is the proxy of each page (no QUIC, no WebRTC
around it); ``bot.pages.rendering`` describes what a page can do. Each process of the browser has a
memory limit (``RLIMIT_DATA``). If a page takes control of this process, the parent process ends it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from bot.core.egress import Egress
from bot.pages.browser import START_SECONDS, Order
from bot.pages.processes import Answer, AsyncWork
from bot.pages.rendering import CLOSE_SECONDS, Unrendered, render_page

if TYPE_CHECKING:
    from playwright.async_api import Browser

ARGUMENTS = (
    "--disable-quic",  # UDP would bypass the proxy
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # the switch's name before 2024
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",  # only the proxy
    "--disable-gpu",
    "--disable-dev-shm-usage",  # containers have 64 MB of it
    "--no-pings",
    "--js-flags=--max-old-space-size=512",
    "--mute-audio",
)
NOWHERE = "http://127.0.0.1:9"  # the discard port, for requests that the browser makes on its own


@asynccontextmanager
async def open_browser(_: int) -> AsyncIterator[AsyncWork]:
    """Yield the work of a process; ends its browser at the end."""
    browsers = _Browsers()

    async def work(asked: dict[str, Any]) -> Answer:
        egress = Egress(**asked["egress"])
        order = Order(**asked | {"allow": tuple(asked["allow"]), "egress": egress})
        try:
            return await browsers.reply(order), b""
        except Unrendered as error:
            problem: str = error.problem
            detail = str(error)
        except Exception as error:  # noqa: BLE001 - the parent logs it
            problem, detail = "crash", repr(error)[:500]
        if problem in ("slow", "crash", "memory"):
            await browsers.end()  # such a page may still be running there
        return {"problem": problem, "detail": detail}, b""

    try:
        yield work
    finally:
        await browsers.end()


class _Browsers:
    """The browser, restarted after it has died."""

    def __init__(self) -> None:
        self._browser: Browser | None = None
        self._stack = AsyncExitStack()

    async def reply(self, order: Order) -> dict[str, str]:
        """Carry out an order and return its result. Raises ``Unrendered``."""
        was_there = self._browser is not None
        browser = await self._living(order)
        if not order.url:
            return {"version": browser.version}
        try:
            url, html = await render_page(browser, order)
        except Unrendered as error:
            if error.problem != "crash" or browser.is_connected() or not was_there:
                raise
            # The browser died before this page or because of it: a second attempt shows which.
            url, html = await render_page(await self._living(order), order)
        return {"url": url, "html": html}

    async def end(self) -> None:
        self._browser = None
        await self._stack.aclose()

    async def _living(self, order: Order) -> Browser:
        if self._browser is None or not self._browser.is_connected():
            await self.end()
            self._browser = await self._stack.enter_async_context(_started(order))
        return self._browser


@asynccontextmanager
async def _started(order: Order) -> AsyncIterator[Browser]:
    os.environ |= {"HOME": order.folder, "TMPDIR": order.folder}
    try:
        from playwright.async_api import Error, async_playwright
    except ImportError:
        raise Unrendered("start", "playwright is not installed") from None
    async with async_playwright() as playwright:
        try:
            browser = await playwright.chromium.launch(
                executable_path=order.browser,
                args=list(ARGUMENTS),
                chromium_sandbox=order.sandbox,
                proxy={"server": NOWHERE},
                timeout=START_SECONDS * 1_000,
            )
        except Error as error:
            raise Unrendered("start", str(error)[:2_000]) from None
        try:
            yield browser
        finally:
            with contextlib.suppress(Error, TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await browser.close()
