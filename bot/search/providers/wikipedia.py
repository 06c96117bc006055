"""Wikipedia, or any other MediaWiki. The fallback provider, because it needs no key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.core.settings import Settings
from bot.search.declaration import Client, Declaration, Policy

if TYPE_CHECKING:
    from bot.search.provider import SearchProvider


def _build(settings: Settings, client: Client) -> SearchProvider:
    from bot.search.mediawiki import MediaWiki

    return MediaWiki(settings, client())


PROVIDER = Declaration(
    name="wikipedia",
    settings=Settings,
    build=_build,
    switched_on=lambda settings: False,
    # https://www.mediawiki.org/wiki/API:Etiquette gives no number; this is far below a browser's.
    policy=lambda settings: Policy(deadline=12.0, rate=20.0, burst=60, ttl=900.0),
    is_fallback=True,
)
