"""What share of a document's words its page text has."""

from __future__ import annotations

import re

_NO_LETTERS = re.compile(r"[\W_]+")


def share(text: str, of: str) -> float:
    """How many of the letters and digits of a text another one has, from 0 to 1."""
    whole = len(_NO_LETTERS.sub("", of))
    return min(1.0, len(_NO_LETTERS.sub("", text)) / whole) if whole else 1.0
