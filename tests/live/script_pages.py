"""A site whose pages only a browser can read, and a network that none of them may reach."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

TEXT = "The lighthouse was lit for the first time in 1874."
SHELL = "<!doctype html><title>Lighthouse</title><noscript>Please enable JavaScript.</noscript>{}"
SHOW = f"document.body.insertAdjacentHTML('beforeend', '<h1>Norderney</h1><p>{TEXT}</p>');"
PIECE = b"x" * 65_536


class ScriptSite:
    """Pages by name; in their scripts ``{secret}`` is the host and port of the private server and
    ``{udp}`` a private port that hears datagrams."""

    PAGES = {  # noqa: RUF012 - a table
        # pages as they are built
        "late": f"setTimeout(() => {{ {SHOW} }}, 300)",
        "fetched": """fetch("/data").then((r) => r.json()).then((data) => {
            document.body.innerHTML = `<h1>${data.title}</h1><p>${data.text}</p>`; })""",
        "component": f"""customElements.define("x-page", class extends HTMLElement {{
            connectedCallback() {{
              this.attachShadow({{mode: "open"}}).innerHTML =
                "<h1>Norderney</h1><slot></slot><style>p {{ color: red }}</style>"; }} }});
            document.body.innerHTML = "<x-page><p>{TEXT}</p></x-page>";""",
        "moves": "location.replace('/page/late')",
        "mobile": "history.replaceState(null, '', '/page/elsewhere'); " + SHOW,
        # pages that would lead elsewhere
        "to-loopback": "location = 'http://{secret}/'",
        "to-metadata": "location = 'http://169.254.169.254/latest/meta-data/'",
        "to-redirect": "location = '/away?to=http://{secret}/'",
        "to-file": "location = 'file:///etc/passwd'",
        "refresh": """document.head.insertAdjacentHTML("beforeend",
            '<meta http' + '-equiv="refresh" content="0;url=http://{secret}/">')""",
        "form": """document.body.innerHTML =
            '<form action="http://{secret}/" method=post><input name=a></form>';
            document.forms[0].submit()""",
        "reaches": SHOW
        + """
            const at = "http://{secret}";
            for (const html of [
              `<iframe src="${{at}}/frame"></iframe>`, `<img src="${{at}}/img">`,
              `<link rel=preconnect href="${{at}}">`, `<link rel=stylesheet href="${{at}}/css">`,
              `<link rel=prefetch href="${{at}}/prefetch">`,
              `<object data="${{at}}/object"></object>`,
              `<video src="${{at}}/video" autoplay></video>`,
              `<iframe srcdoc="<script src='${{at}}/nested'><\\/script>"></iframe>`,
            ]) document.body.insertAdjacentHTML("beforeend", html);
            const tried = [
              () => fetch(at + "/fetch", {{mode: "no-cors"}}),
              () => fetch("/away?to=" + at + "/redirected", {{mode: "no-cors"}}),
              () => navigator.sendBeacon(at + "/beacon", "x"),
              () => new EventSource(at + "/events"),
              () => new WebSocket("ws://{secret}/socket"),
              () => new WebSocket("wss://{secret}/socket"),
              () => new Worker(URL.createObjectURL(new Blob(
                [`new WebSocket("ws://{secret}/worker"); fetch("${{at}}/worker")`]))),
              () => navigator.serviceWorker.register("/worker.js"),
              () => window.open(at + "/window"),
              () => import(at + "/module.js"),
              () => new WebTransport("https://127.0.0.1:{udp}/"),
              () => {{
                const frame = document.createElement("iframe");
                document.body.append(frame);
                const Peer = frame.contentWindow.RTCPeerConnection || RTCPeerConnection;
                const peer = new Peer({{iceServers: [{{urls: "stun:127.0.0.1:{udp}"}}]}});
                peer.createDataChannel("x");
                peer.createOffer().then((offer) => peer.setLocalDescription(offer));
              }},
            ];
            for (const one of tried) try {{ Promise.resolve(one()).catch(() => 0) }} catch {{}}""",
        # pages that do not end, or take too much
        "endless-request": SHOW + "fetch('/endless')",
        "polls": SHOW + "setInterval(() => fetch('/data'), 50)",
        "grows": SHOW + "setInterval(() => document.body.append('more '), 20)",
        "loop": SHOW + "for (;;) {}",
        "alerts": SHOW + "for (;;) alert('again')",
        "windows": SHOW + "setInterval(() => window.open('/page/late'), 10)",
        "memory": SHOW
        + "const all = []; for (;;) all.push(new Uint8Array(1 << 24).fill(1), 'x'.repeat(1 << 24))",
        "gigabyte": SHOW + "fetch('/endless?full').then((r) => r.arrayBuffer())",
        "large": "document.body.innerHTML = `<p hidden>${'many words '.repeat(1e6)}`",
        "deep": """let at = document.body;
            for (let n = 0; n < 20000; n++) at = at.appendChild(document.createElement("div"));
            at.textContent = "deep down"; """
        + SHOW,
        "download": "location = '/file'",
        "tampers": f"""Element.prototype.attachShadow = null; Array.prototype.push = () => 0;
            String.prototype.replace = () => "forged"; JSON.stringify = () => '"forged"';
            Object.defineProperty(Node.prototype, "childNodes", {{get: () => []}}); {SHOW}""",
    }  # fmt: skip

    def __init__(self) -> None:
        self.secret = ""
        self.udp = 0
        self.sent = Counter[str]()
        self.app = Starlette(
            routes=[
                Route("/page/{name}", self._page),
                Route("/data", self._data),
                Route("/away", self._away),
                Route("/endless", self._endless),
                Route("/file", self._file),
            ]
        )

    async def _page(self, request: Request) -> Response:
        script = self.PAGES[request.path_params["name"]]
        for slot, value in (("secret", self.secret), ("udp", str(self.udp))):
            script = script.replace("{" + slot + "}", value)
        script = script.replace("{{", "{").replace("}}", "}")
        return HTMLResponse(SHELL.format(f"<body><script>{script}</script>"))

    async def _data(self, request: Request) -> Response:
        return Response(
            f'{{"title": "Norderney", "text": "{TEXT}"}}', media_type="application/json"
        )

    async def _away(self, request: Request) -> Response:
        return RedirectResponse(request.query_params["to"])

    async def _endless(self, request: Request) -> Response:
        async def body() -> AsyncIterator[bytes]:
            while not await request.is_disconnected():
                self.sent["/endless"] += len(PIECE)
                yield PIECE
                await asyncio.sleep(0 if "full" in request.query_params else 0.2)

        return StreamingResponse(body())

    async def _file(self, request: Request) -> Response:
        return Response(b"PK\x03\x04", headers={"Content-Disposition": "attachment"})


class Private:
    """The connections and datagrams that reached a private port."""

    def __init__(self) -> None:
        self.reached: list[str] = []


@contextmanager
def private() -> Iterator[tuple[Private, str, int]]:
    """Listens on loopback; gives what was heard, the host and port for TCP, the port for UDP."""
    heard = Private()
    tcp = socket.create_server(("127.0.0.1", 0))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))

    def connections() -> None:
        while True:
            try:
                connection, _ = tcp.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(1)
                heard.reached.append(connection.recv(200).decode("latin-1"))

    def datagrams() -> None:
        while True:
            try:
                data, _ = udp.recvfrom(2_000)
            except OSError:
                return
            if not data:
                return
            heard.reached.append(f"{len(data)} bytes of UDP")

    threads = [threading.Thread(target=each, daemon=True) for each in (connections, datagrams)]
    for thread in threads:
        thread.start()
    port = udp.getsockname()[1]
    try:
        yield heard, f"127.0.0.1:{tcp.getsockname()[1]}", port
    finally:
        tcp.shutdown(socket.SHUT_RDWR)
        tcp.close()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", ("127.0.0.1", port))
        for thread in threads:
            thread.join(5)
        udp.close()
