"""``footnote doctor``: checks every configured part and says what to fix, problems first."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import (
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any, Literal

from rich.console import Console
from rich.text import Text

from bot.core.errors import FootnoteError, Unavailable
from bot.core.extras import report_extras
from bot.core.logs import get_logger
from bot.core.settings import Settings
from bot.core.texts import Sentence, listed, said, size
from bot.operation.configuration import env_name, known_names
from bot.operation.kept_settings import Kept, read_kept
from bot.reasoning.reasoner import CLOSEST, chosen_reasoner
from bot.search.background_indexing import looking
from bot.search.index_report import SHOWN, holdings
from bot.service.background import cancelled
from bot.service.platform import platforms
from bot.storage.database import database_of

WIDTH = 96  # characters per line of setting names
LOW_DISK_BYTES = 200_000_000
CHECK_SECONDS = 60.0  # of a check in the background

log = get_logger()

Check = Callable[[Settings], Awaitable[Sentence]]


@dataclass(frozen=True, slots=True)
class Part:
    """One part to check. ``title`` begins its line; ``check`` says what works, and raises
    ``FootnoteError`` if something does not. ``is_chosen`` is True if the operator's settings ask
    for the part: without it, documents can still answer. ``is_on`` is False if the part is not in
    use. ``connects`` names what the console can connect for it."""

    title: Sentence
    check: Check
    is_chosen: bool = True
    is_on: bool = True
    connects: str = ""


State = Literal["problem", "note", "checking", "works", "off"]
MARKS: Mapping[State, tuple[str, str]] = {
    "problem": ("✗", "red"),
    "note": ("!", "yellow"),
    "checking": ("…", "dim"),
    "works": ("✓", "green"),
    "off": ("–", "dim"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """The finding of one check. ``said`` is "" while ``state`` is "checking"."""

    part: Part
    state: State
    said: Sentence


def in_order(found: Iterable[Finding]) -> list[Finding]:
    """Return problems first. A problem that several parts report is there once, for the first."""
    by_sentence: dict[tuple[State, str], Finding] = {}
    for one in found:
        of = "" if one.state == "problem" else str(one.part.title)
        by_sentence.setdefault((one.state, f"{of} {one.said}"), one)
    return sorted(by_sentence.values(), key=lambda one: [*MARKS].index(one.state))


async def examine(settings: Settings, *, verbose: bool = False) -> bool:
    """Check all parts and print a line for each; True when nothing is wrong.

    ``verbose`` adds the names of the settings that are set, and of all known settings.
    """
    console = Console(highlight=False)
    with console.status("Checking …"):
        try:
            kept = await read_kept(settings)
        except FootnoteError:  # the "Storage" line reports it
            kept = Kept(settings)
        checks = await checks_of(kept.settings)
        found = [*of_kept(kept), *await asyncio.gather(*checks.values())]
    for one in in_order(found):
        mark, style = MARKS[one.state]
        line = Text(f"{mark} ", style=style).append(f"{one.part.title}: {one.said}")
        console.print(line, soft_wrap=True)
    if verbose:
        set_here = [name for name in known_names() if os.environ.get(name)]
        for heading, names in (
            ("Set in the environment", set_here or ["nothing"]),
            ("Known settings", known_names()),
        ):
            lines = fill(f"{heading}: {', '.join(names)}.", WIDTH, subsequent_indent="  ")
            console.print(Text(lines, style="dim"), soft_wrap=True)
    return all(one.state != "problem" for one in found)


def of_kept(kept: Kept) -> Iterator[Finding]:
    """Return what is to be said about settings kept in the console."""
    part = Part(said("part-kept"), _extras)
    for sentence in dict.fromkeys(kept.problems.values()):
        yield Finding(part, "problem", sentence)
    if kept.names:
        yield Finding(part, "works", ", ".join(map(env_name, sorted(kept.names))))


async def checks_of(settings: Settings) -> dict[Part, Coroutine[Any, Any, Finding]]:
    """Return the checks of all parts, which can run at the same time. An unreachable peer that no
    setting asks for is only a note if there are documents to answer from."""
    try:
        has_documents = settings.index_path.exists() and await _count(settings) > 0
    except FootnoteError:  # the "Documents" line reports it
        has_documents = False
    return {part: _checked(part, settings, has_documents) for part in _parts(settings)}


class Checks:
    """The checks of all parts in the background, each with a time limit. Close it with ``aclose``.

    ``began`` is when they did.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._running: dict[Part, asyncio.Task[Finding]] = {}
        self.began: datetime | None = None

    async def begin(self) -> None:
        """Start all checks, again if they have been started."""
        checks = await checks_of(self._settings)
        before, self.began = self._running, datetime.now(UTC)
        self._running = {
            part: asyncio.create_task(_in_time(part, check)) for part, check in checks.items()
        }
        await cancelled(before.values())

    @property
    def found(self) -> list[Finding]:
        """Return the current finding of each part."""
        return [
            task.result() if task.done() else Finding(part, "checking", "")
            for part, task in self._running.items()
        ]

    async def aclose(self) -> None:
        await cancelled(self._running.values())


