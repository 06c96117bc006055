"""Patterns that are compiled at their first use, and readable lists of words."""

from __future__ import annotations

import re
from typing import Any, cast


def lazy_regex(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Like ``re.compile``, but deferred to the first use of a method or attribute.

    The methods are those of the compiled pattern, at the same speed; the object is not an instance
    of ``re.Pattern``. An invalid pattern raises ``re.error`` at the first use.
    """
    return cast("re.Pattern[str]", _LazyRegex(pattern, flags))


class _LazyRegex:
    def __init__(self, pattern: str, flags: re.RegexFlag) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        """Called for attributes not set yet: compiles the pattern and sets all its methods."""
        compiled = re.compile(self.pattern, self._flags)
        if not hasattr(compiled, name):
            raise AttributeError(name)
        for each in ("search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"):
            setattr(self, each, getattr(compiled, each))
        return getattr(compiled, name)


def listed(words: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(words.split())


def numbered(words: str, start: int) -> dict[str, int]:
    """The words of a text with their position, counted from ``start``."""
    return {word: place for place, word in enumerate(words.split(), start)}
