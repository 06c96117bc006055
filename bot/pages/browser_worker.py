"""The process that renders pages: Playwright, and a Chromium that it starts.

The browser resolves no names, and its only route out is the proxy of each page (no QUIC, no WebRTC
around it); ``bot.pages.rendering`` describes what a page can do. Each process of the browser has a
memory limit (``RLIMIT_DATA``). If a page takes control of this process, the parent process ends it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import IO, TYPE_CHECKING, Any

from bot.egress import Egress
from bot.pages.browser import START_SECONDS, Order
from bot.pages.processes import limit_memory, own_pipes, receive, send, set_alarm
from bot.pages.rendering import CLOSE_SECONDS, Unrendered, render_page

if TYPE_CHECKING:
    from playwright.async_api import Browser

MEMORY = 1_536 * 1_024**2  # bytes for each process of the browser; a multiple of the page size

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


def work() -> None:
    """Main loop of the process: reads requests and writes HTML until the parent ends it."""
    requests, replies = own_pipes()
    limit_memory(MEMORY)
    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(_work(requests, replies))
    os._exit(0)  # a thread is still waiting for requests


async def _work(requests: IO[bytes], replies: IO[bytes]) -> None:
    heads, browsers = _heads(requests), _Browsers()
    try:
        while True:
            head = await heads.get()
            egress = Egress(**head["egress"])
            order = Order(**head | {"allow": tuple(head["allow"]), "egress": egress})
            # if the parent is killed, no other process ends this one
            set_alarm(2 * (order.seconds + START_SECONDS))
            try:
                reply = await browsers.reply(order)
            except Unrendered as error:
                reply = {"problem": error.problem, "detail": str(error)}
            except Exception as error:  # noqa: BLE001 - the parent logs it
                reply = {"problem": "crash", "detail": repr(error)[:500]}
            set_alarm(0)
            send(replies, reply, b"")
            if reply.get("problem") in ("slow", "crash", "memory"):
                await browsers.end()  # such a page may still be running there
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


def _heads(requests: IO[bytes]) -> asyncio.Queue[dict[str, Any]]:
    """Queue the requests as they arrive. Their end, or SIGTERM, cancels the calling task."""
    loop, heads = asyncio.get_running_loop(), asyncio.Queue[dict[str, Any]]()
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - an event loop runs the caller
    loop.add_signal_handler(signal.SIGTERM, task.cancel)

    def listen() -> None:
        with contextlib.suppress(EOFError, ValueError):
            while True:
                head, _ = receive(requests)
                loop.call_soon_threadsafe(heads.put_nowait, head)
        loop.call_soon_threadsafe(task.cancel)

    threading.Thread(target=listen, name="requests", daemon=True).start()
    return heads


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
