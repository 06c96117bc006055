"""Markdown files to page text: their own text, with what does not read as words taken out.

Links keep their label and lose their target, images go, underlined headings become ATX lines, and
HTML comments go with everything that hides in them. Code keeps every character. Emphasis marks
stay: they are the author's text and do no harm in a quote. Not a parser: markdown-it takes seconds
for a long file, and a folder has thousands.
"""

from __future__ import annotations

import re

_FRONT_MATTER = re.compile(
    r"\A(?:---[ \t]*\n(.*?\n)(?:---|\.\.\.)|\+\+\+[ \t]*\n(.*?\n)\+\+\+)[ \t]*(?:\n|\Z)", re.S
)
_TITLE_FIELD = re.compile(r"^title[ \t]*[:=][ \t]*(.+?)[ \t]*$", re.M | re.I)

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+?)(?:[ \t]+#+)?[ \t]*$", re.M)
_UNDERLINED = re.compile(
    r"^(?! {4}|[ \t]*(?:[#>|]|[-*+][ \t]|\d+[.)][ \t]))[ ]{0,3}(\S[^\n]*)\n {0,3}(=+|-{2,})[ \t]*$",
    re.M,
)
_DEFINITION = re.compile(r"^ {0,3}\[(?!\^)[^\]\n]{1,200}\]:[ \t]+\S+[^\n]*\n?", re.M)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)

_LABEL = (
    r"((?:[^\[\]\\`]|\\.|`[^`\n]*`|!?\[(?:[^\[\]\\]|\\.){0,500}\](?:\([^()\n]{0,500}\))?){0,500}?)"
)
_TARGET = r"\((?:[^()\\\n]|\\.|\([^()\n]{0,500}\)){0,2000}\)"
_INLINE = re.compile(
    rf"(?P<code>(?<!`)(?P<ticks>`+)(?!`)[^`].*?(?<!`)(?P=ticks)(?!`))"
    rf"|!\[(?:[^\[\]\\]|\\.){{0,1000}}\](?:{_TARGET}|\[[^\]\n]{{0,200}}\])"
    rf"|\[(?P<label>{_LABEL})\](?:{_TARGET}|\[[^\]\n]{{0,200}}\])"
    r"|<(?P<auto>(?:https?://|mailto:)[^\s<>]{1,2000})>"
    r"|(?P<break><br\s*/?>)"
    r"|</?(?:a|abbr|b|big|center|del|details|div|em|font|h[1-6]|hr|i|img|ins|kbd|p|picture|pre|s"
    r"|small|source|span|strike|strong|sub|summary|sup|table|tbody|td|th|thead|tr|u|ul|ol|li)"
    r"(?:\s[^<>]{0,1000})?/?>",
    re.S | re.I,
)


def read_markdown(text: str) -> tuple[str, str]:
    """Title (of the front matter, or the first heading; possibly empty) and text.

    ``text`` has "\\n" for its line ends.
    """
    title, text = _front_matter(text)
    kept: list[str] = []
    for part, is_code in _fenced(text):
        plain = part if is_code else _plain(part)
        if not is_code and not title:
            title = _first_heading(plain)
        kept.append(plain)
    return title, "".join(kept)


def _front_matter(text: str) -> tuple[str, str]:
    match = _FRONT_MATTER.match(text)
    if match is None:
        return "", text
    field = _TITLE_FIELD.search(match[1] or match[2] or "")
    return field[1].strip("\"'") if field else "", text[match.end() :]


def _fenced(text: str) -> list[tuple[str, bool]]:
    """The text in order, in parts that are fenced code or are not."""
    parts: list[tuple[str, bool]] = []
    lines: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        match = _FENCE.match(line.rstrip("\n"))
        if fence:
            lines.append(line)
            if match and match[1].startswith(fence) and line.strip() == match[1]:
                parts.append(("".join(lines), True))
                lines, fence = [], ""
        elif match:
            parts.append(("".join(lines), False))
            lines, fence = [line], match[1]
        else:
            lines.append(line)
    parts.append(("".join(lines), bool(fence)))
    return parts


def _plain(text: str) -> str:
    text = _DEFINITION.sub("", _COMMENT.sub("", text))
    text = _UNDERLINED.sub(
        lambda match: f"{'#' if match[2][0] == '=' else '##'} {match[1].rstrip()}", text
    )
    return _INLINE.sub(_words_of, text)


def _words_of(match: re.Match[str]) -> str:
    if match["code"]:
        return match["code"]
    if match["label"] is not None:
        return _INLINE.sub(_words_of, match["label"])
    if match["auto"]:
        return match["auto"].removeprefix("mailto:")
    return "\n" if match["break"] else ""


def _first_heading(text: str) -> str:
    match = _HEADING.search(text)
    return re.sub(r"[*`]+", "", match[1]) if match else ""
