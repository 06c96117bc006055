"""A thousand Slack workspaces in one process, ten by Socket Mode, a hundred questions a second.

    workspaces   a question in each of a thousand workspaces, three times over, to one `footnote
                 serve --no-work` by signed HTTP: acknowledgements, memory of a workspace, how often
                 its token was looked up
    socket       questions in ten workspaces by one connection of Socket Mode
    accepting    100 questions a second for a minute to two listeners, while two workers, whose
                 reasoner does nothing, take each run through the queue to its end

PostgreSQL keeps what it commits. The listeners are whole; the workers are the dispatcher alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime

from aiohttp import WSMsgType, web

from bot.answers import Answer
from bot.dispatch.postgres import PostgresDispatcher
from bot.logs import configure_logging
from bot.storage.records import RunRecord
from bot.storage.store import Store, open_store
from tests.bench.load import Asking, delays_of, until_idle
from tests.bench.load_peers import BOT, BOT_USER, TEAM
from tests.bench.load_stage import Stage, a_stage, seconds
from tests.bench.load_store import THREADS_IN_WORKSPACE
from tests.bench.load_words import question_about
from tests.bench.programs import REPOSITORY
from tests.bench.table import ms, percentile, print_table, tell

WORKSPACES, ROUNDS = 1_000, 3
SOCKET_WORKSPACES, SOCKET_RATE = 10, 20.0
RATE, SECONDS = 100.0, 60.0
LISTENERS, WORKERS, CONCURRENCY = 2, 2, 32
PHASES = "workspaces,socket,accepting"


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench workspaces", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--workspaces", type=int, default=WORKSPACES)
    parser.add_argument("--rate", type=float, default=RATE, help="questions a second")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each load")
    parser.add_argument("--phases", default=PHASES)
    given = parser.parse_args(arguments)
    phases = given.phases.split(",")
    with a_stage(given.workspaces * THREADS_IN_WORKSPACE) as stage:
        tell(f"{given.workspaces} workspaces are in the store")
        if "workspaces" in phases:
            many_workspaces(stage, given.workspaces)
        if "socket" in phases:
            asyncio.run(by_socket(stage, min(given.seconds, 10.0)))
        if "accepting" in phases:
            accepting(stage, given.rate, given.seconds)
        for line in (line for each in stage.listeners for line in each.complaints[:5]):
            print(line, file=sys.stderr)


# ---------------------------------------------------------------- by HTTP


def many_workspaces(stage: Stage, count: int) -> None:
    of_each = stage.threads[::THREADS_IN_WORKSPACE]
    stage.ask([(of_each[0], question_about(0))] * 20)  # what is loaded with the first ones
    rows, before = [], stage.listener.resident()
    for number in range(1, ROUNDS + 1):
        with stage.base.listening() as asked:
            took = stage.ask([(each, question_about(n)) for n, each in enumerate(of_each)])
        memory = stage.listener.resident()
        grown = f"{(memory - before) * 1024 / count:.0f} kB"
        tokens = asked["SELECT slack_bots"]
        rows.append((f"round {number}", *_two(took), f"{memory:.0f} MB", grown, str(tokens)))
        before = memory
    header = (f"{count} workspaces", "p50", "p99", "memory", "more, a workspace", "token look-ups")
    print_table(header, rows)
    print(flush=True)


# ---------------------------------------------------------------- by Socket Mode


class SocketSlack:
    """Slack's end of Socket Mode: sends events and receives the acknowledgements.

    https://docs.slack.dev/apis/events-api/using-socket-mode
    """

    def __init__(self) -> None:
        self.address = ""
        self._socket: asyncio.Future[web.WebSocketResponse] = asyncio.Future()
        self._waiting: dict[str, asyncio.Future[float]] = {}

    async def call(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        if method == "apps.connections.open":
            return web.json_response({"ok": True, "url": f"ws://{self.address}/socket"})
        told = {"ok": True, "team_id": TEAM, "user_id": BOT_USER, "bot_id": BOT}
        return web.json_response(told)

    async def connect(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        hello = {"type": "hello", "num_connections": 1, "connection_info": {"app_id": "A1"}}
        await socket.send_json(hello)
        self._socket.set_result(socket)
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                id = json.loads(message.data)["envelope_id"]
                self._waiting.pop(id).set_result(time.perf_counter())
        return socket

    async def say(self, number: int, payload: str) -> float:
        """Send an event; return the seconds until it was acknowledged."""
        id = f"envelope-{number}"
        self._waiting[id] = acknowledged = asyncio.get_running_loop().create_future()
        envelope = {
            "envelope_id": id,
            "type": "events_api",
            "accepts_response_payload": False,
            "payload": json.loads(payload),
        }
        began = time.perf_counter()
        await (await self._socket).send_json(envelope)
        ended: float = await acknowledged
        return ended - began


async def by_socket(stage: Stage, length: float) -> None:
    slack, app = SocketSlack(), web.Application()
    app.router.add_post("/api/{method}", slack.call)
    app.router.add_get("/socket", slack.connect)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    slack.address = f"{host}:{port}"
    own = {
        "FOOTNOTE_SLACK_API_URL": f"http://{slack.address}/api/",
        "SLACK_APP_TOKEN": "xapp-1-A1-bench",
    }
    threads = stage.threads[::THREADS_IN_WORKSPACE][:SOCKET_WORKSPACES]
    with ExitStack() as stack:
        listener = await asyncio.to_thread(stack.enter_context, stage.another_listener(**own))
        before = listener.resident()

        async def say(number: int) -> float:
            await asyncio.sleep(number / SOCKET_RATE)
            event = stage.event(threads[number % len(threads)], question_about(number))
            return await slack.say(*event)

        took = await asyncio.gather(*(say(n) for n in range(max(20, int(length * SOCKET_RATE)))))
        grown = f"{listener.resident() - before:.0f} MB"
        await asyncio.to_thread(stack.close)
    await runner.cleanup()
    header = (f"Socket Mode, {len(threads)} workspaces", "events", "p50", "p99", "memory, more")
    print_table(header, [("one connection", str(len(took)), *_two(took), grown)])
    print(flush=True)


# ---------------------------------------------------------------- a hundred a second


class NoReasoner:
    """Ends each run with a fixed answer, which is posted nowhere."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def answer(self, run: RunRecord, stop: asyncio.Event) -> None:
        answer = Answer("answered", "Yes.", run.message.text, run.id)
        await self._store.save_answer(run.id, run.attempt, answer)
        await self._store.end(run.id, run.attempt, "answered", datetime.now(UTC))


