"""Converts bytes to a title and page text, for fetched pages and local documents alike.

``from_bytes`` is synchronous, pure and picklable; ``bot.pages.workers`` runs it off the event loop.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from bot.core.errors import PageUnreadable, ReaderMissing
from bot.core.extras import need
from bot.core.texts import said, size
from bot.pages import charset
from bot.pages.formats import pandoc
from bot.pages.markdown import read_markdown, without_components
from bot.pages.media import GZIPPED, LOOK_AT, Kind, format_of, kind_of, locked, unreadable
from bot.pages.page import LOST_WORD, Reading, compared
from bot.pages.plain import HeadedKind, read_headed, read_log, read_plain
from bot.pages.urls import display_url
from bot.text.patterns import lazy_regex

if TYPE_CHECKING:
    from bot.pages.formats.packages import Package

MAX_TITLE = 300  # characters
MOST_MARKS = 30  # on one letter
MOST_MARKUP = 1_000_000
"""The longest text in a markup language that pandoc reads, in characters; the largest file of eight
manuals is half as long. A longer one is read as text with headings.
"""

_MDOC = lazy_regex(r"^\.Dd\b", re.M)
_LINE_ENDS = lazy_regex("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_WIDE_SPACES = lazy_regex("[\u00a0\u2007\u202f]")
_INVISIBLE = lazy_regex(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"  # controls
    "\u00ad\u200b\u2060\ufeff"  # soft hyphen and zero-width spaces: they split words
    "\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction marks: they reorder quoted text
    "\ufdd0-\ufdef\ufffe\uffff"  # noncharacters
    "\U000e0000-\U000e007f]"  # tag characters: invisible text
)
_CONTROLS = lazy_regex("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")  # others mark text in readers
_SURROGATES = lazy_regex("[\ud800-\udfff]")
_TRAILING_SPACE = lazy_regex(r"(?<![ \t])[ \t]++$", re.MULTILINE)
_EMPTY_LINES = lazy_regex(r"\n{3,}")


def from_bytes(
    data: bytes, media_type: str | None, name: str, people: bytes = b"", depth: int = 0
) -> Reading:
    """Read a document; its title is one line and never empty.

    ``media_type`` is a Content-Type or None; its charset parameter is checked before use. ``name``
    is the URL or file name; it supplies the extension, a title if there is no better one, and the
    name in error messages. ``people`` is as in ``talk.read_chat``; ``depth`` counts the messages
    that an attachment is in. Raises ``PageUnreadable`` for a document without text,
    ``ReaderMissing`` if the format needs an extra that is not installed.
    """
    if not data.strip():
        raise _empty(name)
    kind = kind_of(data[:LOOK_AT], media_type, name)
    if kind == "gzip":
        data, media_type = gunzip(data, display_url(name)), None
        inner = name[:-3] if name.lower().endswith(".gz") else name
        kind = kind_of(data[:LOOK_AT], None, inner)
        if kind == "gzip":
            raise unreadable(name, said("what-gzip"))
        name = inner
    reading = _read(kind, data, media_type, name, people, depth)
    text = _clean(reading.text)
    if not text:
        raise _empty(name)
    omitted = {**reading.omitted, "damaged letter": text.count("\ufffd")}
    return reading._replace(
        title=one_line(reading.title) or _title_from(name),
        text=text,
        omitted={kind: count for kind, count in omitted.items() if count},
    )


def _empty(name: str) -> PageUnreadable:
    return PageUnreadable(said("unread-empty", name=display_url(name)))


def _read(
    kind: Kind, data: bytes, media_type: str | None, name: str, people: bytes, depth: int
) -> Reading:
    """Read a document of a kind. Slow imports happen only when they are needed."""
    shown = display_url(name)
    match kind:
        case "pdf":
            from bot.pages.formats.pdf import read_pdf

            return read_pdf(data, shown)
        case "package":
            from bot.pages.second_reading import of_package

            reading = _read_package(data, shown)
            if any(reading.omitted.get(each) for each in ("hidden text", "hidden column")):
                return reading  # what a second reading finds besides may be what is hidden
            try:
                return compared(reading, of_package(data, shown))
            except PageUnreadable:  # a part that only the second reading opens
                return reading._replace(omitted={**reading.omitted, "damaged part": 1})
        case "mail":
            from bot.pages.formats.mail import read_mail

            return read_mail(data, from_bytes, depth)
        case "compound":
            return _read_compound(data, shown, depth)
    text, is_guessed = charset.decoded(data, charset.declared_in(media_type or ""))
    reading = _read_text(kind, _LINE_ENDS.sub("\n", text), name, people)
    if not is_guessed:
        return reading
    return reading._replace(omitted={**reading.omitted, "guessed encoding": 1})


def _read_text(kind: Kind, source: str, name: str, people: bytes) -> Reading:
    """Read a document of a kind whose files are text."""
    shown = display_url(name)
    match kind:
        case "html":
            from bot.pages.markup import read_html

            return read_html(_SURROGATES.sub("\ufffd", source), shown)
        case "markdown":
            is_mdx = urlsplit(name).path.lower().endswith(".mdx")
            return read_markdown(without_components(source) if is_mdx else source)
        case "json":
            from bot.pages.formats.data import read_json

            return read_json(source, people)
        case "settings":
            from bot.pages.formats.data import read_settings

            return read_settings(source)
        case "subtitles":
            from bot.pages.formats.talk import read_transcript

            return read_transcript(source)
    source = _CONTROLS.sub("", source)
    match kind:
        case "rst" | "asciidoc" | "org":
            return _read_headed(kind, source, name)
        case "rtf" | "docbook" | "fb2" | "latex" | "man" | "mediawiki" | "textile":
            if pandoc.program() is not None or kind in ("docbook", "fb2", "man"):
                dialect = "mdoc" if kind == "man" and _MDOC.search(source) else kind
                return pandoc.read_with_pandoc(dialect, source, shown)
            if kind in ("rtf", "latex") and len(source) <= MOST_MARKUP:
                from bot.pages.formats.without_pandoc import read_latex, read_rtf

                return read_rtf(source, shown) if kind == "rtf" else read_latex(source)
        case "code":
            from bot.pages.formats.source_code import read_code

            return read_code(source, shown)
        case "log":
            return read_log(source)
        case "csv" | "tsv":
            from bot.pages.formats.delimited import read_delimited

            reading = read_delimited(source, tabs=kind == "tsv")
            return compared(reading, [(LOST_WORD, source)])
        case "notebook":
            from bot.pages.formats.notebook import read_notebook

            return read_notebook(source, shown)
    return Reading(*read_plain(source))


def _read_headed(kind: HeadedKind, source: str, name: str) -> Reading:
    """Read by pandoc where it is there and loses nothing, else as text with its headings.

    Pandoc 3.9 ends AsciiDoc at ``endif::[]`` and drops the signatures of Sphinx. It takes 0.4 s a
    file, so it reads only files that have the format's own ending (not ".rst.txt").
    """
    plain = read_headed(kind, source)
    named = format_of(name)
    if named is None or named.kind != kind or name.lower().endswith(".txt"):
        return plain
    if pandoc.program() is None or len(source) > MOST_MARKUP:
        return plain
    try:
        whole = pandoc.read_with_pandoc(kind, source, display_url(name))
    except PageUnreadable:
        return plain
    return whole._replace(title=whole.title or plain.title) if pandoc.keeps(whole, plain) else plain


# ---------------------------------------------------------------- packages, compound files, gzip


LARGEST_UNPACKED = 50_000_000
"""The most bytes that a gzip file may unpack to."""

_GZIP = 16 + zlib.MAX_WBITS  # tells zlib to expect a gzip header

_OLD = {
    "WordDocument": ("what-doc", ".docx"),
    "Workbook": ("what-xls", ".xlsx"),
    "Book": ("what-xls", ".xlsx"),
    "PowerPoint Document": ("what-ppt", ".pptx"),
}


def _read_package(data: bytes, name: str) -> Reading:
    """Read an Office, OpenDocument or EPUB document; ``name`` is its name in errors.

    Raises ``PageUnreadable`` for one that is damaged, locked or too large, and for other ZIP files,
    ``ReaderMissing`` for a workbook if the extra that reads it is not installed.
    """
    from bot.pages.formats.packages import open_package

    with open_package(data, name, said("what-zip")) as package:
        kind = _kind(package)
        dated, author = package.properties()
    reading = _read_kind(kind, data, name)
    return reading._replace(dated=dated, author=author)


def _read_kind(kind: str, data: bytes, name: str) -> Reading:
    match kind:
        case "word":
            from bot.pages.formats.word import read_word

            return read_word(data, name)
        case "slides":
            from bot.pages.formats.slides import read_slides

            return read_slides(data, name)
        case "sheets":
            need("office", ".xlsx", ReaderMissing)
            from bot.pages.formats.sheets import read_sheets  # loads openpyxl

            return read_sheets(data, name)
        case "opendocument":
            from bot.pages.formats.opendocument import read_opendocument

            return read_opendocument(data, name)
        case "epub":
            from bot.pages.formats.epub import read_epub

            return read_epub(data, name)
    raise unreadable(name, said(kind))


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
            return "what-xlsb"
        for folder, kind in (("word", "word"), ("ppt", "slides"), ("xl", "sheets")):
            if folder in folders:
                return kind
    if any(name.endswith(".iwa") for name in package.names()):
        return "what-iwork"
    return "what-archive"


def _read_compound(data: bytes, name: str, depth: int) -> Reading:
    """Read a compound file (MS-CFB): a message of Outlook.

    Raises ``PageUnreadable`` for others, which are old or locked with a password, and
    ``ReaderMissing`` if the extra that reads messages is not installed.
    """

    def holds(stream: str) -> bool:
        """True if the directory has an entry of this name."""
        return f"{stream}\0".encode("utf-16-le") in data

    if holds("EncryptedPackage"):
        raise locked(name)
    if holds("__properties_version1.0") and holds("__nameid_version1.0"):
        need("office", ".msg", ReaderMissing)
        from bot.pages.formats.mail import read_outlook  # loads oxmsg

        return read_outlook(data, name, from_bytes, depth)
    for stream, (what, ending) in _OLD.items():
        if holds(stream):
            raise PageUnreadable(said("unread-old", name=name, what=said(what), ending=ending))
    raise unreadable(name, said("what-office"))


def gunzip(data: bytes, name: str) -> bytes:
    """The content of a gzip file; raises ``PageUnreadable`` if it is damaged or too large."""
    content = bytearray()
    while data.startswith(GZIPPED):  # one member after the other (RFC 1952, section 2.2)
        member = zlib.decompressobj(_GZIP)
        problem = "the end is missing"
        try:
            content += member.decompress(data, LARGEST_UNPACKED + 1 - len(content))
        except zlib.error as error:
            problem = str(error)
        if len(content) > LARGEST_UNPACKED:
            most = size(LARGEST_UNPACKED)
            raise PageUnreadable(said("unread-gzip-large", name=name, most=most))
        if not member.eof:
            raise PageUnreadable(said("unread-gzip-broken", name=name), detail=problem)
        data = member.unused_data
    return bytes(content)


# ---------------------------------------------------------------- clean text


def _clean(text: str) -> str:
    """Unicode NFC without invisible characters; at most one empty line at a time."""
    # Each pattern is as slow as a whole tokenizer, so those that cannot match are skipped.
    if not text.isascii() or not text.replace("\n", "").replace("\t", "").isprintable():
        text = _LINE_ENDS.sub("\n", text)
        text = _WIDE_SPACES.sub(" ", _INVISIBLE.sub("", text))
        text = _too_many_marks().sub(r"\1", text)
        text = unicodedata.normalize("NFC", _SURROGATES.sub("\ufffd", text))
    if " \n" in text or "\t\n" in text or text.endswith((" ", "\t")):
        text = _TRAILING_SPACE.sub("", text)
    if "\n\n\n" in text:
        text = _EMPTY_LINES.sub("\n\n", text)
    return text.strip("\n")


@lru_cache(maxsize=1)
def _too_many_marks() -> re.Pattern[str]:
    """Matches more combining marks in a row than any language has (UAX #15, section 13: 30). The
    time that normalizing takes grows with the square of their number.
    """
    marks = "".join(map(chr, filter(lambda each: unicodedata.combining(chr(each)), range(0x1F000))))
    return lazy_regex(f"([{marks}]{{{MOST_MARKS}}})[{marks}]+")


def one_line(title: str) -> str:
    """A title without line breaks and invisible characters, at most ``MAX_TITLE`` long."""
    line = " ".join(_clean(title).split())
    return line if len(line) <= MAX_TITLE else line[: MAX_TITLE - 1] + "…"


def _title_from(name: str) -> str:
    if name.startswith(("http://", "https://")):
        parts = urlsplit(name)
        return one_line(PurePosixPath(unquote(parts.path)).name) or one_line(parts.netloc)
    return one_line(PurePosixPath(name.replace("\\", "/")).stem) or one_line(name)
