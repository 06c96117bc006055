"""Rights, computed from the settings each time they are used.

``footnote.toml`` is checked each time: a right removed there is gone from the next search, page or
answer on, in every process, without a restart. While the file is unusable, no document is in reach.

Edits of a settings file or the environment are not observed directly: a process adds a changed rule
to the audit log when it starts or checks again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, runtime_checkable

from bot.core.errors import FootnoteError, InvalidSetting, ProviderUnavailable
from bot.core.logs import get_logger
from bot.core.messages import Audience, Message, RunOptions
from bot.core.reader import EVERYTHING, NO_DOCUMENTS, Reach, Reader
from bot.core.reader import server_root as root_of_server
from bot.core.readership import WHO, DocumentCollection, McpServer, Readership
from bot.core.settings import TOML, Settings, is_set_outside_of_file, readers_in
from bot.core.texts import Said, Sentence, Texts, listed, said
from bot.search.local_documents import LocalDocuments
from bot.storage.audit_log import Actor, note
from bot.storage.database import Database
from bot.storage.tables import fact, keep_fact

log = get_logger()

NO_POSTERS: Mapping[str, object] = {}


@runtime_checkable
class Membership(Protocol):
    """A platform's poster that knows people's groups; ``groups_setting`` is the list of a
    collection that names its groups."""

    groups_setting: str

    async def groups(self, message: Message, among: Collection[str]) -> frozenset[str]:
        """Return the groups out of ``among`` that the message's author is in now. Raises
        ``FootnoteError``."""
        ...


@runtime_checkable
class Hosting(Protocol):
    """A platform's poster that can distinguish guests from members."""

    async def audience(self, message: Message) -> Audience:
        """Return who reads in the message's place now; "unknown" if the platform does not tell."""
        ...

    async def is_guest(self, message: Message) -> bool:
        """Return True if the message's author comes from outside the team. Raises
        ``FootnoteError``."""
        ...


@dataclass(frozen=True, slots=True)
class Root:
    """An address at or below which documents belong to a collection."""

    address: str
    collection: DocumentCollection


