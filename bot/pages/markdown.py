"""Markdown files to page text: their own text, with what does not read as words taken out.

Links keep their label and lose their target, images go, underlined headings become ATX lines, and
HTML comments go with everything that hides in them. Code keeps every character; indented code is
put in a fence. Emphasis marks stay: they are the author's text and do no harm in a quote. Not a
parser: markdown-it takes seconds for a long file, and a folder has thousands.
"""

from __future__ import annotations

import re
from html import unescape

from bot.pages.literal import code_span
from bot.pages.markdown_blocks import parts_of
from bot.text.lazy_regex import lazy_regex

_FRONT_MATTER = lazy_regex(
    r"\A(?:---[ \t]*\n(.*?\n)(?:---|\.\.\.)|\+\+\+[ \t]*\n(.*?\n)\+\+\+)[ \t]*(?:\n|\Z)", re.S
)
_TITLE_FIELD = lazy_regex(r"^title[ \t]*[:=][ \t]*(.+?)[ \t]*$", re.M | re.I)

_HEADING = lazy_regex(r"^ {0,3}#{1,6}[ \t]+(.+?)(?:[ \t]+#+)?[ \t]*$", re.M)
_UNDERLINED = lazy_regex(
    r"^(?! {4}|[ \t]*(?:[#>|]|[-*+][ \t]|\d+[.)][ \t]))[ ]{0,3}(\S[^\n]*)\n {0,3}(=+|-{2,})[ \t]*$",
    re.M,
)
_DEFINITION = lazy_regex(
    r"^ {0,3}\[(?!\^)((?:[^\[\]\n\\]|\\.){1,200})\]:[ \t]*(?:\n[ \t]*)?(?:<[^<>\n]*>|[^\s<]\S*)"
    r"(?:[ \t]*\n?[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*(?:\n|\Z)",
    re.M,
)  # CommonMark 0.31, section 4.7
_COMMENT = lazy_regex(r"<!--.*?(?:-->|\Z)", re.S)

_LABEL = (
    r"((?:[^\[\]\\`]|\\.|`[^`]{0,500}`"
    r"|!?\[(?:[^\[\]\\]|\\.){0,500}\](?:\([^()\n]{0,500}\))?){0,500}?)"
)
_TARGET = r"\((?:[ \t]*\n)?(?:[^()\\\n]|\\.|\([^()\n]{0,500}\)){0,2000}\)"
_INLINE = lazy_regex(
    rf"(?P<code>(?<!`)(?P<ticks>`+)(?!`)[^`].*?(?<!`)(?P=ticks)(?!`))"
    rf"|(?<!\\)!\[(?P<alt>(?:[^\[\]\\]|\\.){{0,1000}})\]"
    rf"(?:(?P<source>{_TARGET})|\[(?P<image>[^\]\n]{{0,200}})\])"
    rf"|(?<!\\)\[(?P<label>{_LABEL})\](?:(?P<target>{_TARGET})|\[(?P<name>[^\]\n]{{0,200}})\])?"
    r"|<(?P<auto>(?:https?://|mailto:)[^\s<>]{1,2000})>"
    r"|(?P<break><br\s*/?>)"
    r"|<(?P<tag>code|kbd|samp|tt)>(?P<html>[^<>\n]{1,500})</(?P=tag)>"
    r"|</?(?:a|abbr|b|big|center|del|details|div|em|font|h[1-6]|hr|i|img|ins|kbd|p|picture|pre|s"
    r"|small|source|span|strike|strong|sub|summary|sup|table|tbody|td|th|thead|tr|u|ul|ol|li)"
    r"(?:\s[^<>]{0,1000})?/?>",
    re.S | re.I,
)
_ONLY_A_LINK = lazy_regex(
    rf"^([ \t]*)[-*+](?=[ \t]+(?:\*\*|__)?\[{_LABEL}\]{_TARGET}(?:\*\*|__)?[ \t]*$)",
    re.M,
)
_PLUS = lazy_regex(r"^([ \t]*)\+(?=[ \t])", re.M)
_MARKS = lazy_regex(r"[*`]+")
_ESCAPE = lazy_regex(r"\\([!-/:-@\[-`{-~])")


def read_markdown(text: str) -> tuple[str, str]:
    """Title (of the front matter, or the first heading; possibly empty) and text.

    ``text`` has "\\n" for its line ends.
    """
    title, text = _front_matter(text)
    parts = [
        (part, is_code) if is_code else (_COMMENT.sub("", part), False)
        for part, is_code in parts_of(text)
    ]
    defined = frozenset(
        _normalized(match[1])
        for part, is_code in parts
        if not is_code
        for match in _DEFINITION.finditer(part)
    )
    kept: list[str] = []
    for part, is_code in parts:
        plain = part if is_code else _plain(part, defined)
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


def _plain(text: str, defined: frozenset[str]) -> str:
    if "]:" in text:
        text = _DEFINITION.sub("", text)
    text = _UNDERLINED.sub(
        lambda match: f"{'#' if match[2][0] == '=' else '##'} {match[1].rstrip()}", text
    )
    text = _PLUS.sub(r"\1-", text)
    # a list of nothing but links is a table of contents (see Passage.is_contents)
    text = _ONLY_A_LINK.sub(r"\1+", text)
    return _with_words_only(text, defined)


def _with_words_only(text: str, defined: frozenset[str]) -> str:
    def words_of(match: re.Match[str]) -> str:
        if match["code"]:
            return match["code"]
        if match["html"]:
            return code_span(unescape(match["html"]))
        if match["alt"] is not None:
            is_image = match["source"] or _normalized(match["image"] or match["alt"]) in defined
            return "" if is_image else match[0]
        if match["label"] is not None:
            label = _with_words_only(match["label"], defined)
            if match["target"]:
                return label
            if _normalized(match["name"] or match["label"]) in defined:
                return label
            return f"[{label}]" + ("" if match["name"] is None else f"[{match['name']}]")
        if match["auto"]:
            return match["auto"].removeprefix("mailto:")
        if match["break"]:
            line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            return " " if line.lstrip().startswith("|") else "\n"
        return ""

    return _INLINE.sub(words_of, text)


def _normalized(label: str) -> str:
    """A link label as labels are compared: CommonMark 0.31, section 4.7."""
    return " ".join(label.split()).casefold()


def _first_heading(text: str) -> str:
    match = _HEADING.search(text)
    return _ESCAPE.sub(r"\1", _MARKS.sub("", match[1])) if match else ""
