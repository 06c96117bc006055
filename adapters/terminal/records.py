"""Stored data at the terminal: lists and exports threads, prunes old rows, forgets."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from pydantic import TypeAdapter
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from adapters.terminal.json_poster import harmless, remarks
from bot.answers import Answer
from bot.conversing.forgetting import Forgetter, Maintenance, day_after
from bot.rendering.documents import printed_json
from bot.rendering.footnotes import by_number, sources
from bot.rendering.lines import one_line, shortened
from bot.rendering.safety import portable
from bot.rendering.texts import DEFAULT, texts_for
from bot.settings import Settings
from bot.storage.archive import Archive, Conversation, Held, Listed, Said
from bot.storage.removal import Removed
from bot.storage.retention import Keep, Retention
from bot.storage.store import Store, open_store
from bot.storage.subjects import Subject

BEGINNING = 60  # characters of what a thread begins with

TITLES = {
    "threads": "threads",
    "messages": "messages",
    "runs": "runs with their answers",
    "steps": "steps",
    "pages": "pages that nothing else rests on",
    "feedback": "verdicts on answers",
    "spending": "daily sums of spending",
    "rules": "channel rules",
    "facts": "facts about the workspace",
    "installations": "installations",
}


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Store]:
    """The store, for as long as the block runs. Raises ``StorageUnavailable``."""
    store = await open_store(settings.database)
    try:
        yield store
    finally:
        await store.close()


def forgetter_of(store: Store) -> Forgetter:
    """A forgetter for processes that do not work on runs: those that do see in the store what to
    stop."""
    return Forgetter(store.database, store.request_stop)


async def to_forget(store: Store, subject: Subject) -> Removed:
    """Count what ``forgotten`` would delete, sums of today included."""
    return await forgetter_of(store).count(subject, day_after(datetime.now(UTC).date()))


async def forgotten(store: Store, subject: Subject) -> Removed:
    """Take it away."""
    return await forgetter_of(store).forget(subject, day_after(datetime.now(UTC).date()))


async def pruned(settings: Settings) -> Removed:
    """One round of what ``footnote serve`` does every hour."""
    async with opened(settings) as store:
        retention = Retention(store.database, Keep.of(settings))
        return await Maintenance(retention, forgetter_of(store)).once()


async def exported(settings: Settings, name: str, form: str) -> str:
    """A thread as "markdown" or "json". Raises ``Invalid`` when there is none of that name."""
    async with opened(settings) as store:
        archive = Archive(store.database)
        conversation = await archive.conversation(await archive.find(name))
    return as_json(conversation) if form == "json" else as_markdown(conversation)


async def listed(settings: Settings, platform: str | None, limit: int) -> list[Listed]:
    """The latest threads."""
    async with opened(settings) as store:
        return await Archive(store.database).threads(platform, limit)


# ---------------------------------------------------------------- looks


def show(what: RenderableType) -> None:
    """Print to standard output."""
    Console(soft_wrap=True).print(what)


def removed_table(removed: Removed, title: str) -> RenderableType:
    """The numbers of rows that were, or would be, deleted."""
    table = Table(box=None, show_header=False)
    table.add_column("", justify="right")
    table.add_column("")
    for kind, number in asdict(removed).items():
        if number:
            table.add_row(f"{number:,}", TITLES[kind])
    return Group(Text(title, style="bold"), table)


def threads_lines(found: list[Listed]) -> RenderableType:
    """The threads, each with the key by which it is exported or forgotten."""
    if not found:
        return Text("Nothing was asked yet.")
    lines: list[RenderableType] = []
    for one in found:
        last = f"{one.last_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        counts = f"{one.questions:,} of {one.messages:,} messages asked"
        begins = shortened(one_line(one.begins), BEGINNING)
        lines += [Text(one.thread.key, style="bold"), Text(f"    {last} · {counts} · {begins}")]
    return Group(*lines)


def threads_json(found: list[Listed]) -> str:
    """The contract of ``footnote threads --json``."""
    rows = [
        {
            "key": one.thread.key,
            **asdict(one.thread),
            "messages": one.messages,
            "questions": one.questions,
            "begins": one.begins,
            "last_at": one.last_at.astimezone(UTC).isoformat(),
        }
        for one in found
    ]
    return printed_json(rows)


# What CommonMark gives a meaning: within a line, and at its beginning (https://spec.commonmark.org).
_MARKUP = re.compile(r"([\\`*_\[\]<>#|~&]|^[-+=](?=\s|[-=]|$))", re.MULTILINE)
_NUMBERED = re.compile(r"^(\d{1,9})(?=[.)](?:\s|$))", re.MULTILINE)
_conversation = TypeAdapter(Conversation)


def as_json(conversation: Conversation) -> str:
    """The contract of ``footnote export --format json``; moments are in UTC."""
    thread = conversation.thread
    document: dict[str, Any] = {
        "key": thread.key,
        **_conversation.dump_python(conversation, mode="json"),
    }
    return printed_json(document)


def as_markdown(conversation: Conversation) -> str:
    """Questions, answers, and under each answer its sources with every quoted word."""
    thread = conversation.thread
    parts = [
        f"# Conversation {_plain(thread.thread)}",
        f"{_plain(thread.platform)} · {_plain(thread.workspace)} · {_plain(thread.channel)} · "
        f"begun {_moment(conversation.began_at)}",
    ]
    for said in conversation.said:
        parts += _said(said)
    return "\n\n".join(parts) + "\n"


def _said(said: Said) -> Iterator[str]:
    yield f"## {_plain(said.author.name)}, {_moment(said.at)}"
    yield _quoted(said.text) if said.text else "*Deleted.*"
    for file in said.attachments:
        yield f"File: {_link(file.name, file.url)}"
    if said.run is not None:
        yield from _held(said.run)


def _held(run: Held) -> Iterator[str]:
    if run.answer is None:
        yield f"*No answer: the run {run.id} is {run.state}.*"
        return
    ended = f", {_moment(run.ended_at)}" if run.ended_at is not None else ""
    yield f"### Footnote{ended}"
    urls = run.answer.targets.values()
    yield portable(run.answer.text, urls)
    if run.answer.more:
        yield f"#### {texts_for(DEFAULT)('more-heading')}"
        yield portable(run.answer.more, urls)
    yield from _sources(run.answer)
    yield from (_plain(remark) for remark in remarks(run.answer))
    yield f"*Run {run.id}: {run.state}, {_plain(run.answer.reasoner)}*"


def _sources(answer: Answer) -> Iterator[str]:
    if not answer.citations:
        return
    yield "Sources:"
    headings = {view.number: view.headings for view in sources(answer, 0)}
    for number, cited in by_number(answer.citations):
        lines = [f"- \\[{number}\\] {_link(cited[0].title or cited[0].url, cited[0].url)}"]
        for heading in headings[number]:
            lines[0] += f" — {_plain(heading)}"
        for via in dict.fromkeys(citation.via for citation in cited if citation.via):
            lines[0] += f" ({_plain(texts_for(DEFAULT)('text-given-by', name=via))})"
        for quote in dict.fromkeys(words for citation in cited for words in citation.proven):
            lines += ["", *(f"  {line}" for line in _quoted(_plain(quote, lines=True)).split("\n"))]
        yield "\n".join(lines)


def _link(title: str, url: str) -> str:
    address = one_line(url).replace("<", "%3C").replace(">", "%3E")
    return f"[{_plain(title)}](<{address}>)"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _plain(text: str, *, lines: bool = False) -> str:
    """Foreign words as they are, with no power over the document."""
    text = "\n".join(map(one_line, text.splitlines())) if lines else one_line(text)
    return _NUMBERED.sub(r"\1\\", _MARKUP.sub(r"\\\1", harmless(text)))


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
