"""A console over a store, asked without a socket, and a past in which hostile things were said."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from lxml import html as lxml_html  # type: ignore[import-untyped]
from pydantic import TypeAdapter

from adapters.web.app import console_app
from adapters.web.console import Console
from adapters.web.live import Live
from bot.core.measurements import Observed
from bot.core.messages import (
    Answer,
    Author,
    Citation,
    Disagreement,
    Doubt,
    RunOptions,
    StepView,
    Usage,
    Verification,
    VerifiedSentence,
)
from bot.core.settings import Settings
from bot.pages.page import Page
from bot.reasoning.calls import ModelReply, Text, ToolCall
from bot.research.outcomes import ReadOutcome, SearchOutcome
from bot.research.revision import Change, Revision
from bot.search.provider import Hit
from bot.storage.journal import RecordedStep, open_journal, step_key
from bot.storage.store import Store, open_store
from tests.fakes import sqlite
from tests.unit.samples import a_message

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)> javascript:alert(1)"


@dataclass
class Stage:
    """``console`` over ``store``; its application is the same for as long as the stage is."""

    store: Store
    console: Console

    def __post_init__(self) -> None:
        self._app = console_app(self.console)

    async def get(self, path: str, **headers: str) -> httpx.Response:
        transport = httpx.ASGITransport(self._app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.get(path, headers=headers)


@asynccontextmanager
async def opened(folder: Path, **settings: Any) -> AsyncIterator[Stage]:
    store = await open_store(sqlite.migrated(folder))
    live = Live(store.database)
    try:
        given = Settings(_env_file=None, data_dir=folder, **settings)  # type: ignore[call-arg]
        console = Console(given, store.database, live, b"key", Observed())
        yield Stage(store, console)
    finally:
        await live.aclose()
        await store.close()


def document(response: httpx.Response) -> Any:
    """The page as ``lxml`` reads it."""
    return lxml_html.document_fromstring(response.text)


async def hostile_run(store: Store, said: str = HOSTILE, run: str = "hostile") -> str:
    """A deep report in which everything that others can word is ``said``."""
    now = datetime.now(UTC)  # the overview looks at the last days
    message = replace(a_message(said), author=Author("ada", said))
    await store.accept(run, message, RunOptions(), now)
    record = await store.claim(run, "host/1/x", now, timedelta(seconds=30))
    assert record is not None
    journal = await open_journal(store.database, record.id, record.attempt)
    page = Page(f"https://example.org/{said}", said, f"Before. {said} After.", now)
    url = "javascript:alert(document.domain)"
    hits = (Hit(said, page.url, said, said), Hit(said, url, said, "wikipedia"))
    keep = _Keeper(journal, now)
    await keep.step("search", SearchOutcome(hits, (said,), said), said)
    read = ReadOutcome(page.url, page.hash, said)
    await keep.step("read", read, said, key=step_key("read", {"url": page.url}), page=page)
    await keep.step(
        "read", ReadOutcome(url, problem=said), said, key=step_key("read", {"url": url})
    )
    thought = {"type": "thinking", "thinking": said}
    content = (Text(said), thought, ToolCall("c1", said, {said: said}))
    await keep.step("think", ModelReply(said, content, said, input_tokens=9), said)
    changes = (Change("kept", said), Change("removed", said), Change("added", said))
    revision = Revision(1, said, said, "revised", (said,), (1,), said, changes, said)
    await keep.step("revision", revision, said)
    (number,) = await journal.number([page])
    start = len("Before. ")
    cited = Citation(number, page.url, said, said, page.hash, start, start + len(said), said)
    lines = (
        StepView("node-a", "node", said, "done", 1.0, said),
        StepView("node-b", "node", said, "failed", 1.0, said, needs=("node-a",)),
    )
    text = f"# {said}\n\n{said} [1]. [click](javascript:alert(1)) ![x](https://e.org/x.png)"
    answer = Answer(
        "answered",
        text,
        said,
        run,
        (cited,),
        (said,),
        said,
        lines,
        Usage(1, 1, 1, 9, usd=0.1),
        (Doubt(said, said),),
        (Disagreement(said, 1, said),),
        (said,),
        missing=(said,),
        verification=Verification("done", _verified(said), said),
    )
    await store.save_answer(record.id, record.attempt, answer)
    await store.end(record.id, record.attempt, "answered", now + timedelta(seconds=5))
    return record.id


def _verified(said: str) -> tuple[VerifiedSentence, ...]:
    return (
        VerifiedSentence(said, "supported"),
        VerifiedSentence(said, "partly", said, "marked"),
        VerifiedSentence(said, "not_supported", said, "restated", said),
        VerifiedSentence(said, "contradicted", "", "left_out"),
    )


@dataclass
class _Keeper:
    journal: Any
    began: datetime
    ended: int = 0

    async def step(
        self, kind: str, result: object, title: str, *, key: str = "", page: Page | None = None
    ) -> None:
        self.ended += 1
        kept = TypeAdapter(type(result)).dump_json(result).decode()
        name = key or step_key(kind, {"result": json.loads(kept)})
        at = self.began + timedelta(seconds=self.ended)
        await self.journal.record(RecordedStep(name, kind, title, kept, 0.5, at), page)
