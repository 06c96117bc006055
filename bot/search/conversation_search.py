"""Conversations of a chat as a source: searched for one question, with the rights of its author.

A platform's poster that can search provides a search for each run. It exists as long as the attempt
at the run, and so do its results: nothing is shared with other questions. Messages become pages and
footnotes with author, channel and time.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock_time
from typing import Protocol, runtime_checkable

from bot.core.errors import Broken, FootnoteError, PageUnreadable, Refused, Unavailable
from bot.core.lines import label
from bot.core.logs import get_logger
from bot.core.messages import Attachment
from bot.core.posting import PostState, RunRef
from bot.core.reader import Reader
from bot.pages.page import Page
from bot.search.blend import Failure, SearchResult, ask, blend
from bot.search.guarded import Guarded
from bot.search.provider import Freshness, PageReader, Policy, ProviderKind, Query, SearchProvider
from bot.text.terms import content_words, fold

_DAY = "%d %B %Y"
_HEADED = f"{_DAY} %H:%M"
_HEADING = re.compile(r"^([ \t]*)#")


def title_of(author: str, where: str, at: datetime) -> str:
    """The title of a message in a footnote, "Ann, #ops, 3 June 2026", or of a file: "Ann, Launch
    plan, 3 June 2026"."""
    return ", ".join(filter(None, (label(author), label(where), day_of(at))))


def day_of(at: datetime | date) -> str:
    """A day in the form used in titles: "3 June 2026"."""
    return f"{at.day} {at:%B %Y}"


def page_of(
    url: str,
    title: str,
    said: Sequence[tuple[str, datetime, str]],
    now: datetime,
    run_id: str,
) -> Page:
    """A thread as a page: one section per message, with author and time in its heading.

    ``said`` has each message's author, time and text as Markdown. The page belongs to this run
    only: its hash includes the run, so that no other run gets it from the store.
    """
    parts = []
    for author, at, words in said:
        parts.append(f"## {label(author)}, {day_of(at)} {at:%H:%M}\n\n{without_headings(words)}")
    text = "\n\n".join(parts)
    return Page(url, title, text, now, hashlib.sha256(f"{run_id} {text}".encode()).hexdigest())


def without_headings(words: str) -> str:
    """A message whose lines cannot be headings: one would look like that of another message."""
    return "\n".join(_HEADING.sub(r"\1\\#", line) for line in words.split("\n")).strip()


DAYS: dict[Freshness, int] = {"day": 1, "week": 7, "month": 31, "year": 366}


def period_of(query: Query, now: datetime) -> tuple[datetime | None, datetime | None]:
    """The start and end of the period for messages; None if it is open at that side."""
    talk, after, before = query.talk, None, None
    if talk.after:
        after = datetime.combine(date.fromisoformat(talk.after), clock_time(), UTC)
    elif days := DAYS.get(query.freshness):
        after = now - timedelta(days=days)
    if talk.before:
        before = datetime.combine(date.fromisoformat(talk.before), clock_time(), UTC)
        before += timedelta(days=1)
    return after, before


def words_of_topic(query: Query) -> str:
    """The words to search for in messages: without words that carry no meaning, and without the
    names of the people whose messages are wanted."""
    names = {fold(part) for name in query.talk.people for part in name.split()}
    kept = [word for word in content_words(query.text) if fold(word) not in names]
    return " ".join(kept) or query.text


def is_by(author: str, people: Sequence[str]) -> bool:
    """Return True if an author has one of these names, or if there are none."""
    known = set(author.casefold().split())
    named = (set(name.casefold().removeprefix("@").split()) for name in people)
    return not people or any(each and each <= known for each in named)


def said_at(heading: str) -> datetime | None:
    """The time of the message below a heading that ``page_of`` wrote; None for other headings."""
    return _time_of(heading, _HEADED)


def day_in(title: str) -> datetime | None:
    """The day at the end of a title that ``title_of`` gave; None for other titles."""
    return _time_of(title, _DAY)


