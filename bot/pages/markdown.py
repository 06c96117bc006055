"""Converts Markdown files to page text: removes everything that is not readable text.

Links keep their label and lose their target, except addresses of mail, telephone numbers and those
of labels such as "here".
Pictures become their alternative text, underlined headings ATX headings, tasks get ☑ or ☐, and
front matter becomes a list at the head. Comments (of HTML, Obsidian and MDX) are removed. Code
keeps every character; indented code is put in a fence. Emphasis marks stay: they are the author's
text and harmless in a quote.
This is not a full parser: markdown-it takes seconds for a long file, and a folder has thousands.

Follows CommonMark 0.31 for fences (4.5), indented code (4.4) and list items (5.2), and recognizes
the indented blocks of MkDocs, which are not code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from html import unescape
from itertools import groupby

from bot.pages.page import Reading, iso_day
from bot.pages.page_markdown import (
    CHECKED,
    STRUCK_END,
    STRUCK_START,
    UNCHECKED,
    alternative,
    code_span,
    fenced,
    literal,
    one_line,
    struck,
    with_address,
    with_tildes,
)
from bot.text.patterns import lazy_regex
from bot.text.struck import STRUCK

_FENCE = re.compile(r"[ \t]*(?:>[ \t]?)*(`{3,}(?=[^`]*$)|~{3,})")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:([ \t]{1,4})(?=\S)|[ \t]*$|[ \t])")
_CONTAINER = re.compile(r"[ \t]*(?:(?:!!!|\?\?\?\+?|===) |\[\^[^\]\n]+\]:|:[ \t])")
_PRE = re.compile(r"[ \t]*<pre[ >]", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_CODE_INDENT = 4  # columns


def parts_of(text: str) -> list[tuple[str, bool]]:
    """Divide a text into parts, in order, each with whether it is code.

    Code is returned in a fence without indentation, other text unchanged.
    """
    found: list[tuple[str, bool]] = []
    parts = _Scanner(text.splitlines(keepends=True)).parts()
    for is_code, same in groupby(parts, key=lambda part: part[1]):
        pieces = [part for part, _ in same]
        found += [(piece, True) for piece in pieces] if is_code else [("".join(pieces), False)]
    return found


class _Scanner:
    """Scans lines, each with its line end, and tracks which list items are open."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0
        self._contents: list[int] = []  # columns at which the content of open items begins
        self._after_gap = True

    def parts(self) -> Iterator[tuple[str, bool]]:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if not line.strip():
                self._after_gap = True
            else:
                indent = _indent(line)
                is_item = self._close_items(line, indent)
                base = self._contents[-1] if self._contents else 0
                fence = _FENCE.match(line.rstrip("\n"))
                if fence and indent - base < _CODE_INDENT:
                    yield self._fence(fence[1], indent), True
                    self._after_gap = False
                    continue
                if _PRE.match(line) and indent - base < _CODE_INDENT:
                    yield self._pre(), True
                    self._after_gap = False
                    continue
                if self._after_gap and indent >= base + _CODE_INDENT and not is_item:
                    yield self._indented(base + _CODE_INDENT), True
                    continue
                self._open_item(line, indent)
                self._after_gap = False
            yield line, False
            self._at += 1

    def _close_items(self, line: str, indent: int) -> bool:
        """Close the items that a line is outside of; return whether it begins one itself."""
        is_item = _ITEM.match(line) is not None or _CONTAINER.match(line) is not None
        if is_item or self._after_gap:
            while self._contents and indent < self._contents[-1]:
                self._contents.pop()
        base = self._contents[-1] if self._contents else 0
        return is_item and indent - base < _CODE_INDENT

    def _open_item(self, line: str, indent: int) -> None:
        if item := _ITEM.match(line):
            self._contents.append(_width(line[: item.end()]) if item[1] else indent + 2)
        elif _CONTAINER.match(line):
            self._contents.append(indent + _CODE_INDENT)

    def _fence(self, marker: str, indent: int) -> str:
        """A fence from its first to its last line, or to the end of the text."""
        start = self._at
        self._at += 1
        while self._at < len(self._lines):
            stripped = self._lines[self._at].strip()
            self._at += 1
            if stripped.startswith(marker) and not stripped.strip(marker[0]):
                break
        lines = self._lines[start : self._at]
        return "".join(_dedented(line, indent) for line in lines) if indent else "".join(lines)

    def _pre(self) -> str:
        """A <pre> element; by section 4.6 of CommonMark it ends at </pre>."""
        start = self._at
        while self._at < len(self._lines):
            line = self._lines[self._at]
            self._at += 1
            if "</pre>" in line.lower():
                break
        before, _, after = "".join(self._lines[start : self._at]).partition("</pre>")
        code = unescape(_TAG.sub("", before)).strip("\n").rstrip()
        return (f"{fenced(code)}\n" if code else "") + _TAG.sub("", after).lstrip("\n")

    def _indented(self, indent: int) -> str:
        start = end = self._at
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.strip():
                if _indent(line) < indent:
                    break
                end = self._at + 1
            self._at += 1
        self._at = end
        code = "".join(_dedented(line, indent) for line in self._lines[start:end])
        return f"{fenced(code.rstrip(chr(10)))}\n"


