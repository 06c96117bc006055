"""Conversations of a chat as a source: searched for one question, with the rights of its asker.

A platform's poster that can search gives a provider for each run. It lives as long as the attempt
at the run, and so does what it found: nothing of it is shared with other questions.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from bot.errors import Broken, FootnoteError, PageUnreadable, Refused, Unavailable
from bot.logs import get_logger
from bot.messages import Attachment
from bot.pages.page import Page
from bot.posting import PostState, RunRef
from bot.rights.reader import Reader
from bot.search.blend import Failure, SearchResult, ask, blend
from bot.search.declaration import Policy
from bot.search.guarded import Guarded
from bot.search.provider import PageReader, ProviderKind, Query, SearchProvider

CONVERSATIONS = "conversations"  # their name among the providers of the settings
POLICY = Policy(deadline=8.0, attempts=2, patience=4.0, rate=2.0, burst=6)
FILE_SECONDS = 30.0  # that looking a file up, downloading it and reading it may take
ELSEWHERE = (
    "Messages and files of a chat are read only where the search of that chat has found them."
)

log = get_logger()


class ConversationSearch(SearchProvider, PageReader, Protocol):
    """The conversations that may be told about in the place where one question was asked.

    It ``reads`` the messages that it has found. ``concluded`` is called when the answer is posted:
    messages that may not be told there can then be offered to the asker alone.
    """

    async def concluded(self) -> None: ...


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of a chat. ``title`` is that of its footnotes, ``attachment`` tells how it is
    downloaded, ``size`` is in bytes, 0 if unknown. ``excerpt`` is what the search of the chat,
    called ``by``, gave of its text, or ""."""

    attachment: Attachment
    title: str
    size: int = 0
    excerpt: str = ""
    by: str = ""


@runtime_checkable
class FindsFiles(Protocol):
    """A search of conversations that finds files as well.

    ``has_file`` tells, without I/O, whether an address is that of a file that was found; ``file``
    looks it up, and raises ``FootnoteError`` where it is gone. ``remarks`` are sentences on the
    files that could not be searched, or were left out.
    """

    @property
    def remarks(self) -> Sequence[str]: ...

    def has_file(self, url: str) -> bool: ...

    async def file(self, url: str) -> FoundFile: ...


class FileReading(Protocol):
    """The part of ``research.evidence.library.Library`` that is used here."""

    largest: int

    async def page_of_file(self, attachment: Attachment, data: bytes) -> Page: ...


@runtime_checkable
class Conversing(Protocol):
    """A platform's poster that can search its conversations."""

    async def conversations(
        self, run: RunRef, saved: PostState | None, reader: Reader
    ) -> ConversationSearch | None:
        """The search for a run whose answer ``reader`` reads; None if nothing can be searched.
        Raises ``FootnoteError``."""
        ...


class SearchedConversations:
    """The conversations of the run ``run_id`` behind the same guard as all providers.

    ``download`` gets a file of at most so many bytes (``posting.Poster.download``), ``files`` reads
    it.
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
        """The messages and files that were found; a failure is told in the result, not raised."""
        found = await ask(self._guarded, query)
        if isinstance(found, Failure):
            return SearchResult((), (found.sentence,))
        provider = self._provider
        remarks = provider.remarks if isinstance(provider, FindsFiles) else ()
        # A name of their own: the search itself has answered.
        return SearchResult(found, tuple(f"{self.name}-files: {remark}" for remark in remarks))

    async def read(self, url: str) -> Page:
        """A message or file that was found. Raises ``PageUnreadable`` for any other, else as
        ``PageReader.read``."""
        if isinstance(self._provider, FindsFiles) and self._provider.has_file(url):
            return await self._read_file(url, self._provider)
        if not self._guarded.reads(url):
            raise PageUnreadable(ELSEWHERE)
        found = await self._guarded.read(url)
        if not isinstance(found, Page):  # the text of a page that is yet to be taken apart
            raise PageUnreadable(ELSEWHERE)
        return found

    async def _read_file(self, url: str, provider: FindsFiles) -> Page:
        """The text of a file, or where that cannot be had, the excerpt that came with the search
        result. Like a message's, the page is the run's own: see ``talk.page_of``."""
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

    async def concluded(self) -> None:
        """Tell the provider that the answer is posted; an error here does not change that."""
        try:
            await self._provider.concluded()
        except FootnoteError as error:
            log.info("asker not told of more", provider=self.name, error=str(error))


def blended(said: SearchResult, found: SearchResult, query: Query) -> SearchResult:
    """Messages and other results in one list, at most as many as the query wants."""
    if query.talk.first:
        hits = [*said.hits, *(hit for hit in found.hits if hit not in said.hits)]
    else:
        hits = blend([said.hits, found.hits])
    return SearchResult(
        tuple(hits[: query.limit]), (*said.failures, *found.failures), found.rarity, found.missing
    )
