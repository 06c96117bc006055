"""The line of `footnote doctor` on rights to documents."""

from __future__ import annotations

from bot.errors import ProviderUnavailable
from bot.rights.collection import WHO, DocumentCollection
from bot.rights.reach import Reach
from bot.rights.rights import Rights
from bot.search.local import LocalDocuments
from bot.settings import Settings


async def report(settings: Settings) -> str:
    """Each collection with how many documents are in it and who may search them.

    Raises ``InvalidSetting`` where the collections cannot be used.
    """
    rights = Rights(settings)
    if not rights.collections:
        return (
            "everybody who may ask may search all documents. Declare [[collections]] in "
            "footnote.toml to limit that"
        )
    documents = LocalDocuments(settings.index_path, settings.docs)
    try:
        told = [
            f"{each.name} ({await _count(documents, rights, each)}) for {_who(each)}"
            for each in rights.collections
        ]
        others = await _count(documents, rights, None)
    finally:
        await documents.aclose()
    if not settings.docs:
        others += ", whatever was ever indexed among them"
    told.append(f"all else ({others}) for everybody who may ask")
    return "; ".join(told)


async def _count(
    documents: LocalDocuments, rights: Rights, collection: DocumentCollection | None
) -> str:
    """The documents of one collection, or of none."""
    rules = tuple((root.address, root.collection is collection) for root in rights.roots)
    try:
        count = await documents.count(Reach(rules, others=collection is None))
    except ProviderUnavailable:
        return "not indexed yet"
    return "1 document" if count == 1 else f"{count:,} documents"


def _who(collection: DocumentCollection) -> str:
    if collection.everybody:
        return "everybody who may ask"
    lists = ((name, getattr(collection, name)) for name in WHO)
    return ", ".join(f"{name.replace('_', ' ')} {' '.join(ids)}" for name, ids in lists if ids)