def _indent(line: str) -> int:
    return _width(line[: len(line) - len(line.lstrip(" \t"))])


def _width(text: str) -> int:
    return len(text.expandtabs(_CODE_INDENT))


def _dedented(line: str, columns: int) -> str:
    """Remove up to ``columns`` columns of leading white space."""
    before = line[: len(line) - len(line.lstrip(" \t"))]
    return before.expandtabs(_CODE_INDENT)[columns:] + line[len(before) :]


_FRONT_MATTER = lazy_regex(
    r"\A(?:---[ \t]*\n(.*?\n)(?:---|\.\.\.)|\+\+\+[ \t]*\n(.*?\n)\+\+\+)[ \t]*(?:\n|\Z)", re.S
)
_LONGEST_MATTER = 4_000  # characters of the list made of it

_HEADING = lazy_regex(
    r"^ {0,3}#{1,6}[ \t]++([^ \t\n]++(?:[ \t]++(?!#++[ \t]*+$)[^ \t\n]++)*+)"
    r"(?:[ \t]++#++)?[ \t]*+$",
    re.M,
)
_UNDERLINED = lazy_regex(
    r"^(?! {4}|[ \t]*(?:[#>|]|[-*+][ \t]|\d+[.)][ \t]))[ ]{0,3}(\S[^\n]*)\n {0,3}(=+|-{2,})[ \t]*$",
    re.M,
)
_DEFINITION = lazy_regex(
    r"^ {0,3}\[(?!\^)((?:[^\[\]\n\\]|\\.){1,200})\]:[ \t]*(?:\n[ \t]*)?(<[^<>\n]*>|[^\s<]\S*)"
    r"(?:(?:[ \t]*+\n)?[ \t]++(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*+(?:\n|\Z)",
    re.M,
)  # CommonMark 0.31, section 4.7
_INLINE_CODE = r"(?P<code>(?<!`)(?P<ticks>`{1,20}+)(?!`)[^`].*?(?<!`)(?P=ticks)(?!`))"
_COMMENT = lazy_regex(
    rf"{_INLINE_CODE}|<!--.*?(?:-->|\Z)|\{{/\*.*?(?:\*/\}}|\Z)"
    r"|^[ \t]*+%%(?!%)(?:(?!%%).)*+%%|(?<![\w%])%%(?!%)(?:(?!%%)[^\n])*+%%",
    re.S | re.M,
)  # of HTML, MDX and Obsidian
_COMPONENT = lazy_regex(
    r"^import\s(?:[\w$*{},\s]{0,1000}+(?<=\sfrom\s))?+[\"'][^\"'\n]*[\"'];?"
    r"|^export\s+(?:default|const|let|var|async|function|class|[{*])[^\n]*(?:\n[^\n]+)*"
    r"|</?[A-Z][\w.]*(?:\s(?:[^<>\"]|\"[^\"]*\"){0,1000}+)?>",
    re.M,
)
_CAPTION = lazy_regex(r"\s(?:title|label)=[\"']([^\"'\n]+)[\"']")
_TASK = lazy_regex(
    r"^([ \t]*(?:>[ \t]?)*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?)\[([ xX])\](?=[ \t]+\S)"
    r"|(?<=\|)([ \t]*)\[([ xX])\](?=[ \t|])",
    re.M,
)
_WIKI_LINK = lazy_regex(
    r"(!?)\[\[(?![\s\d]+\]|\s)([^\[\]|\n]{1,500})(?:\|([^\[\]\n]{0,500}))?\]\](?![\[(])"
)
_PICTURE = lazy_regex(r"!\[[^\[\]]{0,1000}\](?:\([^()\n]{0,2000}\)|\[[^\[\]\n]{0,200}\])")

