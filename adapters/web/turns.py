"""The turns of a thread for its page: questions with their replies."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import sqlalchemy as sa

from adapters.web.console import Console
from adapters.web.html.sources import Dates
from adapters.web.live import ReplyState, state_of
from bot.core.errors import InvalidSetting
from bot.core.lines import label, one_line, shortened
from bot.core.messages import OWN_WORDS, Answer, Attachment, Provenance, RunOptions, Thread
from bot.core.reader import Reader
from bot.pages.pictures import may_be_picture
from bot.rights.rights import Rights, Root
from bot.storage.database import Database
from bot.storage.store import RunRecord
from bot.storage.tables import UNFINISHED, feedback, files, pages, runs
from bot.storage.workspaces import Opinion

LONG, LONGEST = 200, 350  # characters of a question


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and its reply. ``made_from`` is what the question was made from; ``begun_at`` is
    when it was asked or last edited. ``opinions`` are visitors' verdicts, by their ids;
    ``collections`` are the names of its documents' collections, by URL, and ``pictures`` what its
    pictures show; ``reader`` is the reader it was made for. Other visitors may see less of it:
    ``visibility.Visibility.turn``."""

    run: str
    thread: str
    question: str
    author: str
    asked_at: datetime
    begun_at: datetime
    depth: str
    state: str
    reply_state: ReplyState
    opinions: Mapping[str, Opinion]
    dates: Dates
    reader: Reader
    options: RunOptions = field(default_factory=RunOptions)
    files: tuple[Attachment, ...] = ()
    pictures: Mapping[str, str] = field(default_factory=dict)
    attempt: int = 0
    collections: Mapping[str, str] = field(default_factory=dict)
    made_from: Provenance = OWN_WORDS

    @property
    def over(self) -> bool:
        return self.state not in UNFINISHED

    @property
    def length(self) -> str:
        """Return how a question is set: "" as a headline, "long" as text, "longest" as four lines
        that can be unfolded."""
        if len(self.question) > LONGEST or self.question.count("\n") > 3:
            return "longest"
        return "long" if len(self.question) > LONG else ""


async def turns_of(console: Console, ids: Sequence[str]) -> list[Turn]:
    """Return the turns of these runs, except those whose question was deleted."""
    records = [run for id in ids if (run := await console.store.run(id)) and not run.removed]
    answers = [run.answer for run in records if run.answer is not None]
    dates = await _dates_of(console.database, answers)
    opinions = await _opinions(console.database, [run.id for run in records])
    pictures = await _pictures(console.database, records)
    turns = (_turn(console, run, opinions.get(run.id, {}), dates) for run in records)
    return [replace(turn, pictures=pictures) for turn in turns]


async def turns_in(console: Console, thread: Thread) -> list[Turn]:
    """Return the turns of a thread, oldest first."""
    query = sa.select(runs.c.id).where(runs.c.thread_key == thread.key).order_by(runs.c.message_id)
    async with console.database.read() as db:
        ids = (await db.scalars(query)).all()
    return await turns_of(console, ids)


async def _dates_of(database: Database, answers: Collection[Answer]) -> Dates:
    """Return the dates when the quoted pages were read."""
    wanted = {(each.url, each.page_hash) for answer in answers for each in answer.citations}
    if not wanted:
        return {}
    query = sa.select(pages.c.url, pages.c.hash, pages.c.fetched_at).where(
        sa.tuple_(pages.c.url, pages.c.hash).in_(sorted(wanted))
    )
    async with database.read() as db:
        return {(row.url, row.hash): row.fetched_at for row in (await db.execute(query)).all()}


SHOWN = 300  # characters of what a picture shows


async def _pictures(database: Database, records: Sequence[RunRecord]) -> dict[str, str]:
    """Return what the stored pictures of questions show, or their names, by URL."""
    sent = (file for run in records for file in run.message.attachments)
    names = {each.url: each.name for each in sent if may_be_picture(each.media_type, each.name)}
    if not names:
        return {}
    read = sa.select(files.c.url, pages.c.text).outerjoin(pages, pages.c.url == files.c.url)
    async with database.read() as db:
        rows = (await db.execute(read.where(files.c.url.in_(sorted(names))))).all()
    told = ((row.url, one_line((row.text or "").partition("\n\n")[2])) for row in rows)
    return {url: shortened(text, SHOWN) or names[url] for url, text in told}


def _turn(console: Console, run: RunRecord, opinions: Mapping[str, Opinion], dates: Dates) -> Turn:
    return Turn(
        run=run.id,
        thread=run.message.thread.thread,
        question=run.message.text,
        author=label(run.message.author.name),
        asked_at=run.message.at,
        begun_at=run.accepted_at,
        depth=run.options.depth,
        state=run.state,
        reply_state=console.live.here(run.id) or state_of(run),
        opinions=opinions,
        dates=dates,
        reader=Reader.of_stored(run.message, run.options),
        options=run.options,
        attempt=run.attempt,
        collections=_collections(console.rights, run.answer),
        made_from=run.message.made_from,
        files=run.message.attachments if run.message.thread.platform == "web" else (),
    )


def _collections(rights: Rights, answer: Answer | None) -> dict[str, str]:
    """Return the names of the collections of an answer's documents, by URL."""
    documents = {one.url for one in answer.citations} if answer is not None else set()
    documents = {url for url in documents if url.startswith("file:")}
    try:
        roots = rights.roots if documents else ()
    except InvalidSetting:
        return {}  # the rights have logged the error and show no documents
    named = ((url, collection_of(url, roots)) for url in documents)
    return {url: name for url, name in named if name}


def collection_of(url: str, roots: Sequence[Root]) -> str:
    """Return the name of a document's collection, or ""; ``roots`` begin with the longest URLs."""
    inside = (root for root in roots if f"{url}/".startswith(f"{root.address.rstrip('/')}/"))
    root = next(inside, None)
    return root.collection.name if root is not None else ""


async def _opinions(database: Database, ids: Collection[str]) -> dict[str, dict[str, Opinion]]:
    query = sa.select(feedback).where(feedback.c.run_id.in_(ids))
    found: dict[str, dict[str, Opinion]] = {}
    async with database.read() as db:
        for row in (await db.execute(query)).all():
            opinion = Opinion(row.verdict, row.reason, row.words)
            found.setdefault(row.run_id, {})[row.author_id] = opinion
    return found
