"""Pages of the console that people have open: what they show, kept up to date by event streams as
the console's own script does it, over connections that may break at any time."""

from __future__ import annotations

import asyncio
import html
import json
import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import httpx
import lxml.html  # type: ignore[import-untyped]

from tests.fakes.screen import Seen, seen

AGAIN_SECONDS = 0.1  # after a connection broke
TURN = re.compile(r'<article class="turn" id="run-(\w+)".*?</article>', re.DOTALL)
MARK = re.compile(r'<sup class="fn">.*?</sup>')
STREAM = re.compile(r'data-events="([^"]+)" data-since="([^"]*)"')


@dataclass
class Shown:
    """A question's place on a page: the HTML below the question."""

    reply: str

    @property
    def seen(self) -> Seen:
        """With a footnote's raised number as everywhere else: [1]."""
        return seen(MARK.sub(r"[\g<0>]", self.reply))

    def put(self, part: str, inner: str) -> None:
        """Change a part of a reply that is being worked on, as the script does."""
        tree = lxml.html.fragment_fromstring(self.reply, create_parent="div")
        for box in tree.xpath(f"//*[@data-part='{part}']"):
            for old in list(box):
                box.remove(old)
            new = lxml.html.fragment_fromstring(inner, create_parent="div")
            box.text = new.text
            box.extend(copy(child) for child in new)
        self.reply = "".join(lxml.html.tostring(one, encoding="unicode") for one in tree)


@dataclass
class Page:
    """A conversation that somebody has open. ``follow`` runs until it is cancelled."""

    client: httpx.AsyncClient
    path: str
    changed: Callable[[], None]
    headers: Mapping[str, str]
    turns: dict[str, Shown] = field(default_factory=dict)
    heard: deque[str] = field(
        default_factory=lambda: deque(maxlen=60)
    )  # the latest, for who judges
    _last: str = ""

    async def follow(self) -> None:
        """Open the page, then keep it up to date."""
        stream = await self._open()
        while True:
            try:
                async for kind, data, id in self._events(stream):
                    self._take(kind, data)
                    self._last = id or self._last
                    self.changed()
            except httpx.HTTPError:
                pass
            await asyncio.sleep(AGAIN_SECONDS)

    async def _open(self) -> str:
        """The address of the page's stream."""
        while True:
            try:
                answer = await self.client.get(self.path, headers=self.headers)
                if answer.status_code == 200:
                    break
            except httpx.HTTPError:
                pass
            await asyncio.sleep(AGAIN_SECONDS)
        for found in TURN.finditer(answer.text):
            self.turns[found[1]] = Shown(_reply(found[0]))
        self.changed()
        events = STREAM.search(answer.text)
        assert events is not None, answer.text
        return f"{events[1]}?since={html.unescape(events[2])}"

    async def _events(self, path: str) -> AsyncIterator[tuple[str, Any, str]]:
        headers = {**self.headers, **({"Last-Event-ID": self._last} if self._last else {})}
        async with self.client.stream("GET", path, headers=headers) as answer:
            if answer.status_code != 200:
                return
            self.heard.append(f"begun after {self._last}")
            kind = id = ""
            async for line in answer.aiter_lines():
                name, _, value = line.partition(": ")
                if name == "event":
                    kind = value
                elif name == "id":
                    id = value
                elif name == "data":
                    yield kind, json.loads(value), id
                    kind = id = ""

    def _take(self, kind: str, data: Any) -> None:
        run = data["run"]
        self.heard.append(f"{kind} {run}")
        if kind == "gone":
            self.turns.pop(run, None)
        elif kind == "turn":
            self.turns[run] = Shown(_reply(data["html"]))
        elif run in self.turns:
            if kind == "reply":
                self.turns[run] = Shown(data["html"])
            else:
                self.turns[run].put(kind, data["html"])
                if data.get("now"):
                    self.turns[run].put("now", html.escape(data["now"]))


def _reply(article: str) -> str:
    """The HTML below the question of a turn."""
    tree = lxml.html.fragment_fromstring(article)
    (reply,) = tree.xpath("//*[@class='reply']")
    return "".join(lxml.html.tostring(child, encoding="unicode") for child in reply)
