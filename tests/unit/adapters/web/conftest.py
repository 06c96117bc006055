"""The console with the real reception, store and dispatcher behind it; only the reasoner acts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx
import pytest
from starlette.applications import Starlette

from adapters.web.platform import WebPlatform, open_web
from adapters.web.poster import WebPoster
from bot.core.posting import PostState, Reply, RunRef
from bot.operation.configuration import load_settings
from bot.service.dispatch.dispatcher import LocalDispatcher
from bot.service.reception import Reception
from bot.service.research_service import ResearchService
from bot.storage.store import Store, open_store
from bot.storage.workspaces import Workspaces
from tests.fakes import sqlite
from tests.fakes.library import a_library, a_shelf
from tests.fakes.reasoner import Scripted
from tests.unit.service.conftest import Gated

HOST = "http://127.0.0.1:8080"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Remembering(WebPoster):
    """Keeps its replies, so that a test can let them show something."""

    def __init__(self, like: WebPoster) -> None:
        super().__init__(like._live, like._files, like._between)
        self.replies: dict[str, Reply] = {}

    async def open(self, run: RunRef, saved: PostState | None) -> Reply:
        reply = self.replies[run.id] = await super().open(run, saved)
        return reply


@dataclass
class Running:
    """The console at work."""

    app: Starlette
    store: Store
    platform: WebPlatform
    poster: Remembering
    reception: Reception
    dispatcher: LocalDispatcher
    reasoner: Gated
    stack: AsyncExitStack

    async def browser(self, peer: str = "127.0.0.1", base: str = HOST, **headers: str) -> Browser:
        transport = httpx.ASGITransport(self.app, client=(peer, 50_000))
        told = {"Sec-Fetch-Site": "same-origin", **headers}
        client = httpx.AsyncClient(transport=transport, base_url=base, headers=told)
        return Browser(self, await self.stack.enter_async_context(client))

    async def ended(self, run: str) -> None:
        await self.dispatcher.wait(run)


@dataclass
class Browser:
    """Keeps its cookies, and says that its forms are the console's own."""

    running: Running
    client: httpx.AsyncClient

    async def get(self, path: str, **headers: str) -> httpx.Response:
        return await self.client.get(path, headers=headers)

    async def send(self, path: str, **fields: str) -> httpx.Response:
        """A form of the page, as a script sends it."""
        headers = {"Accept": "application/json", **FORM}
        return await self.client.post(path, content=urlencode(fields), headers=headers)

    async def post(self, path: str, /, **fields: str) -> httpx.Response:
        """A form of the page, as a browser without scripts sends it."""
        return await self.client.post(path, content=urlencode(fields), headers=FORM)

    async def ask(self, question: str = "How tall is the tower?", **fields: str) -> str:
        """Put a question; the id of its run."""
        answer = await self.send("/ask", question=question, **fields)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["run"])

    async def answered(self, question: str = "How tall is the tower?", **fields: str) -> str:
        run = await self.ask(question, **fields)
        await self.running.ended(run)
        return run

    @asynccontextmanager
    async def follow(self, path: str, method: str = "GET", **headers: str) -> AsyncIterator[Events]:
        """An event stream, which httpx's ASGI transport would only give when it has ended."""
        asked = self.client.build_request(method, path, headers=headers)
        events = Events()
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": urlsplit(path).path,
            "raw_path": urlsplit(path).path.encode(),
            "root_path": "",
            "query_string": asked.url.query,
            "headers": [(name.lower(), value) for name, value in asked.headers.raw],
            "client": ("127.0.0.1", 50_000),
            "server": ("127.0.0.1", 8080),
        }

        async def receive() -> dict[str, Any]:
            await events.left.wait()
            return {"type": "http.disconnect"}

        task = asyncio.create_task(self.running.app(scope, receive, events.take))
        try:
            yield events
        finally:
            events.left.set()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


class Events:
    """The events of a stream so far: kinds, data, ids. ``text`` is all that was sent."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.text = ""
        self.told: list[tuple[str, Any, str]] = []
        self.ended = False
        self.left = asyncio.Event()
        self._changed = asyncio.Condition()
        self._buffer = ""

    async def take(self, message: Any) -> None:
        async with self._changed:
            if message["type"] == "http.response.start":
                self.status = message["status"]
                headers = ((name.decode(), value.decode()) for name, value in message["headers"])
                self.headers = dict(headers)
            else:
                self.text += message.get("body", b"").decode()
                self._buffer += message.get("body", b"").decode()
                self.ended = not message.get("more_body", False)
            *whole, self._buffer = self._buffer.split("\n\n")
            self.told += [event for event in map(_read, whole) if event[0]]
            self._changed.notify_all()

    async def until(self, kind: str, words: str = "") -> Any:
        """The data of the first event of this kind that holds these words."""

        def found() -> list[Any]:
            return [
                data
                for told, data, _ in self.told
                if told == kind and words in json.dumps(data, ensure_ascii=False)
            ]

        async with self._changed, asyncio.timeout(60):
            await self._changed.wait_for(lambda: bool(found()) or self.ended)
        assert found(), (kind, words, self.told)
        return found()[0]

    async def until_begun(self) -> None:
        async with self._changed, asyncio.timeout(60):
            await self._changed.wait_for(lambda: self.status or self.ended)

    async def until_told(self, words: str) -> None:
        async with self._changed, asyncio.timeout(60):
            await self._changed.wait_for(lambda: words in self.text or self.ended)
        assert words in self.text

    async def until_end(self) -> None:
        async with self._changed, asyncio.timeout(60):
            await self._changed.wait_for(lambda: self.ended)

    @property
    def kinds(self) -> list[str]:
        return [kind for kind, _, _ in self.told]


def _read(text: str) -> tuple[str, Any, str]:
    fields = dict(line.partition(": ")[::2] for line in text.splitlines())
    data = json.loads(fields["data"]) if "data" in fields else None
    return fields.get("event", ""), data, fields.get("id", "")


OpenConsole = Callable[..., Awaitable[Running]]


@pytest.fixture
async def open_console(tmp_path: Path) -> AsyncIterator[OpenConsole]:
    async with AsyncExitStack() as stack:

        async def open_console(**overrides: Any) -> Running:
            settings = load_settings(**overrides)
            store = await open_store(sqlite.migrated(tmp_path))
            stack.push_async_callback(store.close)
            platform = await stack.enter_async_context(
                open_web(settings, Workspaces(store.database))
            )
            poster, reasoner = Remembering(platform.poster), Gated()
            posters = {"web": poster}
            service = ResearchService(
                settings,
                store,
                a_library(a_shelf("Tower is 330 m tall.", "Bridge is long.")),
                reasoner=lambda calls: reasoner,
                fallback=lambda calls: Scripted(name="fallback"),
                price=lambda reply: 0.0,
                posters=posters,
            )
            dispatcher = await stack.enter_async_context(
                LocalDispatcher(store, service, 8, drain_seconds=10.0)
            )
            stack.callback(reasoner.let_on.set)  # runs end before the dispatcher does
            reception = Reception(settings, store, service, dispatcher, posters)
            stack.push_async_callback(reception.aclose)
            ready = asyncio.Event()
            running = asyncio.create_task(platform.run(reception, ready.set))
            await ready.wait()
            stack.push_async_callback(_cancelled, running)
            app = Starlette(routes=list(platform.routes))
            return Running(app, store, platform, poster, reception, dispatcher, reasoner, stack)

        yield open_console


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
async def here(open_console: OpenConsole) -> Running:
    return await open_console()


@pytest.fixture
async def browser(here: Running) -> Browser:
    return await here.browser()
