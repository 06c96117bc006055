"""Makes text of models and pages harmless in Discord: no pings, no unknown links, no previews.

``bot.rendering.safety`` has what all platforms share. This module adds what is special to Discord:
link previews (Discord shows none for a URL in angle brackets) and its own Markdown
(https://support.discord.com/hc/en-us/articles/210298617).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from bot.core.lines import one_line
from bot.rendering.marks import code_spans
from bot.rendering.safety import WORD_JOINER, addresses, without_autolinks, without_pings
from bot.text.terms import without_controls

_LINKED = re.compile(
    r"(?P<before>\]\()\s*(?P<target>https?://(?:[^\s<>()]|\([^\s<>()]*\))+)(?P<after>\s*\))"
    r"|(?P<bare>(?<![<(])https?://(?:[^\s<>()|*]|\([^\s<>()]*\))*[^\s<>()|*.,;:!?'\"\]])",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"^([ \t>]*+)#{4,6}[ \t]++((?:[ \t#]*+[^ \t#\n]++)*+)[ \t#]*+$", re.MULTILINE
)  # Discord has three
_MARKDOWN = re.compile(r"([\\*_~|`\[\]<])|(?<=:)(//)|^([#>+-])")


def harmless(text: str, sources: Collection[str] = ()) -> str:
    """Return Markdown with no live links except those to ``sources`` (URLs), and no previews.

    Other links keep their words and lose their target.
    """
    text = without_pings(without_autolinks(without_controls(text), addresses(sources)))
    out: list[str] = []
    end = 0
    for start, stop in code_spans(text):
        out += [_as_discord_reads(text[end:start]), text[start:stop]]
        end = stop
    out.append(_as_discord_reads(text[end:]))
    return "".join(out)


def words(text: str) -> str:
    """Return plain text as Markdown that shows it letter by letter, on one line."""
    return without_pings(_MARKDOWN.sub(_escaped, one_line(text)))


def emphasised(runs: Iterable[tuple[str, bool]]) -> str:
    """Escape pieces of text as ``words`` does; those with True are bold."""
    shown = []
    for text, is_strong in runs:
        before = " " * text.startswith(" ")
        after = " " * (text.endswith(" ") and bool(text.strip()))
        shown.append(f"**{words(text)}**" if is_strong else f"{before}{words(text)}{after}")
    return without_pings("".join(shown))


def fenced(text: str) -> str:
    """Return lines as a code block, which Discord shows unchanged."""
    return f"```\n{without_pings(text).replace('```', f'``{WORD_JOINER}`')}\n```"


def _escaped(match: re.Match[str]) -> str:
    return f"\\{match.group()}"


def _as_discord_reads(text: str) -> str:
    text = _HEADING.sub(r"\1**\2**", text)
    return _LINKED.sub(_without_preview, text)


def _without_preview(link: re.Match[str]) -> str:
    if link["bare"]:
        return f"<{link['bare']}>"
    return f"](<{link['target']}>)"
