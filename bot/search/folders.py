"""Finds the documents in folders, opens them, and gives reasons for the files that are skipped.

People who may write into a folder can exchange a file or a folder for a link at any moment. A path
is therefore resolved and checked once; after that it is opened by its real path, following no link
in any part of it (``open_real``), and what was opened is checked, not what the path led to before.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from io import BufferedReader
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

from bot.core.errors import InvalidSetting
from bot.core.texts import Said, Sentence, encoded, said
from bot.pages.media import media_type_of
from bot.search.index_file import address, is_below

# Folders that tools fill and people do not write in. Hidden ones (.git, .venv) are skipped as well.
JUNK = frozenset({"node_modules", "bower_components", "__pycache__", "site-packages", "venv"})

# Sphinx copies the source of each page into this folder beside the HTML pages made of them.
_PAGE_SOURCES = "_sources"

# Stored in place of an ending for what the walk does not look at: a hidden file, a whole folder.
HIDDEN, FOLDER = "hidden", "folder"

# What browsers load for the pages of a folder and of those below it, and what tools write.
_OF_SITES = (".js", ".json")
_OF_TOOLS = ("-lock.json", "-lock.yaml", ".min.js")

_NOT_REGULAR = said("unread-not-regular")
_EXCHANGED = said("unread-exchanged")
_THROUGH_FOLDER = (
    os.O_DIRECTORY | os.O_NOFOLLOW | getattr(os, "O_PATH", os.O_RDONLY)  # O_PATH: Linux
)


class Document(NamedTuple):
    """A file to index: its path as found, its ``file://`` address, and results of ``stat``.

    ``real`` is its path with all links resolved, which was checked to be inside the folders.
    ``modified`` is in nanoseconds, ``size`` in bytes. A tuple for speed: a large folder needs tens
    of thousands of them before the first question can be answered.
    """

    path: str
    real: str
    url: str
    media_type: str
    size: int
    modified: int


def open_file(real: str) -> BufferedReader:
    """Open the file with this real path, which must be regular, following no link. Raises
    ``OSError``; ``why_not`` says the reason."""
    # O_NONBLOCK: opening a pipe would wait for a writer.
    descriptor = open_real(real, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    return os.fdopen(descriptor, "rb")


def open_real(path: str, flags: int) -> int:
    """Open an absolute path without following a link in any part of it; returns the descriptor.

    Each folder is opened in the one above it, so that exchanging one in between has no effect
    (openat(2)). Raises ``OSError``, with ``ELOOP`` or ``ENOTDIR`` where a part is a link.
    """
    *folders, name = path.split("/")[1:]
    above = os.open("/", _THROUGH_FOLDER)
    try:
        for folder in folders:
            inner = os.open(folder, _THROUGH_FOLDER, dir_fd=above)
            os.close(above)
            above = inner
        return os.open(name or ".", flags | os.O_NOFOLLOW, dir_fd=above)
    finally:
        os.close(above)


def why_not(error: OSError) -> Said:
    """The reason, as a sentence, why a listed file could not be opened."""
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return _EXCHANGED
    if error.errno == errno.EINVAL:
        return _NOT_REGULAR
    return said("unread-cannot", why=str(error.strerror))


@dataclass(slots=True)
class Listing:
    """The result of a walk; ``skipped`` are pairs of a path that cannot be looked at and the
    reason, as a sentence in English.

    ``unread`` counts the files of kinds that are not read, by their folder's address and ending,
    and what was not looked at: by its folder with ``HIDDEN`` or ``FOLDER``, or by its own address
    and the reason (``encoded``).
    ``unseen`` are the addresses of folders and files that are there and could not be looked at,
    ``folders`` the real paths of all folders.
    """

    documents: dict[str, Document] = field(default_factory=dict)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    unread: Counter[tuple[str, str]] = field(default_factory=Counter)
    unseen: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)

    def places(self) -> tuple[str, ...]:
        """What ``stamp`` looks at."""
        return (*self.folders, *(document.real for document in self.documents.values()))

    def is_gone(self, url: str) -> bool:
        """Return True if there is no file at an address, as far as the walk could see."""
        return url not in self.documents and not any(is_below(url, each) for each in self.unseen)


def stamp(places: Iterable[str]) -> int:
    """A value that differs when one of these folders and files has been changed, renamed, deleted
    or given other permissions. Takes a third of the time of ``list_documents``."""
    return hash(tuple(map(_changed_at, places)))


def _changed_at(path: str) -> int:
    try:
        return os.stat(path).st_ctime_ns
    except OSError:
        return 0


def root_of(path: str | Path) -> Path:
    """The absolute path of a configured folder or file, with links resolved.

    Raises ``InvalidSetting`` if it does not exist.
    """
    try:
        return Path(path).expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidSetting(
            said("sources-path-gone", path=str(path)), detail=type(error).__name__
        ) from None


def list_documents(roots: Iterable[Path]) -> Listing:
    """Walk the roots (from ``root_of``), visiting each file once, in a fixed order.

    A link is followed only if it leads to something inside the roots that the walk does not reach
    otherwise (a mounted ConfigMap consists of such links). So cyclic links do not cause an endless
    walk, and nothing outside the roots is ever read. A root that is a file is included whatever its
    suffix. Hidden and junk folders, hidden files, and the sources that Sphinx puts beside its pages
    are skipped without a reason.

    Costs little more than one ``stat`` per file: 50,000 files take about 0.3 s.
    """
    walk = _Walk(tuple(roots))
    for root in walk.roots:
        if root.is_dir():
            walk.folder(str(root), str(root))
        else:
            walk.named_file(str(root))
    walk.follow_links()
    return walk.listing


class _Folder(NamedTuple):
    """A folder to walk: its path as found, its real path, its address; whether HTML pages are in
    it or above it; the names of its folders that are left out."""

    path: str
    real: str
    url: str
    of_site: bool = False
    junk: frozenset[str] = JUNK


class _Walk:
    def __init__(self, roots: tuple[Path, ...]) -> None:
        self.roots = roots
        self.listing = Listing()
        self._walked: dict[str, str] = {}  # real path of a folder → its address as found
        self._files: set[str] = set()  # real paths of files that were found outside of these
        self._links: list[str] = []

    def folder(self, path: str, real: str) -> None:
        waiting = [_Folder(path, real, address(path))]
        while waiting:
            folder = waiting.pop()
            if folder.real not in self._walked:
                self._walked[folder.real] = folder.url
                self.listing.folders.append(folder.real)
                waiting.extend(reversed(self._entries(folder)))

    def _entries(self, folder: _Folder) -> list[_Folder]:
        """Add the files of a folder; returns its subfolders."""
        descriptor = -1
        try:
            descriptor = open_real(folder.real, os.O_RDONLY | os.O_DIRECTORY)
            with os.scandir(descriptor) as found:
                entries = sorted(found, key=_NAME)
            if any(entry.name.endswith(".html") for entry in entries):
                folder = folder._replace(of_site=True, junk=JUNK | {_PAGE_SOURCES})
            return [inner for entry in entries if (inner := self._entry(folder, entry))]
        except OSError as error:
            self._unseen(folder.url, error)
            why = said("unread-folder", why=str(error.strerror))
            self._miss(folder.path, folder.url, why)
            return []
        finally:
            if descriptor >= 0:
                os.close(descriptor)

    def _entry(self, folder: _Folder, entry: os.DirEntry[str]) -> _Folder | None:
        """Add a file of a folder, or return a subfolder."""
        name = entry.name
        if name[0] == ".":
            self._leave(folder.url, FOLDER if entry.is_dir(follow_symlinks=False) else HIDDEN)
            return None
        path, real = os.path.join(folder.path, name), os.path.join(folder.real, name)
        if entry.is_symlink():
            self._links.append(path)
        elif entry.is_dir(follow_symlinks=False):
            if name not in folder.junk:
                return _Folder(path, real, f"{folder.url}/{_quoted(name)}", folder.of_site)
            self._leave(folder.url, FOLDER)
        elif (kind := _type_of(name)) is None or name.endswith(
            _OF_SITES if folder.of_site else _OF_TOOLS
        ):
            self._leave(folder.url, _suffix(name))
        else:
            self._add(entry, path, real, f"{folder.url}/{_quoted(name)}", kind)
        return None

    def follow_links(self) -> None:
        while self._links:
            links, self._links = sorted(self._links), []
            for link in links:
                # What may not be followed leads nowhere too; ``realpath`` would raise an error.
                target = os.path.realpath(link) if os.path.exists(link) else ""
                if not target:
                    self._miss(link, address(link), said("unread-link-nowhere"))
                elif not any(Path(target).is_relative_to(root) for root in self.roots):
                    self._miss(link, address(link), said("unread-link-out"))
                elif os.path.isdir(target):
                    self.folder(link, target)
                elif not self._is_taken(target):
                    self._linked_file(link, target)

    def _is_taken(self, real: str) -> bool:
        folder, name = os.path.split(real)
        url = self._walked.get(folder)
        return real in self._files or (
            url is not None and f"{url}/{_quoted(name)}" in self.listing.documents
        )

    def _linked_file(self, link: str, target: str) -> None:
        kind = _type_of(link)
        if kind is None:
            self._leave(address(os.path.dirname(link)), _suffix(link))
        else:
            self._files.add(target)
            self._add(Path(target), link, target, address(link), kind)

    def named_file(self, path: str) -> None:
        self._files.add(path)
        self._add(Path(path), path, path, address(path), media_type_of(path) or "text/plain")

    def _add(
        self, file: os.DirEntry[str] | Path, path: str, real: str, url: str, media_type: str
    ) -> None:
        try:
            status = file.stat(follow_symlinks=False)
        except OSError as error:
            self._unseen(url, error)
            self._miss(path, url, said("unread-shut", why=str(error.strerror)))
            return
        if not stat.S_ISREG(status.st_mode):
            self._miss(path, url, _EXCHANGED if stat.S_ISLNK(status.st_mode) else _NOT_REGULAR)
            return
        self.listing.documents[url] = Document(
            path, real, url, media_type, status.st_size, status.st_mtime_ns
        )

    def _unseen(self, url: str, error: OSError) -> None:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            self.listing.unseen.append(url)

    def _miss(self, path: str, url: str, reason: Said) -> None:
        self.listing.unread[url, encoded(reason)] = 1
        self.listing.skipped.append((readable(path), in_english(reason)))

    def _leave(self, folder_url: str, mark: str) -> None:
        self.listing.unread[folder_url, mark] += 1


def original_of(url: str, folders: Iterable[str]) -> Path | None:
    """The real path of the file at a document's address; None if it is no longer there, or if it
    has become a link that leads out of the folders."""
    try:
        parts = urlsplit(url)
        real = Path(os.fsdecode(unquote_to_bytes(parts.path))).resolve(strict=True)
        roots = [Path(folder).expanduser().resolve() for folder in folders]
    except (OSError, RuntimeError, ValueError):
        return None
    is_inside = parts.scheme == "file" and any(map(real.is_relative_to, roots))
    return real if is_inside and real.is_file() else None


def in_english(reason: Sentence) -> str:
    """A reason as it is printed, without its full stop."""
    return str(reason).rstrip(".")


def readable(path: str) -> str:
    """A path in printable form, whatever bytes its name contains."""
    return os.fsencode(path).decode("utf-8", "replace")


_NAME = attrgetter("name")
_PLAIN = re.compile(r"[A-Za-z0-9_.~-]+").fullmatch  # unreserved characters, RFC 3986 section 2.3


def _quoted(name: str) -> str:
    """A name in the form in which ``Path.as_uri`` writes it."""
    return name if _PLAIN(name) else quote_from_bytes(os.fsencode(name))


def _type_of(path: str) -> str | None:
    """``media_type_of``, called only once for all files with the same endings."""
    return _type_of_ending("".join(f".{ending}" for ending in path.rsplit(".", 3)[1:]))


@lru_cache(maxsize=1_000)
def _type_of_ending(endings: str) -> str | None:
    return media_type_of(f"x{endings}")


def reads(name: str) -> bool:
    """Return True if a file with this name is read in a folder that is no site's."""
    return name[:1] not in ("", ".") and _type_of(name) is not None and not name.endswith(_OF_TOOLS)


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()
