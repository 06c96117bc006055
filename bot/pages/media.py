"""Detects the type of a document, first by its bytes, then by its declared type.

``FORMATS`` is the single table of formats that Footnote reads: it decides which files of folders
are read, how media types and extensions are interpreted, and which uploads are offered. Servers
mislabel: they send error pages as PDF, HTML as text/plain, everything as octet-stream; and people
give files wrong extensions. The signatures are those of the WHATWG MIME Sniffing standard
(https://mimesniff.spec.whatwg.org/).
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from urllib.parse import urlsplit

from bot.core.errors import PageUnreadable
from bot.core.texts import Said, Sentence, said
from bot.pages.charset import utf16_of
from bot.pages.pictures import ENDINGS
from bot.pages.urls import display_url

# fmt: off
Kind = Literal[
    "html", "markdown", "text", "json", "pdf", "rst", "asciidoc", "org", "man", "csv", "tsv",
    "notebook", "package", "compound", "gzip", "rtf", "latex", "docbook", "mediawiki", "textile",
    "fb2", "mail", "subtitles", "settings", "code", "log",
]
# fmt: on
"""The kinds of documents. A "package" is a ZIP file (Office, OpenDocument, EPUB), "compound" the
container of old or encrypted Office documents.
"""

LOOK_AT = 1_445
"""Bytes from the start that suffice to detect the type: the standard's "resource header"."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format that Footnote reads.

    ``name`` is its display name. ``types`` are its media types, the preferred one first. Files in
    folders with one of its ``endings`` are documents.
    """

    kind: Kind
    name: Sentence
    endings: tuple[str, ...]
    types: tuple[str, ...]


_OOXML = "application/vnd.openxmlformats-officedocument."
_ODF = "application/vnd.oasis.opendocument."
_MAN_ENDINGS = tuple(f".{section}" for section in range(1, 9))

# fmt: off
FORMATS = (
    Format("markdown", "Markdown", (".md", ".markdown", ".mdown", ".mkd", ".mdx"),
           ("text/markdown", "text/x-markdown")),
    Format("html", "HTML", (".html", ".htm", ".xhtml"), ("text/html", "application/xhtml+xml")),
    Format("text", said("format-text"), (".txt", ".text", ""), ("text/plain",)),
    Format("rst", "reStructuredText", (".rst", ".rest", ".rst.txt"),
           ("text/x-rst", "text/prs.fallenstein.rst")),
    Format("asciidoc", "AsciiDoc", (".adoc", ".asciidoc"),
           ("text/asciidoc", "text/x-asciidoc")),
    Format("org", "Org", (".org",),
           ("text/org", "text/x-org", "application/vnd.lotus-organizer")),  # what systems report
    Format("man", said("format-man"), _MAN_ENDINGS, ("text/troff", "application/x-troff-man")),
    Format("pdf", "PDF", (".pdf",), ("application/pdf", "application/x-pdf")),
    Format("package", "Word", (".docx", ".docm", ".dotx"),
           (f"{_OOXML}wordprocessingml.document",
            "application/vnd.ms-word.document.macroenabled.12")),
    Format("package", "PowerPoint", (".pptx", ".pptm", ".ppsx", ".potx"),
           (f"{_OOXML}presentationml.presentation", f"{_OOXML}presentationml.slideshow",
            "application/vnd.ms-powerpoint.presentation.macroenabled.12")),
    Format("package", "Excel", (".xlsx", ".xlsm", ".xltx"),
           (f"{_OOXML}spreadsheetml.sheet", "application/vnd.ms-excel.sheet.macroenabled.12")),
    Format("package", "OpenDocument", (".odt", ".ott", ".ods", ".ots", ".odp", ".otp"),
           (f"{_ODF}text", f"{_ODF}spreadsheet", f"{_ODF}presentation")),
    Format("package", "EPUB", (".epub",), ("application/epub+zip",)),
    Format("csv", "CSV", (".csv",), ("text/csv", "application/csv", "text/comma-separated-values")),
    Format("tsv", "TSV", (".tsv", ".tab"), ("text/tab-separated-values",)),
    Format("notebook", said("format-notebook"), (".ipynb",), ("application/x-ipynb+json",)),
    Format("mail", said("format-mail"), (".eml", ".mbox"), ("message/rfc822", "application/mbox")),
    Format("compound", said("format-outlook"), (".msg",), ("application/vnd.ms-outlook",)),
    Format("subtitles", said("format-subtitles"), (".vtt", ".srt"),
           ("text/vtt", "application/x-subrip")),
    Format("json", "JSON", (".json", ".jsonl", ".ndjson"),
           ("application/json", "application/ld+json", "text/json", "application/x-ndjson")),
    Format("settings", said("format-settings"),
           (".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".env", ".properties"),
           ("application/yaml", "application/x-yaml", "text/yaml", "application/toml")),
    Format("log", said("format-log"), (".log",), ("text/x-log",)),
    Format("code", said("format-code"),
           (".py", ".js", ".jsx", ".ts", ".tsx", ".go", ".java", ".c", ".h", ".cpp", ".rs", ".rb",
            ".php", ".cs", ".sh", ".ps1", ".kt", ".swift", ".sql", ".proto", ".tf"),
           ("text/x-source",)),
    # Read best by pandoc, if it is installed (bot.pages.formats.pandoc):
    Format("rtf", "RTF", (".rtf",), ("application/rtf", "text/rtf")),
    Format("latex", "LaTeX", (".tex", ".latex"), ("application/x-latex", "text/x-tex")),
    Format("docbook", "DocBook", (".dbk", ".docbook"), ("application/docbook+xml",)),
    Format("mediawiki", "MediaWiki", (".mediawiki", ".wiki"), ("text/x-mediawiki",)),
    Format("textile", "Textile", (".textile",), ("text/x-textile",)),
    Format("fb2", "FictionBook", (".fb2",), ("application/x-fictionbook+xml",)),
)
# fmt: on

GZIP = "application/gzip"
"""The media type of a file of one of these formats that is compressed with gzip."""

_BY_TYPE = {media_type: each for each in FORMATS for media_type in each.types}
_BY_ENDING = {ending: each for each in FORMATS for ending in each.endings}
_GZIP_TYPES = frozenset({GZIP, "application/x-gzip"})
_LEGACY_TYPES = frozenset(
    {"application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"}
)
_SAYS_NOTHING = frozenset(
    {
        "",
        "application/octet-stream",
        "binary/octet-stream",
        "application/unknown",
        "unknown/unknown",
        *("application/zip", "application/x-zip-compressed"),  # packages are ZIP files too
        *_GZIP_TYPES,
        *_LEGACY_TYPES,  # Windows reports them for CSV
    }
)
_CONTAINERS = frozenset({"pdf", "package", "compound", "gzip"})
_XML_TYPES = frozenset({"application/xml", "text/xml"})

_ZIP = b"PK\x03\x04"
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
GZIPPED = b"\x1f\x8b"
_SIGNATURES = {
    "what-image": (
        *(b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\x00", b"MM\x00*"),
        b"\x00\x00\x01\x00",
    ),
    "what-media": (b"RIFF",),
    "what-sound-video": (b"OggS",),
    "what-audio": (b"ID3",),
    "what-video": (b"\x1aE\xdf\xa3",),
    "what-archive": (
        *(b"BZh", b"\xfd7zXZ\x00", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\x28\xb5\x2f\xfd"),
    ),
    "what-program": (b"\x7fELF", b"MZ"),
    "what-database": (b"SQLite format 3\x00",),
}
_HEIF = (b"heic", b"heix", b"mif1", b"avif")  # brands of pictures in a container of videos
_TAR = b"ustar"
_TAR_AT = 257  # bytes from the start of an archive (POSIX.1-2017, pax)
_FAMILIES = ("image", "audio", "video", "font")
_PDF = b"%PDF-"
_PDF_WITHIN = 1_024  # bytes; readers accept a preamble (PDF Reference 1.7, appendix H.3.4.1)
_PDF_TYPES = frozenset(of for of, each in _BY_TYPE.items() if each.kind == "pdf")

_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")  # "binary data bytes" of the standard
_FEW_BINARY = 0.02  # the largest share of stray control characters in text
_SOMETHING_BINARY = "what-binary"

_BEFORE_MARKUP = rb"(?:\s|<!--.*?(?:-->|\Z)|<\?xml.*?\?>)*"
_DOCUMENT = re.compile(_BEFORE_MARKUP + rb"<(?:!doctype\s+html|html|head|body)\b", re.I | re.S)
_FRAGMENT = re.compile(
    _BEFORE_MARKUP
    + rb"<(?:script|style|meta|link|title|h[1-6]|div|p|table|a|b|br|font|span|section|article|main"
    rb"|header|nav|ul|ol|iframe)\b[^>]*>",
    re.I | re.S,
)
_JSON = re.compile(rb"\s*[{\[]\s*[\"{\[\]}0-9tfn-]")
_ROFF = re.compile(rb"\s*(?:[.'][ \t]*(?:\\\"|(?:TH|Dd|so|de|ds|nr|if|ie|ig|do|mso)\b|\n)|'\\\")")
_RICH_TEXT = b"{\\rtf"


# ---------------------------------------------------------------- by name


def media_type_of(path: str) -> str | None:
    """The media type of a file in a folder, by its extension; None if it is not a document."""
    found = format_of(path)
    if found is None:
        return None
    return GZIP if _ending(path) == ".gz" else found.types[0]


def name_of(path: str) -> Sentence:
    """The display name of the format of a file that is read."""
    found = format_of(path)
    return found.name if found else said("format-text")


def format_of(path: str) -> Format | None:
    """The format of a file by its extension, even if it is compressed with gzip."""
    ending = _ending(path)
    return _BY_ENDING.get(_ending(path[: -len(ending)]) if ending == ".gz" else ending)


def holds_pictures(media_type: str) -> bool:
    """True for media types of PDFs, packages and mail: they are mostly pictures, or other files."""
    found = _BY_TYPE.get(media_type)
    return found is not None and found.kind in ("pdf", "package", "mail", "compound")


def is_log(media_type: str) -> bool:
    """True for the media type of logs, of which only the first part is read."""
    found = _BY_TYPE.get(media_type)
    return found is not None and found.kind == "log"


def accepted() -> str:
    """Extensions and media types of all formats and of pictures, as a value of HTML's
    ``accept``."""
    endings = [e for each in FORMATS for e in each.endings if e.count(".") == 1]
    sections = [e for e in endings if e in _MAN_ENDINGS and len(e) > 2]
    offered = [e for e in endings if e not in sections]
    types = [*(each.types[0] for each in FORMATS), *dict.fromkeys(ENDINGS.values())]
    return ",".join([*offered, *ENDINGS, ".gz", *types])


def described() -> str:
    """The names of all formats, as an enumeration for a sentence."""
    names = [str(each.name) for each in FORMATS]
    return f"{', '.join(names[:-1])} or {names[-1]}"


@lru_cache(maxsize=64)  # called several times for each file
def _ending(name: str) -> str:
    """The extension of a URL or a path, from its last dot or from the one before if that gives a
    known extension (".rst.txt"). A shared library's version number is not a manual section.
    """
    if name.startswith(("http://", "https://")):
        name = urlsplit(name).path
    stem, dot, last = name[max(name.rfind("/"), name.rfind("\\")) + 1 :].rpartition(".")
    if not dot or not stem.strip("."):
        return ""
    ending = f".{last.lower()}"
    both = f".{stem.rpartition('.')[2].lower()}{ending}" if "." in stem else ending
    if both in _BY_ENDING or (ending in _MAN_ENDINGS and both.startswith(".so.")):
        return both
    return ending


# ---------------------------------------------------------------- by content


def kind_of(start: bytes, content_type: str | None, name: str) -> Kind:
    """Detect the type as which to read a document.

    ``start`` are its first bytes (``LOOK_AT`` or all), ``content_type`` is the declared type,
    ``name`` its URL or file name. Raises ``PageUnreadable`` for a document that is not readable
    text.
    """
    declared = (content_type or "").partition(";")[0].strip().lower()
    if _DOCUMENT.match(_without_mark(start)):
        return "html"
    if may_be_pdf(start, declared):
        return "pdf"
    if start.startswith(_ZIP):
        return "package"
    if start.startswith(_COMPOUND):
        return "compound"
    if start.startswith(GZIPPED):
        return "gzip"
    binary = _binary(start)
    if binary:
        raise _binary_error(name, declared, binary)
    if start.startswith(_RICH_TEXT):
        return "rtf"
    return _text_kind(start, declared, name)


def _text_kind(start: bytes, declared: str, name: str) -> Kind:
    """The type of a document known to be text; a declared binary type is ignored."""
    by_name = _BY_ENDING.get(_ending(name))
    if by_name is not None and (by_name.kind in _CONTAINERS or by_name.kind == "text"):
        by_name = None
    if by_name is not None and by_name.kind == "man" and not _ROFF.match(start):
        by_name = None
    by_type = _BY_TYPE.get(declared)
    if declared in _SAYS_NOTHING or (by_type is not None and by_type.kind in _CONTAINERS):
        if declared in _PDF_TYPES:
            return "pdf"
        if by_name is not None:
            return by_name.kind
        if _FRAGMENT.match(start):
            return "html"
        return "json" if _JSON.match(start) else "text"
    if by_type is not None:
        if by_type.kind == "man" and not _ROFF.match(start):
            raise PageUnreadable(said("unread-man", name=display_url(name)))
        # servers often send Markdown and JSON as plain text
        return by_name.kind if by_name is not None and by_type.kind == "text" else by_type.kind
    if declared.endswith("+json"):
        return "json"
    if by_name is not None:  # ".ts" is sent as a video, ".yaml" and ".sql" under many names
        return by_name.kind
    raise unreadable(name, _described(declared))


def may_be_pdf(start: bytes, declared: str) -> bool:
    """True if a document other than HTML is read as PDF; ``declared`` is a bare media type."""
    if declared in _PDF_TYPES and _PDF in start[:_PDF_WITHIN]:
        return True
    return start.lstrip().startswith(_PDF)


def unreadable(name: str, what: Said) -> PageUnreadable:
    id = "unread-image" if what.id == "what-image" else "unread-kind"
    return PageUnreadable(said(id, name=display_url(name), what=what))


def locked(name: str) -> PageUnreadable:
    return PageUnreadable(said("unread-locked", name=name))


def _binary_error(name: str, declared: str, what: str) -> PageUnreadable:
    expected = _BY_TYPE.get(declared) or _BY_ENDING.get(_ending(name))
    if what == _SOMETHING_BINARY and expected is not None and expected.kind in _CONTAINERS:
        begins = said("unread-beginning", name=display_url(name), kind=expected.name)
        return PageUnreadable(begins)
    return unreadable(name, said(what))


def _binary(start: bytes) -> str | None:
    """The type of a binary file; None for text."""
    if start.startswith(_MARKS):
        return None
    controls = len(_BINARY.findall(start))
    if not controls:
        return None
    for what, signatures in _SIGNATURES.items():
        if start.startswith(signatures):
            return what
    if start[4:8] == b"ftyp":
        return "what-image" if start[8:12] in _HEIF else "what-video"
    if start[_TAR_AT:].startswith(_TAR):
        return "what-archive"
    if utf16_of(start) or (b"\x00" not in start and controls <= _FEW_BINARY * len(start)):
        return None
    return _SOMETHING_BINARY


def _without_mark(start: bytes) -> bytes:
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return start[2:].replace(b"\x00", b"")
    return start.removeprefix(codecs.BOM_UTF8)


def _described(declared: str) -> Said:
    if declared in _XML_TYPES or declared.endswith("+xml"):
        return said("what-xml")
    shown = re.sub(r"[^a-z0-9/+._-]", "", declared)[:80] or "unknown"
    family = declared.partition("/")[0]
    return said(f"what-{family}") if family in _FAMILIES else said("what-type", type=shown)
