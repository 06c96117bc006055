"""Conversations of a chat as a source: searched for one question, with the rights of its asker.

A platform's poster that can search gives a provider for each run. It lives as long as the attempt
at the run, and so does what it found: nothing of it is shared with other questions.
"""

from __future__ import annotations

import time
from typing import Protocol, runtime_checkable

from bot.errors import FootnoteError, PageUnreadable
from bot.logs import get_logger
from bot.pages.page import Page
from bot.posting import PostState, RunRef
from bot.rights.reader import Reader
from bot.search.blend import Failure, SearchResult, ask, blend
from bot.search.declaration import Policy
from bot.search.guarded import Guarded
from bot.search.provider import PageReader, ProviderKind, Query, SearchProvider

CONVERSATIONS = "conversations"  # their name among the providers of the settings
POLICY = Policy(deadline=8.0, attempts=2, patience=4.0, rate=2.0, burst=6)
ELSEWHERE = "Messages of a chat are read only where the search of that chat has found them."

log = get_logger()


class ConversationSearch(SearchProvider, PageReader, Protocol):
    """The conversations that may be told about in the place where one question was asked.

    It ``reads`` the messages that it has found. ``concluded`` is called when the answer is posted:
    messages that may not be told there can then be offered to the asker alone.
    """

    async def concluded(self) -> None: ...


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
    """A run's conversations behind the same guard as all providers."""

    kind: ProviderKind = "knowledge"

    def __init__(self, provider: ConversationSearch) -> None:
        self._provider = provider
        self._guarded = Guarded(provider, POLICY, time.monotonic)
        self.name = provider.name

    async def search(self, query: Query) -> SearchResult:
        """The messages that were found; a failure is told in the result, not raised."""
        found = await ask(self._guarded, query)
        if isinstance(found, Failure):
            return SearchResult((), (found.sentence,))
        return SearchResult(found)

    async def read(self, url: str) -> Page:
        """A message that was found. Raises ``PageUnreadable`` for any other, else as
        ``PageReader.read``."""
        if not self._guarded.reads(url):
            raise PageUnreadable(ELSEWHERE)
        found = await self._guarded.read(url)
        if not isinstance(found, Page):  # the text of a page that is yet to be taken apart
            raise PageUnreadable(ELSEWHERE)
        return found

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
