"""A small web on loopback: pages as they should be, and pages as they come.

``Web()`` is an ASGI app for ``tests.fakes.server.serve``. Every path is in ``FIXED`` or in the
table in ``Web.__init__``; ``Web.seen`` holds the requests in the order they came.
"""

from __future__ import annotations

import asyncio
import gzip
import html
import socket
import struct
import threading
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from tests.fakes.pdf import Typed, pdf

ARTICLE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>The Lighthouse of Norderney - Coast Journal</title></head>
<body>
<nav><a href="/">Home</a> <a href="/ships">Ships</a> <a href="/about">About us</a></nav>
<main><article>
<h1>The Lighthouse of Norderney</h1>
<p>The lighthouse of Norderney was lit for the first time in 1874. It stands in the middle of the
island, is 54 metres tall, and 253 steps lead to its gallery.</p>
<h2>Construction</h2>
<p>It was built of red brick between 1871 and 1874 by order of the
<a href="/people/taaks">building inspector Taaks</a>. The lens came from Paris.</p>
<ul><li>Height: 54 m</li><li>Range: 23 nautical miles</li></ul>
<h2>Light</h2>
<table><tr><th>Year</th><th>Lamp</th></tr><tr><td>1874</td><td>petroleum</td></tr>
<tr><td>1964</td><td>electric</td></tr></table>
<p>Today it is one of the few lighthouses of the coast whose light turns to the left.</p>
</article></main>
<footer>Imprint. All rights reserved. We use a cookie.</footer>
</body></html>"""

SECRET = "the secret of the private network"

SENTENCES = {
    "gb18030": "北京是中华人民共和国的首都，位于华北平原的北部边缘，人口超过两千万。",
    "gbk": "北京是中华人民共和国的首都，位于华北平原的北部边缘，人口超过两千万。",
    "big5": "臺北市是臺灣的首都，位於北部的臺北盆地，人口約有二百五十萬。",
    "shift_jis": "東京は日本の首都であり、関東地方に位置する。人口は約千四百万人である。",
    "euc_jp": "東京は日本の首都であり、関東地方に位置する。人口は約千四百万人である。",
    "euc_kr": "서울은 대한민국의 수도이자 최대 도시이다. 인구는 약 천만 명이다.",
    "windows-1251": "Москва — столица России, город с населением более двенадцати миллионов.",
    "iso-8859-1": "Le château est situé près de la forêt, où il fut élevé au XVIe siècle.",
    "utf-8": "Der Kölner Dom ist 157 Meter hoch und seit 1996 Weltkulturerbe.",
    "utf-16": "Der Kölner Dom ist 157 Meter hoch und seit 1996 Weltkulturerbe.",
}
"""One sentence for each encoding."""

HOSTILE_TITLE = (
    "<title>Prices\u202e\u0000\u0007 &lt;!channel&gt; [click](http://evil.test) @everyone\n"
    + "very " * 200
    + "long</title>"
)


def _gzipped(data: bytes, encoding: str) -> Response:
    return Response(data, media_type="text/html", headers={"content-encoding": encoding})


def _blown_up(megabytes: int) -> bytes:
    """That many megabytes, in a thousandth of them."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    return b"".join(squeeze.compress(b" " * 1_000_000) for _ in range(megabytes)) + squeeze.flush()


