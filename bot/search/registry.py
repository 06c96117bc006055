"""Opens the configured search providers, with their shared HTTP client."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bot import __version__
from bot.core.egress import Egress
from bot.core.errors import InvalidSetting
from bot.core.measurements import Observe, nothing_observed
from bot.core.settings import Settings
from bot.search.blend import Search, nearest
from bot.search.conversations import CONVERSATIONS
from bot.search.declaration import Declaration, declarations
from bot.search.mcp.declaration import server_declaration

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 5.0


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
    (documents, a key, an address); otherwise the fallback, Wikipedia.
    """
    if settings.providers:
        return tuple(n for n in dict.fromkeys(settings.providers) if n != CONVERSATIONS)
    return _switched_on(settings) or _fallback()


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
    chosen = [_declared(name, settings) for name in only or configured_names(settings)]
    shared = _SharedClient(settings)
    return Search(
        [each.build(settings, shared.get) for each in chosen],
        policies={each.name: each.policy(settings) for each in chosen},
        blocked_domains=settings.blocked_domains,
        close=shared.aclose,
        observe=observe,
    )


def _declared(name: str, settings: Settings) -> Declaration[Any]:
    known = _declared_for(settings)
    if name not in known:
        raise InvalidSetting(
            f"FOOTNOTE_PROVIDERS or --provider names {name}, which is not a search provider."
            f"{nearest(name, tuple(known))}"
        )
    return known[name]


def _switched_on(settings: Settings) -> tuple[str, ...]:
    return tuple(
        each.name
        for each in _declared_for(settings).values()
        if isinstance(settings, each.settings) and each.switched_on(settings)
    )


def _fallback() -> tuple[str, ...]:
    return tuple(each.name for each in declarations().values() if each.is_fallback)


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
