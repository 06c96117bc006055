"""Detects two questions or queries that differ in wording only."""

from __future__ import annotations

NEAR = 0.8  # Jaccard similarity of their keywords from which one repeats the other


def repeats(words: frozenset[str], earlier: frozenset[str]) -> bool:
    """Whether keywords (``bot.text.terms.keywords``) are nearly those of an earlier one."""
    union = words | earlier
    return words == earlier or len(words & earlier) >= NEAR * len(union) > 0
