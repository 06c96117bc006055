"""Opens the search providers that the settings choose, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bot import __version__
from bot.egress import Egress
from bot.errors import InvalidSetting
from bot.mcp.declaration import server_declaration
from bot.observing import Observe, nothing_observed
from bot.search.blend import Search, nearest
from bot.search.conversations import CONVERSATIONS
from bot.search.declaration import Declaration, declarations
from bot.settings import Settings

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 5.0


def provider_names(settings: Settings | None = None) -> tuple[str, ...]:
    """The names of all search providers there are, with the servers of ``settings`` if given."""
    known = declarations() if settings is None else _declared_for(settings)
    return (*known, CONVERSATIONS)


def searches_conversations(settings: Settings) -> bool:
    """Return True if questions asked in a chat search its messages."""
    return settings.conversations and (
        not settings.providers or CONVERSATIONS in settings.providers
    )


def configured_names(settings: Settings) -> tuple[str, ...]:
    """The names of the providers that are searched for every question, wherever it is asked.

    Those of ``settings.providers`` if it names any. Else all that something switches on: documents,
    a key, an address. Else the fallback, Wikipedia.
    """
    if settings.providers:
        return tuple(n for n in dict.fromkeys(settings.providers) if n != CONVERSATIONS)
    return _switched_on(settings) or _fallback()


def _declared_for(settings: Settings) -> dict[str, Declaration[Any]]:
    """All providers there are, by name, with the servers that the settings connect."""
    servers = {each.name: server_declaration(each) for each in settings.mcp}
    if taken := next((name for name in servers if name in declarations()), ""):
        raise InvalidSetting(
            f"The server {taken} of [[mcp]] is called like a search provider: give it another name."
        )
    return declarations() | servers


def is_chosen(settings: Settings, name: str) -> bool:
    """Return True if a setting asks for a provider by its name, a key or an address; false for the
    fallback that is searched because nothing else is set."""
    known = _declared_for(settings)
    if settings.providers or name not in known or not known[name].is_fallback:
        return True
    return any(field.startswith(f"{name}_") for field in settings.model_fields_set)


def open_search(
    settings: Settings,
    only: Sequence[str] = (),
    observe: Callable[[str], Observe] = nothing_observed,
) -> Search:
    """Everything that is configured to be searched, ready to use; close it with ``aclose``.

    ``only`` replaces what is configured, ``observe`` as for ``Search``. Raises ``InvalidSetting``
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
            f"FOOTNOTE_PROVIDERS or --provider names {name}, which is no search provider."
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
    """One HTTP client for all providers, made when the first of them wants it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._client: httpx.AsyncClient | None = None

    def get(self) -> httpx.AsyncClient:
        if self._client is None:
            import httpx  # takes longer to load than all of local searching

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
    """Names the program, its library, and where its operator can be reached if that is set.

    https://foundation.wikimedia.org/wiki/Policy:Wikimedia_Foundation_User-Agent_Policy asks for it.
    """
    import httpx

    about = "; ".join(filter(None, (contact, "footnote-bot", "cited answers in team chat")))
    return f"FootnoteBot/{__version__} ({about}) httpx/{httpx.__version__}"