async def work(url: str) -> None:
    """A worker that runs until its input is closed."""
    configure_logging("warning")
    store = await open_store(url)
    async with PostgresDispatcher(url, store, NoReasoner(store), CONCURRENCY, platforms=["slack"]):
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)
    await store.close()


@contextmanager
def workers(url: str) -> Iterator[Sequence[subprocess.Popen[str]]]:
    command = [sys.executable, "-m", "tests.bench.workspaces", url]
    crew = [
        subprocess.Popen(
            command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(WORKERS)
    ]
    try:
        for each in crew:
            assert each.stdout
            assert each.stdout.readline() == "ready\n"
        yield crew
    finally:
        for each in crew:
            each.communicate("")


def accepting(stage: Stage, rate: float, length: float) -> None:
    asked = Asking(stage.threads).questions(int(rate * length))
    with ExitStack() as stack:
        for _ in range(LISTENERS - 1):
            stack.enter_context(stage.another_listener())
        crew = stack.enter_context(workers(stage.base.url))
        stage.ask(asked[:50])  # warm
        until_idle(stage, every=0.1)
        stage.base.clear()
        ours = {
            "listeners": [each.pid for each in stage.listeners],
            "workers": [each.pid for each in crew],
        }
        before = {name: sum(map(seconds, pids)) for name, pids in ours.items()}
        began = time.perf_counter()
        took = stage.ask(asked, rate)
        lasted = time.perf_counter() - began
        until_idle(stage, every=0.1)
        drained = time.perf_counter() - began - lasted
        used = {name: sum(map(seconds, pids)) - before[name] for name, pids in ours.items()}
        runs = stage.base.runs()
    delays, _ = delays_of(runs)
    accepted = [run.accepted for run in runs]
    rows = [
        ("questions accepted", f"{len(runs)} of {len(asked)}"),
        ("... a second", f"{(len(runs) - 1) / (max(accepted) - min(accepted)):.0f}"),
        ("event to acknowledgement, p50 / p99", " / ".join(_two(took))),
        ("accepted to claimed, p50 / p99", " / ".join(_two(delays))),
        ("ended, exactly once", f"{sum(run.state == 'answered' for run in runs)}"),
        ("... after the last question", f"{drained:.1f} s"),
        *(
            (f"processor of {len(pids)} {name}, a question", ms(used[name] / len(runs)))
            for name, pids in ours.items()
        ),
    ]
    print_table((f"{rate:g} a second for {length:g} s", "measured"), rows)
    print(flush=True)


def _two(values: Sequence[float]) -> tuple[str, str]:
    return ms(statistics.median(values)), ms(percentile(values, 0.99))


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1]))
