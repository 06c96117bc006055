"""Resolves the inline markup of AsciiDoc to its visible text
(https://docs.asciidoctor.org/asciidoc/latest/text/).
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

from bot.pages.formats.blocks import code

# fmt: off
_BUILT_IN = {
    "asterisk": "*", "caret": "^", "startsb": "[", "endsb": "]", "backslash": "\\", "tilde": "~",
    "backtick": "`", "plus": "+", "lt": "<", "gt": ">", "amp": "&", "nbsp": " ", "sp": " ",
    "zwsp": "", "empty": "", "blank": "", "apos": "'", "quot": '"', "vbar": "|", "cpp": "C++",
    "two-colons": "::", "two-semicolons": ";;", "lsquo": "‘", "rsquo": "’", "ldquo": "“",
    "rdquo": "”", "deg": "°", "brvbar": "¦", "litdd": "--", "wj": "",
}
# fmt: on
_ATTRIBUTE = re.compile(r"(?<!\\)\{([\w-]{1,60})\}")
_CODE = re.compile(
    r"(?<![\w`\\])(?:``(?P<double>[^`\n].*?)``(?!['`])"
    r"|`\+(?P<passed>.+?)\+`|`(?P<single>[^\s`](?:[^`]*[^\s`])?)`(?![\w`])"
    r"|\+(?P<plus>[^\s+](?:[^+\n]*[^\s+])?)\+(?![\w+]))",
    re.S,
)
_QUOTED = re.compile(r"``(?P<text>[^`']+?)''|\"`(?P<curved>[^`]+?)`\"", re.S)
_MACRO = re.compile(
    r"(?P<url>\b(?:https?|ftp|irc)://[^\s\[\]<>]{0,500}[^\s\[\]<>.,;:!?)\"'])\[(?P<label>[^\]\n]{0,500})\]"
    r"|<<(?P<id>[^,<>\n]{1,200})(?:,(?P<reference>[^<>]{1,300}))?>>"
    r"|(?<![\w:/])(?P<name>[a-z][\w-]{1,20}):(?P<target>[^\s:\[\],][^\s\[\]]{0,300}|)\[(?P<text>[^\]\n]{0,500})\]"
    r"|\[\[[\w:.,_ -]{1,200}\]\]"
    r"|\(\(\([^()\n]{1,200}\)\)\)|\(\((?P<term>[^()\n]{1,200})\)\)",
)
_MARKED = re.compile(
    r"(?<![\w\\*])\*(?P<bold>[^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])"
    r"|(?<![\w\\_])_(?P<italic>[^\s_](?:[^_\n]*[^\s_])?)_(?![\w_])"
    r"|(?<![\w\\#&])(?:\[[\w.-]+\])?#(?P<marked>[^\s#](?:[^#\n]*[^\s#])?)#(?![\w#])"
    r"|(?<!\\)\*\*(?P<bolder>[^\s*][^*\n]*)\*\*|(?<!\\)__(?P<italics>[^\s_][^_\n]*)__"
)
_RAISED = re.compile(r"(?<=[^\s^~\\])(?:\^([\w.+-]{1,10})\^|~([\w.+-]{1,10})~)")
_ESCAPED = re.compile(r"\\(?=[*_`#{<\[+])")
_LABEL_ENDS = re.compile(r",\s*(?:window|role|opts|options|rel|title|width|height)=.*|\^$", re.S)
_HELD = re.compile(r"\x00(\d+)\x00")
_SILENT = frozenset({"image", "icon", "anchor", "indexterm", "bibref", "video", "audio"})


class Inline:
    """Converts lines of AsciiDoc to their visible text.

    ``notes`` collects the texts of footnotes, in the order of their marks.
    """

    def __init__(self, attributes: Mapping[str, str]) -> None:
        self._attributes = attributes
        self.notes: list[str] = []

    def attributes_in(self, text: str) -> str:
        """Resolve references to attributes in a text; unknown ones stay."""

        def value(match: re.Match[str]) -> str:
            name = match[1].lower()
            return self._attributes.get(name, _BUILT_IN.get(name, match[0]))

        return _ATTRIBUTE.sub(value, text)

    def render(self, text: str) -> str:
        text = self.attributes_in(text)
        held: list[str] = []

        def hold(words: str) -> str:
            held.append(words)
            return f"\x00{len(held) - 1}\x00"

        def as_code(match: re.Match[str]) -> str:
            said = next(group for group in match.groups() if group is not None)
            return hold(code(html.unescape(said)))

        text = _QUOTED.sub(lambda m: f"“{m['text'] or m['curved']}”", text.replace("\x00", ""))
        text = _CODE.sub(as_code, text)
        text = _MACRO.sub(self._macro, text)
        text = _MARKED.sub(lambda m: next(g for g in m.groups() if g is not None), text)
        text = _RAISED.sub(lambda m: m[1] or m[2], text)
        text = html.unescape(_ESCAPED.sub("", text))
        return _HELD.sub(lambda m: held[int(m[1])] if int(m[1]) < len(held) else "", text)

    def _macro(self, match: re.Match[str]) -> str:
        if match["url"] is not None:
            return _label(match["label"]) or match["url"]
        if match["id"] is not None:
            return (match["reference"] or match["id"].lstrip("#")).strip()
        if match["name"] is None:
            return match["term"] or ""
        name, target, text = match["name"], match["target"], match["text"]
        if name in _SILENT:
            return ""
        if name in ("footnote", "footnoteref"):
            self.notes.append(text.strip())
            return f"[^{len(self.notes)}]"
        if name in ("link", "xref", "mailto"):
            return _label(text) or target
        if name == "menu":
            return " > ".join(filter(None, [target, text]))
        if target and text.strip().isdigit():
            return f"{target}({text.strip()})"  # a manual page, such as "linkgit:git-add[1]"
        return _label(text) or target


def _label(text: str) -> str:
    return _LABEL_ENDS.sub("", text).strip().strip('"')
