"""Local documents: the folders and files of ``FOOTNOTE_DOCS``, as ``footnote index`` indexed them.

They have no language, region, date or domain, so those restrictions are ignored.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bot.core.settings import Settings
from bot.search.declaration import Client, Declaration, Policy

if TYPE_CHECKING:
    from bot.search.provider import SearchProvider


def _build(settings: Settings, client: Client) -> SearchProvider:
    from bot.search.embedding.choice import make_embedder
    from bot.search.local import LocalDocuments

    embedder = make_embedder(settings, client)
    return LocalDocuments(settings.index_path, settings.docs, embedder)


PROVIDER = Declaration(
    name="local",
    settings=Settings,
    build=_build,
    switched_on=lambda settings: bool(settings.docs),
    # There is nothing to wait for, and the index may change between two questions.
    policy=lambda settings: Policy(deadline=10.0, attempts=1, failures=math.inf, ttl=0.0),
)
