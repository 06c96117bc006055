"""Measures the share of a document's words that its page text has."""

from __future__ import annotations

_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalnum())


def share(text: str, of: str, without: str = "") -> float:
    """The share of a text's letters and digits that another text has, from 0 to 1.

    Only counted, not compared: this is done for every document that is indexed. ``without`` are
    the parts of the whole that do not count.
    """
    whole = _letters(of) - _letters(without)
    return min(1.0, _letters(text) / whole) if whole > 0 else 1.0


def _letters(text: str) -> int:
    """Letters and digits, in bytes; what is not ASCII counts as letters."""
    return len(text.encode("utf-8", "surrogatepass").translate(None, _NO_LETTERS))