def _time_of(name: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(name.rpartition(", ")[2], form).replace(tzinfo=UTC)
    except ValueError:
        return None


POLICY = Policy(deadline=8.0, attempts=2, patience=4.0, rate=2.0, burst=6)
FILE_SECONDS = 30.0  # to look up, download and read a file
ELSEWHERE = (
    "Messages and files of a chat are read only where the search of that chat has found them."
)

log = get_logger()


class ConversationSearch(SearchProvider, PageReader, Protocol):
    """Search in the conversations that may be quoted where a question was asked.

    It ``reads`` the messages that it has found. ``answer_posted`` is called after the answer is
    posted, so that messages that may not be shown there can be offered to the author of the
    question alone.
    """

    async def answer_posted(self) -> None: ...


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of a chat. ``title`` is for its footnotes, ``attachment`` is for downloading it, and
    ``size`` is in bytes, 0 if unknown. ``excerpt`` is the part of its text that came with the
    search result, or ""; ``by`` is the name of that search."""

    attachment: Attachment
    title: str
    size: int = 0
    excerpt: str = ""
    by: str = ""


@runtime_checkable
class FindsFiles(Protocol):
    """A search of conversations that also finds files.

    ``has_file`` tells, without I/O, whether an address is that of a found file. ``file`` looks it
    up, and raises ``FootnoteError`` if it no longer exists. ``remarks`` are sentences about files
    that could not be searched or were left out.
    """

    @property
    def remarks(self) -> Sequence[str]: ...

    def has_file(self, url: str) -> bool: ...

    async def file(self, url: str) -> FoundFile: ...


class FileReading(Protocol):
    """The part of ``research.library.Library`` that is needed here."""

    largest: int

    async def page_of_file(self, attachment: Attachment, data: bytes) -> Page: ...


@runtime_checkable
class Conversing(Protocol):
    """A platform's poster that can search its conversations."""

    async def conversations(
        self, run: RunRef, saved: PostState | None, reader: Reader
    ) -> ConversationSearch | None:
        """The search for a run whose answer ``reader`` will read; None if nothing can be searched.
        Raises ``FootnoteError``."""
        ...


class SearchedConversations:
    """The conversations for the run ``run_id``, with the same guard as all providers.

    ``download`` downloads a file of at most the given size in bytes (``posting.Poster.download``);
    ``files`` reads it.
    """

    kind: ProviderKind = "knowledge"

    def __init__(
        self,
        provider: ConversationSearch,
        run_id: str,
        download: Callable[[Attachment, int], Awaitable[bytes]],
        files: FileReading,
    ) -> None:
        self._provider = provider
        self._run_id = run_id
        self._download = download
        self._files = files
        self._guarded = Guarded(provider, POLICY, time.monotonic)
        self.name = provider.name

    async def search(self, query: Query) -> SearchResult:
        """The messages and files that match; a failure is part of the result, not raised."""
        found = await ask(self._guarded, query)
        if isinstance(found, Failure):
            return SearchResult((), (found.sentence,))
        provider = self._provider
        remarks = provider.remarks if isinstance(provider, FindsFiles) else ()
        # Under a separate name, because the search itself has succeeded.
        return SearchResult(found, tuple(f"{self.name}-files: {remark}" for remark in remarks))

    async def read(self, url: str) -> Page:
        """A message or file that was found. Raises ``PageUnreadable`` for others, otherwise like
        ``PageReader.read``."""
        if isinstance(self._provider, FindsFiles) and self._provider.has_file(url):
            return await self._read_file(url, self._provider)
        if not self._provider.reads(url):
            raise PageUnreadable(ELSEWHERE)
        found = await self._guarded.read(url)
        if not isinstance(found, Page):  # a text that is still to be extracted
            raise PageUnreadable(ELSEWHERE)
        return found

    async def _read_file(self, url: str, provider: FindsFiles) -> Page:
        """The text of a file or, if it cannot be read, the excerpt from the search result. Like a
        page of messages, it belongs to this run only: see ``page_of``."""
        found: FoundFile | None = None
        try:
            async with asyncio.timeout(FILE_SECONDS):
                found = await provider.file(url)
                page = await self._whole(found)
        except (Broken, Refused, Unavailable, TimeoutError) as error:
            if found is None or not found.excerpt:
                if isinstance(error, TimeoutError):
                    raise Unavailable("The file took too long to read: try again later.") from error
                raise
            log.info("file_as_excerpt", url=url, error=str(error))
            page = await self._excerpt(found)
        digest = hashlib.sha256(f"{self._run_id} {page.text}".encode("utf-8", "surrogatepass"))
        return replace(page, url=url, title=found.title, hash=digest.hexdigest())

    async def _whole(self, found: FoundFile) -> Page:
        """Raises ``Broken``, ``Refused`` and ``Unavailable``."""
        attachment, most = found.attachment, self._files.largest
        if found.size > most:
            raise PageUnreadable(
                f"The file {attachment.name} is too large to read: it has {found.size:,} bytes, "
                f"and {most:,} are allowed."
            )
        if not attachment.download:
            raise PageUnreadable(f"The file {attachment.name} cannot be downloaded from the chat.")
        data = await self._download(attachment, most)
        return await self._files.page_of_file(attachment, data)

    async def _excerpt(self, found: FoundFile) -> Page:
        plain = Attachment("excerpt.txt", "text/plain; charset=utf-8", found.attachment.url)
        page = await self._files.page_of_file(plain, found.excerpt.encode("utf-8", "replace"))
        return replace(page, via=found.by)

    async def answer_posted(self) -> None:
        """Notify the provider that the answer is posted; errors are only logged."""
        try:
            await self._provider.answer_posted()
        except FootnoteError as error:
            log.info("asker not told of more", provider=self.name, error=str(error))


def blend_results(said: SearchResult, found: SearchResult, query: Query) -> SearchResult:
    """Merge messages and other results into one list, no longer than the query's limit."""
    if query.talk.first:
        hits = [*said.hits, *(hit for hit in found.hits if hit not in said.hits)]
    else:
        hits = blend([said.hits, found.hits])
    return SearchResult(
        tuple(hits[: query.limit]), (*said.failures, *found.failures), found.rarity, found.missing
    )
