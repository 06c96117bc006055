"""Which files of some folders are documents, and why the others are not."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bot.errors import InvalidSetting
from bot.pages.media import media_type_of

NOT_READ = "files are not read"  # the end of the reason for a file of another kind

# Folders that tools fill and nobody writes in. Hidden ones (.git, .venv) are left out as well.
JUNK = frozenset({"node_modules", "bower_components", "__pycache__", "site-packages", "venv"})


@dataclass(frozen=True, slots=True)
class Document:
    """A file to index: its path as met, its ``file://`` address, and what ``stat`` says.

    ``modified`` is in nanoseconds, ``size`` in bytes.
    """

    path: str
    url: str
    media_type: str
    size: int
    modified: int


@dataclass(slots=True)
class Listing:
    """What a walk found; ``skipped`` are pairs of a path and the reason, for a person to read."""

    documents: dict[str, Document] = field(default_factory=dict)
    skipped: list[tuple[str, str]] = field(default_factory=list)


def root_of(path: str | Path) -> Path:
    """The absolute place that a configured folder or file means, links in it resolved.

    Raises ``InvalidSetting`` when there is nothing.
    """
    try:
        return Path(path).expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidSetting(
            f"There is no file or folder {path}: correct --docs or FOOTNOTE_DOCS.",
            detail=type(error).__name__,
        ) from None


def list_documents(roots: Iterable[Path]) -> Listing:
    """Walk the roots (from ``root_of``), each file once, in a fixed order.

    A link is followed only where it leads to something inside the roots that the walk does not
    reach by itself (a mounted ConfigMap is made of such links); so a walk ends on any ring of
    links, and nothing outside the roots is ever read. A root that is a file is taken whatever its
    suffix. Hidden and junk folders and hidden files are left out silently.
    """
    walk = _Walk(tuple(roots))
    for root in walk.roots:
        if root.is_dir():
            walk.folder(str(root))
        else:
            walk.named_file(str(root))
    walk.follow_links()
    return walk.listing


class _Walk:
    def __init__(self, roots: tuple[Path, ...]) -> None:
        self.roots = roots
        self.listing = Listing()
        self._real: set[str] = set()  # real paths of every folder and file taken
        self._links: list[str] = []

    def folder(self, path: str) -> None:
        waiting = [path]
        while waiting:
            folder = waiting.pop()
            real = os.path.realpath(folder)
            if real in self._real:
                continue
            self._real.add(real)
            inner = []
            for entry in self._entries(folder):
                if entry.is_symlink():
                    self._links.append(entry.path)
                elif entry.is_dir(follow_symlinks=False):
                    if entry.name not in JUNK:
                        inner.append(entry.path)
                else:
                    self._file(entry.path)
            waiting.extend(reversed(inner))

    def _entries(self, folder: str) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self._skip(folder, f"the folder cannot be opened ({error.strerror})")
            return
        yield from (entry for entry in found if not entry.name.startswith("."))

    def follow_links(self) -> None:
        while self._links:
            links, self._links = sorted(self._links), []
            for link in links:
                target = os.path.realpath(link)
                if not os.path.exists(target):
                    self._skip(link, "a link that leads nowhere")
                elif not any(Path(target).is_relative_to(root) for root in self.roots):
                    self._skip(link, "a link that leads out of the indexed folders")
                elif os.path.isdir(target):
                    self.folder(link)
                elif target not in self._real:
                    self._file(link)

    def named_file(self, path: str) -> None:
        self._add(path, media_type_of(path) or "text/plain")

    def _file(self, path: str) -> None:
        kind = media_type_of(path)
        if kind is None:
            self._skip(path, f"{_suffix(path)} {NOT_READ}")
        else:
            self._add(path, kind)

    def _add(self, path: str, media_type: str) -> None:
        try:
            status = os.stat(path)
        except OSError as error:
            self._skip(path, f"it cannot be opened ({error.strerror})")
            return
        if not stat.S_ISREG(status.st_mode):
            self._skip(path, "it is not a regular file")
            return
        self._real.add(os.path.realpath(path))
        url = Path(path).as_uri()
        self.listing.documents[url] = Document(
            path, url, media_type, status.st_size, status.st_mtime_ns
        )

    def _skip(self, path: str, reason: str) -> None:
        self.listing.skipped.append((readable(path), reason))


def readable(path: str) -> str:
    """A path that can be printed, whatever bytes its name has."""
    return os.fsencode(path).decode("utf-8", "replace")


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()
