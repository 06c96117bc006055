"""Labels: titles, headings and names as one line of text that cannot pass for anything else.

Strangers name pages, sections, people, channels and files. In a label nothing looks like a footnote
mark, and its beginning says by a sign whether the source is a person's message or a correction:
that follows from the address, and no name contains such a sign.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from bot.core.correction_address import is_correction
from bot.core.reader import is_conversation, is_document
from bot.text.terms import without_controls

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