async def _in_time(part: Part, check: Coroutine[Any, Any, Finding]) -> Finding:
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            return await check
    except TimeoutError:
        return Finding(part, "problem", said("check-slow", seconds=CHECK_SECONDS))
    except Exception as error:
        log.exception("check_broke", part=str(part.title))
        return Finding(part, "problem", said("check-broke", error=type(error).__name__))


async def _checked(part: Part, settings: Settings, has_documents: bool) -> Finding:
    try:
        return Finding(part, "works" if part.is_on else "off", await part.check(settings))
    except Unavailable as error:
        optional = has_documents and not part.is_chosen
        return Finding(part, "note" if optional else "problem", error.said)
    except FootnoteError as error:
        return Finding(part, "problem", error.said)


async def _count(settings: Settings) -> int:
    """Count the documents in the index, which must exist. Raises ``FootnoteError``."""
    from bot.search.local_documents import LocalDocuments

    async with aclosing(LocalDocuments(settings.index_path)) as documents:
        return await documents.count()


async def _storage(settings: Settings) -> Sentence:
    async with database_of(settings) as database:
        async with database.write():
            pass
        works = said("check-storage", place=database.place)
    free = shutil.disk_usage(_existing(settings.data_dir)).free
    if free < LOW_DISK_BYTES:
        raise FootnoteError(said("check-storage-full", free=size(free)))
    folder = settings.data_dir.expanduser()
    if names := _open_to_others(folder):
        return works + said("check-storage-open", names=", ".join(names), folder=str(folder))
    return works


async def _uploads(settings: Settings) -> Sentence:
    """Report the files that people sent, all that are stored and those of today."""
    from bot.research.budget import UPLOADS
    from bot.storage.conversations import Files

    async with database_of(settings) as database:
        use = await Files(database).use(datetime.now(UTC).date())
    told = said("check-uploads", count=use.files, size=size(use.stored))
    if use.today:
        told += said("check-uploads-today", sent=size(use.today), most=size(use.most))
    return told + said("check-uploads-limit", limit=size(UPLOADS * 1_000_000))


async def _budget(settings: Settings) -> Sentence:
    """Report what was spent today, and the limits."""
    from bot.storage.spending import Spending

    today = datetime.now(UTC).date()
    async with database_of(settings) as database:
        lines = await Spending(database).lines(today, today)
    spent = sum(line.today.usd for line in lines if line.scope == "workspace")
    limits = {
        "check-budget-question": settings.max_usd,
        "check-budget-person": settings.user_daily_usd,
        "check-budget-channel": settings.channel_daily_usd,
        "check-budget-workspace": settings.workspace_daily_usd,
    }
    most = listed([said(id, usd=usd) for id, usd in limits.items() if usd is not None])
    return said("check-budget", usd=spent) + said("check-budget-limits", limits=most)


async def _documents(settings: Settings) -> Sentence:
    missing = _missing(settings.docs)
    if missing:
        raise FootnoteError(said("check-documents-missing", paths=", ".join(missing)))
    if not settings.index_path.exists():
        return said("check-documents-none")
    held = await asyncio.to_thread(holdings, settings.index_path, settings.docs)
    count = held.files.documents if settings.docs else await _count(settings)
    told = said("check-documents", count=count, path=str(settings.index_path))
    if unread := held.unread.count:
        files, kinds = held.unread.files, held.unread.kinds
        told += said("check-documents-unread", count=unread, files=files, kinds=kinds)
    lost = [f"{path} ({kept:.0%})" for path, kept, _ in held.incomplete]
    stale = [path for path, _ in held.stale]
    for id, names in (("check-documents-lost", lost), ("check-documents-stale", stale)):
        if names:
            shown = ", ".join([*names[:SHOWN], *["…"] * (len(names) > SHOWN)])
            told += said(id, count=len(names), names=shown)
    return told