class Rights:
    """See the module docstring. ``posters`` look up people's groups, by platform."""

    def __init__(self, settings: Settings, posters: Mapping[str, object] = NO_POSTERS) -> None:
        self._settings = settings
        self._posters = posters
        # Settings from other sources do not change while the process runs.
        self._kept = {each for each in ("collections", "mcp") if is_set_outside_of_file(each)}
        self._file = None if len(self._kept) == 2 else Path(TOML).absolute()
        self._stamp = _stamp(self._file)
        self._collections: tuple[DocumentCollection, ...] = settings.collections
        self._servers: tuple[McpServer, ...] = settings.mcp
        self._roots: tuple[Root, ...] | None = None  # None: not made yet
        self._problem = ""

    # ------------------------------------------------------------ rights of readers

    def reach(self, reader: Reader, among: Collection[str] | None = None) -> Reach:
        """Return the documents that a reader may see now; ``among`` limits them to collections with
        these names, where "" means the documents in no collection."""
        reader = self._received(reader)
        if reader.surface == "terminal" and among is None:
            return EVERYTHING
        if reader.guest:
            return NO_DOCUMENTS
        roots = self._current()
        if roots is None:
            return NO_DOCUMENTS
        rules = tuple(
            (root.address, reader.may_search(root.collection) and _is_among(root, among))
            for root in roots
        )
        servers = tuple(
            (root_of_server(each.name), reader.may_search(each)) for each in self._servers
        )
        others = among is None or "" in among
        place = reader.place if self._settings.conversations else ""
        return Reach(
            rules + servers,
            others=others,
            removed=False,
            place=place,
            corrections=reader.corrections,
        )

    async def reader(self, message: Message, options: RunOptions | None = None) -> Reader:
        """Return the reader of the answer to a message. For a stored message, ``options`` are its
        run's, which hold the details known on arrival.

        If a platform cannot report groups now, the person is in none; if it cannot report guests,
        everyone not known to be a member counts as a guest, and so does everyone in a channel whose
        readers it cannot report. A standing question's channel may have changed since it was asked.
        """
        author, audience = message.author, message.audience
        if options is not None:
            author, audience = options.standing_of(author), options.audience
        poster = self._posters.get(message.thread.platform)
        is_old = options is not None and bool(options.watch)
        if (audience == "unknown" or is_old) and isinstance(poster, Hosting):
            now = await _audience(poster, message)
            audience = audience if now == "unknown" else now
        if author.guest is None and not self._guests_are_members and isinstance(poster, Hosting):
            author = replace(author, guest=await _is_guest(poster, message))
        reader = self._received(Reader.of(message.thread, author, audience))
        if reader.surface != "direct" or reader.guest or not isinstance(poster, Membership):
            return reader
        among = self._groups_named(poster.groups_setting)
        if not among:
            return reader
        try:
            held = await poster.groups(message, among)
        except FootnoteError as error:
            log.warning("groups not known", person=author.id, error=str(error))
            return reader
        return replace(reader, groups=reader.groups | held)

    async def reach_in(self, message: Message) -> Reach:
        """Return what the readers of an answer to ``message`` may see now."""
        return self.reach(await self.reader(message))

    @property
    def _guests_are_members(self) -> bool:
        return self._settings.guests == "members"

    def _received(self, reader: Reader) -> Reader:
        """Return the reader, as a member if the operator treats guests as members. Strangers count
        as guests where only those may ask whom a list names."""
        is_guest = reader.guest or (reader.surface == "strangers" and self._only_listed_may_ask)
        return replace(reader, guest=is_guest and not self._guests_are_members)

    @property
    def _only_listed_may_ask(self) -> bool:
        on = self._settings
        return bool(on.allow_workspaces or on.allow_channels or on.allow_users or on.allow_roles)

    def _groups_named(self, setting: str) -> frozenset[str]:
        """Return the groups that rights depend on, for the platform with this setting."""
        self._current()
        every = (*self._collections, *self._servers)
        return frozenset(id for each in every for id in getattr(each, setting))

    # ------------------------------------------------------------ for reports and pages

    @property
    def collections(self) -> tuple[DocumentCollection, ...]:
        """The current collections. Raises ``InvalidSetting`` if they are unusable."""
        self.check()
        return self._collections

    @property
    def servers(self) -> tuple[McpServer, ...]:
        """The current servers; raises like ``collections``."""
        self.check()
        return self._servers

    def hidden_servers(self, reader: Reader) -> frozenset[str]:
        """Return the names of the servers that a reader may neither use nor know about."""
        reach = self.reach(reader)
        names = {each.name for each in (*self._settings.mcp, *self._servers)}
        return frozenset(name for name in names if not reach.allows(root_of_server(name)))

    @property
    def roots(self) -> tuple[Root, ...]:
        """The addresses of the collections, longest first; raises like ``collections``."""
        self.check()
        return self._current() or ()

    def check(self) -> None:
        """Raise ``InvalidSetting`` if the current collections are unusable."""
        if self._current() is None:
            raise InvalidSetting(self._problem)

    # ------------------------------------------------------------ as they are now

    def _current(self) -> tuple[Root, ...] | None:
        """Return the roots; None while the settings are unusable."""
        stamp = _stamp(self._file)
        if stamp != self._stamp:
            self._stamp = stamp
            self._roots, self._problem = None, ""
            self._read_again()
        if self._roots is None and not self._problem:
            try:
                self._roots = roots_of(self._collections, self._settings.docs)
            except InvalidSetting as error:
                self._fail(error)
        return None if self._problem else self._roots

    def _read_again(self) -> None:
        assert self._file is not None  # noqa: S101 - else its stamp never changes
        if self._stamp is None:
            if self._collections or self._servers:
                self._fail(InvalidSetting(said("rights-gone", path=TOML)))
            return
        try:
            found = readers_in(self._file, list(type(self._settings).model_fields))
            if "collections" not in self._kept:
                self._collections = found[0]
            if "mcp" not in self._kept:
                self._servers = found[1]
        except InvalidSetting as error:
            self._fail(error)

    def _fail(self, error: InvalidSetting) -> None:
        self._problem = error.sentence
        log.error("no documents are searched", error=error.sentence)


def _is_among(root: Root, names: Collection[str] | None) -> bool:
    return names is None or root.collection.name in names


async def _audience(poster: Hosting, message: Message) -> Audience:
    try:
        return await poster.audience(message)
    except FootnoteError as error:
        log.warning("readers not known", channel=message.thread.channel, error=str(error))
        return "unknown"


async def _is_guest(poster: Hosting, message: Message) -> bool:
    try:
        return await poster.is_guest(message)
    except FootnoteError as error:
        log.warning("guests not known", person=message.author.id, error=str(error))
        return True


def _stamp(file: Path | None) -> tuple[int, int, int] | None:
    """Return a value that changes with the file; None if there is no file."""
    if file is None:
        return None
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


# ---------------------------------------------------------------- where collections are


def roots_of(collections: Sequence[DocumentCollection], docs: Sequence[str]) -> tuple[Root, ...]:
    """Return the addresses of all collections, longest first.

    Raises ``InvalidSetting`` for a path that is missing, outside of the documents, or in two
    collections.
    """
    found: dict[str, DocumentCollection] = {}
    for collection in collections:
        for path in collection.paths:
            for address in _addresses(collection, path, docs):
                other = found.setdefault(address, collection)
                if other is not collection:
                    two = {"first": other.name, "second": collection.name}
                    raise InvalidSetting(said("rights-twice", **two, path=path))
    roots = [Root(address, collection) for address, collection in found.items()]
    return tuple(sorted(roots, key=lambda root: (-len(root.address), root.address)))


