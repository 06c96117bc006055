"""The known search providers: declared by a module or a setting, and opened as configured.

A provider is a module in ``bot.search.providers``, or in an installed package that names it in its
entry point group ``footnote.search_providers``. The module has one ``PROVIDER``: a ``Declaration``.
It is imported whenever settings are read, so it must not import anything heavy, and neither does
this module: what a search itself needs is imported when the provider is built. Local documents,
the wiki and the servers of ``[[mcp]]`` are declared here.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Callable, Sequence
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from bot import __version__
from bot.core.egress import Egress
from bot.core.errors import InvalidSetting
from bot.core.extras import need
from bot.core.measurements import Observe, nothing_observed
from bot.core.plugins import load_parts
from bot.core.readership import McpServer
from bot.core.settings import Settings
from bot.search import providers
from bot.search.provider import Client, Declaration, Policy, SearchProvider, nearest

if TYPE_CHECKING:
    import httpx

    from bot.search.blend import Search

ENTRY_POINTS = "footnote.search_providers"
CONVERSATIONS = "conversations"  # their name among the providers in the settings
CONNECT_SECONDS = 5.0
MCP_CACHED_SECONDS = 300.0  # for results: a team's tickets and pages change
MCP_AWAITED_SECONDS = 5.0


@cache
def declarations() -> dict[str, Declaration[Any]]:
    """All known providers by name: our own in alphabetical order, then those of packages.

    Raises ``InvalidSetting`` for an installed package whose provider cannot be loaded.
    """
    modules = (
        importlib.import_module(f"{providers.__name__}.{module.name}")
        for module in pkgutil.iter_modules(providers.__path__)
    )
    ours = [*(module.PROVIDER for module in modules), _LOCAL, _WIKIPEDIA]
    found: dict[str, Declaration[Any]] = {each.name: each for each in sorted(ours, key=_NAME)}
    for declaration in load_parts(ENTRY_POINTS, Declaration, "search provider"):
        found.setdefault(declaration.name, declaration)
    return found


def _local_documents(settings: Settings, client: Client) -> SearchProvider:
    from bot.search.embedder import make_embedder
    from bot.search.local_documents import LocalDocuments

    return LocalDocuments(settings.index_path, settings.docs, make_embedder(settings, client))


def _wiki(settings: Settings, client: Client) -> SearchProvider:
    from bot.search.mediawiki import MediaWiki

    return MediaWiki(settings, client())


_NAME = attrgetter("name")
_LOCAL = Declaration(
    name="local",
    settings=Settings,
    build=_local_documents,
    is_on=lambda settings: bool(settings.docs),
    # There is nothing to wait for, and the index may change between two questions.
    policy=lambda _: Policy(deadline=10.0, attempts=1, failures=math.inf, ttl=0.0),
)
_WIKIPEDIA = Declaration(
    name="wikipedia",
    settings=Settings,
    build=_wiki,
    is_on=lambda _: True,
    # https://www.mediawiki.org/wiki/API:Etiquette gives no number; this is far below a browser's.
    policy=lambda _: Policy(rate=20.0, burst=60),
    is_fallback=True,  # it needs no key
)


def server_declaration(server: McpServer) -> Declaration[Settings]:
    """Declare a connected server of the Model Context Protocol as a search provider."""

    def build(settings: Settings, client: Client) -> SearchProvider:
        need("mcp", f"[[mcp]] {server.name}")
        from bot.search.mcp_source import McpSource

        return McpSource(server, Egress.of(settings))

    return Declaration(
        name=server.name,
        settings=Settings,
        build=build,
        is_on=lambda _: True,
        policy=lambda _: Policy(
            deadline=server.seconds,
            attempts=2,
            failures=3,
            ttl=MCP_CACHED_SECONDS,
            awaited=MCP_AWAITED_SECONDS,
        ),
    )


# ---------------------------------------------------------------- the settings' choice


def provider_names(settings: Settings | None = None) -> tuple[str, ...]:
    """The names of all known search providers, including the servers of ``settings`` if given."""
    known = declarations() if settings is None else _declared_for(settings)
    return (*known, CONVERSATIONS)


def searches_conversations(settings: Settings) -> bool:
    """Return True if questions asked in a chat also search its messages."""
    return settings.conversations and (
        not settings.providers or CONVERSATIONS in settings.providers
    )


def configured_names(settings: Settings) -> tuple[str, ...]:
    """The names of the providers that are searched for every question, wherever it is asked.

    These are the ones in ``settings.providers``, if any; otherwise all that a setting switches on
    (documents, a key, an address); otherwise the fallbacks: Wikipedia and, with an Anthropic key,
    Claude's web search.
    """
    if settings.providers:
        return tuple(n for n in dict.fromkeys(settings.providers) if n != CONVERSATIONS)
    known = _declared_for(settings).values()
    usable = [e for e in known if isinstance(settings, e.settings) and e.is_on(settings)]
    chosen = [each for each in usable if not each.is_fallback]
    return tuple(each.name for each in chosen or usable)


def _declared_for(settings: Settings) -> dict[str, Declaration[Any]]:
    """All known providers by name, including the servers that the settings connect."""
    servers = {each.name: server_declaration(each) for each in settings.mcp}
    if taken := next((name for name in servers if name in declarations()), ""):
        raise InvalidSetting(
            f"The server {taken} of [[mcp]] has the name of a search provider: rename it."
        )
    return declarations() | servers


def is_chosen(settings: Settings, name: str) -> bool:
    """Return True if a setting asks for a provider by its name, a key or an address; False for a
    fallback that is searched because nothing else is configured."""
    known = _declared_for(settings)
    if settings.providers or name not in known or not known[name].is_fallback:
        return True
    return any(field.startswith(f"{name}_") for field in settings.model_fields_set)


def open_search(
    settings: Settings,
    only: Sequence[str] = (),
    observe: Callable[[str], Observe] = nothing_observed,
) -> Search:
    """Open all configured search providers; close them with ``aclose``.

    ``only`` replaces the configured names; ``observe`` as for ``Search``. Raises ``InvalidSetting``
    for an unknown name, a provider that lacks its key or address, or documents that do not exist.
    """
    from bot.search.blend import Search

    known = _declared_for(settings)
    names = only or configured_names(settings)
    if unknown := next((name for name in names if name not in known), ""):
        raise InvalidSetting(
            f"FOOTNOTE_PROVIDERS or --provider names {unknown}, which is not a search provider."
            f"{nearest(unknown, tuple(known))}"
        )
    chosen = [known[name] for name in names]
    shared = _SharedClient(settings)
    return Search(
        [each.build(settings, shared.get) for each in chosen],
        policies={each.name: each.policy(settings) for each in chosen},
        blocked_domains=settings.blocked_domains,
        close=shared.aclose,
        observe=observe,
    )


class _SharedClient:
    """One HTTP client for all providers, created when first needed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._client: httpx.AsyncClient | None = None

    def get(self) -> httpx.AsyncClient:
        if self._client is None:
            import httpx  # takes longer to import than everything that local search needs

            self._client = httpx.AsyncClient(
                transport=Egress.of(self._settings).transport(httpx, http2=True),
                headers={"User-Agent": user_agent(self._settings.contact)},
                timeout=httpx.Timeout(15.0, connect=CONNECT_SECONDS),
            )
        return self._client

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()


def user_agent(contact: str = "") -> str:
    """Name the program, its HTTP library and, if set, the operator's contact.

    https://foundation.wikimedia.org/wiki/Policy:Wikimedia_Foundation_User-Agent_Policy asks for it.
    """
    import httpx

    about = "; ".join(filter(None, (contact, "footnote-bot", "cited answers in team chat")))
    return f"FootnoteBot/{__version__} ({about}) httpx/{httpx.__version__}"
