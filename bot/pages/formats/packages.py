"""Opens ZIP packages (Office Open XML, OpenDocument, EPUB) without trusting them.

A package of some kilobytes can
unpack to gigabytes, and XML can do the same with entities. So the sizes that a package declares are
checked before a part is read (``zipfile`` never returns more of a part than it declares), and parts
are parsed without entities, external files and network. A part that declares entities is refused,
because no office program writes any.
"""

from __future__ import annotations

import posixpath
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import IO, Any, NamedTuple
from urllib.parse import unquote

from lxml import etree  # type: ignore[import-untyped]

from bot.core.errors import PageUnreadable
from bot.core.texts import Said, said
from bot.pages.media import locked
from bot.pages.page import iso_day, meaningful_title

MOST_ENTRIES = 20_000
"""The most files in a package; a presentation with 1,000 slides and pictures has some 5,000."""
LARGEST_PART = 100_000_000
"""Bytes, unpacked, of a part that is read as a stream: a sheet of some two million cells."""
LARGEST_WHOLE = 300_000_000
"""Bytes, unpacked, of all parts read from one package."""
LARGEST_TREE = 12_000_000
"""Bytes of a part that is parsed as a whole; a tree takes some ten times as much memory."""
HIGHEST_RATIO = 250
"""Limit on how many times larger than its compressed form a part over ``LARGEST_TREE`` may be.
Deflate reaches 1,032 for pure repetition; sheets of repeated rows stay below 100.
"""

_ENCRYPTED = 0x1
_ENTITY = re.compile(rb"<!ENTITY")
_PROLOG = 4_096  # bytes from the start that contain a document's declarations, if there are any

_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    etree.XMLSyntaxError,
    EOFError,
    NotImplementedError,  # a compression method that zipfile does not support
    RuntimeError,  # zipfile's error for an encrypted entry
    OSError,
    ValueError,  # zipfile's error for an offset outside the file
    struct.error,
)


class Relationship(NamedTuple):
    """A reference from one part to another: the last word of its type, and the part's name; or to
    an address outside, of the kind "external"."""

    kind: str
    target: str


class Package:
    """The parts of one package."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive = archive
        self.name = name
        self.share_read = 0.0  # of the part that ``elements`` is reading
        self._size_read = 0  # bytes of all parts read so far
        self._source: _Source | None = None
        self._entries = {entry.filename: entry for entry in archive.infolist()}

    def __contains__(self, part: str) -> bool:
        return part in self._entries

    def check_present(self, part: str) -> None:
        """Raise if a part that every document of this kind has is missing."""
        if part not in self._entries:
            raise zipfile.BadZipFile(f"there is no part {part!r}")

    def names(self) -> list[str]:
        return list(self._entries)

    def read(self, part: str, most: int = LARGEST_TREE) -> bytes:
        """The bytes of a part; raises ``PageUnreadable`` if it is too large."""
        with self.stream(part, most) as file:
            return file.read()

    @contextmanager
    def stream(self, part: str, most: int = LARGEST_PART) -> Iterator[IO[bytes]]:
        self.check_present(part)
        self.check(part, most)
        self._size_read += self._entries[part].file_size
        if self._size_read > LARGEST_WHOLE:
            raise self._too_large("unread-unpacked", self._size_read)
        with self._archive.open(self._entries[part]) as file:
            yield file

    def check(self, part: str, most: int) -> None:
        """Raise ``PageUnreadable`` if a part is locked, or too large when unpacked."""
        entry = self._entries[part]
        if entry.flag_bits & _ENCRYPTED:
            raise locked(self.name)
        ratio = entry.file_size / max(1, entry.compress_size)
        if entry.file_size > most or (entry.file_size > LARGEST_TREE and ratio > HIGHEST_RATIO):
            raise self._too_large("unread-part", entry.file_size)

    def _too_large(self, id: str, size: int) -> PageUnreadable:
        return PageUnreadable(said(id, name=self.name, size=size / 1e6))

    def properties(self) -> tuple[str, str]:
        """The day of the last change and the author, as the properties say; "" for unknown ones."""
        try:
            parts = map(self.tree, ("docProps/core.xml", "meta.xml"))
            root = next((part for part in parts if part is not None), etree.Element("none"))
        except PageUnreadable:  # a document can be read without them
            return "", ""
        said = {etree.QName(each).localname: each.text or "" for each in root.iter(etree.Element)}
        author = said.get("initial-creator") or said.get("creator", "")
        return iso_day(said.get("modified") or said.get("date", "")), " ".join(author.split())

    def tree(self, part: str) -> Any:
        """The root element of an XML part; None if there is no such part."""
        if part not in self._entries:
            return None
        data = self.read(part)
        _refuse_entities(data[:_PROLOG], self.name)
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        return etree.fromstring(data, parser)

    def elements(self, part: str, tags: tuple[str, ...]) -> Iterator[Any]:
        """The elements of a large XML part with one of these names, each as soon as it is complete.

        The caller passes an element that it no longer needs to ``forget``. Raises
        ``PageUnreadable`` if more than ``LARGEST_TREE`` would have to be kept at once.
        """
        with self.stream(part) as file:
            self._source = _Source(file, self.name)
            size = max(1, self._entries[part].file_size)
            for _, element in etree.iterparse(
                self._source, tag=tags, resolve_entities=False, no_network=True, load_dtd=False
            ):
                self.share_read = file.tell() / size
                yield element

    def forget(self, element: Any) -> None:
        """Free an element that is no longer needed, and those before it."""
        element.clear(keep_tail=True)
        parent = element.getparent()
        if parent is not None:
            while element.getprevious() is not None:
                del parent[0]
        if self._source is not None:
            self._source.forget()

    def relationships(self, part: str) -> dict[str, Relationship]:
        """The parts that a part of an Office Open XML package refers to, by id; addresses outside
        are of the kind "external".
        """
        folder, file = posixpath.split(part)
        root = self.tree(posixpath.join(folder, "_rels", f"{file}.rels"))
        found = {}
        for element in () if root is None else root.iter("{*}Relationship"):
            kind = (element.get("Type") or "").rpartition("/")[2]
            target = element.get("Target") or ""
            is_outside = element.get("TargetMode") == "External"
            found[element.get("Id") or ""] = (
                Relationship("external", target)
                if is_outside
                else Relationship(kind, resolved(part, target))
            )
        return found


class _Source:
    """An XML part that is being parsed; reading raises an error if too much of it is kept."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = file
        self._name = name
        self._forgotten = 0
        self._started = False

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        if not self._started:
            _refuse_entities(data[:_PROLOG], self._name)
            self._started = True
        if self._file.tell() - self._forgotten > LARGEST_TREE:
            raise PageUnreadable(said("unread-paragraph", name=self._name, most=LARGEST_TREE / 1e6))
        return data

    def forget(self) -> None:
        self._forgotten = self._file.tell()


