"""The declaration of a search provider, and the discovery of all declared ones.

A provider is a module in ``bot.search.providers``, or in an installed package that names it in its
entry point group ``footnote.search_providers``. The module has one ``PROVIDER``: a ``Declaration``.
It is imported whenever settings are read, so it must not import anything heavy: what the search
itself needs is imported when the provider is built.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel, SecretStr

from bot.core.errors import InvalidSetting
from bot.core.plugins import load_parts

if TYPE_CHECKING:
    import httpx

    from bot.search.provider import SearchProvider


@dataclass(frozen=True, slots=True)
class Policy:
    """The limits for one provider.

    ``rate``: calls per second on average; ``burst``: calls at once. Further calls wait in line for
    at most ``patience`` seconds. ``deadline``: seconds for one search or read once its turn has
    come, including retries. ``attempts``: number of calls, including the first. ``failures`` in a
    row open the circuit breaker for ``rest`` seconds. ``ttl``: seconds for which a search result is
    cached, 0 for not at all. ``awaited``: seconds that a search waits for this provider once others
    have found enough; if it takes longer, a note says so. None: ``blend.PATIENCE``, without a note.
    """

    patience: float = 60.0
    deadline: float = 12.0
    attempts: int = 3
    rate: float = math.inf
    burst: int = 1
    failures: float = 5
    rest: float = 30.0
    ttl: float = 900.0
    awaited: float | None = None


ENTRY_POINTS = "footnote.search_providers"

Client = Callable[[], "httpx.AsyncClient"]


def needed(value: SecretStr | str | None, provider: str, setting: str) -> str:
    """A key or address that a provider requires.

    Raises ``InvalidSetting`` if the provider was chosen without it.
    """
    if not value:
        raise InvalidSetting(
            f"The search provider {provider} needs {setting}: set it, or leave {provider} out of "
            "FOOTNOTE_PROVIDERS or --provider."
        )
    return value if isinstance(value, str) else value.get_secret_value()


S = TypeVar("S", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Declaration(Generic[S]):
    """A search provider as declared by its module.

    ``settings`` is its own subclass of ``PartSettings``, or ``core.settings.Settings`` if it needs
    none. ``build`` creates the provider; the client that it may request is shared, and closed by
    its owner. ``switched_on`` returns whether the settings ask for the provider (by a key or an
    address): it is then searched, unless ``FOOTNOTE_PROVIDERS`` excludes it. ``is_fallback`` marks
    the provider that is searched when none is switched on.
    """

    name: str
    settings: type[S]
    build: Callable[[S, Client], SearchProvider]
    switched_on: Callable[[S], bool]
    policy: Callable[[S], Policy] = field(default=lambda _: Policy())
    is_fallback: bool = False


@cache
def declarations() -> dict[str, Declaration[Any]]:
    """All known providers by name: our own first, then those of installed packages.

    Raises ``InvalidSetting`` for an installed package whose provider cannot be loaded.
    """
    found: dict[str, Declaration[Any]] = {}
    for declaration in (*_ours(), *load_parts(ENTRY_POINTS, Declaration, "search provider")):
        found.setdefault(declaration.name, declaration)
    return found


def _ours() -> Iterator[Declaration[Any]]:
    from bot.search import providers

    for module in pkgutil.iter_modules(providers.__path__):
        yield importlib.import_module(f"{providers.__name__}.{module.name}").PROVIDER
