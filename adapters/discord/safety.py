"""Text of models and pages that does nothing in Discord but stand there.

Discord reads ``<@1>``, ``<#1>``, ``<:emoji:1>``, ``<t:1>``, ``</command:1>`` and ``<https://…>``
(https://docs.discord.com/developers/reference#message-formatting), turns addresses and invites
into links with previews, and ``@everyone`` into a highlight. A backslash before the punctuation
takes that away and is not shown itself. Inside code nothing is live.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from bot.research.marks import code_spans
from bot.text.control import without_controls

_EVERYONE = re.compile(r"@(?=everyone|here)", re.IGNORECASE)
_SCHEME = re.compile(r"(?<![A-Za-z])((?:https?|steam|discord|mailto|tel|ftp):)//", re.IGNORECASE)
_INVITE = re.compile(
    r"(discord\.gg|discord(?:app)?\.com/(?:invite|events)|discord\.new|dis\.gd)/", re.IGNORECASE
)
_LINK = re.compile(
    r"(?<![\\!])\[([^\[\]\n]*)\]\(\s*<?(https?://[^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*)>?\s*\)"
)
_IMAGE = re.compile(r"!(?=\[[^\[\]\n]*\]\()")
_MARKDOWN = re.compile(r"([\\*_~|`>#\[\]()-])")
_ZERO_WIDTH = "\u200b"


def harmless(text: str, sources: Collection[str] = ()) -> str:
    """Markdown in which nothing is live but links to ``sources`` (URLs), without previews.

    Other links keep their words and lose their target.
    """
    text = without_controls(text)
    out: list[str] = []
    end = 0
    for start, stop in code_spans(text):
        out += [_harmless(text[end:start], sources), text[start:stop]]
        end = stop
    out.append(_harmless(text[end:], sources))
    return "".join(out)


def words(text: str) -> str:
    """Plain text as Markdown that shows it letter for letter, on one line."""
    return _dead(_MARKDOWN.sub(r"\\\1", " ".join(without_controls(text, " ").split())))


def _harmless(text: str, sources: Collection[str]) -> str:
    out: list[str] = []
    end = 0
    for link in _LINK.finditer(text):
        out.append(_dead(_IMAGE.sub("", text[end : link.start()])))
        label, url = _dead(link[1]), link[2]
        out.append(f"[{label}](<{url}>)" if url in sources and label.strip() else label)
        end = link.end()
    out.append(_dead(text[end:]))
    return "".join(out)


def _dead(text: str) -> str:
    text = text.replace("<", "\\<").replace("\\\\<", "\\<")
    text = _EVERYONE.sub("@" + _ZERO_WIDTH, text)
    text = _SCHEME.sub(r"\1\\//", text)
    return _INVITE.sub(r"\1\\/", text)
