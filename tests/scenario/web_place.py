"""The web console as a place of scenarios: people with their browsers, behind a door that can be
shut. What the console lacks is said where a scenario asks for it."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import threading
import time
import traceback
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx

from tests.fakes.door import Door
from tests.fakes.proxy import HOST, Network
from tests.scenario.places import NO_FILES, Files, Post, Press, Said, Witness
from tests.scenario.program import Program
from tests.scenario.serving import Serving
from tests.scenario.web_pages import AGAIN_SECONDS, Page, Shown

READY = "web is connected."
BUSY_SECONDS = 1.0  # that the database takes nothing when the place is limited
PRESSES: Mapping[Press, tuple[str, dict[str, str]]] = {
    "deeper": ("deeper", {}),
    "good": ("feedback", {"verdict": "good"}),
    "bad": ("feedback", {"verdict": "bad"}),
    "follow-up": ("follow-up", {"number": "0"}),
    "stop": ("stop", {}),
}


@dataclass
class Met:
    """A program that was started, and the port it has told of."""

    program: Program
    serving: Serving
    port: int = 0

    @property
    def is_open(self) -> bool:
        if not self.port and READY in self.serving.said:
            self.port = urlsplit(self.serving.http).port or 0
        return bool(self.port)


@dataclass
class Sent:
    """A question on its way, by the name its page gave it. Once it is ``settled`` it has its
    ``run`` and ``thread``, or was refused; ``told`` is what its asker was told beside."""

    name: str
    root: str
    text: str
    locale: str
    files: Files = field(default_factory=dict)
    run: str = ""
    thread: str = ""
    told: list[str] = field(default_factory=list)
    settled: threading.Event = field(default_factory=threading.Event)
    pressing: asyncio.Lock = field(default_factory=asyncio.Lock)


class WebPlace:
    """See ``Place``. The channel is the console itself, a thread one of its conversations.

    ``Said.id`` is the name that the page gave the question, so that what is sent twice is one.
    """

    name = "web"
    ready = READY
    mention = ""
    searching = "Searched once"  # the activities of one kind share a line
    denied = "Questions from the console are not allowed"
    thanks = "Thank you"

    def __init__(self, network: Network) -> None:
        self._loop = asyncio.new_event_loop()
        self._changes = threading.Condition()
        self._met: list[Met] = []
        self._doors: dict[int, tuple[str, int]] = {}  # by pid
        self.door = network.opened(Door(network, self.address))
        self.client = self.new_client()
        self.sent: dict[str, Sent] = {}
        self.pages: dict[str, Page] = {}  # by root
        self.broken: list[str] = []
        self._under_way: list[Future[Any]] = []  # what people have sent and do not know the end of

    def new_client(self) -> httpx.AsyncClient:
        """A browser, or a program."""
        return httpx.AsyncClient(
            base_url=f"http://{HOST}:{self.door.port}",
            headers={"Connection": "close", "Accept": "application/json"},
            timeout=httpx.Timeout(30.0, read=None),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
        )

    # ---- programs

    def meet(self, program: Program, serving: Serving) -> None:
        self._met.append(Met(program, serving))

    def address(self) -> tuple[str, int] | None:
        """The host and port of one of the live programs that listen, if any does."""
        open_doors = [met for met in self._met if met.serving.alive and met.is_open]
        return (HOST, secrets.choice(open_doors).port) if open_doors else None

    @property
    def connections(self) -> int:
        return sum(met.is_open for met in self._met)

    @property
    def settings(self) -> Mapping[str, str]:
        return {"FOOTNOTE_CONSOLE": "on", "adapters.web.console.QUESTIONS": "100000"}

    # ---- what Ada does

    def ask(self, text: str, *, locale: str = "en-US", files: Files = NO_FILES) -> Said:
        name = secrets.token_hex(8)
        return self._send(Sent(name, name, text, locale, files))

    def say(self, earlier: Said, text: str) -> Said:
        locale = self.sent[earlier.root].locale
        return self._send(Sent(secrets.token_hex(8), earlier.root, text, locale))

    def edit(self, said: Said, text: str) -> None:
        self._press(said, "edit", {"question": text})

    def delete(self, said: Said) -> None:
        self._press(said, "delete", {})

    def press(self, said: Said, what: Press, *, on: int = -1) -> None:
        action, fields = PRESSES[what]
        run, shown = list(self._turns(said).items())[on]
        address = f'action="/runs/{run}/{action}"'
        assert address in shown.reply, f"there is no button {what!r} in {shown.seen.buttons}"
        self._do(self._press_on(run, self.sent[said.id], action, fields))

    def stop(self, said: Said) -> None:
        self._press(said, "stop", {})

    def _send(self, sent: Sent) -> Said:
        self.sent[sent.name] = sent
        self._do(self._ask(sent))
        return Said("console", sent.name, sent.root)

    async def _ask(self, sent: Sent) -> None:
        root = self.sent[sent.root]
        while root is not sent and not root.settled.is_set():
            await asyncio.sleep(AGAIN_SECONDS)
        taken = await self.post_question(sent, "" if root is sent else root.thread)
        if "run" in taken:
            sent.run = taken["run"]
            sent.thread = taken["thread"].removeprefix("/threads/")
            if sent.root not in self.pages:
                path = f"/threads/{sent.thread}"
                page = Page(self.client, path, self.changed, self.headers(sent))
                self.pages[sent.root] = page
                self.begin(page.follow())
        sent.settled.set()

    async def post_question(self, sent: Sent, thread: str) -> Any:
        """Send the page's form; what the console says to it."""
        fields = {"question": sent.text, "event": sent.name, "depth": "auto", "thread": thread}
        return await self.until_taken(
            sent, lambda: self._post_form("/ask", fields, self.headers(sent), sent.files)
        )

    def _press(self, said: Said, action: str, fields: dict[str, str]) -> None:
        self._do(self._press_later(self.sent[said.id], action, fields))

    async def _press_later(self, sent: Sent, action: str, fields: dict[str, str]) -> None:
        async with sent.pressing:  # what is done later comes later, however often it is sent
            while not sent.settled.is_set():
                await asyncio.sleep(AGAIN_SECONDS)
            if sent.run:
                await self._press_on(sent.run, sent, action, fields)

    async def _press_on(self, run: str, sent: Sent, action: str, fields: dict[str, str]) -> None:
        path, headers = f"/runs/{run}/{action}", self.headers(sent)
        await self.until_taken(sent, lambda: self._post_form(path, fields, headers))

    def _do(self, deed: Coroutine[Any, Any, Any]) -> None:
        self._under_way = [each for each in self._under_way if not each.done()]
        self._under_way.append(self.begin(deed))

    async def until_taken(self, sent: Sent, send: Callable[[], Awaitable[httpx.Response]]) -> Any:
        """Send something until the console says that it has it, or why it will not."""
        while True:
            try:
                answer = await send()
            except httpx.HTTPError:
                await asyncio.sleep(AGAIN_SECONDS)
                continue
            if answer.status_code not in (429, 500, 502, 503):
                break
            await asyncio.sleep(1.0)
        told = answer.json()
        sentence = told.get("error") or told.get("told")
        if sentence:
            sent.told.append(sentence)
        self.changed()
        return told

    async def _post_form(
        self,
        path: str,
        fields: dict[str, str],
        headers: dict[str, str],
        files: Files = NO_FILES,
    ) -> httpx.Response:
        ours = {**headers, "Sec-Fetch-Site": "same-origin"}
        parts = [("files", (name, body)) for name, body in files.items()]
        if not parts:
            ours["Content-Type"] = "application/x-www-form-urlencoded"
        return await self.client.post(path, data=fields, files=parts or None, headers=ours)

    def headers(self, sent: Sent) -> dict[str, str]:
        """The request headers of the asker's browser."""
        return {"Accept-Language": sent.locale}

    # ---- what is to be seen

    def posts(self, said: Said) -> list[Post]:
        return [_post(run, shown) for run, shown in self._turns(said).items()]

    def _turns(self, said: Said) -> dict[str, Shown]:
        page = self.pages.get(said.root)
        return dict(page.turns) if page is not None else {}

    def whispers(self, said: Said) -> str:
        told = (sent.told for sent in list(self.sent.values()) if sent.root == said.root)
        return "\n".join(line for lines in told for line in lines)

    def at_work(self, said: Said) -> bool:
        return any(post.working for post in self.posts(said))

    def until(self, condition: Callable[[], object], seconds: float = 60.0) -> None:
        end = time.monotonic() + seconds
        with self._changes:
            while not condition():
                if time.monotonic() > end:
                    raise TimeoutError("it did not come true")
                self._changes.wait(0.05)  # what no page shows is looked at in between

    def changed(self) -> None:
        with self._changes:
            self._changes.notify_all()

    def acknowledged(self) -> bool:
        return all(deed.done() for deed in self._under_way)

    # ---- bad weather

    def tell_again(self, most: int = 1_000) -> None:
        """Browsers send their latest questions once more, as after a reload or a double click."""
        for sent in [sent for sent in self.sent.values() if sent.run][-most:]:
            self._do(self._ask(sent))

    def lose_connection(self) -> None:
        self.door.cut()

    def down(self) -> None:
        """Nothing reaches the pages."""
        self.door.close()

    def up(self) -> None:
        self.door.heal()

    def limit(self, times: int) -> None:
        """The database is the platform: it takes nothing for a second, so many times."""
        path = self._met[-1].program.folder / "data" / "footnote.sqlite"

        def hold() -> None:
            with closing(sqlite3.connect(path, timeout=60, isolation_level=None)) as database:
                for _ in range(times):
                    database.execute("BEGIN IMMEDIATE")
                    time.sleep(BUSY_SECONDS)
                    database.execute("ROLLBACK")

        threading.Thread(target=hold, name="limit").start()

    def cut(self) -> None:
        self.door.lose_answer()

    def watch(self, witness: Witness) -> None:
        self.door.watch(witness)

    # ---- the browsers' loop

    def begin(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Have something done on the browsers' loop."""
        begun = asyncio.run_coroutine_threadsafe(work, self._loop)
        begun.add_done_callback(self._ended)
        return begun

    def _ended(self, deed: Future[Any]) -> None:
        """Record an error in a browser: it must not pass for a fault of the console."""
        if not deed.cancelled() and (broken := deed.exception()) is not None:
            self.broken.append(repr(broken))
            traceback.print_exception(broken)

    def run(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    async def aclose(self) -> None:
        await self.client.aclose()

    def close(self) -> None:
        async def end() -> None:
            mine = asyncio.current_task()
            tasks = [task for task in asyncio.all_tasks() if task is not mine]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self.aclose()

        self.begin(end()).result(20)
        self._loop.call_soon_threadsafe(self._loop.stop)


def _post(run: str, shown: Shown) -> Post:
    seen = shown.seen
    return Post(run, seen.text, "" if seen.busy else run, seen.busy)


Browsed = TypeVar("Browsed", bound=WebPlace)


@contextmanager
def browsing(place: Browsed) -> Iterator[Browsed]:
    """Its browsers are at work within the block."""
    thread = threading.Thread(target=place.run, name="browsers", daemon=True)
    thread.start()
    try:
        yield place
    finally:
        place.close()
        thread.join(20)
    assert not place.broken, place.broken


@contextmanager
def open_web() -> Iterator[WebPlace]:
    with Network() as network, browsing(WebPlace(network)) as place:
        yield place
