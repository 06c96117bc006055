"""The peers of the depth bench, in a process of their own: Claude, a wiki, and who needed whom.

``/TAG/claude`` is a Claude with its own prompt cache, ``/TAG/w/api.php`` a MediaWiki with
CirrusSearch and TextExtracts whose search is BM25 over the multihop pages, ``/TAG/_log`` tells what
was asked there and clears it. A run gets a tag of its own, so that no run pays for another.

Every call is logged with the seconds that the peer was told to take, and with the calls it rests
on. A call rests on an earlier one if what that gave stands in it, or led to it:

    model     the rewrite; for an answer, the turn that said that nothing is missing; the replies
              whose mark it carries (a conversation goes on, a finding is handed down) or whose
              words it repeats (a planned question, a drafted or revised paragraph), the searches
              whose results and the pages whose text it is shown
    search    the first reply that asked for these words, if it came before
    fetch     the first search that listed the page and the first reply that chose it, if it came
              before; else it was opened, or fetched ahead of a choice, by its rank: every search
              that listed it by then, and before any model's choice every search
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote

from bot.text.terms import keywords
from tests.bench.depth_brain import Brain
from tests.bench.depth_requests import (
    chosen_titles,
    elements,
    heading,
    role,
    said_strings,
    shown_titles,
)
from tests.bench.depth_tasks import Pages, load_tasks, load_texts
from tests.fakes.claude import FakeClaude, Reply
from tests.fakes.claude_requests import user_texts
from tests.fakes.claude_wire import send_all, send_json

HANDED_ON = ("question", "report", "draft")  # elements in which a call repeats earlier ones
WORDS = 40  # characters by which a repeated text is known again


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds to a model's first token, tokens a second (0: at once), seconds of a search and of a
    fetch."""

    first_token: float = 1.5
    rate: float = 60.0
    search: float = 0.4
    fetch: float = 0.3

    def model(self, tokens: int) -> float:
        """Seconds of a model call with this many output tokens."""
        return self.first_token + (tokens / self.rate if self.rate else 0.0)


@dataclass(slots=True)
class Call:
    """One call. Times are of the monotonic clock, which all processes of a machine share.

    ``seconds`` is the time the peer was told to take, ``rests_on`` places in the log. ``shown`` are
    the titles of the pages whose text a model call held, ``proven`` those of the gold pages of
    which it held the text that counts. Tokens are those of a model call.
    """

    kind: str
    title: str
    began: float
    ended: float = 0.0
    seconds: float = 0.0
    rests_on: list[int] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    proven: list[str] = field(default_factory=list)
    full_price: int = 0
    cache_written: int = 0
    cache_read: int = 0
    output: int = 0


@dataclass(slots=True)
class _Asking:
    """The model call that is being answered."""

    number: int
    call: Call
    request: Mapping[str, Any] | None = None


_asking: ContextVar[_Asking] = ContextVar("asking")


