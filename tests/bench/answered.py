"""Time until an earlier answer is offered, and until it is given, among 100,000 answers.

The answers are those of one workspace, a tenth of them of the channel that is asked in. Their
questions share most of their words, and each has one that is nearly the same. A time begins when a
question is accepted; the first sign is the plan with the earlier answer. Sources are on a shelf in
memory: looking at them again costs what Footnote does for it, not what a network takes.

Run: python -m tests.bench answered [--postgres]
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import tempfile
import time
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from bot.answers import Answer, Citation, PlanView
from bot.app import open_app
from bot.configuration import load_settings
from bot.logs import configure_logging
from bot.messages import Author, Message, RunOptions, Thread
from bot.pages.page import Page
from bot.posting import PostState, RunRef
from bot.reasoning.repeated import terms_of
from bot.storage.answered import kin_of
from bot.storage.records import as_answer
from bot.storage.store import Store, open_store
from bot.storage.tables import answered, messages, pages, runs, threads
from tests.bench.table import ms, percentile, print_table, tell
from tests.fakes import sqlite
from tests.fakes.library import Shelf
from tests.fakes.poster import Remembered, RememberingPoster
from tests.fakes.postgres import a_postgres

ANSWERS, QUESTIONS = 100_000, 100
CHANNELS = 10
AT_ONCE = 2_000  # rows of one statement
TOWERS = ("tower", "bridge", "harbour", "library", "museum", "station", "market", "castle")
NOW = datetime.now(UTC)


def question_of(number: int) -> str:
    """A question; the one before it differs in its year alone."""
    city, year = number // 16, 2010 + number // 8 % 2
    return f"How many people visited the {TOWERS[number % 8]} of city {city} in {year}?"


def page_of(number: int) -> Page:
    text = f"In the year it was visited by {number} people. " * 20
    return Page(f"https://example.org/{number}", f"Visitors {number}", text.strip(), NOW)


def rows_of(number: int) -> list[dict[str, Any]]:
    """An answered question as rows of threads, messages, runs, pages and answered questions."""
    thread = Thread("slack", "T1", f"C{number % CHANNELS}", f"t{number}")
    run = hashlib.sha256(str(number).encode()).hexdigest()[:12]
    page = page_of(number)
    quote = page.text.partition(". ")[0] + "."
    cited = Citation(1, page.url, page.title, quote, page.hash, 0, len(quote))
    answer = Answer("answered", f"{quote[:-1]} [1].", question_of(number), run, (cited,), ("it",))
    terms = terms_of(answer.question)
    return [
        {"key": thread.key, **asdict(thread), "created_at": NOW},
        {
            "id": number + 1,
            "thread_key": thread.key,
            "event_key": f"slack:e{number}",
            "author_id": "U1",
            "author_name": "Ann",
            "text": answer.question,
            "links": [],
            "attachments": [],
            "locale": "en",
            "at": NOW,
        },
        {
            "id": run,
            "thread_key": thread.key,
            "message_id": number + 1,
            "state": "answered",
            "options": {},
            "accepted_at": NOW,
            "ended_at": NOW,
            "answer": as_answer.dump_python(answer, mode="json"),
        },
        {
            "url": page.url,
            "hash": page.hash,
            "title": page.title,
            "text": page.text,
            "fetched_at": NOW,
        },
        {"run_id": run, "terms": " ".join((*terms, kin_of(terms, thread)))},
    ]


async def fill(store: Store, answers: int) -> None:
    tables = (threads, messages, runs, pages, answered)
    for first in range(0, answers, AT_ONCE):
        each = [rows_of(number) for number in range(first, min(first + AT_ONCE, answers))]
        async with store.database.long_write() as db:
            for table, rows in zip(tables, zip(*each, strict=True), strict=True):
                await db.execute(sa.insert(table), list(rows))
    if store.database.dialect == "postgresql":
        async with store.database.long_write() as db:
            await db.execute(
                sa.text("SELECT setval(pg_get_serial_sequence('messages', 'id'), :last)"),
                {"last": answers + 1},
            )
            await db.execute(sa.text("ANALYZE"))


@dataclass
class TimedReply(Remembered):
    poster: TimedPoster = field(kw_only=True)

    def progress(self, plan: PlanView) -> None:
        if any(step.kind == "before" for step in plan.steps):
            self.poster.signs.setdefault(self.run.id, time.perf_counter())

    async def finish(self, answer: Answer) -> None:
        self.poster.ends[self.run.id] = time.perf_counter()
        await super().finish(answer)


@dataclass
class TimedPoster(RememberingPoster):
    """Keeps when each run's earlier answer was first shown, and when its answer was."""

    signs: dict[str, float] = field(default_factory=dict)
    ends: dict[str, float] = field(default_factory=dict)

    async def open(self, run: RunRef, saved: PostState | None) -> TimedReply:
        self.replies.append(reply := TimedReply(run, saved, poster=self))
        return reply


async def asked(url: str, mode: str, answers: int, questions: int, folder: Path) -> list[str]:
    """A row of the table: the time until earlier answers were offered, and until the end."""
    settings = load_settings(data_dir=folder, answered_before=mode, reasoner="closest")
    wanted = [answers * number // questions // CHANNELS * CHANNELS for number in range(questions)]
    shelf = Shelf({page.url: page for page in map(page_of, wanted)})
    poster = TimedPoster()
    signs, ends = [], []
    store = await open_store(url)
    async with open_app(settings, {"slack": poster}, search=shelf, store=store) as app:
        for turn, number in enumerate((wanted[-1], *wanted)):  # the first one loads what all need
            thread = Thread("slack", "T1", "C0", f"{mode}{turn}")
            text = question_of(number).lower()
            message = Message(f"{mode}{turn}", thread, Author("U2", "Bob"), text, NOW)
            began = time.perf_counter()
            run, _ = await app.service.accept(message, RunOptions(), owner=app.dispatcher.owner)
            await app.dispatcher.submit(run, thread)
            await app.dispatcher.wait(run)
            if run not in poster.signs:
                raise SystemExit(f"“{text}” was answered before, and that was not found.")
            if turn:
                signs.append(poster.signs[run] - began)
                ends.append(poster.ends[run] - began)
    told = [answer.before for reply in poster.replies for answer in reply.finished]
    given = sum(before is not None and before.is_given for before in told[1:])
    times = [percentile(values, share) for values in (signs, ends) for share in (0.5, 0.95)]
    return [mode, *map(ms, times), f"{given} of {questions}"]


async def measured(url: str, answers: int, questions: int) -> None:
    store = await open_store(url)
    await fill(store, answers)
    await store.close()
    tell(f"{answers:,} answers are kept")
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            await asked(url, mode, answers, questions, Path(folder))
            for mode in ("beside", "instead")
        ]
    header = ("mode", "sign p50", "sign p95", "end p50", "end p95", "given")
    print_table(header, rows)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench answered", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--answers", type=int, default=ANSWERS)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--postgres", action="store_true", help="instead of SQLite")
    given = parser.parse_args(arguments)
    configure_logging("warning")
    if given.postgres:
        with a_postgres() as postgres:
            asyncio.run(measured(postgres.migrated(), given.answers, given.questions))
        return
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measured(sqlite.migrated(Path(folder)), given.answers, given.questions))
