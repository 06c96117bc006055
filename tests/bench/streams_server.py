"""The console in a process of its own, made to show runs that tell when they told.

Reads a command a line, as a JSON list of its name and its arguments, and prints what came of it.
Only the research is left out: what a reply shows goes the console's own way from the poster on.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import sqlalchemy as sa
import structlog

from adapters.web.platform import WebPlatform, open_web
from bot.answers import Answer, PlanView, StepView
from bot.configuration import load_settings
from bot.conversing.reception import Reception
from bot.health import http_endpoint
from bot.http_connection import Limits
from bot.messages import RunOptions, Thread
from bot.posting import PostState, Reply, RunRef
from bot.storage.store import Store, open_store
from bot.storage.workspaces import Workspaces
from tests.unit.samples import a_message

STEPS = 8  # of the plan that is shown
LEASE = timedelta(hours=1)


class Stage:
    """``replies`` are the open ones, by run; ``statements`` were sent to the database."""

    def __init__(self, store: Store, platform: WebPlatform) -> None:
        self._store = store
        self._platform = platform
        self.replies: dict[str, Reply] = {}
        self.statements = 0
        # The reader of PostgreSQL is the writer by another name.
        engines = {
            one.sync_engine.pool: one for one in (store.database._writer, store.database._reader)
        }
        for engine in engines.values():
            sa.event.listen(engine.sync_engine, "before_cursor_execute", self._count)

    def _count(self, *_: object) -> None:
        self.statements += 1

    async def begin(self, thread: str, run: str) -> None:
        """A question that is being worked on here."""
        asked = a_message("How tall is the tower?", Thread("web", "console", "local", thread))
        now = datetime.now(UTC)
        await self._store.accept(run, asked, RunOptions(), now)
        record = await self._store.claim(run, "bench/1/x", now, LEASE)
        assert record is not None

        async def save(state: PostState) -> None:
            await self._store.save_post_state(run, record.attempt, state)

        async def move(thread: Thread) -> None:
            raise NotImplementedError

        ref = RunRef(run, record.message, record.options, save, move, record.attempt)
        self.replies[run] = await self._platform.poster.open(ref, None)

    async def threads(self, count: int, runs: int) -> None:
        """So many threads with so many questions each, which are over."""
        for number in range(count):
            place = Thread("web", "console", "local", f"over{number}")
            for each in range(runs):
                run, now = f"over{number}x{each}", datetime.now(UTC)
                await self._store.accept(run, a_message("Why?", place), RunOptions(), now)
                record = await self._store.claim(run, "bench/1/x", now, LEASE)
                assert record is not None
                answer = Answer("answered", "So.", "Why?", run)
                await self._store.save_answer(run, record.attempt, answer)
                await self._store.end(run, record.attempt, "answered", now)

    async def play(self, run: str, changes: int, pause: float) -> None:
        """Change the plan so often, each time with the moment in it."""
        for number in range(changes):
            self.replies[run].progress(_plan(number))
            await asyncio.sleep(pause)

    async def write(self, run: str, changes: int, pause: float, words: int) -> None:
        """Begin to let the answer be so many words, ever new ones."""

        async def writing() -> None:
            for number in range(changes):
                self.replies[run].stream(f"{number} word " * (words // 2))
                await asyncio.sleep(pause)

        self._writing = asyncio.create_task(writing())

    async def written(self) -> None:
        await self._writing

    async def finish(self, run: str) -> None:
        text = f"It is 330 m tall. t{time.monotonic_ns()}."
        await self.replies.pop(run).finish(Answer("answered", text, "How tall?", run))

    async def used(self) -> dict[str, float]:
        statm = Path("/proc/self/statm").read_text().split()
        return {
            "memory": int(statm[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6,
            "cpu": time.process_time(),
            "statements": self.statements,
            "streams": self._platform._console.live.onlookers,
        }


def _plan(number: int) -> PlanView:
    done = number % STEPS
    steps = (
        StepView(
            id=f"step{n}",
            kind="search",
            title=f"tower height {n} t{time.monotonic_ns()}" if n == done else f"query {n}",
            state="done" if n < done else "running",
            seconds=0.4,
        )
        for n in range(STEPS)
    )
    return PlanView("How tall is the tower?", tuple(steps))


async def main(folder: str, url: str, patience: str) -> None:
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    settings = load_settings(data_dir=folder, database_url=url)
    async with AsyncExitStack() as stack:
        store = await open_store(settings.database)
        stack.push_async_callback(store.close)
        platform = await stack.enter_async_context(open_web(settings, Workspaces(store.database)))
        stage = Stage(store, platform)
        routes = platform.routes
        address = await stack.enter_async_context(
            http_endpoint("127.0.0.1", 0, routes, limits=Limits(patience=float(patience)))
        )
        nobody = cast(Reception, None)  # asks anything here
        running = asyncio.create_task(platform.run(nobody, lambda: None))
        _print(int(address.rpartition(":")[2]))
        commands = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(commands)
        await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
        while line := await commands.readline():
            name, *arguments = json.loads(line)
            if name == "end":
                break
            _print(await getattr(stage, name)(*arguments))
        for reply in stage.replies.values():
            await reply.abandon()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def _print(what: Any) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