class Tag:
    """The peers as one run, or one group of runs, sees them."""

    def __init__(self, pages: Pages, brain: Brain, latency: Latency, trusting: bool) -> None:
        self.calls: list[Call] = []
        self._pages = pages
        self._brain = brain
        self._latency = latency
        self._said: dict[int, frozenset[tuple[str, ...]]] = {}  # a reply's strings, as keywords
        self._drafted: dict[int, frozenset[tuple[str, ...]]] = {}
        self._chose: dict[int, frozenset[str]] = {}  # titles that a reply chose to read
        self._listed: dict[int, frozenset[str]] = {}  # titles that a search found
        self._worded: dict[int, list[str]] = {}  # beginnings of what a reply words anew
        self._rewrite: int | None = None
        self._claude = FakeClaude(
            self._think,
            first_token=latency.first_token,
            rate=latency.rate,
            trusting=trusting,
        )

    def log(self) -> list[dict[str, Any]]:
        return [asdict(call) for call in self.calls]

    def clear(self) -> None:
        self.calls.clear()
        self._claude.requests.clear()
        self._said.clear()
        self._drafted.clear()
        self._worded.clear()
        self._chose.clear()
        self._listed.clear()
        self._rewrite = None

    # ------------------------------------------------------------ Claude

    async def claude(self, scope: Any, receive: Any, send: Any) -> None:
        number, call = self._begin("model", "")
        asking = _Asking(number, call)
        _asking.set(asking)
        await self._claude(scope, receive, send)
        call.ended = time.monotonic()
        recorded = [r for r in self._claude.requests if r.body is asking.request]
        for record in recorded:
            usage = record.usage
            call.full_price = usage["input_tokens"]
            call.cache_written = usage["cache_creation_input_tokens"]
            call.cache_read = usage["cache_read_input_tokens"]
            call.output = usage["output_tokens"]
            self._claude.requests.remove(record)
        if not recorded:
            problems = [r.problem for r in self._claude.requests if r.problem]
            sys.stderr.write(f"Claude refused a request: {problems[-1:]}\n")

    def _think(self, request: Mapping[str, Any]) -> Reply:
        asking = _asking.get()
        asking.request = request
        number, call = asking.number, asking.call
        reply = self._brain.think(request, f"m{number}x")
        call.title = role(request)
        call.seconds = self._latency.model(reply.tokens)
        call.shown = sorted(shown_titles(request))
        call.proven = self._brain.proven(request)
        call.rests_on = self._model_rests_on(request, number, call)
        # A draft's headings are no queries, but its words are looked for ahead of them.
        said = self._drafted if call.title == "draft" else self._said
        said[number] = frozenset(_words(s) for s in said_strings(reply)) - {()}
        self._chose[number] = frozenset(chosen_titles(request, reply))
        if call.title in ("plan", "draft", "revise"):
            worded = (string[:WORDS] for string in said_strings(reply))
            self._worded[number] = [words for words in worded if len(words) > WORDS // 2]
        if call.title == "query":  # what is read is chosen by it, wherever it was searched before
            self._worded[number] = [string for string in said_strings(reply) if string[0] != "{"]
        if call.title == "rewrite":
            self._rewrite = number
        return reply

    def _model_rests_on(self, request: Mapping[str, Any], number: int, call: Call) -> list[int]:
        body = json.dumps(request["messages"], ensure_ascii=False)
        shown = "\n".join(user_texts(request))
        told = "\n".join(told for tag in HANDED_ON for told in elements(shown, tag))
        if call.title == "revise":
            told += f"\n{heading(shown)}"
        found = []
        for other, earlier in enumerate(self.calls[:number]):
            if not 0 < earlier.ended <= call.began:
                continue
            rests = {
                "model": other == self._rewrite
                or f"m{other}x" in body
                or any(words in told for words in self._worded.get(other, ())),
                "search": f'query="{_attribute(earlier.title)}"' in shown,
                "fetch": earlier.title in call.shown,
            }[earlier.kind]
            if rests:
                found.append(other)
        return found

    # ------------------------------------------------------------ the wiki

    async def wiki(self, scope: Any, origin: str, send: Any) -> None:
        asked = dict(parse_qsl(scope["query_string"].decode()))
        if asked.get("meta") == "siteinfo":
            await send_json(send, 200, _site(origin))
        elif asked.get("generator") == "search":
            query, limit = asked["gsrsearch"], int(asked["gsrlimit"])
            number, call = self._begin("search", query)
            call.rests_on = self._first(self._said, _words(query), call) or self._hinted(
                query, call
            )
            found = await asyncio.to_thread(self._pages.search, query, limit)
            self._listed[number] = frozenset(title for title, _ in found)
            await self._until(call, self._latency.search)
            listed = [
                {**_page(title, origin), "index": index, "snippet": snippet}
                for index, (title, snippet) in enumerate(found, 1)
            ]
            await send_json(send, 200, {"batchcomplete": True, "query": {"pages": listed}})
        else:
            title = asked["titles"].split("|")[0]
            _, call = self._begin("fetch", title)
            call.rests_on = self._fetch_rests_on(title, call)
            await self._until(call, self._latency.fetch)
            if title in self._pages:
                page = {**_page(title, origin), "extract": self._pages.text(title)}
            else:  # as MediaWiki says it of a name that a text had misspelt
                page = {"ns": 0, "title": title, "missing": True}
            await send_json(send, 200, {"batchcomplete": True, "query": {"pages": [page]}})

    def _fetch_rests_on(self, title: str, call: Call) -> list[int]:
        choosing = self._first(self._chose, title, call)
        if choosing:
            return [*self._first(self._listed, title, call), *choosing]
        none_chose = not any(earlier.title == "think" for earlier in self.calls)
        return [
            at
            for at, titles in self._listed.items()
            if (none_chose or title in titles) and 0 < self.calls[at].ended <= call.began
        ]

    def _hinted(self, query: str, call: Call) -> list[int]:
        """The first reply that has all these words in one string, and those that have some of them
        and no others, as a query is put together from answers; all that had ended by then."""
        words = set(_words(query))
        whole: list[int] = []
        some: list[int] = []
        for number, strings in (*self._said.items(), *self._drafted.items()):
            if not 0 < self.calls[number].ended <= call.began:
                continue
            if not whole and any(words <= set(string) for string in strings):
                whole.append(number)
            elif any(words >= set(string) for string in strings):
                some.append(number)
        return [*whole, *some]

    def _begin(self, kind: str, title: str) -> tuple[int, Call]:
        self.calls.append(Call(kind, title, time.monotonic()))
        return len(self.calls) - 1, self.calls[-1]

    async def _until(self, call: Call, seconds: float) -> None:
        """Wait until the peer has taken its time."""
        call.seconds = seconds
        await asyncio.sleep(max(0.0, call.began + seconds - time.monotonic()))
        call.ended = time.monotonic()

    def _first(self, gave: Mapping[int, frozenset[Any]], what: Any, call: Call) -> list[int]:
        """The first call that gave this, if it had ended by then."""
        for number, things in gave.items():
            if what in things and 0 < self.calls[number].ended <= call.began:
                return [number]
        return []


class Peers:
    """The ASGI app: a ``Tag`` for the first part of each path."""

    def __init__(self, pages: Pages, brain: Brain, latency: Latency, trusting: bool) -> None:
        self._made = (pages, brain, latency, trusting)
        self._tags: dict[str, Tag] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        _, name, where, *_ = f"{scope['path']}//".split("/")
        tag = self._tags.setdefault(name, Tag(*self._made))
        host = dict(scope["headers"])[b"host"].decode()
        if where == "claude":
            await tag.claude(scope, receive, send)
        elif where == "w":
            await tag.wiki(scope, f"http://{host}/{name}", send)
        elif where == "_log":
            await send_json(send, 200, tag.log())
            tag.clear()
        else:
            await send_all(send, 404, {}, b"")


def _words(text: str) -> tuple[str, ...]:
    return tuple(sorted(set(keywords(text))))


def _attribute(text: str) -> str:
    return text.replace('"', "'")


def _page(title: str, origin: str) -> dict[str, Any]:
    address = f"{origin}/wiki/{quote(title.replace(' ', '_'), safe='/:;@$!*(),~-_.')}"
    return {"pageid": 1, "ns": 0, "title": title, "fullurl": address, "canonicalurl": address}


def _site(origin: str) -> dict[str, Any]:
    general = {
        "sitename": "Multihop",
        "generator": "MediaWiki 1.43.0",
        "lang": "en",
        "server": origin.rpartition("/")[0],
        "scriptpath": f"/{origin.rpartition('/')[2]}/w",
        "articlepath": f"/{origin.rpartition('/')[2]}/wiki/$1",
    }
    names = ("CirrusSearch", "TextExtracts")
    extensions = [{"type": "other", "name": name} for name in names]
    return {"batchcomplete": True, "query": {"general": general, "extensions": extensions}}


# ---------------------------------------------------------------- as a process


@contextmanager
def peers(latency: Latency, *, pages: int = 0, trusting: bool = True) -> Iterator[str]:
    """Peers in a process of their own; yields their base URL. ``pages`` beside the gold ones (0:
    all); without ``trusting`` every request to Claude is checked."""
    options = [f"--{name.replace('_', '-')}={value}" for name, value in asdict(latency).items()]
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "tests.bench.depth_peers", *options, f"--pages={pages}"),
            *(["--trusting"] if trusting else []),
        ],
        stdin=subprocess.PIPE,  # closed when this process ends, however it ends
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def read_log(base: str, tag: str) -> list[Call]:
    """Fetch the calls under a tag since it was last read."""
    with urllib.request.urlopen(f"{base}/{tag}/_log", timeout=30) as response:
        return [Call(**call) for call in json.load(response)]


def main(arguments: Sequence[str]) -> None:
    import uvicorn

    parser = argparse.ArgumentParser(prog="python -m tests.bench.depth_peers")
    for name, value in asdict(Latency()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=value)
    parser.add_argument("--pages", type=int, default=0)
    parser.add_argument("--trusting", action="store_true")
    given = parser.parse_args(arguments)
    latency = Latency(given.first_token, given.rate, given.search, given.fetch)
    texts = load_texts()
    tasks = load_tasks(texts)
    if given.pages:
        gold = {title for task in tasks for title in task.titles}
        kept = [*gold, *[title for title in texts if title not in gold][: given.pages]]
        texts = {title: texts[title] for title in kept}
    app = Peers(Pages(texts), Brain(tasks), latency, given.trusting)
    # With the protocol named, asyncio switches Nagle's algorithm off for what it accepts.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    sys.stdout.write(f"http://127.0.0.1:{listener.getsockname()[1]}{os.linesep}")
    sys.stdout.flush()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    config = uvicorn.Config(app, log_level="error", lifespan="off", access_log=False)
    uvicorn.Server(config).run(sockets=[listener])


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
