"""What a document is, judged by its bytes first and by what it is said to be second.

Servers mislabel: error pages come as PDF, HTML as text/plain, everything as octet-stream. The
signatures are those of the WHATWG MIME Sniffing standard (https://mimesniff.spec.whatwg.org/).
"""

from __future__ import annotations

import codecs
import re
from pathlib import PurePosixPath
from typing import Literal
from urllib.parse import urlsplit

from bot.errors import PageUnreadable
from bot.pages.urls import shown

Kind = Literal["html", "markdown", "text", "json", "pdf"]

LOOK_AT = 1_445
"""Bytes from the start that are enough to tell: the standard's "resource header"."""

_BY_TYPE: dict[str, Kind] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/plain": "text",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "application/json": "json",
    "application/ld+json": "json",
    "text/json": "json",
    "application/pdf": "pdf",
    "application/x-pdf": "pdf",
}
_BY_ENDING: dict[str, Kind] = {
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdown": "markdown",
    ".json": "json",
    ".pdf": "pdf",
}
_SAYS_NOTHING = frozenset(
    {
        "",
        "application/octet-stream",
        "binary/octet-stream",
        "application/unknown",
        "unknown/unknown",
    }
)
_XML_TYPES = frozenset({"application/xml", "text/xml"})

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"BM", "an image"),
    (b"II*\x00", "an image"),
    (b"MM\x00*", "an image"),
    (b"\x00\x00\x01\x00", "an image"),
    (b"RIFF", "an image, a sound file or a video"),
    (b"OggS", "a sound file or a video"),
    (b"ID3", "a sound file"),
    (b"\x1aE\xdf\xa3", "a video"),
    (b"PK\x03\x04", "an Office document or an archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Office document"),
    (b"\x1f\x8b", "an archive"),
    (b"BZh", "an archive"),
    (b"\xfd7zXZ\x00", "an archive"),
    (b"7z\xbc\xaf\x27\x1c", "an archive"),
    (b"Rar!\x1a\x07", "an archive"),
    (b"\x28\xb5\x2f\xfd", "an archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"SQLite format 3\x00", "a database"),
)
_BY_FAMILY = {
    "image": "an image",
    "audio": "a sound file",
    "video": "a video",
    "font": "a font",
}
_PDF = b"%PDF-"
_PDF_WITHIN = 1_024  # bytes; readers allow for a preamble (PDF Reference 1.7, appendix H.3.4.1)
_PDF_TYPES = frozenset(of for of, kind in _BY_TYPE.items() if kind == "pdf")

_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")  # "binary data bytes" of the standard
_FEW_BINARY = 0.02  # share of stray control characters that text may have

_BEFORE_MARKUP = rb"(?:\s|<!--.*?(?:-->|\Z)|<\?xml.*?\?>)*"
_DOCUMENT = re.compile(_BEFORE_MARKUP + rb"<(?:!doctype\s+html|html|head|body)\b", re.I | re.S)
_FRAGMENT = re.compile(
    _BEFORE_MARKUP
    + rb"<(?:script|style|meta|link|title|h[1-6]|div|p|table|a|b|br|font|span|section|article|main"
    rb"|header|nav|ul|ol|iframe)\b[^>]*>",
    re.I | re.S,
)
_JSON = re.compile(rb"\s*[{\[]\s*[\"{\[\]}0-9tfn-]")


def kind_of(start: bytes, content_type: str | None, name: str) -> Kind:
    """What to read a document as.

    ``start`` are its first bytes (``LOOK_AT`` or all), ``content_type`` what its transport says,
    ``name`` its URL or file name. Raises ``PageUnreadable`` for what is not text to read.
    """
    declared = (content_type or "").partition(";")[0].strip().lower()
    if _DOCUMENT.match(_without_mark(start)):
        return "html"
    if may_be_pdf(start, declared):
        return "pdf"
    binary = _binary(start)
    if binary:
        raise unreadable(name, binary)
    if declared in _SAYS_NOTHING:
        return _BY_ENDING.get(_ending(name)) or _sniffed(start)
    if declared in _BY_TYPE:
        kind = _BY_TYPE[declared]
        # servers have no better name for Markdown and JSON than plain text
        return _BY_ENDING.get(_ending(name), kind) if kind == "text" else kind
    if declared.endswith("+json"):
        return "json"
    raise unreadable(name, _described(declared))


def may_be_pdf(start: bytes, declared: str) -> bool:
    """Whether a document that is no HTML is read as PDF; ``declared`` is a bare media type."""
    if declared in _PDF_TYPES and _PDF in start[:_PDF_WITHIN]:
        return True
    return start.lstrip().startswith(_PDF)


def unreadable(name: str, what: str) -> PageUnreadable:
    called = shown(name)
    return PageUnreadable(
        f"{called} is {what}, and Footnote reads HTML, PDF, Markdown, plain text and JSON; give one"
        " of these, or paste the text."
    )


def _binary(start: bytes) -> str | None:
    """What a file without text is, None for text."""
    if start.startswith(_MARKS):
        return None
    controls = len(_BINARY.findall(start))
    if not controls:
        return None
    for signature, what in _SIGNATURES:
        if start.startswith(signature):
            return what
    if start[4:8] == b"ftyp":
        return "a video"
    if b"\x00" in start or controls > _FEW_BINARY * len(start):
        return "a binary file"
    return None


def _without_mark(start: bytes) -> bytes:
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return start[2:].replace(b"\x00", b"")
    return start.removeprefix(codecs.BOM_UTF8)


def _sniffed(start: bytes) -> Kind:
    if _FRAGMENT.match(start):
        return "html"
    return "json" if _JSON.match(start) else "text"


def _ending(name: str) -> str:
    path = urlsplit(name).path if name.startswith(("http://", "https://")) else name
    return PurePosixPath(path.replace("\\", "/")).suffix.lower()


def _described(declared: str) -> str:
    if declared in _XML_TYPES or declared.endswith("+xml"):
        return "an XML document"
    return (
        _BY_FAMILY.get(declared)
        or _BY_FAMILY.get(declared.partition("/")[0])
        or f"of the type {re.sub(r'[^a-z0-9/+._-]', '', declared)[:80] or 'unknown'}"
    )
