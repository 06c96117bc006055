"""Lines that tell an asker what is searched in a place, and why."""

from __future__ import annotations

from collections.abc import Collection

from bot.errors import InvalidSetting
from bot.rendering.texts import Texts
from bot.rights.reader import Reader
from bot.rights.rights import Rights

DOCUMENTS = "local"  # the search provider of the operator's documents


def searched_here(
    rights: Rights, reader: Reader, providers: Collection[str], texts: Texts
) -> list[str]:
    """The collections that a reader's questions search, a line each after a title; nothing where
    there are no documents. Collections that are not searched are counted and not named: their names
    may tell what nobody here is to know.
    """
    if DOCUMENTS not in providers:
        return []
    lines = [texts("searched-title")]
    others = [name for name in providers if name != DOCUMENTS]
    if others:
        lines.append(texts("searched-providers", names=", ".join(others)))
    return [*lines, *_documents(rights, reader, texts)]


def _documents(rights: Rights, reader: Reader, texts: Texts) -> list[str]:
    if reader.guest:
        return [texts("searched-guest")]
    try:
        collections = rights.collections
    except InvalidSetting:
        return [texts("searched-unusable")]
    lines, hidden = [], 0
    for each in collections:
        if why := reader.why(each):
            reason = texts(f"searched-why-{why.replace('_', '-')}")
            lines.append(texts("searched-collection", name=each.name, why=reason))
        else:
            hidden += 1
    lines.append(texts("searched-others" if collections else "searched-all"))
    if hidden:
        lines.append(texts("searched-not", count=hidden))
    return lines
