"""npm's emulate on loopback: somebody else's idea of Slack's Web API.

It runs from ``.ci/.live``, where ``.ci/install-live`` puts it. The app's token has the scopes of
our manifest and no others (``strict_scopes``). Between the SDK and emulate stands ``Front``, which
only does what emulate leaves out although the real Slack does it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import socket
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.server import serve
from tests.fakes.slack_limits import read_manifest

VERSION = "0.12.2"
REPOSITORY = Path(__file__).parents[2]
MODULES = REPOSITORY / ".ci" / ".live" / "node_modules"
MANIFEST = REPOSITORY / "adapters" / "slack" / "manifest.yaml"
START_SECONDS = 60.0
CALL_SECONDS = 60.0

TEAM, BOT_USER, BOT = "T000000001", "U0FOOTBOT", "B0FOOTBOT"  # the team's id is emulate's own
BOT_TOKEN, ADMIN_TOKEN = "xoxb-second-opinion", "xoxp-admin"
PEOPLE_TOKENS = {"ada": "xoxp-ada", "bob": "xoxp-bob"}

Json = dict[str, Any]
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer."""

    status: int
    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """A call of the Web API that reached emulate, and what it said."""

    method: str
    arguments: Json
    reply: Json


@dataclass
class Front:
    """An ASGI app before emulate, for what the real Slack does and emulate does not.

    Slack takes arguments from the query as well, and answers each method to GET and POST alike;
    emulate reads the body only, mostly of POST. slack_sdk uses all of that, so a query is passed on
    as a form. Slack calls a method it does not know
    ``unknown_method``, emulate answers 404: so that is said instead. And it makes bad weather:
    ``down``, ``limits`` and ``cuts`` (calls left that are limited, or whose answer is lost).
    """

    target: str = ""
    asked: list[Asked] = field(default_factory=list)
    down: bool = False
    limits: Counter[str] = field(default_factory=Counter)
    cuts: Counter[str] = field(default_factory=Counter)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        payload, more = b"", True
        while more:
            part = await receive()
            payload += part.get("body", b"")
            more = part.get("more_body", False)
        headers = {key.decode(): value.decode() for key, value in scope["headers"]}
        query = scope["query_string"].decode()
        verb, path = scope["method"], scope["path"]
        if path.startswith("/api/"):
            answer = await self._method(path, query, headers, payload)
        else:  # files
            address = f"{self.target}{path}?{query}"
            answer = await asyncio.to_thread(_send, verb, address, headers, payload)
        sent = [(name.lower().encode(), value.encode()) for name, value in answer.headers.items()]
        await send({"type": "http.response.start", "status": answer.status, "headers": sent})
        await send({"type": "http.response.body", "body": answer.body})

    async def _method(
        self, path: str, query: str, headers: Mapping[str, str], payload: bytes
    ) -> Answer:
        method = path.removeprefix("/api/")
        if self.down:
            return Answer(503, b"<html>Slack is down</html>", {"Content-Type": "text/html"})
        if self.limits[method] > 0:
            self.limits[method] -= 1
            return _json({"ok": False, "error": "ratelimited"}, 429, {"Retry-After": "1"})
        if query:
            headers = {**headers, "content-type": "application/x-www-form-urlencoded"}
            payload = query.encode()
        answer = await asyncio.to_thread(_send, "POST", self.target + path, headers, payload)
        if answer.status == 404:
            answer = _json({"ok": False, "error": "unknown_method", "req_method": method})
        self.asked.append(Asked(method, _arguments(headers, payload), json.loads(answer.body)))
        if self.cuts[method] > 0:
            self.cuts[method] -= 1
            return Answer(503, b"", {})
        return answer

    def calm(self) -> None:
        """Good weather, and nothing asked yet."""
        self.down = False
        for record in (self.asked, self.limits, self.cuts):
            record.clear()

    def calls(self, method: str) -> list[Asked]:
        return [one for one in self.asked if one.method == method]


def _json(told: Json, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    known = {"Content-Type": "application/json", **(headers or {})}
    return Answer(status, json.dumps(told).encode(), known)


def _arguments(headers: Mapping[str, str], payload: bytes) -> Json:
    if "json" in headers.get("content-type", ""):
        told: Json = json.loads(payload or b"{}")
        return told
    return dict(urllib.parse.parse_qsl(payload.decode()))


def _send(verb: str, address: str, headers: Mapping[str, str], payload: bytes) -> Answer:
    kept = {name: headers[name] for name in ("authorization", "content-type") if name in headers}
    request = urllib.request.Request(address, payload or None, kept, method=verb)
    try:
        with _DIRECT.open(request, timeout=CALL_SECONDS) as answer:
            return Answer(
                answer.status, answer.read(), {"Content-Type": answer.headers["Content-Type"]}
            )
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.read(), {"Content-Type": "application/json"})


