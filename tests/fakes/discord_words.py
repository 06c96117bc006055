"""What a reader sees of Discord's Markdown.

The rules and their order are those that Discord's clients are built on (simple-markdown, with
Discord's changes: https://github.com/Khan/simple-markdown and
https://support.discord.com/hc/en-us/articles/210298617).
"""

from __future__ import annotations

import re

_CODE_BLOCK = re.compile(r"```(?:(?P<info>[\w+.-]*)\n)?(?P<code>[^`]*(?:(?!```)[\s\S])*?)\n*```")
_RULES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("block", _CODE_BLOCK),
    ("escape", re.compile(r"\\(?P<words>[^0-9A-Za-z\s])")),
    ("code", re.compile(r"(?P<ticks>`+)(?P<code>[\s\S]*?[^`])(?P=ticks)(?!`)")),
    ("link", re.compile(r"\[(?P<words>(?:\[[^\]]*\]|[^\[\]])*)\]\(<?(?:[^\s()<>]+)>?\)")),
    ("markup", re.compile(r"\*\*(?P<words>(?:\\[\s\S]|[^\\])+?)\*\*(?!\*)")),
    ("markup", re.compile(r"__(?P<words>(?:\\[\s\S]|[^\\])+?)__(?!_)")),
    ("markup", re.compile(r"~~(?=\S)(?P<words>(?:\\[\s\S]|[^\\])*?\S)~~(?!_)")),
    ("markup", re.compile(r"\|\|(?P<words>[\s\S]+?)\|\|")),
    (
        "markup",
        re.compile(
            r"(?:\b_(?P<under>(?:__|\\[\s\S]|[^\\_])+?)_\b"
            r"|\*(?=\S)(?P<words>(?:\*\*|\\[\s\S]|\s+(?:\\[\s\S]|[^\s*\\]|\*\*)|[^\s*\\])+?)\*(?!\*))",
            re.ASCII,
        ),
    ),
)
_LINE = re.compile(r"(?:>>> |> |#{1,3} +|-# )")
_BULLET = re.compile(r" *(?P<mark>[-*])(?= )")


def shown(markdown: str) -> str:
    """The characters that are left of a message."""
    out: list[str] = []
    at = 0
    while at < len(markdown):
        begins_line = at == 0 or markdown[at - 1] == "\n"
        if begins_line and (line := _LINE.match(markdown, at)):
            at = line.end()
        elif begins_line and (bullet := _BULLET.match(markdown, at)):
            out.append("•")
            at = bullet.end()
        else:
            words, at = _next(markdown, at)
            out.append(words)
    return "".join(out)


def _next(text: str, at: int) -> tuple[str, int]:
    """What is shown of the next piece, and where it ends."""
    for kind, rule in _RULES:
        match = rule.match(text, at)
        if match is None:
            continue
        groups = match.groupdict()
        if kind in ("block", "code"):
            return groups["code"], match.end()
        words = groups["words"] or groups.get("under") or ""
        return words if kind == "escape" else shown(words), match.end()
    return text[at], at + 1
