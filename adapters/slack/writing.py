"""Decides how much of an unfinished answer can be shown for good. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection

from bot.rendering.marks import numbers_in

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


def ready(text: str, known: Collection[int]) -> str:
    """The part of a growing text that will not change: whole lines, outside of code.

    Footnotes may still be added to the last line, and a mark whose source is not known yet could
    not be linked: the text is shown up to the line before.
    """
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines.pop()
    end = kept = 0
    fence = ""
    for line in lines:
        end += len(line)
        found = _FENCE.match(line)
        if found and not fence:
            fence = found[1]
        elif found and found[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        if not fence and any(number not in known for number in numbers_in(line)):
            break
        if not fence:
            kept = end
    # A line that nothing followed may be given more, so one with words must come after it.
    return text[:kept] if text[kept:].strip() else _without_last_line(text[:kept])


def cut_before(text: str, room: int) -> int:
    """The position at which to cut a Markdown text so that at most ``room`` characters come before:
    after a blank line outside of code, or 0."""
    fence = ""
    end = cut = 0
    for line in text.splitlines(keepends=True):
        end += len(line)
        if end > room:
            break
        found = _FENCE.match(line)
        if found and not fence:
            fence = found[1]
        elif found and found[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        if not fence and not line.strip():
            cut = end
    return cut


def _without_last_line(text: str) -> str:
    lines = text.splitlines(keepends=True)
    while lines and not lines[-1].strip():
        lines.pop()
    return "".join(lines[:-1])
