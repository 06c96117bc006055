"""Formats text of pages and models as one safe line of limited length."""

from __future__ import annotations

import re
import unicodedata

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
