"""Checks for tests of all formats: nothing was lost, and nothing stands elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hypothesis import strategies as st

_WORD = re.compile(r"\w+")

words = st.text(st.sampled_from("abcdefghijklmnopqrstuvwxyzäöüß北京"), min_size=1, max_size=8)
"""A word that no format gives a meaning to."""

phrases = st.lists(words, min_size=1, max_size=6).map(" ".join)


def in_order(said: Iterable[str], text: str) -> bool:
    """Return True if all words of some texts stand in another one, in their order."""
    found = iter(_WORD.findall(text))
    return all(word in found for each in said for word in _WORD.findall(each))
