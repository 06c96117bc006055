"""The sources that a visitor can choose for a question."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from cachetools import TTLCache
from starlette.exceptions import HTTPException

from adapters.web.access.gate import Visitor
from bot.core.errors import InvalidSetting, ProviderUnavailable
from bot.core.messages import EVERYWHERE, RunOptions, Sources
from bot.core.reader import Reach
from bot.core.settings import ChannelRules, Settings
from bot.core.texts import Texts
from bot.rights.rights import Rights
from bot.search.local_documents import LocalDocuments
from bot.search.registry import configured_names

DOCUMENTS, WIKI, WEB = "documents", "wiki", "web"
_LOCAL, _WIKIPEDIA = "local", "wikipedia"  # search providers
OTHERS = ""  # the documents that are in no collection
COUNTED_SECONDS = 5.0
KEPT = 256
# Sent with the ticked sources, to tell a form with none ticked from one without sources.
CHOSEN = "chosen"


@dataclass(frozen=True, slots=True)
class Offer:
    """A source that can be searched. ``id`` names it in a form; ``count`` is the number of its
    documents, or None; ``is_asked`` tells whether the last question searched it."""

    id: str
    kind: str
    name: str
    count: int | None = None
    is_asked: bool = True


class Offers:
    """See the module docstring. Close it with ``aclose``."""

    def __init__(self, settings: Settings, rights: Rights) -> None:
        self._settings = settings
        self._rights = rights
        self._documents = LocalDocuments(settings.index_path, settings.docs)
        self._counts: TTLCache[str, int] = TTLCache(KEPT, COUNTED_SECONDS)

    async def aclose(self) -> None:
        await self._documents.aclose()

    def _names(self, rules: ChannelRules) -> tuple[str, ...]:
        """Return the search providers for questions under these rules."""
        return rules.providers or configured_names(self._settings)

    async def of(
        self, visitor: Visitor, rules: ChannelRules, asked: RunOptions | None = None
    ) -> list[Offer]:
        """Return the sources to choose from; ``asked`` are the options of the previous question."""
        names, asked = self._names(rules), asked or RunOptions()
        offers = []
        if _LOCAL in names:
            is_asked = not asked.providers or _LOCAL in asked.providers
            for name in self._collections(visitor):
                among = is_asked and (asked.collections is None or name in asked.collections)
                count = await self._count(self._rights.reach(visitor.reader, (name,)))
                offers.append(Offer(_id(name), DOCUMENTS, name, count, among))
        for id, members in self._engines(visitor, names).items():
            is_asked = not asked.providers or any(each in asked.providers for each in members)
            name = self._wiki if id == WIKI else ", ".join(members)
            kind = id if id in (WIKI, WEB) else DOCUMENTS
            offers.append(Offer(id, kind, name, None, is_asked))
        return offers

    def _collections(self, visitor: Visitor) -> list[str]:
        """Return the names of the collections that a visitor may search; "" stands for documents in
        no collection."""
        try:
            every = self._rights.collections
        except InvalidSetting:
            return []  # the visitor may read no documents
        mine = [each.name for each in every if visitor.reader.may_search(each)]
        return [*mine, OTHERS]

    def _engines(self, visitor: Visitor, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the search providers of each other offer, by the offer's id: one offer for each
        server that the visitor may use, one for the wiki, and one for all web search engines."""
        hidden = self._rights.hidden_servers(visitor.reader)
        servers = [name for name in self._servers if name in names and name not in hidden]
        found = {
            **{f"server:{name}": (name,) for name in servers},
            WIKI: tuple(name for name in names if name == _WIKIPEDIA),
            WEB: tuple(name for name in names if self._is_engine(name)),
        }
        return {kind: members for kind, members in found.items() if members}

    @property
    def _servers(self) -> list[str]:
        return [each.name for each in self._settings.mcp]

    def _is_engine(self, name: str) -> bool:
        return name not in (_LOCAL, _WIKIPEDIA, *self._servers)

    @property
    def _wiki(self) -> str:
        place = urlsplit(self._settings.wikipedia_url)
        return "Wikipedia" if (place.hostname or "").endswith("wikipedia.org") else place.netloc

    async def _count(self, reach: Reach) -> int:
        known = self._counts.get(reach.signature)
        if known is None:
            try:
                known = await self._documents.count(reach)
            except ProviderUnavailable:
                known = 0  # nothing is indexed yet
            if known:  # an empty index is still being filled
                self._counts[reach.signature] = known
        return known

    def chosen(
        self, visitor: Visitor, rules: ChannelRules, ticked: Collection[str], texts: Texts
    ) -> Sources:
        """Return the sources ticked in a form; respond with 422 if none was.

        Sources that the visitor may not search are left out, whatever was sent.
        """
        names = self._names(rules)
        engines = self._engines(visitor, names)
        collections = self._collections(visitor) if _LOCAL in names else []
        wanted = [name for name in collections if _id(name) in ticked]
        kinds = [kind for kind in engines if kind in ticked]
        if not wanted and not kinds:
            raise HTTPException(422, texts("web-sources-none"))
        if wanted == collections and kinds == list(engines):
            return EVERYWHERE
        providers = [each for kind in kinds for each in engines[kind]]
        return Sources(
            tuple([_LOCAL, *providers] if wanted else providers),
            None if wanted == collections or not wanted else tuple(wanted),
        )

    def examples(self, rules: ChannelRules, texts: Texts) -> list[tuple[str, str]]:
        """Return example questions for the web or Wikipedia, each with the name of the source that
        can answer it; none for documents alone."""
        names = self._names(rules)
        asked: list[str] = []
        if any(map(self._is_engine, names)):
            asked = ["prompt-compare-message", "prompt-explain-message", "prompt-wiki-history"]
        elif _WIKIPEDIA in names and self._wiki == "Wikipedia":
            asked = ["prompt-wiki-building", "prompt-wiki-nature", "prompt-wiki-history"]
        named = self._wiki if _WIKIPEDIA in names else texts("web-source-web")
        return [(texts(each), named) for each in asked]


def _id(collection: str) -> str:
    return f"{DOCUMENTS}:{collection}"
