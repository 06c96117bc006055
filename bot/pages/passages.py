"""Passages: the citable pieces of a page, and which of them matter for a question."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    """A citable piece of a page: 1-4 sentences, or a list or table row group.

    ``text == page.text[start:end]`` always. ``heading`` is the path of section headings above it,
    joined by " › ", or "".
    """

    start: int
    end: int
    text: str
    heading: str = ""
