"""The process that renders pages: Playwright, and a Chromium that it starts.

A page is rendered in a profile of its own, which is gone afterwards. All that it asks for goes
through a ``GuardedProxy`` of its own: the browser itself resolves no names and has no other way out
(no QUIC, no WebRTC beside the proxy). Service workers, downloads and a page's WebSockets are off;
frames, pictures, media and fonts are not loaded; further windows are closed and dialogs dismissed.

Memory is limited for every process of the browser (``RLIMIT_DATA``) and watched for all of them,
which share what no such limit counts; bytes are limited by the proxy, time here and, should the
page have got the better of this process, by the one that asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from bot.errors import AddressRefused, FootnoteError
from bot.pages.browser import LOAD, START_SECONDS
from bot.pages.guard import Allow, Guard
from bot.pages.guarded_proxy import GuardedProxy
from bot.pages.processes import limit_memory, memory_below, own_pipes, receive, send, set_alarm
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

MEMORY = 1_536 * 1_024**2  # bytes that each process of the browser may allocate; whole pages
MEMORY_OF_ALL = 2_048 * 1_024**2
WATCH_EVERY = 0.5  # seconds
REQUESTS = 400  # that a page may make
QUIET = 0.5  # seconds without a request and without new text after which a page is complete
LOOK_EVERY = 0.1  # seconds
CLOSE_SECONDS = 3.0

Problem = Literal[
    "start", "refused", "unreachable", "size", "memory", "slow", "crash", "downgrade", "file"
]

_NOT_LOADED = frozenset({"image", "media", "font", "texttrack", "eventsource", "ping", "manifest"})

ARGUMENTS = (
    "--disable-quic",  # UDP, beside the proxy
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # its name before 2024
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",  # the proxy's own address
    "--disable-gpu",
    "--disable-dev-shm-usage",  # containers have 64 MB of it
    "--no-pings",
    "--js-flags=--max-old-space-size=512",
    "--mute-audio",
)
NOWHERE = "http://127.0.0.1:9"  # the discard port: for what the browser asks for by itself

_WITHOUT = """
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"]) {
  try { delete globalThis[name]; } catch {}
}
"""
_HAS_TEXT = "document.readyState === 'loading' ? -1 : document.body?.textContent.length ?? 0"


@dataclass(frozen=True, slots=True)
class Order:
    """What to render: within ``seconds``, up to ``most_bytes`` of HTML; ``seconds`` count from when
    the browser is there. Without ``url`` only its version is wanted.

    ``browser`` is the path of a Chromium, which keeps what it writes in ``folder``. ``allow`` as in
    ``FOOTNOTE_FETCH_ALLOW``; ``agent`` is added to Chromium's own user agent.
    """

    url: str
    browser: str
    sandbox: bool
    folder: str
    seconds: float
    most_bytes: int
    allow: tuple[str, ...]
    agent: str


class Unrendered(Exception):
    """Why a page was not rendered."""

    def __init__(self, problem: Problem, detail: str = "") -> None:
        super().__init__(detail)
        self.problem: Problem = problem


def work() -> None:
    """The life of the process: addresses in, HTML out, until the parent is gone or ends it."""
    requests, replies = own_pipes()
    limit_memory(MEMORY)
    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(_work(requests, replies))
    os._exit(0)  # a thread still waits for requests


async def _work(requests: IO[bytes], replies: IO[bytes]) -> None:
    heads, browsers = _heads(requests), _Browsers()
    try:
        while True:
            head = await heads.get()
            order = Order(**head | {"allow": tuple(head["allow"])})
            # nobody else ends this process when the parent was killed
            set_alarm(2 * (order.seconds + START_SECONDS))
            try:
                reply = await browsers.reply(order)
            except Unrendered as error:
                reply = {"problem": error.problem, "detail": str(error)}
            except Exception as error:  # noqa: BLE001 - the log of the parent tells it
                reply = {"problem": "crash", "detail": repr(error)[:500]}
            set_alarm(0)
            send(replies, reply, b"")
            if reply.get("problem") in ("slow", "crash", "memory"):
                await browsers.end()  # such a page may still be at work there
    finally:
        await browsers.end()


class _Browsers:
    """The browser, and the next one when it has died."""

    def __init__(self) -> None:
        self._browser: Browser | None = None
        self._stack = AsyncExitStack()

    async def reply(self, order: Order) -> dict[str, str]:
        """What an order comes to. Raises ``Unrendered``."""
        was_there = self._browser is not None
        browser = await self._living(order)
        if not order.url:
            return {"version": browser.version}
        try:
            url, html = await _rendered(browser, order)
        except Unrendered as error:
            if error.problem != "crash" or browser.is_connected() or not was_there:
                raise
            # It had died before this page, or with it: once more will tell.
            url, html = await _rendered(await self._living(order), order)
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
    """The requests as they come. The end of them, or SIGTERM, cancels the task of who asked."""
    loop, heads = asyncio.get_running_loop(), asyncio.Queue[dict[str, Any]]()
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - the loop runs one
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


async def _rendered(browser: Browser, order: Order) -> tuple[str, str]:
    """The final address and the HTML of a page. Raises ``Unrendered``."""
    from playwright.async_api import Error

    guard = await _guard(order)
    proxy = GuardedProxy(guard.addresses, LOAD * order.most_bytes)
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
    """Raise ``Unrendered`` as soon as the browser's processes have too much together."""
    while True:
        await asyncio.sleep(WATCH_EVERY)
        if await asyncio.to_thread(memory_below, os.getpid()) > MEMORY_OF_ALL:
            raise Unrendered("memory")


async def _guard(order: Order) -> Guard:
    """The rule for a page: what the operator permits is for permitted pages only.

    A page of the internet could otherwise read an intranet: by a name of its own that answers with
    a permitted address once the page is there, so that both are one origin.
    """
    strict = Guard(Allow())
    page = parse(order.url)
    try:
        await strict.addresses(page.host, page.port or DEFAULT_PORTS[page.scheme])
    except AddressRefused:
        return Guard(Allow.parse(order.allow))
    except FootnoteError:
        pass  # it cannot be found now, which the browser will say
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
    """Chromium's own, with ours behind it: nobody is told that a person is reading."""
    major = version.partition(".")[0]
    return (
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"
        f" Chrome/{major}.0.0.0 Safari/537.36 {agent}"
    )


class _Rendering:
    """One page on its way to being complete."""

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
        self._context.on("page", _close)  # windows that it opens
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

        ends = monotonic() + 0.6 * self._order.seconds  # the rest is for reading it
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
        """Wait until nothing changes, or until its time is up: then what is there is read."""
        from playwright.async_api import Error

        known, since = -1, monotonic()
        while monotonic() < ends:
            try:
                length = await _evaluated(session, _HAS_TEXT)
            except Error:  # it is going to another page
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
            # Frames are not read, and each of another site would have a process of its own.
            and (not request.is_navigation_request() or self._is_ours(request))
        )
        if not is_needed or self._asked > REQUESTS:
            await route.abort("blockedbyclient")
        else:
            await route.continue_()

    def _is_ours(self, request: Request) -> bool:
        """Whether a navigation is that of the page itself, and of no frame or further window."""
        from playwright.async_api import Error

        try:
            return self._page is not None and request.frame == self._page.main_frame
        except Error:  # a window that is not there yet
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
    """The value of an expression in a world of its own: the page's scripts have changed nothing
    there (https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-createIsolatedWorld).
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