FIXED: dict[str, Any] = {
    # pages as they should be
    "/article": HTMLResponse(ARTICLE),
    "/plain": PlainTextResponse("Opening hours\n\nWe are open from 9 to 5.\n"),
    "/secret": HTMLResponse(f"<p>{SECRET}</p>"),
    # addresses
    "/loop": RedirectResponse("/loop", 301),
    "/nowhere": Response(status_code=302),
    "/pointer": HTMLResponse(
        '<title>Moved</title><meta http-equiv="refresh" content="0; url=article">'
    ),
    # sizes
    "/bomb": lambda _: _gzipped(_blown_up(200), "gzip"),
    "/layers": lambda _: _gzipped(gzip.compress(_blown_up(50)), "gzip, gzip"),
    # contents
    "/empty": HTMLResponse(""),
    "/script": HTMLResponse(
        '<html><head><title>App</title></head><body><div id="root"></div>'
        "<script>render('everything')</script></body></html>"
    ),
    "/login": HTMLResponse(
        "<title>Sign in</title><h1>Sign in to continue</h1><p>Use your company account.</p>"
        '<form><input name="user"><input type="password"></form>'
    ),
    "/cookies": HTMLResponse(
        "<title>Before you continue</title><p>We and our partners use cookies. Accept all cookies,"
        " or choose your cookie settings.</p>"
    ),
    "/robots": HTMLResponse(
        "<title>Just a moment...</title><h1>shop.test</h1><p>Verify you are human by completing the"
        " action below.</p>"
    ),
    "/hostile-title": HTMLResponse(ARTICLE.replace("<title>", HOSTILE_TITLE + "<x ", 1)),
}


@dataclass(frozen=True, slots=True)
class Seen:
    """One request. Header names are in lower case; ``client`` is the port it came from."""

    path: str
    client: int
    headers: dict[str, str]


