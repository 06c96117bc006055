"""The way of a run's queries to the providers: the one place where all of them pass.

What the web may not be told (``research.evidence.exposure``) is not sent there. Documents may be
searched for anything: nobody outside learns of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.errors import InvalidSetting, Refused
from bot.messages import Attachment, Message, Transcript
from bot.pages.urls import dedupe_key
from bot.reasoning.evidence import Source
from bot.research.evidence.exposure import Exposure, of_hosts
from bot.research.evidence.library import Library
from bot.search.blend import SearchResult
from bot.search.provider import Hit, ProviderKind, Query


class QueryWithheld(Refused):
    """A query that may not be sent to the web; the sentence is for its author."""


class Outgoing:
    """See the module docstring. ``sources`` is the run's list of what was shown, which grows."""

    def __init__(
        self,
        library: Library,
        message: Message,
        transcript: Transcript,
        sources: Sequence[Source],
        *,
        keeps_documents: bool,
    ) -> None:
        self._library = library
        self._sources = sources
        self._taken = 0  # of the sources
        self._exposure = Exposure(keeps_documents=keeps_documents)
        self._documents: set[str] = set()  # addresses of files, and of what is no web page
        self._asked(message.text, message.attachments)
        for link in message.links:
            self._exposure.people.add(link)
        self._remember(transcript)

    async def search(
        self, query: Query, providers: tuple[str, ...] = (), kind: ProviderKind | None = None
    ) -> SearchResult:
        """See ``Library.search``. Raises ``QueryWithheld`` before anything is sent, when the web
        would be asked what it may not be told."""
        if "web" in self._kinds(providers, kind):
            self._take()
            if why := self._exposure.objection(_told(query)):
                raise QueryWithheld(f"Not sent to the web: {why}")
        return await self._library.search(query, providers, kind)

    async def reach(
        self, query: Query, providers: tuple[str, ...] = (), kind: ProviderKind | None = None
    ) -> tuple[SearchResult, str]:
        """The result of a query where it may be asked, and the reason if it was withheld from the
        web. Raises like ``Library.search``."""
        try:
            return await self.search(query, providers, kind), ""
        except QueryWithheld as withheld:
            if self._kinds(providers, kind) == {"web"}:
                return SearchResult(()), withheld.sentence
            found = await self.search(query, providers, "knowledge")
            return found, f"{withheld.sentence} The documents were searched."

    def _kinds(
        self, providers: tuple[str, ...], kind: ProviderKind | None
    ) -> frozenset[ProviderKind]:
        """The kinds that would be searched: see ``search.blend.Search.search``."""
        kinds = self._library.can_search(providers)
        return frozenset({kind}) if kind is not None and kind in kinds else kinds

    def show(self, hits: Sequence[Hit]) -> None:
        """Remember what a search has found."""
        for hit in hits:
            if self._is_document(hit.url) or not self._is_of_web(hit):
                self._documents.add(dedupe_key(hit.url))
            self._add(hit.url, hit.title, (hit.snippet,))

    def _asked(self, text: str, files: Sequence[Attachment]) -> None:
        for said in (text, *(file.name for file in files)):
            self._exposure.people.add(said)
        self._documents |= {file.url for file in files}

    def _remember(self, transcript: Transcript) -> None:
        for entry in transcript.entries:
            if entry.role == "person":
                self._asked(entry.text, entry.files)
                continue
            for text in (entry.text, entry.question):
                self._exposure.private.add(text)
            for cited in entry.cited:
                self._add(cited.url, cited.title, (cited.heading, cited.quote))

    def _take(self) -> None:
        """Remember what was shown since the last query."""
        for source in self._sources[self._taken :]:
            texts = [text for each in source.passages for text in (each.heading, each.text)]
            self._add(source.url, source.title, texts)
        self._taken = len(self._sources)

    def _add(self, url: str, title: str, texts: Sequence[str]) -> None:
        is_document = self._is_document(url)
        self._exposure.has_document |= is_document
        shown = self._exposure.private if is_document else self._exposure.public
        for text in (title, *texts):
            shown.add(text)
        if is_document:
            self._exposure.titles.add(title)

    def _is_document(self, url: str) -> bool:
        if url in self._documents or not url.startswith(("http://", "https://")):
            return True
        return dedupe_key(url) in self._documents

    def _is_of_web(self, hit: Hit) -> bool:
        try:
            return "web" in self._library.can_search((hit.provider,))
        except InvalidSetting:
            return False  # found by a provider that is no longer configured


def _told(query: Query) -> str:
    """All of a query that is words."""
    return " ".join(filter(None, (query.text, of_hosts(query.domains))))