@contextmanager
def open_package(data: bytes, name: str, what: Said) -> Iterator[Package]:
    """Open the package in these bytes; ``what`` describes it in errors, like "a Word document".

    Raises ``PageUnreadable``, also for damage that is detected inside the ``with`` block.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            if len(archive.filelist) > MOST_ENTRIES:
                raise PageUnreadable(said("unread-entries", name=name, most=MOST_ENTRIES))
            yield Package(archive, name)
    except _BROKEN as error:
        raise broken(name, what, error) from None


def broken(name: str, what: Said, error: Exception) -> PageUnreadable:
    detail = f"{type(error).__name__}: {error}"
    return PageUnreadable(said("unread-broken", name=name, what=what), detail=detail)


def resolved(part: str, target: str) -> str:
    """The name of the part that a relative reference in another part refers to."""
    path = unquote(target.partition("#")[0]).replace("\\", "/")
    if path.startswith("/"):
        return path.lstrip("/")
    return posixpath.normpath(posixpath.join(posixpath.dirname(part), path))


def local(element: Any) -> str:
    """An element's name without its namespace; "" for comments and processing instructions."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def outside(element: Any, around: frozenset[str]) -> Any:
    """The nearest ancestor of an element whose name is not among these; None if there is none."""
    parent = element.getparent()
    while parent is not None and local(parent) in around:
        parent = parent.getparent()
    return parent


def attribute(element: Any, name: str) -> str | None:
    """The value of an attribute in any namespace; transitional and strict documents use different
    ones.
    """
    for key, value in element.attrib.items():
        if key.rpartition("}")[2] == name:
            return str(value)
    return None


def value(element: Any, name: str) -> str:
    """The ``w:val`` of a child element, or ""."""
    child = element.find(f"{{*}}{name}")
    return "" if child is None else attribute(child, "val") or ""


def is_on(properties: Any, name: str, otherwise: bool = False) -> bool:
    """True if an on/off property is on."""
    child = properties.find(f"{{*}}{name}")
    if child is None:
        return otherwise
    return (attribute(child, "val") or "1") not in ("0", "false", "off")


def _refuse_entities(start: bytes, name: str) -> None:
    if _ENTITY.search(start.replace(b"\x00", b"")):
        raise PageUnreadable(said("unread-entities", name=name))


_MAIN = "officeDocument"
_CORE = "core-properties"


def main_part(package: Package, usual: str) -> str:
    """The name of the part that contains the document itself."""
    for each in package.relationships("").values():
        if each.kind == _MAIN:
            return each.target
    return usual


def core_title(package: Package) -> str:
    """The title in the document's properties; "" for one that a program inserted by default."""
    for each in package.relationships("").values():
        if each.kind == _CORE and each.target in package:
            root = package.tree(each.target)
            return meaningful_title("" if root is None else root.findtext("{*}title") or "")
    return ""


def whole(text: str | None, default: int) -> int:
    """The number from 0 to 999,999,999 in an attribute, or the default."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else default