class Web:
    """The app, and what it has seen.

    ``robots`` is what ``/robots.txt`` gives, None that there is none.
    ``busy_for`` is how often ``/busy`` refuses first, with ``retry_after`` as Retry-After.
    """

    def __init__(self, *, busy_for: int = 1, retry_after: str = "0") -> None:
        self.seen: list[Seen] = []
        self.sent = Counter[str]()  # path → bytes of endless bodies that went out
        self.busy_for = busy_for
        self.retry_after = retry_after
        self.robots: Response | None = None
        self.canonical = ""
        self._site = Starlette(
            routes=[
                *(Route(path, response) for path, response in FIXED.items()),
                Route("/robots.txt", self._robots_txt),
                Route("/home", self._home),  # /article that calls itself ``canonical``
                Route("/home/", self._home),
                # addresses
                Route("/redirect/{count:int}", self._redirect),  # that many hops to /article
                Route("/to", self._to),  # ?url= where to redirect, ?status=
                Route("/cookie", self._cookie),  # redirects to itself until it gets its cookie
                # outcomes
                Route("/status/{code:int}", self._status),
                Route("/busy", self._busy),  # 429 with Retry-After, then /article
                Route("/cut", self._cut),  # the connection ends in the middle, then /article
                Route("/silent", self._silent),  # never answers
                # sizes and times
                Route("/endless", self._endless),  # as fast as it is taken
                Route("/trickle", self._trickle),  # a byte now and then, for ever
                Route("/huge", self._huge),  # ?bytes=, announced by Content-Length
                Route("/encoded/{encoding}", self._encoded),  # /article in that Content-Encoding
                # contents
                Route("/file/{kind}", self._file),  # pdf, png, zip, ... labelled ?type=
            ]
        )

    def forget(self) -> None:
        """Be as new, for the next test of a module that shares a server."""
        self.seen.clear()
        self.sent.clear()
        self.busy_for, self.retry_after = 1, "0"
        self.robots = None
        self.canonical = ""

    def count(self, path: str) -> int:
        """The number of requests for a path."""
        return sum(seen.path == path for seen in self.seen)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            request = Request(scope)
            client = request.client.port if request.client else 0
            self.seen.append(Seen(request.url.path, client, dict(request.headers.items())))
        await self._site(scope, receive, send)

    async def _home(self, request: Request) -> Response:
        link = f'<link rel="canonical" href="{html.escape(self.canonical)}">'
        return HTMLResponse(ARTICLE.replace("</head>", f"{link}</head>"))

    async def _robots_txt(self, request: Request) -> Response:
        return self.robots or PlainTextResponse("There is none.", 404)

    # ------------------------------------------------------------ pages as they should be

    # ------------------------------------------------------------ addresses

    async def _redirect(self, request: Request) -> Response:
        left: int = request.path_params["count"]
        return RedirectResponse(f"/redirect/{left - 1}" if left > 1 else "/article")

    async def _to(self, request: Request) -> Response:
        status = int(request.query_params.get("status", "302"))
        return Response(status_code=status, headers={"location": request.query_params["url"]})

    async def _cookie(self, request: Request) -> Response:
        if request.cookies.get("seen") == "yes":
            return HTMLResponse(ARTICLE)
        response = RedirectResponse("/cookie")
        response.set_cookie("seen", "yes")
        return response

    # ------------------------------------------------------------ outcomes

    async def _status(self, request: Request) -> Response:
        return HTMLResponse("<p>An error page with words.</p>", request.path_params["code"])

    async def _busy(self, request: Request) -> Response:
        if self.count("/busy") <= self.busy_for:
            return Response(status_code=429, headers={"retry-after": self.retry_after})
        return HTMLResponse(ARTICLE)

    async def _cut(self, request: Request) -> Response:
        if self.count("/cut") > 1:
            return HTMLResponse(ARTICLE)
        return _Cut(ARTICLE[:200].encode())

    async def _silent(self, request: Request) -> Response:
        while not await request.is_disconnected():
            await asyncio.sleep(0.02)
        return Response()

    # ------------------------------------------------------------ sizes and times

    async def _endless(self, request: Request) -> Response:
        return StreamingResponse(
            self._until_gone(request, b"<p>and so on and on</p>\n" * 400, 0.0),
            media_type="text/html",
        )

    async def _trickle(self, request: Request) -> Response:
        return StreamingResponse(self._until_gone(request, b"<p>x", 0.02), media_type="text/html")

    async def _until_gone(
        self, request: Request, chunk: bytes, pause: float
    ) -> AsyncIterator[bytes]:
        while not await request.is_disconnected():
            self.sent[request.url.path] += len(chunk)
            yield chunk
            await asyncio.sleep(pause)

    async def _huge(self, request: Request) -> Response:
        size = int(request.query_params.get("bytes", "50000000"))
        return StreamingResponse(
            self._until_gone(request, b"x" * 65_536, 0.0),
            headers={"content-length": str(size)},
            media_type="text/html",
        )

    async def _encoded(self, request: Request) -> Response:
        encoding: str = request.path_params["encoding"]
        data = ARTICLE.encode()
        bodies = {
            "identity": data,
            "gzip": gzip.compress(data[:500]) + gzip.compress(data[500:]) + b"\0" * 16,
            "broken": gzip.compress(data)[:50] + b"garbage" * 20,
            "br": data,
        }
        label = "gzip" if encoding == "broken" else encoding
        return Response(
            bodies[encoding], media_type="text/html", headers={"content-encoding": label}
        )

    # ------------------------------------------------------------ contents

    async def _file(self, request: Request) -> Response:
        data = FILES[request.path_params["kind"]]
        return _labelled(data, request.query_params.get("type"))


FILES = {
    "pdf": pdf(
        [[Typed(72, 700, "The lighthouse was lit for the first time in 1874.")]], title="Light"
    ),
    "png": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00" + bytes(range(256)) * 20,
    "zip": b"PK\x03\x04\x14\x00\x00\x00\x08\x00" + bytes(range(256)) * 20,
    "bytes": bytes(range(256)) * 20,
    "css": b"body { color: black; }\n" * 100,
}


def _labelled(data: bytes, content_type: str | None) -> Response:
    response = Response(data)
    if content_type:
        response.headers["content-type"] = content_type
    return response


class _Cut(Response):
    """Announces more than it sends, and ends the connection."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/html"), (b"content-length", b"100000")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


@contextmanager
def resetting() -> Iterator[str]:
    """A server that accepts a connection and resets it; yields its base URL."""
    listener = socket.create_server(("127.0.0.1", 0))
    open_ = threading.Event()

    def serve() -> None:
        while not open_.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.recv(1)
            # with linger of zero seconds, close() sends RST
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        open_.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)
