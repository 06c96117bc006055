"""Readable word lists for source code: words separated by spaces."""

from __future__ import annotations


def listed(words: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(words.split())


def numbered(words: str, start: int) -> dict[str, int]:
    """The words of a text with their position, counted from ``start``."""
    return {word: place for place, word in enumerate(words.split(), start)}
