"""Links in an answer lead only to what was read: any other keeps its words and loses its target."""

from __future__ import annotations

import re
from collections.abc import Collection

from bot.errors import AddressRefused
from bot.pages.urls import dedupe_key
from bot.research.marks import literal_spans

_URL = r"(?:https?|ftp|file|mailto|tel|javascript|data|vbscript):[^\s<>\"'`|]+"
_TARGET = r"<[^<>\n]*>|(?:[^\s()]|\([^\s()]*\))*"
_LINK = re.compile(
    rf"!?\[(?P<label>(?:[^\[\]\n]|\[[^\[\]\n]*\])*)\]"
    rf"\((?P<target>{_TARGET})(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'))?\s*\)"
    rf"|(?P<definition>(?m:^) {{0,3}}\[[^\]\n]+\]:\s*\S+[^\n]*)"
    rf"|<(?P<auto>{_URL})>"
    rf"|(?P<bare>{_URL})",
    re.IGNORECASE,
)
_TRAILING = ".,;:!?)]}。，；：！？）】」』”"


def defuse(text: str, allowed: Collection[str]) -> str:
    """The text without links to anything but ``allowed`` (dedupe keys of source URLs).

    A label stays as words, a bare URL as code, a link definition goes. Code and math are left
    alone.
    """
    out: list[str] = []
    end = 0
    for start, stop in literal_spans(text):
        out += [_defuse(text[end:start], allowed), text[start:stop]]
        end = stop
    out.append(_defuse(text[end:], allowed))
    return "".join(out)


def _defuse(text: str, allowed: Collection[str]) -> str:
    def replace(match: re.Match[str]) -> str:
        if match["definition"] is not None:
            return ""
        if match["label"] is not None:
            target = match["target"].strip("<>")
            is_image = match.group().startswith("!")
            kept = not is_image and _is_allowed(target, allowed)
            return match.group() if kept else _defuse(match["label"], allowed)
        url: str = match["auto"] or match["bare"]
        bare = url.rstrip(_TRAILING) if match["bare"] else url
        if _is_allowed(bare, allowed):
            return match.group()
        return f"`{bare}`{url[len(bare) :]}"

    return _LINK.sub(replace, text)


def _is_allowed(url: str, allowed: Collection[str]) -> bool:
    try:
        return dedupe_key(url) in allowed
    except AddressRefused:
        return False
