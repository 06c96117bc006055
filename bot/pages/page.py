"""A document: as its server sent it, as text (``Reading``), and as a page to cite (``Page``)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple

from bot.core.messages import OWN_WORDS, Provenance


@dataclass(frozen=True, slots=True)
class Page:
    """A fetched document.

    ``url`` is the final, canonical address. ``text`` is what quotes are cut from: Markdown with ATX
    headings (``## History``), lists, tables, fenced code and inline code, blocks separated by one
    empty line. It has no links, and emphasis only if the document itself is Markdown. Further
    paragraphs of a list item are indented; code and tables are not. An item that is only a link, as
    in a table of contents, begins with "+". ``fetched_at`` is timezone-aware. ``hash`` identifies
    the text: SHA-256, hex. ``via`` is the display name of the service that supplied the text
    ("Tavily"), or "" if it came from the site itself. ``made_from`` is what a correction's words
    were made from; it is not stored with the page, but with the step that read it.
    """

    url: str
    title: str
    text: str
    fetched_at: datetime
    hash: str = field(default="")
    via: str = ""
    made_from: Provenance = OWN_WORDS

    def __post_init__(self) -> None:
        if not self.hash:
            digest = hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()
            object.__setattr__(self, "hash", digest)


@dataclass(frozen=True, slots=True)
class Document:
    """A server's response: ``url`` is the final canonical address, ``data`` is decompressed."""

    url: str
    content_type: str | None
    data: bytes
    fetched_at: datetime


class Reading(NamedTuple):
    """The text of a document in the form of ``Page.text``, and its title (may be empty).

    ``kept`` is the share of the document's visible words that ``text`` contains, from 0 to 1.
    ``canonical`` is the address that the document declares, unchecked and possibly relative, or "".
    ``omitted`` counts what ``text`` leaves out on purpose and what is unsure in it, by kind in the
    singular: "hidden row", "guessed encoding". ``dated`` is the day that the document says it is
    of, in ISO 8601, and ``author`` who wrote it, as its properties say; both may be empty.
    """

    title: str
    text: str
    kept: float = 1.0
    canonical: str = ""
    omitted: Mapping[str, int] = {}
    dated: str = ""
    author: str = ""


_DAY = re.compile(r"(?:D:)?(\d{4})-?(\d\d)-?(\d\d)")  # also as PDF writes it


def iso_day(value: str) -> str:
    """The day at the beginning of a time, in ISO 8601; "" if there is none."""
    found = _DAY.match(value.strip())
    try:
        return date(*map(int, found.groups())).isoformat() if found else ""
    except ValueError:
        return ""


def counted(omitted: Mapping[str, int]) -> str:
    """What was left out, as words: "2 hidden rows, 1 comment"; the most frequent kind first."""
    kinds = sorted(omitted.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{count:,} {kind}{'s' * (count != 1)}" for kind, count in kinds if count)


TEXTLESS_PAGE = "textless page"
LOST_WORD, LOST_NOTE = "lost word", "lost note word"
_WORD = re.compile(r"[\u3040-\u9fff]|[^\W_\u3040-\u9fff]+")  # Chinese and Japanese by letter
_APART = {code: " " for code in range(128) if not chr(code).isalnum()}


def compared(reading: Reading, texts: Iterable[tuple[str, str]], by_rule: str = "") -> Reading:
    """The reading with what it lacks of a second one: texts, each with the name of a lost word.

    ``kept`` falls to the share of words that are in both, ``omitted`` counts the others. Words of
    ``by_rule`` are left out by a rule, and not lost; nor is a word that the file has backwards, as
    PDF files have Arabic ones.
    """
    own = _words(f"{reading.title}\n{reading.text}\n{by_rule}")
    omitted, total = Counter(reading.omitted), 0
    for what, text in texts:
        words = _words(text)
        total += words.total()
        gone, left = words - own, own - words
        gone -= Counter({word[::-1]: count for word, count in left.items()})
        omitted[what] += gone.total()
        own = left
    missing = sum(omitted[what] for what in (LOST_WORD, LOST_NOTE))
    kept = min(reading.kept, 1 - missing / total) if total else reading.kept
    return reading._replace(kept=kept, omitted=+omitted)


def _words(text: str) -> Counter[str]:
    if text.isascii():
        return Counter(text.casefold().translate(_APART).split())
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalnum())


def share(text: str, of: str, without: str = "") -> float:
    """The ratio of the number of letters and digits in ``text`` to that in ``of``, at most 1.

    They are counted, not compared, because this runs for every indexed document. ``without`` are
    parts of ``of`` that do not count.
    """
    whole = _letters(of) - _letters(without)
    return min(1.0, _letters(text) / whole) if whole > 0 else 1.0


def _letters(text: str) -> int:
    """Number of letters and digits, in UTF-8 bytes; all non-ASCII characters count as letters."""
    return len(text.encode("utf-8", "surrogatepass").translate(None, _NO_LETTERS))


_NO_TITLE = re.compile(
    r"\s*+(?:untitled|title|unknown|(?:document|presentation|book|sheet)\d*|slide 1"
    r"|powerpoint presentation|word document"
    r"|microsoft (?:word|powerpoint|excel) - .*+|[^ ]*\.(?:docx?|pptx?|xlsx?|pdf|tex|dvi|indd|qxd"
    r"|rtf|od[tsp]|html?))?\s*+",
    re.IGNORECASE,
)


def meaningful_title(title: str) -> str:
    """The title on one line; "" for one that a program inserted by default."""
    line = " ".join(title.split())
    return "" if _NO_TITLE.fullmatch(line) else line
