"""Removes control characters from text."""

from __future__ import annotations

import re

# Terminal escape sequences (ECMA-48: CSI, and OSC up to its end) are removed as a whole, as are
# control characters (C0 and C1, except tab and newline), marks that change the direction of text
# and so can disguise it, and lone surrogates, which cannot be encoded.
_CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*+(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f"
    r"\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def without_controls(text: str, instead: str = "") -> str:
    """Replace each control sequence or character with ``instead``."""
    return _CONTROL.sub(instead, text)