_LABEL = (
    r"((?:[^\[\]\\`]|\\.|`[^`]{0,500}`"
    r"|\[(?:[^\[\]\\]|\\.){0,500}+\](?:\([^()\n]{0,500}\))?+){0,500}+)"
)
_TARGET = r"\((?:[ \t]*+\n)?+(?:[^()\\\n]|\\.|\([^()\n]{0,500}\)){0,2000}+\)"
_INLINE = lazy_regex(
    rf"{_INLINE_CODE}"
    rf"|(?<!\\)!\[(?P<alt>(?:[^\[\]\\]|\\.){{0,1000}}+)\]"
    rf"(?:(?P<source>{_TARGET})|\[(?P<image>[^\]\n]{{0,200}})\])"
    rf"|(?<!\\)\[(?P<label>{_LABEL})\](?:(?P<target>{_TARGET})|\[(?P<name>[^\]\n]{{0,200}})\])?"
    r"|<(?P<auto>(?:https?://|mailto:|tel:)[^\s<>]{1,2000})>"
    r"|<(?P<struck>/?)(?:s|del|strike)(?:\s[^<>]{0,1000})?>|<input\s(?P<input>[^<>]{1,1000})>"
    r"|(?P<break><br\s*/?>)"
    r"|<(?P<tag>code|kbd|samp|tt)>(?P<html>[^<>\n]{1,500})</(?P=tag)>"
    r"|</?(?:a|abbr|b|big|center|details|div|em|font|h[1-6]|hr|i|img|ins|kbd|label|p|picture|pre"
    r"|small|source|span|strong|sub|summary|sup|table|tbody|td|th|thead|tr|u|ul|ol|li)"
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


def read_markdown(text: str) -> Reading:
    """Read Markdown; the title is from the front matter or the first heading, and may be empty.

    ``text`` uses "\\n" for its line ends.
    """
    title, dated, author, kept = "", "", "", list[str]()
    if matter := _FRONT_MATTER.match(text):
        said, fields = _front_matter(matter[1], matter[2])
        title = said.get("title", "")
        dated = iso_day(said.get("updated") or said.get("date", ""))
        author = said.get("author") or said.get("owner", "")
        kept.append(fields)
        text = text[matter.end() :]
    omitted = Counter[str]()

    def without_comment(match: re.Match[str]) -> str:
        omitted["comment"] += match["code"] is None
        return match["code"] or ""

    parts = [
        (part, is_code) if is_code else (_COMMENT.sub(without_comment, part), False)
        for part, is_code in parts_of(text)
    ]
    defined = {
        _normalized(match[1]): match[2]
        for part, is_code in parts
        if not is_code
        for match in _DEFINITION.finditer(part)
    }
    for part, is_code in parts:
        plain = part if is_code else _plain(part, defined)
        if not is_code and not title and (found := _HEADING.search(plain)):
            title = _ESCAPE.sub(r"\1", _MARKS.sub("", found[1]))
        kept.append(plain)
    return Reading(title, "".join(kept), omitted=omitted, dated=dated, author=author)


def without_components(text: str) -> str:
    """Markdown from MDX: without imports, exports and the tags of components, whose title or label
    becomes a paragraph."""

    def caption(match: re.Match[str]) -> str:
        said = _CAPTION.search(match[0])
        return f"\n\n{said[1]}\n\n" if said and match[0][0] == "<" else ""

    return "".join(
        part if is_code else _COMPONENT.sub(caption, part) for part, is_code in parts_of(text)
    )


def _front_matter(in_yaml: str | None, in_toml: str | None) -> tuple[dict[str, str], str]:
    """The fields of front matter in words, by name, and all but the title as a list."""
    import tomllib

    import yaml

    try:
        fields = tomllib.loads(in_toml) if in_toml else yaml.load(in_yaml or "", yaml.CBaseLoader)  # noqa: S506 - makes strings only
    except (yaml.YAMLError, ValueError, RecursionError):
        lines = (line.partition(":") for line in (in_toml or in_yaml or "").split("\n"))
        fields = {key: value.strip() for key, _, value in lines if value.strip()}
    if not isinstance(fields, dict):
        return {}, ""
    said, shown = dict[str, str](), ""
    for key, value in fields.items():
        name = str(key).replace("_", " ").strip()
        words = _WIKI_LINK.sub(_linked, one_line(_said(value, _LONGEST_MATTER)))
        said[name.casefold()] = words
        if name.casefold() != "title" and words and len(shown) < _LONGEST_MATTER:
            shown += f"- {name[:1].upper()}{name[1:]}: {literal(words)}\n"
    return said, f"{shown}\n" if shown else ""


def _said(value: object, most: int) -> str:
    """A value of front matter in words, up to about ``most`` characters: anchors of YAML can make
    it as long as its author likes."""
    if not isinstance(value, dict | list):
        return str(value)[:most]
    said = ""
    for each in value.items() if isinstance(value, dict) else value:
        if len(said) >= most:
            break
        words = (
            f"{each[0]}: {_said(each[1], most - len(said))}"
            if isinstance(each, tuple)
            else _said(each, most - len(said))
        )
        said += f", {words}" if said else words
    return said


def _box(attributes: str) -> str:
    """The sign of an <input>; none for other kinds of them."""
    if not re.search(r"\btype\s*=\s*[\"']?(?:checkbox|radio)\b", attributes, re.IGNORECASE):
        return ""
    return CHECKED if re.search(r"(?<![\w-])checked\b", attributes, re.IGNORECASE) else UNCHECKED


def _linked(match: re.Match[str]) -> str:
    """The words of a link of a wiki; none of an embedded picture."""
    if match[1] and re.search(r"\.(?:png|jpe?g|gif|svg|webp|bmp|avif)\s*$", match[2], re.I):
        return ""
    return match[3] or match[2].strip()


def _plain(text: str, defined: Mapping[str, str]) -> str:
    if "]:" in text:
        text = _DEFINITION.sub("", text)
    text = _UNDERLINED.sub(
        lambda match: f"{'#' if match[2][0] == '=' else '##'} {match[1].rstrip()}", text
    )
    text = _PLUS.sub(r"\1-", text)
    if "[" in text:
        text = _TASK.sub(
            lambda m: f"{m[1] or m[3] or ''}{UNCHECKED if ' ' in (m[2], m[4]) else CHECKED}", text
        )
        text = _WIKI_LINK.sub(_linked, text)
    # a list of links only is a table of contents (see Passage.is_contents)
    text = _ONLY_A_LINK.sub(r"\1+", text)
    text = _with_words_only(text, defined)
    if "~~" in text:
        text = STRUCK.sub(lambda match: struck(match[1]), text)
    return with_tildes(text) if STRUCK_START in text else text


def _with_words_only(text: str, defined: Mapping[str, str]) -> str:
    def words_of(match: re.Match[str]) -> str:
        if match["code"]:
            return match["code"]
        if match["html"]:
            return code_span(unescape(match["html"]))
        if match["alt"] is not None:
            is_image = match["source"] or _normalized(match["image"] or match["alt"]) in defined
            return alternative(match["alt"]) if is_image else match[0]
        if match["label"] is not None:
            label = _with_words_only(_PICTURE.sub("", match["label"]), defined)
            name = _normalized(match["name"] or match["label"])
            if target := match["target"] or defined.get(name):
                return with_address(label, target)
            return f"[{label}]" + ("" if match["name"] is None else f"[{match['name']}]")
        if match["auto"]:
            return match["auto"].removeprefix("mailto:").removeprefix("tel:")
        if match["struck"] is not None:
            return STRUCK_END if match["struck"] else STRUCK_START
        if match["input"]:
            return _box(match["input"])
        if match["break"]:
            line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            return " " if line.lstrip().startswith("|") else "\n"
        return ""

    return _INLINE.sub(words_of, text)


def _normalized(label: str) -> str:
    """Normalize a link label for comparison: CommonMark 0.31, section 4.7."""
    return " ".join(label.split()).casefold()
