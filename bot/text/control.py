"""Control characters: what they are, and text without them."""

from __future__ import annotations

import re

# Terminal escape sequences (ECMA-48: CSI, and OSC up to its end) go as a whole; so do control
# characters (C0 and C1, but for tab and newline), marks that turn the direction of text around and
# so can disguise it, and lone surrogates, which no encoder takes.
_CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\].*?(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f"
    r"\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def without_controls(text: str, instead: str = "") -> str:
    """The text with ``instead`` in place of each control sequence or character."""
    return _CONTROL.sub(instead, text)
