"""Bytes to a title and page text, for fetched pages and for local documents alike.

``from_bytes`` is synchronous, pure and picklable; ``bot.pages.workers`` runs it off the event loop.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache
from io import StringIO
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from bot.errors import PageUnreadable, ReaderMissing
from bot.extras import has, need
from bot.pages import charset
from bot.pages.formats.blocks import Reading
from bot.pages.formats.sniff import markup_of
from bot.pages.markdown import read_markdown
from bot.pages.media import LOOK_AT, Kind, kind_of, unreadable
from bot.pages.plain import read_plain
from bot.pages.urls import shown
from bot.text.lazy_regex import lazy_regex

MAX_TITLE = 300  # characters
MOST_MARKS = 30  # on one letter
MOST_MARKUP = 1_000_000
"""Characters of reStructuredText, AsciiDoc or Org that are parsed; what is longer is read as plain
text. Nesting and tables that are made to be slow stay below 15 s and 350 MB. The largest file of
eight manuals has half of it."""

_LINE_ENDS = lazy_regex("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_WIDE_SPACES = lazy_regex("[\u00a0\u2007\u202f]")
_INVISIBLE = lazy_regex(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"  # controls
    "\u00ad\u200b\u2060\ufeff"  # soft hyphen and spaces of no width: they split words
    "\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction marks: they reorder what is quoted
    "\ufdd0-\ufdef\ufffe\uffff"  # no characters at all
    "\U000e0000-\U000e007f]"  # tag characters: text that only machines see
)
_CONTROLS = lazy_regex("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")  # readers use some as marks
_SURROGATES = lazy_regex("[\ud800-\udfff]")
_TRAILING_SPACE = lazy_regex(r"[ \t]+$", re.MULTILINE)
_EMPTY_LINES = lazy_regex(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class Extracted:
    """The text of a document: one line of title, and text as ``bot.pages.page.Page`` describes it.

    ``canonical`` is the address that it gives itself, unchecked and possibly relative, or "".
    ``kept`` is the share of the document's visible words that ``text`` holds, from 0 to 1.
    """

    title: str
    text: str
    canonical: str = ""
    kept: float = 1.0


def from_bytes(data: bytes, media_type: str | None, name: str) -> Extracted:
    """Read a document.

    ``media_type`` is a Content-Type (its charset parameter is heeded and checked) or None;
    ``name`` is the URL or file name, for its ending, for a title where there is no better one, and
    for what errors say. Raises ``PageUnreadable`` for what holds no text,
    ``ReaderMissing`` for what an extra would read.
    """
    if not data.strip():
        raise _empty(name)
    kind = kind_of(data[:LOOK_AT], media_type, name)
    if kind == "gzip":
        from bot.pages.formats.containers import unpacked

        data, media_type, within = unpacked(data, shown(name)), None, _without_gz(name)
        kind = kind_of(data[:LOOK_AT], None, within)
        if kind == "gzip":
            raise unreadable(name, "packed with gzip more than once")
    else:
        within = name
    return _read(kind, data, media_type, within)


def _without_gz(name: str) -> str:
    return name[:-3] if name.lower().endswith(".gz") else name


def _read(kind: Kind, data: bytes, media_type: str | None, name: str) -> Extracted:
    """Read a document of a kind; what takes time to load is loaded when it is needed."""
    match kind:
        case "pdf":
            from bot.pages.pdf import read_pdf

            return _kept(Reading(*read_pdf(data, shown(name))), name)
        case "package":
            from bot.pages.formats.containers import read_package

            return _kept(read_package(data, shown(name)), name)
        case "compound":
            from bot.pages.formats.containers import refuse_compound

            raise refuse_compound(data, shown(name))
    source = _LINE_ENDS.sub("\n", charset.decode(data, charset.declared_in(media_type or "")))
    if kind == "html":
        from bot.pages.markup import read_html

        reading = read_html(_SURROGATES.sub("\ufffd", source), shown(name))
        finished = _finished(reading.title, reading.text, name)
        return replace(finished, canonical=reading.canonical, kept=reading.kept)
    if kind == "markdown":
        return _finished(*read_markdown(source), name)
    if kind == "json":
        return _finished(*_read_json(source), name)
    return _kept(_read_text(kind, source, name), name)


def _read_text(kind: Kind, source: str, name: str) -> Reading:
    source = _CONTROLS.sub("", source)
    if kind == "text":
        kind = markup_of(source)
        if kind == "rst" and not has("rst"):
            kind = "text"  # nothing has said that it is more
    if kind in ("rst", "asciidoc", "org") and len(source) > MOST_MARKUP:
        kind = "text"
    match kind:
        case "rst":
            need("rst", "Reading .rst files", ReaderMissing)
            from bot.pages.formats.rst import read_rst  # loads docutils

            try:
                return read_rst(source)
            except RecursionError:  # docutils descends into what is nested
                return Reading(*read_plain(source))
        case "asciidoc":
            from bot.pages.formats.asciidoc import read_asciidoc

            return read_asciidoc(source)
        case "org":
            from bot.pages.formats.org import read_org

            return read_org(source)
        case "man":
            from bot.pages.formats.man import read_man

            return read_man(source, shown(name))
        case "csv" | "tsv":
            from bot.pages.formats.delimited import read_delimited

            return read_delimited(source, tabs=kind == "tsv")
        case "notebook":
            from bot.pages.formats.notebook import read_notebook

            return read_notebook(source, shown(name))
    return Reading(*read_plain(source))


def _kept(reading: Reading, name: str) -> Extracted:
    return replace(_finished(reading.title, reading.text, name), kept=reading.kept)


def _finished(title: str, text: str, name: str) -> Extracted:
    text = _clean(text)
    if not text:
        raise _empty(name)
    return Extracted(one_line(title) or _title_from(name), text)


def _empty(name: str) -> PageUnreadable:
    return PageUnreadable(f"{shown(name)} is empty; there is nothing to read in it.")


# ---------------------------------------------------------------- JSON


def _read_json(source: str) -> tuple[str, str]:
    """JSON indented, one value a line; what is not quite JSON as it is."""
    try:
        value = json.loads(source)
        text = _indented(value, most=10 * len(source))
    except (ValueError, RecursionError):
        return "", source
    title = value.get("title") or value.get("name") if isinstance(value, dict) else ""
    return title if isinstance(title, str) else "", text or source


def _indented(value: object, most: int) -> str:
    """JSON with one value a line; "" for more than ``most`` characters: deep nesting makes
    indentation grow with the square of the source."""
    text = StringIO()
    for piece in json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(value):
        text.write(piece)
        if text.tell() > most:
            return ""
    return text.getvalue()


# ---------------------------------------------------------------- clean text


def _clean(text: str) -> str:
    """Unicode NFC without invisible characters; at most one empty line at a time."""
    # Each pattern takes as long as a whole tokenizer, so what cannot match is not looked for.
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
    """More combining marks in a row than any language has (UAX #15, section 13: 30). Normalizing
    takes time with the square of their number."""
    marks = "".join(map(chr, filter(lambda each: unicodedata.combining(chr(each)), range(0x1F000))))
    return lazy_regex(f"([{marks}]{{{MOST_MARKS}}})[{marks}]+")


def one_line(title: str) -> str:
    """A title without line breaks and invisible characters, of at most ``MAX_TITLE``."""
    line = " ".join(_clean(title).split())
    return line if len(line) <= MAX_TITLE else line[: MAX_TITLE - 1] + "…"


def _title_from(name: str) -> str:
    """A title made from a URL or a file name."""
    if name.startswith(("http://", "https://")):
        parts = urlsplit(name)
        return one_line(PurePosixPath(unquote(parts.path)).name) or one_line(parts.netloc)
    return one_line(PurePosixPath(name.replace("\\", "/")).stem) or one_line(name)
