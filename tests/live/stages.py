"""The stage of the browser tests: a running ``footnote serve`` with documents and a fake Claude."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Locator, TimeoutError

from tests.fakes.claude import Brain, Fail, FakeClaude, Reply, researcher
from tests.fakes.server import serve
from tests.scenario.gate import POLL_SECONDS, Gate, until
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, Serving, ending, start_forked

DECLINED = "Write something that no model should write."
# Nine sub-questions, three of them with one that needs it: what Claude is asked before those run
# is one call, and then one for each that may begin.
DEEP = (
    "How often is the master key rotated, and then who is told of a loss, and what does lunch "
    "cost, and then when is the canteen open, and who approves trips, and then who founded the "
    "company, and how are backups made, and what is a seal, and who is on call, and who drives, "
    "and who cooks, and who paints?"
)
CALLS_BEFORE_PARTS = 1
MOST_CALLS = 8
CALL_MILLISECONDS = 3_000  # within which a call shows its effect


class Valve:
    """An ASGI app before a ``Gate``: while it is shut, an answer is written up to its first
    footnote and no further."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self.shut = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        footnotes = 0

        async def sent(message: Any) -> None:
            nonlocal footnotes
            footnotes += b"citations_delta" in message.get("body", b"")
            while self.shut and footnotes:
                await asyncio.sleep(POLL_SECONDS)
            await send(message)

        await self._gate(scope, receive, sent)


@dataclass
class Stage:
    """A console. ``gate`` makes its model wait before it answers, ``valve`` while it writes."""

    serving: Serving
    gate: Gate
    valve: Valve

    @property
    def http(self) -> str:
        return self.serving.http

    def let_on(self, until: Locator) -> None:
        """Let one model call after the other pass until this is to be seen."""
        for _ in range(MOST_CALLS):
            self.gate.hold(after=1)
            with suppress(TimeoutError):
                return until.first.wait_for(timeout=CALL_MILLISECONDS)
        raise AssertionError(f"{until} was not seen after {MOST_CALLS} calls")


def brain(request: Mapping[str, Any]) -> Reply | Fail:
    """A researcher who declines one question."""
    if DECLINED in str(request["messages"]):
        return Reply((), stop_reason="refusal")
    return researcher(request)


def beside(work: Coroutine[Any, Any, None]) -> None:
    """Do it in a thread of its own: in this one runs Chromium's loop."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, work).result()


def until_answered(api: httpx.Client, run: str) -> None:
    """Wait for the answer to a question that was asked over HTTP."""
    until(lambda: api.get(f"/api/runs/{run}").json()["state"] == "answered")


@contextmanager
def open_stage(
    fork_server: ForkServer,
    folder: Path,
    documents: Mapping[str, str],
    brain: Brain = brain,
    **settings: str,
) -> Iterator[Stage]:
    """A console whose documents are these; ``folder`` is for it alone, its data in ``data``."""
    for name, text in documents.items():
        path = folder / "documents" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    gate = Gate(FakeClaude(brain))
    valve = Valve(gate)
    with serve(valve) as url:
        program = Program(
            folder,
            {
                "FOOTNOTE_DOCS": str(folder / "documents"),
                "ANTHROPIC_API_KEY": "sk-test",
                "ANTHROPIC_BASE_URL": url,
                **settings,
            },
            fork_server,
        )
        with ending(start_forked(fork_server, program)) as serving:
            # It shows pages before there is somebody who takes questions.
            with httpx.Client(base_url=serving.http) as client:
                until(lambda: client.get("/readyz").is_success)
            yield Stage(serving, gate, valve)
