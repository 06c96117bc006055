"""Struck-out text: words between two pairs of tildes, which no longer hold.

Readers of pages write ``~~49 euros~~`` whatever the format, each sentence in tildes of its own, so
that no passage or quote cuts them apart. Struck words are no terms, facts or names of a text.
"""

from __future__ import annotations

import re

from bot.text.patterns import lazy_regex

STRUCK = lazy_regex(
    r"(?<![\\~])~~(?![\s~])((?:[^~\n|\\]|\\.|~(?!~)|\n(?![^\S\n]*\n))*+)(?<!\s)~~(?!~)", re.DOTALL
)
"""Matches struck-out words; they do not go on in another paragraph or cell."""


def without_struck(text: str) -> str:
    """A text without its struck-out words."""
    return STRUCK.sub("", text) if "~~" in text else text


def is_struck(text: str) -> bool:
    """True if all words of a text are struck out; a tick box beside them counts as a word."""
    if "~~" not in text:
        return False
    rest = STRUCK.sub("", text)
    return rest != text and not any(c.isalnum() or c in "☐☑☒" for c in rest)
