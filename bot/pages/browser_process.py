"""The process that renders pages: Playwright, a Chromium that it starts, and a proxy for each page.

A page is rendered in a profile of its own, which is deleted afterwards. Service workers, downloads
and WebSockets are disabled; frames, pictures, media and fonts are not loaded; extra windows are
closed and dialogs dismissed. The proxy limits the bytes; the time and the memory of all processes
are limited here, and each process of the browser has a memory limit (``RLIMIT_DATA``). If a page
takes control of this process, the parent process ends it.

The browser resolves no names, and its only route out is the page's ``GuardedProxy`` on loopback (no
QUIC, no WebRTC around it): it sends host names to it (RFC 9110 section 9.3.6 for CONNECT, RFC 9112
section 3.2.2 for plain http), which has them judged and connects by the guard's route: to a judged
address, or through the operator's own proxy. So a page, its scripts, redirects and WebSockets reach
only what a plain fetch would reach, even if a name resolves differently a moment later.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.resources import files
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import httpcore

from bot.core.egress import Egress, Proxy
from bot.core.errors import AddressRefused, FootnoteError
from bot.pages.browser import LOAD, START_SECONDS, Order
from bot.pages.guard import Allow, Guard, Route
from bot.pages.processes import Answer, AsyncWork, memory_below
from bot.pages.transport import connect_route, is_forwarded, to_proxy
from bot.pages.urls import DEFAULT_PORTS, parse

if TYPE_CHECKING:
    from playwright.async_api import (
        Browser,
        BrowserContext,
        CDPSession,
        Page,
        Request,
    )
    from playwright.async_api import Route as Requested


# ---------------------------------------------------------------- the proxy


HEAD_BYTES = 64_000  # of one request; Chromium's own limit is 256 kB for all headers
CONNECTIONS = 100  # concurrent; a browser opens six per host
CONNECT_SECONDS = 10.0
_PIECE = 65_536

_HOP = re.compile(rb"^(?:proxy-[a-z-]+|connection|keep-alive):.*\r\n", re.IGNORECASE | re.MULTILINE)
_PORT = re.compile(r"[0-9]{1,5}")


class GuardedProxy:
    """See the module docstring. ``most_bytes`` limits the incoming data; beyond it ``spent`` is set
    and all connections stop. ``refused`` are the hosts that the rule refused, in order.
    """

    def __init__(
        self,
        guard: Guard,
        most_bytes: int,
        network: httpcore.AsyncNetworkBackend | None = None,
    ) -> None:
        self.spent = asyncio.Event()
        self.refused: list[str] = []
        self._guard = guard
        self._network = network or httpcore.AnyIOBackend()
        self._left = most_bytes
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> int:
        """Listen on a free port of 127.0.0.1 and return it."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=HEAD_BYTES)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def aclose(self) -> None:
        """Close the port and all connections."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(self._tasks) >= CONNECTIONS or self.spent.is_set():
            writer.transport.abort()
            return
        self._tasks.add(task)
        try:
            await self._serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # one of the two ends disconnected: the browser notices
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        line, _, fields = head.partition(b"\r\n")
        method, _, rest = line.decode("latin-1").partition(" ")
        target = rest.rpartition(" ")[0]
        place = _place(method, target)
        if place is None:
            await _answer(writer, "400 Bad Request")
            return
        scheme = "https" if method == "CONNECT" else "http"
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                route = await self._guard.route(scheme, *place)
                site = await self._connected(route, scheme)
        except AddressRefused:
            self.refused.append(place[0])
            await _answer(writer, "403 Forbidden")
            return
        except (FootnoteError, OSError, httpcore.NetworkError, httpcore.TimeoutException):
            await _answer(writer, "502 Bad Gateway")
            return
        try:
            if method == "CONNECT":
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await writer.drain()
            else:  # one request per connection, so that none goes to a host that was not judged
                kept = _HOP.sub(b"", fields[:-2]) + b"Connection: close\r\n\r\n"
                await site.write(_line(method, target, route) + kept)
            await self._relay(reader, writer, site)
        except (httpcore.NetworkError, httpcore.TimeoutException):
            pass  # the site disconnected: the browser notices
        finally:
            await site.aclose()

    async def _connected(self, route: Route, scheme: str) -> httpcore.AsyncNetworkStream:
        egress = self._guard.egress
        if is_forwarded(route, scheme):
            return await to_proxy(self._network, route.proxy, egress, CONNECT_SECONDS)
        return await connect_route(route, egress, self._network, CONNECT_SECONDS)

    async def _relay(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        site: httpcore.AsyncNetworkStream,
    ) -> None:
        """Forward data in both directions until the site closes the connection."""

        async def pump() -> None:
            while data := await reader.read(_PIECE):
                await site.write(data)

        upward = asyncio.ensure_future(pump())
        try:
            while data := await site.read(_PIECE):
                self._left -= len(data)
                if self._left < 0:
                    self.spent.set()
                    return
                writer.write(data)
                await writer.drain()
        finally:
            upward.cancel()
            await asyncio.gather(upward, return_exceptions=True)
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def _place(method: str, target: str) -> tuple[str, int] | None:
    """The host and port of a request line; None if it is not a proxy request."""
    if method != "CONNECT":
        if not target.startswith("http://"):
            return None
        target = urlsplit(target).netloc
        host, port = _split(target, "80")
    else:
        host, port = _split(target, "")
    if not host or "@" in host or not _PORT.fullmatch(port) or not 0 < int(port) < 65_536:
        return None
    return host, int(port)


def _split(authority: str, usual: str) -> tuple[str, str]:
    if authority.startswith("["):
        host, _, rest = authority[1:].partition("]")
        return host, rest.removeprefix(":") or usual
    host, _, port = authority.partition(":")
    return host, port or usual


def _line(method: str, target: str, route: Route) -> bytes:
    """The request line for the site, or for the operator's proxy with its authorization."""
    if is_forwarded(route, "http"):
        line = f"{method} {target} HTTP/1.1\r\n"
        if authorization := Proxy.of(route.proxy).authorization:
            line += f"Proxy-Authorization: {authorization}\r\n"
    else:
        parts = urlsplit(target)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        line = f"{method} {path} HTTP/1.1\r\n"
    return line.encode("latin-1")


async def _answer(writer: asyncio.StreamWriter, status: str) -> None:
    writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
    await writer.drain()


# ---------------------------------------------------------------- one page


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
            watching = asyncio.ensure_future(_watch_memory())
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


async def _watch_memory() -> None:
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

    # Chromium's own user agent followed by ours, so that no site takes it for a person's
    major = browser.version.partition(".")[0]
    chromium = f"AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{major}.0.0.0 Safari/537.36"
    context = await browser.new_context(
        proxy={"server": f"http://127.0.0.1:{port}"},
        accept_downloads=False,
        service_workers="block",
        user_agent=f"Mozilla/5.0 (X11; Linux x86_64) {chromium} {order.agent}",
        viewport={"width": 1280, "height": 2_000},
    )
    try:
        yield context
    finally:
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await context.close()


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
        self._context.on("page", lambda window: _quietly(window.close()))  # that the page opens
        self._context.on("request", self._begun)
        self._context.on("requestfinished", self._ended)
        self._context.on("requestfailed", self._ended)
        page.on("dialog", lambda dialog: _quietly(dialog.dismiss()))
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

    async def _decide(self, route: Requested, request: Request) -> None:
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


async def _quietly(done: Awaitable[None]) -> None:
    from playwright.async_api import Error

    with contextlib.suppress(Error):
        await done


# ---------------------------------------------------------------- the process


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
