"""Which search providers there are, and how the settings choose among them.

A new provider is one file beside this one and one entry in ``BUILDERS``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from bot.errors import InvalidSetting
from bot.search.blend import Search, nearest
from bot.search.guarded import Policy
from bot.search.provider import SearchProvider
from bot.settings import Settings

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 5.0

Client = Callable[[], "httpx.AsyncClient"]


def _local(settings: Settings, client: Client) -> SearchProvider:
    from bot.search.local import LocalDocuments

    return LocalDocuments(settings.index_path, settings.docs)


def _wikipedia(settings: Settings, client: Client) -> SearchProvider:
    from bot.search.mediawiki import MediaWiki

    return MediaWiki(settings, client())


BUILDERS: dict[str, Callable[[Settings, Client], SearchProvider]] = {
    "local": _local,
    "wikipedia": _wikipedia,
}

POLICIES = {
    # Nothing to wait for, and an index that may change between two questions.
    "local": Policy(deadline=10.0, attempts=1, failures=math.inf, ttl=0.0),
    # https://www.mediawiki.org/wiki/API:Etiquette gives no number; this is far below a browser's.
    "wikipedia": Policy(deadline=12.0, rate=20.0, burst=60, ttl=900.0),
}


def configured_names(settings: Settings) -> tuple[str, ...]:
    """The names of the providers that are searched.

    Without ``settings.providers`` that is the local documents where there are any, else Wikipedia.
    """
    return tuple(dict.fromkeys(settings.providers)) or (
        ("local",) if settings.docs else ("wikipedia",)
    )


def open_search(settings: Settings) -> Search:
    """Everything that is configured to be searched, ready to use; close it with ``aclose``.

    Raises ``InvalidSetting`` for an unknown name, or for documents that do not exist.
    """
    names = configured_names(settings)
    for name in names:
        if name not in BUILDERS:
            raise InvalidSetting(
                f"FOOTNOTE_PROVIDERS or --provider names {name}, which is no search provider."
                f"{nearest(name, tuple(BUILDERS))}"
            )
    shared = _SharedClient(settings.contact)
    providers = [BUILDERS[name](settings, shared.get) for name in names]
    return Search(
        providers,
        policies=POLICIES,
        blocked_domains=settings.blocked_domains,
        close=shared.aclose,
    )


class _SharedClient:
    """One HTTP client for all providers, made when the first of them wants it."""

    def __init__(self, contact: str) -> None:
        self._contact = contact
        self._client: httpx.AsyncClient | None = None

    def get(self) -> httpx.AsyncClient:
        if self._client is None:
            import httpx  # takes longer to load than all of local searching

            self._client = httpx.AsyncClient(
                http2=True,
                headers={"User-Agent": user_agent(self._contact)},
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

    try:
        ours = version("footnote-bot")
    except PackageNotFoundError:
        ours = "0"
    about = "; ".join(filter(None, (contact, "footnote-bot", "cited answers in team chat")))
    return f"FootnoteBot/{ours} ({about}) httpx/{httpx.__version__}"