@dataclass(frozen=True, slots=True)
class LiveSlack:
    """A running emulate: its own address, and the one of ``front`` for the app's client.

    ``people`` maps names to user ids.
    """

    url: str
    front: Front
    front_url: str
    people: Mapping[str, str]

    @property
    def api_url(self) -> str:
        return f"{self.front_url}/api/"

    def call(self, token: str, method: str, **arguments: Any) -> Json:
        """Somebody calls a method; raises ``AssertionError`` when that is refused."""
        told = call(self.url, token, method, arguments)
        assert told["ok"], (method, told)
        return told

    def upload(self, address: str, body: bytes) -> None:
        """The second step of sharing a file."""
        headers = {"content-type": "application/octet-stream"}
        answer = _send("POST", address, headers, body)
        assert answer.status == 200, answer


def call(url: str, token: str, method: str, arguments: Mapping[str, Any]) -> Json:
    """One call with JSON, past the front."""
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    answer = _send("POST", f"{url}/api/{method}", headers, json.dumps(arguments).encode())
    told: Json = json.loads(answer.body)
    return told


@pytest.fixture(scope="session")
def live_slack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveSlack]:
    """emulate; skipped where it is not installed, a failure in CI (tests/conftest)."""
    package = MODULES / "emulate" / "package.json"
    if not package.exists() or json.loads(package.read_text())["version"] != VERSION:
        pytest.skip(f"emulate {VERSION} is not installed: run .ci/install-live as root")
    seed = tmp_path_factory.mktemp("emulate") / "seed.json"
    seed.write_text(json.dumps({"slack": _seed()}))
    front = Front()
    with serve(front) as front_url, _started(seed, front_url) as url:
        front.target = url
        members = call(url, ADMIN_TOKEN, "users.list", {})["members"]
        yield LiveSlack(url, front, front_url, {one["name"]: one["id"] for one in members})


def _seed() -> Json:
    scopes = sorted(read_manifest(MANIFEST).scopes)
    app = {"app_id": "A0FOOTNOTE", "bot_id": BOT, "bot_user_id": BOT_USER}
    return {
        "strict_scopes": True,
        "users": [{"name": name, "real_name": f"{name.title()} Example"} for name in PEOPLE_TOKENS],
        "oauth_apps": [
            {
                **app,
                "client_id": "1.1",
                "client_secret": "none",
                "name": "Footnote",
                "bot_name": "footnote",
                "redirect_uris": [],
                "scopes": scopes,
            }
        ],
        "tokens": [
            {**app, "token": BOT_TOKEN, "type": "bot", "user_id": BOT_USER, "scopes": scopes},
            {"token": ADMIN_TOKEN, "type": "user", "user": "admin"},
            *(
                {"token": token, "type": "user", "user": name}
                for name, token in PEOPLE_TOKENS.items()
            ),
        ],
    }


@contextlib.contextmanager
def _started(seed: Path, advertised: str) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = MODULES / "emulate" / "dist" / "index.js"
    arguments = ["start", "--service", "slack", "--port", str(port), "--seed", str(seed)]
    server = subprocess.Popen(
        [node(), str(program), *arguments, "--base-url", advertised],
        cwd=seed.parent,
        env={**os.environ, "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    told: list[str] = []
    ready = threading.Event()
    reader = threading.Thread(target=_read, args=(server, told, ready), daemon=True)
    reader.start()
    try:
        if not ready.wait(START_SECONDS) or server.poll() is not None:
            raise RuntimeError("emulate did not start:\n" + "".join(told))
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(20)
        reader.join(20)
        assert server.stdout is not None
        server.stdout.close()


def _read(server: subprocess.Popen[str], told: list[str], ready: threading.Event) -> None:
    """Keep what it says; it is ready when it says so, or has ended."""
    assert server.stdout is not None
    for line in server.stdout:
        told.append(line)
        if "Ready" in line:
            ready.set()
    ready.set()


def node() -> str:
    """The Node that was installed beside emulate, else the machine's."""
    beside = sorted(MODULES.glob("node-*/bin/node"))
    return str(beside[0]) if beside else shutil.which("node") or "node"
