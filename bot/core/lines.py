"""Text of pages, people and models as one safe line: shortened, or as a label.

Strangers name pages, sections, people, channels and files. In a label nothing looks like a footnote
mark, and its beginning says by a sign whether the source is a person's message or a correction:
that follows from the address, and no name contains such a sign.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from bot.core.messages import CONSOLE, Author, Thread
from bot.core.reader import is_conversation, is_correction, is_document
from bot.core.texts import Texts
from bot.text.terms import has_cjk, without_controls

_JOINERS = frozenset("\u200d\u2060\ufeff")  # characters on either side stay together
_EXTENDING = re.compile(
    "[\u200d\u2060\ufeff\u20e3\ufe00-\ufe0f\u1160-\u11ff\U0001f3fb-\U0001f3ff"
    "\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
)
_REGIONAL = "".join(map(chr, range(0x1F1E6, 0x1F200)))  # letters, a pair of which is a flag
_LONGEST_CLUSTER = 64  # characters examined; a longer sequence of marks is cut anywhere


def one_line(text: str) -> str:
    """Text of pages and models on one line, without control characters or doubled spaces."""
    return " ".join(without_controls(text, " ").split())


def shortened(text: str, longest: int) -> str:
    """The text on one line of at most ``longest`` characters, cut between words.

    Chinese and Japanese are cut between characters. A cut text ends in "…".
    """
    flat = one_line(text)
    if len(flat) <= longest:
        return flat
    room = max(longest - 2, 0)
    inside_word = not has_cjk(flat[max(room - 1, 0) : room + 1]) and flat[room] != " "
    space = flat.rfind(" ", room // 3, room) if inside_word else -1
    if space > 0 or not inside_word:
        kept = flat[:space] if space > 0 else flat[: cluster_start(flat, room)]
        ellipsis = "…" if has_cjk(kept[-1:]) or not kept else " …"
        return (kept.rstrip() + ellipsis)[:longest]
    return (flat[: cluster_start(flat, room)] + "…")[:longest]


def cluster_start(text: str, at: int) -> int:
    """The last position at or before ``at`` between two user-perceived characters.

    Keeps letters with their combining marks and emoji sequences whole: the common cases of the
    grapheme clusters of Unicode Standard Annex #29. Returns ``at`` if there is none nearby.
    """
    for place in range(at, max(at - _LONGEST_CLUSTER, 0), -1):
        if not _continues(text, place):
            return place
    return at


def _continues(text: str, place: int) -> bool:
    """True if the character at ``place`` belongs to the one before."""
    if place >= len(text):
        return False
    after, before = text[place], text[place - 1]
    if before in _JOINERS or _EXTENDING.match(after):
        return True
    if after.isascii():
        return after == "\n" and before == "\r"
    if unicodedata.category(after) in ("Mn", "Mc", "Me"):
        return True
    if "\U0001f1e6" <= after <= "\U0001f1ff":  # a pair of them is a flag
        near = text[max(place - _LONGEST_CLUSTER, 0) : place]
        return (len(near) - len(near.rstrip(_REGIONAL))) % 2 == 1
    return False


Kind = Literal["web", "document", "conversation", "correction"]

SIGNS: Mapping[Kind, str] = MappingProxyType({"conversation": "💬", "correction": "✎"})
"""The signs before the titles of what people said."""

# The signs and their look-alikes.
_SIGN = re.compile("[✎✏✐\U0001f589💬🗨🗯\U0001f5ea\U0001f5eb]\ufe0f?")
_BRACKETED = re.compile(r"[\[【［]{1,3}([^\[\]【】［］]{1,60})[\]】］]{1,3}")


def kind_of(url: str) -> Kind:
    """Return the kind of the source at an address."""
    if is_correction(url):
        return "correction"
    if is_conversation(url):
        return "conversation"
    return "document" if is_document(url) else "web"


def label(text: str) -> str:
    """Return a title, heading or name on one line, with bracketed numbers in parentheses."""
    line = " ".join(without_controls(_SIGN.sub("", text), " ").split())
    return _BRACKETED.sub(_without_mark, line)


LOCAL = "local"  # the person of a console that does not tell people apart, and their channel


def name_of(author: Author, thread: Thread, texts: Texts) -> str:
    """Return the label of a message's author; "You" for ``LOCAL``, whose name is in English."""
    return texts("web-you") if is_unnamed(author, thread) else label(author.name)


def is_unnamed(author: Author, thread: Thread) -> bool:
    return (thread.platform, author.id) == (CONSOLE, LOCAL)


def titled(url: str, title: str) -> str:
    """Return the label of a source, beginning with the sign of its kind; "" without a title."""
    words = label(title)
    sign = SIGNS.get(kind_of(url), "")
    return f"{sign} {words}" if sign and words else words


def _without_mark(bracketed: re.Match[str]) -> str:
    """Return numbers in parentheses; the forms of marks are those of ``bot.rendering.marks``."""
    inside = bracketed[1]
    numbers = inside.partition("†")[0].replace("and", "")
    has_words = any(character.isalpha() for character in numbers)
    is_mark = not has_words and any(character.isdigit() for character in numbers)
    return f"({inside})" if is_mark else bracketed[0]