def _addresses(collection: DocumentCollection, path: str, docs: Sequence[str]) -> Iterator[str]:
    """Yield the addresses that documents below a path may have in the index: symbolic links are
    resolved in the indexed folders, but not in their contents."""
    from bot.search.folders import root_of
    from bot.search.index_file import address, is_below

    try:
        real = root_of(path)
    except InvalidSetting:
        raise InvalidSetting(said("rights-nowhere", name=collection.name, path=path)) from None
    written = Path(os.path.abspath(Path(path).expanduser()))
    addresses = {address(real), address(written)}
    inside = not docs
    for folder in docs:
        root, named = root_of(folder), Path(os.path.abspath(Path(folder).expanduser()))
        if written.is_relative_to(named):
            addresses.add(address(root / written.relative_to(named)))
        inside = inside or any(
            is_below(each, address(root)) or is_below(address(root), each) for each in addresses
        )
    if not inside:
        told = said("rights-outside", name=collection.name, path=path, docs=", ".join(docs))
        raise InvalidSetting(told)
    yield from sorted(addresses)


async def report(settings: Settings) -> Said:
    """Return each collection with its number of documents and who may search them.

    Raises ``InvalidSetting`` if the collections are unusable.
    """
    rights = Rights(settings)
    if not rights.collections:
        return said("check-rights-none")
    documents, told = LocalDocuments(settings.index_path, settings.docs), []
    try:
        for each in rights.collections:
            count = await _count(documents, rights, each)
            told.append(said("check-rights", name=each.name, count=count, who=readers_of(each)))
        told.append(said("check-rights-others", count=await _count(documents, rights, None)))
    finally:
        await documents.aclose()
    return sum(told[1:], told[0]) if settings.docs else sum(told, said("check-rights-ever"))


async def _count(
    documents: LocalDocuments, rights: Rights, collection: DocumentCollection | None
) -> Said:
    """Count the documents of one collection, or of none."""
    rules = tuple((root.address, root.collection is collection) for root in rights.roots)
    try:
        count = await documents.count(Reach(rules, others=collection is None))
    except ProviderUnavailable:
        return said("check-rights-unindexed")
    return said("web-source-count", count=count)


def readers_of(named: Readership) -> Sentence:
    """Return who may read a collection or use a server."""
    if named.everybody:
        return said("sources-everybody")
    lists = ((name, ", ".join(getattr(named, name))) for name in WHO)
    named_by = {f"sources-{name.replace('_', '-')}": ids for name, ids in lists if ids}
    return listed([said(id, ids=ids) for id, ids in named_by.items()])


DOCUMENTS = "local"  # the search provider of the operator's documents


def searched_here(
    rights: Rights, reader: Reader, providers: Collection[str], texts: Texts
) -> list[str]:
    """Return the collections that a reader's questions search, a line each after a title; empty if
    there are no documents. Other collections are counted but not named: their names may be
    confidential.
    """
    if DOCUMENTS not in providers:
        return []
    lines = [texts("searched-title")]
    hidden = rights.hidden_servers(reader)
    others = [name for name in providers if name != DOCUMENTS and name not in hidden]
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


RULES = (
    "collections",
    "mcp",
    "channels",
    "allow_workspaces",
    "allow_channels",
    "deny_channels",
    "allow_users",
    "deny_users",
    "allow_roles",
    "direct_messages",
    "guests",
    "admins",
    "admin_groups",
    "console_user_header",
    "console_groups_header",
    "oidc_allow_groups",
)
_SEEN = ("footnote", "", "rules")  # the fact that has the rules as they were last seen


class RuleChanges:
    """Compares the rules with those last seen. ``rights`` holds the current collections."""

    def __init__(self, database: Database, settings: Settings, rights: Rights) -> None:
        self._database = database
        self._settings = settings
        self._rights = rights

    async def look(self) -> None:
        """Record changes; the first call has nothing to compare with. Raises
        ``StorageUnavailable``."""
        seen = {name: _digest(self._value(name)) for name in RULES}
        async with self._database.write() as db:
            before = await fact(db, *_SEEN)
            if before == seen:
                return
            await keep_fact(db, *_SEEN, seen)
            if before is None:
                return
            for name in RULES:
                if before.get(name) != seen[name]:
                    await note(db, "ruled", "setting", name, by=Actor("footnote", "", ""))

    def _value(self, name: str) -> object:
        if name not in ("collections", "mcp"):
            return getattr(self._settings, name)
        try:
            return self._rights.collections if name == "collections" else self._rights.servers
        except InvalidSetting:
            return None  # no one may search any document now


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]
