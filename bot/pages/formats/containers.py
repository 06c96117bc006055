"""Detects and unpacks files that contain a document: ZIP packages, compound files, gzip.

The type is determined by the content, whatever the extension says.
"""

from __future__ import annotations

import zlib

from bot.core.errors import PageUnreadable, ReaderMissing
from bot.core.plugins import need
from bot.pages.formats.blocks import Reading
from bot.pages.formats.packages import Package, locked, open_package
from bot.pages.media import GZIPPED, unreadable

LARGEST_UNPACKED = 50_000_000
"""The most bytes that a gzip file may unpack to."""

_GZIP = 16 + zlib.MAX_WBITS  # tells zlib to expect a gzip header

_OLD = {
    "WordDocument": ("an old Word document (.doc)", ".docx"),
    "Workbook": ("an old Excel workbook (.xls)", ".xlsx"),
    "Book": ("an old Excel workbook (.xls)", ".xlsx"),
    "PowerPoint Document": ("an old PowerPoint presentation (.ppt)", ".pptx"),
}
_LOCKED = "EncryptedPackage"
_NAMES_END = "\x00"


def read_package(data: bytes, name: str) -> Reading:
    """Read an Office, OpenDocument or EPUB document; ``name`` is its name in errors.

    Raises ``PageUnreadable`` for one that is damaged, locked or too large, and for other ZIP files,
    ``ReaderMissing`` for a workbook if the extra that reads it is not installed.
    """
    with open_package(data, name, "a ZIP file, as Office documents are,") as package:
        kind = _kind(package)
    match kind:
        case "word":
            from bot.pages.formats.word import read_word

            return read_word(data, name)
        case "slides":
            from bot.pages.formats.slides import read_slides

            return read_slides(data, name)
        case "sheets":
            need("office", "Reading .xlsx files", ReaderMissing)
            from bot.pages.formats.sheets import read_sheets  # loads openpyxl

            return read_sheets(data, name)
        case "opendocument":
            from bot.pages.formats.opendocument import read_opendocument

            return read_opendocument(data, name)
        case "epub":
            from bot.pages.formats.epub import read_epub

            return read_epub(data, name)
    raise unreadable(name, kind)


def _kind(package: Package) -> str:
    """The kind of a package's content: one that has a reader, or a description for an error."""
    if "mimetype" in package:
        declared = package.read("mimetype", most=1_000).strip()
        if declared == b"application/epub+zip":
            return "epub"
        if declared.startswith(b"application/vnd.oasis.opendocument."):
            return "opendocument"
    if "META-INF/container.xml" in package:
        return "epub"
    if "[Content_Types].xml" in package:
        folders = {name.partition("/")[0] for name in package.names()}
        if "xl/workbook.bin" in package:
            return "a binary Excel workbook (.xlsb)"
        for folder, kind in (("word", "word"), ("ppt", "slides"), ("xl", "sheets")):
            if folder in folders:
                return kind
    if any(name.endswith(".iwa") for name in package.names()):
        return "a document of Apple's Pages, Numbers or Keynote"
    return "an archive"


def refuse_compound(data: bytes, name: str) -> PageUnreadable:
    """The error for a compound file (MS-CFB): it is old, or locked with a password."""
    if _holds(data, _LOCKED):
        return locked(name)
    for stream, (what, ending) in _OLD.items():
        if _holds(data, stream):
            return PageUnreadable(
                f"{name} is {what}; open it and save it as {ending}, which Footnote reads."
            )
    return unreadable(name, "an old Office document, or a message of Outlook")


def _holds(data: bytes, stream: str) -> bool:
    """True if the directory of a compound file has an entry of this name."""
    return f"{stream}{_NAMES_END}".encode("utf-16-le") in data


def gunzip(data: bytes, name: str) -> bytes:
    """The content of a gzip file; raises ``PageUnreadable`` if it is damaged or too large."""
    content = bytearray()
    while data.startswith(GZIPPED):  # one member after the other (RFC 1952, section 2.2)
        member = zlib.decompressobj(_GZIP)
        try:
            content += member.decompress(data, LARGEST_UNPACKED + 1 - len(content))
        except zlib.error as error:
            raise _damaged_gzip(name, str(error)) from None
        if len(content) > LARGEST_UNPACKED:
            raise PageUnreadable(
                f"{name} unpacks to more than {LARGEST_UNPACKED / 1e6:g} MB; split it into smaller"
                " files."
            )
        if not member.eof:
            raise _damaged_gzip(name, "the end is missing")
        data = member.unused_data
    return bytes(content)


def _damaged_gzip(name: str, detail: str) -> PageUnreadable:
    return PageUnreadable(
        f"{name} is a gzip file that is damaged; pack it again, or give the file in it.",
        detail=detail,
    )
