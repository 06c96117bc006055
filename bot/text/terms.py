"""Index and query terms: lower-cased stems of words, and bigrams of Chinese, Japanese, Korean."""

from __future__ import annotations


def terms(text: str) -> list[str]:
    """The terms of a text in order, repeats included; the same function serves index and query."""
    raise NotImplementedError


def keywords(text: str) -> list[str]:
    """The terms of a question that carry meaning: without stop words, each once, in order."""
    raise NotImplementedError
