"""The processes of the load bench: peers, a listener, workers; what each uses of the machine."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from bot.core.messages import Thread
from bot.storage.encryption import new_key
from tests.bench.frame import REPOSITORY, Running, processor_seconds, running, stat
from tests.bench.load_peers import BOT_USER
from tests.bench.load_store import CLIENT, Base, a_base
from tests.fakes.slack_delivery import JSON_TYPE, signed_headers

SECRET = "signing-secret-of-the-bench"
READY = {"serve": "slack is connected.", "worker": "Working on questions"}
SENT_AT_ONCE = 16
KEEP_ALIVE_SECONDS = 2.0
SAMPLE_SECONDS = 0.5
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Stage:
    """Everything that runs for the length of the bench."""

    base: Base
    threads: Sequence[Thread]
    peers: subprocess.Popen[str]
    listener: Running
    settings: dict[str, str]
    folder: Path
    _ts: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def asked(self) -> Counter[str]:
        """The number of calls of each peer so far."""
        port = self.settings["FOOTNOTE_BRAVE_URL"].rpartition(":")[2]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_log") as told:
            return Counter(json.load(told))

    @contextmanager
    def workers(self, count: int, concurrency: int) -> Iterator[list[Running]]:
        """Real ones; ended by SIGTERM."""
        command = ("worker", "--concurrency", str(concurrency))
        with ExitStack() as stack:
            started = [
                stack.enter_context(running(command, self.settings, self.folder))
                for _ in range(count)
            ]
            for worker in started:
                worker.until_told(READY["worker"])
            yield started

    # ------------------------------------------------------------ asking

    def ask(self, questions: Sequence[tuple[Thread, str]], rate: float = 0.0) -> list[float]:
        """Send mentions as Slack does; seconds to each acknowledgement. ``rate`` a second (0: as
        fast as they are acknowledged)."""
        return asyncio.run(self._ask(questions, rate))

    async def _ask(self, questions: Sequence[tuple[Thread, str]], rate: float) -> list[float]:
        slots = asyncio.Semaphore(SENT_AT_ONCE)
        began = time.perf_counter()
        # The listener may just be closing a connection that was idle for longer.
        connector = aiohttp.TCPConnector(keepalive_timeout=KEEP_ALIVE_SECONDS)
        async with aiohttp.ClientSession(connector=connector) as session:

            async def send(number: int, thread: Thread, words: str) -> float:
                if rate:
                    await asyncio.sleep(began + number / rate - time.perf_counter())
                async with slots:
                    return await self._say(session, thread, words)

            sending = [send(n, *question) for n, question in enumerate(questions)]
            return await asyncio.gather(*sending)

    def event(self, thread: Thread, words: str) -> str:
        """A mention as Slack tells of it."""
        number = next(self._ts)
        ts = f"{time.time():.0f}.{number % 1_000_000:06}"
        event = {
            "type": "message",
            "user": f"U{number % 500}",
            "text": f"<@{BOT_USER}> {words}",
            "ts": ts,
            "thread_ts": thread.thread,
            "channel": thread.channel,
            "channel_type": "channel",
            "event_ts": ts,
        }
        authorization = {"team_id": thread.workspace, "user_id": BOT_USER, "is_bot": True}
        payload = {
            "type": "event_callback",
            "team_id": thread.workspace,
            "api_app_id": "A1",
            "event_id": f"Ev{number}",
            "event_time": int(time.time()),
            "authorizations": [authorization],
            "event": event,
        }
        return json.dumps(payload)

    async def _say(self, session: aiohttp.ClientSession, thread: Thread, words: str) -> float:
        body = self.event(thread, words)
        url = f"{self.listener.address}/slack/events"
        headers = signed_headers(SECRET, body, JSON_TYPE)
        began = time.perf_counter()
        async with session.post(url, data=body.encode(), headers=headers) as answer:
            if answer.status != 200:
                raise RuntimeError(f"{answer.status}: {await answer.text()}")
        return time.perf_counter() - began


@contextmanager
def a_stage(threads: int) -> Iterator[Stage]:
    """A filled database, the peers and a listener that leaves the work to workers."""
    key = new_key()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        base = stack.enter_context(a_base())
        kept = base.fill(threads, key)
        peers, port = stack.enter_context(_peers())
        settings = {
            "FOOTNOTE_DATABASE_URL": base.url,
            "FOOTNOTE_LOG_LEVEL": "warning",
            "FOOTNOTE_PROVIDERS": "brave",
            "BRAVE_SEARCH_API_KEY": "key",
            "FOOTNOTE_BRAVE_URL": f"http://127.0.0.1:{port}",
            "FOOTNOTE_BRAVE_RATE": "1000",
            "FOOTNOTE_FETCH_ALLOW": "127.0.0.0/8",
            "FOOTNOTE_HTTP_PORT": "0",
            "FOOTNOTE_SLACK_API_URL": f"http://127.0.0.1:{port}/api/",
            "FOOTNOTE_ENCRYPTION_KEYS": key,
            "SLACK_CLIENT_ID": CLIENT,
            "SLACK_CLIENT_SECRET": "secret",
            "SLACK_SIGNING_SECRET": SECRET,
            "ANTHROPIC_API_KEY": "sk-test",
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
        }
        listener = stack.enter_context(running(["serve", "--no-work"], settings, folder))
        listener.until_told(READY["serve"])
        yield Stage(base, kept, peers, listener, settings, folder)


@contextmanager
def _peers() -> Iterator[tuple[subprocess.Popen[str], int]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.load_peers"],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process, int(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


# ---------------------------------------------------------------- the machine


@dataclass(frozen=True, slots=True)
class Used:
    """Processor seconds so far, by who used them. ``extraction`` are the workers' helpers that read
    pages."""

    worker: float
    extraction: float
    listener: float
    postgres: float
    peers: float

    def __sub__(self, earlier: Used) -> Used:
        return Used(*(getattr(self, n) - getattr(earlier, n) for n in self.__slots__))


def used(stage: Stage, workers: Sequence[Running]) -> Used:
    families = [_family(worker.pid) for worker in workers]
    return Used(
        sum(processor_seconds(worker.pid) for worker in workers),
        sum(processor_seconds(pid) for family in families for pid in family[1:]),
        processor_seconds(stage.listener.pid),
        sum(map(processor_seconds, _family(stage.base.pid)))
        + processor_seconds(stage.base.pid, ended=True),
        processor_seconds(stage.peers.pid),
    )


class Watch:
    """Looks at the workers' memory now and then, until ``close``; keeps the peaks in MB."""

    def __init__(self, base: Base, workers: Sequence[Running]) -> None:
        self.idle = [_resident(worker.pid) for worker in workers]
        self.peak = list(self.idle)
        self.peak_with_children = [sum(map(_resident, _family(worker.pid))) for worker in workers]
        self.connections = self.working = 0
        self._base = base
        self._workers = workers
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ending.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ending.wait(SAMPLE_SECONDS):
            for n, worker in enumerate(self._workers):
                self.peak[n] = max(self.peak[n], _resident(worker.pid))
                together = sum(map(_resident, _family(worker.pid)))
                self.peak_with_children[n] = max(self.peak_with_children[n], together)
            self.connections = max(self.connections, self._base.connections())
            self.working = max(self.working, self._base.working())


def _family(pid: int) -> list[int]:
    """A process and its children, theirs included."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and (fields := stat(int(entry.name))):
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found


def _resident(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * PAGE_BYTES / 2**20