async def _changes(settings: Settings) -> Sentence:
    return looking(settings)


async def _extras(_: Settings) -> Sentence:
    return report_extras()


async def _meaning(settings: Settings) -> Sentence:
    """Report search by meaning. Raises the error that prevents it."""
    from bot.search.embedder import open_embedder
    from bot.search.vector_filling import state_of_vectors

    async with open_embedder(settings) as embedder:
        if embedder is None:
            return said("check-meaning-off")
        vector = await embedder.embed_question("Does it work?")
        told = said("check-meaning", model=embedder.name, count=len(vector))
        if settings.index_path.exists():
            told += state_of_vectors(settings.index_path, settings.docs, embedder.model)
        return told


async def _searched(name: str, settings: Settings) -> Sentence:
    """Check one search provider alone, so that none hides another's failure."""
    from bot.search.registry import open_search

    async with aclosing(open_search(settings, only=(name,))) as search:
        return await search.report(name)


def _open_to_others(folder: Path) -> list[str]:
    """Return the data files that other users may read, left by an earlier version or copied there.
    Files in a folder that is closed to others count as closed."""
    if sys.platform == "win32" or not folder.is_dir() or not folder.stat().st_mode & 0o077:
        return []
    ours = (each for each in folder.iterdir() if each.name.startswith(("footnote.", "index.")))
    return sorted(each.name for each in ours if each.is_file() and each.stat().st_mode & 0o077)


def _missing(paths: tuple[str, ...]) -> list[str]:
    return [path for path in paths if not Path(path).exists()]


def _existing(path: Path) -> Path:
    return path if path.exists() or path.parent == path else _existing(path.parent)


async def _reader(settings: Settings) -> Sentence:
    """Check the reading service; costs one page of its quota."""
    from bot.pages.fetch import reader_of

    reader = reader_of(settings)
    if reader is None:
        return said("check-reader-off")
    async with aclosing(reader):
        return await reader.report()


async def _browser(settings: Settings) -> Sentence:
    from bot.pages.fetch import browser_of

    browser = browser_of(settings)
    if browser is None:
        return said("check-browser-off")
    async with aclosing(browser):
        works = said("check-browser", version=await browser.report())
    is_open = settings.browser_sandbox == "off"
    return works + said("check-browser-open") if is_open else works


async def _connected(name: str, settings: Settings) -> Sentence:
    """Report a platform's state, or how to connect it."""
    platform = platforms()[name]
    if not platform.is_on(settings):
        return platform.to_connect(settings)
    platform.listens(settings)  # raises the error of an incomplete set of settings
    return await platform.check(settings)


def _parts(settings: Settings) -> Iterator[Part]:
    from bot.pages.transport import proxy_report
    from bot.rights import rights
    from bot.search.registry import configured_names, is_chosen

    reasoner = chosen_reasoner(settings)
    yield Part(said("part-storage"), _storage)
    yield Part(said("part-uploads"), _uploads)
    yield Part(said("part-documents"), _documents)
    yield Part(said("part-changes"), _changes)
    yield Part(said("part-extras"), _extras)
    yield Part(said("part-rights"), rights.report)
    yield Part(said("part-network"), proxy_report, settings.fetch_proxy is not None)
    yield Part(said("part-meaning"), _meaning, is_on=settings.has_embedder)
    for name in configured_names(settings):
        check = partial(_searched, name)
        yield Part(said("part-search", name=name), check, is_chosen(settings, name))
    yield Part(said("part-reader"), _reader, is_on=bool(settings.reader_url))
    yield Part(said("part-browser"), _browser, is_on=bool(settings.browser))
    is_closest = reasoner.name == CLOSEST
    connects = "claude" if is_closest else reasoner.name
    needed = reasoner.needed(settings)
    yield Part(said("part-model"), reasoner.check, needed, not is_closest, connects)
    yield Part(said("part-budget"), _budget)
    for each in platforms().values():
        check, is_on = partial(_connected, each.name), each.is_on(settings)
        yield Part(each.title, check, is_on=is_on, connects=each.name)
