"""Regular expressions that are compiled at their first use.

To compile all of the core's takes 0.15 s, and a question needs a third of them. For patterns that
are large or many and seldom needed; others are compiled as usual.
"""

from __future__ import annotations

import re
from typing import Any, cast


def lazy_regex(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """As ``re.compile``, which the first use of a method or attribute calls.

    Its methods are those of the compiled pattern, at the same speed; it is no instance of
    ``re.Pattern``. A wrong pattern raises ``re.error`` at that first use.
    """
    return cast("re.Pattern[str]", _LazyRegex(pattern, flags))


class _LazyRegex:
    def __init__(self, pattern: str, flags: re.RegexFlag) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        """Only called for what is not there yet: compiles, and puts all methods in its place."""
        compiled = re.compile(self.pattern, self._flags)
        if not hasattr(compiled, name):
            raise AttributeError(name)
        for each in ("search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"):
            setattr(self, each, getattr(compiled, each))
        return getattr(compiled, name)
