"""Converts plain text, reStructuredText, AsciiDoc and Org to page text.

Nothing in plain text is markup: a line that begins with "#" is a comment and not a heading, and
``matrix[3][4]`` is not a link (see ``bot.pages.page_markdown``). Text laid out with spaces, such as
code, a table of columns or a drawing, keeps them in a fence. Of the other formats, headings and
code blocks are recognized; all other text stays as written, with its inline markup, without lines
that only steer a formatter. With the extra ``pandoc`` they are read whole
(``bot.pages.formats.pandoc``).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from textwrap import dedent
from typing import Literal

from bot.pages.page import Reading
from bot.pages.page_markdown import Blocks, fenced, literal, one_line

_BLANK_LINE = re.compile(r"\n(?:[ \t]*\n)+")
_SYMBOL = re.compile(r"[{}()\[\];=<>$|\\/_#&*+@]")
_WORD = re.compile(r"[^\W\d_]{2,}")
_COLUMNS = re.compile(r"\S {3,}\S|\S\t+\S")
_FRAME = re.compile(r"[ \t]*[|+]")
_CODE_INDENT = 4  # columns beyond the margin of most paragraphs
_FEWEST_WORDS = 4  # on a line of prose, on average
_CODE_LINE = re.compile(
    r"\s*(?:\$ |#!|//|/\*|\* |@\w|<[/!?\w])"  # a prompt, a comment, a decorator, a tag
    r"|.*(?:[;{}\\]|\)\s*:|=>|->|\(\))\s*$"  # the end of a statement
    r"|\s*[\w.\[\]\"'-]+\s*(?:[-+|:]?=)\s*\S"  # an assignment
    r"|\s*[\w.]+\(.*\)[;,]?\s*$"  # a call
    r"|\s*(?:def|class|import|from|return|if|for|while|else|elif|export|sudo)\b.*[({:;)=/-]"
)
_CAPITALS = re.compile(r"[A-Z][A-Z0-9 ,/&()-]+")
_LONGEST_TITLE = 100  # characters
_LETTER = re.compile(r"[^\W\d_]")
_COMMENT_MARK = re.compile(
    r"^\s*(?:#+|//+|/?\*+|;+|--+|\"{3}|%+)\s*|(?:(?<!\s)\s++)?(?:(?<!\*)\*++/?|(?<!#)#++)\s*+$"
)


def read_plain(text: str) -> tuple[str, str]:
    """The title (the first line; may be empty) and page text of a plain-text document.

    ``text`` uses "\\n" for its line ends.
    """
    first = next((line for line in text.split("\n") if _LETTER.search(line)), "")
    title = " ".join(_COMMENT_MARK.sub("", first).split())
    if text.startswith("#!"):  # a script
        return "", fenced(text.strip("\n"))
    return (title if len(title) <= _LONGEST_TITLE else ""), set_plain(text)


def set_plain(text: str, *, with_headings: bool = False) -> str:
    """Convert a plain-text document to the form described in ``bot.pages.page.Page``.

    ``with_headings``: unindented lines in capitals are headings, as in manual pages.
    """
    paragraphs = [part for part in _BLANK_LINE.split(text.strip("\n")) if part.strip()]
    margins = sorted(_margin(paragraph) for paragraph in paragraphs) or [0]
    # a manual page indents all of its text
    code_from = sys.maxsize if with_headings else margins[len(margins) // 2] + _CODE_INDENT
    blocks: list[str] = []
    code: list[str] = []  # consecutive paragraphs of code
    for paragraph in paragraphs:
        if _is_fixed(paragraph, code_from):
            code.append(paragraph)
            continue
        blocks += _fence(code)
        code.clear()
        if with_headings:
            first, _, rest = paragraph.partition("\n")
            if _CAPITALS.fullmatch(first.rstrip()) and (not rest or rest[:1].isspace()):
                blocks.append(f"## {first.strip()}")
                paragraph = rest
        if paragraph.strip():
            blocks.append(literal(paragraph))
    return "\n\n".join([*blocks, *_fence(code)])


def is_prose(text: str) -> bool:
    """True if text in fixed width is prose and not code or output: a poem, a letter.

    Its lines are words with single spaces between them, with hardly any symbols.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    words = len(_WORD.findall(text))
    if words < _FEWEST_WORDS * len(lines) or len(_SYMBOL.findall(text)) * 6 >= words:
        return False
    return not _is_set_in_columns(lines)


def _fence(paragraphs: list[str]) -> list[str]:
    if not paragraphs:
        return []
    return [fenced(dedent("\n\n".join(paragraphs).expandtabs()).strip("\n").rstrip())]


def _is_fixed(paragraph: str, code_from: int) -> bool:
    """True if a paragraph's spaces and line breaks are significant; code is indented to the column
    ``code_from`` or further.
    """
    lines = paragraph.splitlines()
    if _margin(paragraph) >= code_from and not is_prose(paragraph):
        return True
    return _is_set_in_columns(lines) or _is_code(paragraph, lines)


def _margin(paragraph: str) -> int:
    lines = [line.expandtabs() for line in paragraph.splitlines() if line.strip()]
    return min((len(line) - len(line.lstrip(" ")) for line in lines), default=0)


def _is_set_in_columns(lines: list[str]) -> bool:
    """True if most lines have gaps inside, or a frame, like tables and drawings."""
    if len(lines) < 2:
        return False
    set_apart = sum(
        _COLUMNS.search(line.strip()) is not None or _FRAME.match(line) is not None
        for line in lines
    )
    return set_apart * 2 > len(lines)


def _is_code(text: str, lines: list[str]) -> bool:
    symbols, words = len(_SYMBOL.findall(text)), len(_WORD.findall(text))
    if symbols * 3 < words:
        return False
    telling = [line for line in lines if not line.lstrip().startswith("# ")]
    return sum(_CODE_LINE.match(line) is not None for line in telling) * 2 > len(telling)


# ---------------------------------------------------------------- logs


LONGEST_LOG = 1_000_000
"""Characters of a log that are read: its first part, in 10,000 lines."""

_LOGGED = re.compile(
    r"\d{4}[-/.]\d\d[-/.]\d\d[T ]\d\d:\d\d(?::\d\d)?|\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
)
_TIME_WITHIN = 100  # characters from the start of a line
_SECTION = 400  # characters of a log after which the next time begins a section
_CHECKED = 50  # lines


def read_log(text: str) -> Reading:
    """Read a log: sections of some lines, each headed by the time of its first line."""
    lines = text[:LONGEST_LOG].split("\n")
    times = [_LOGGED.search(line, 0, _TIME_WITHIN) for line in lines[:_CHECKED] if line.strip()]
    if sum(map(bool, times)) * 2 < len(times):
        return Reading(*read_plain(text))
    blocks = Blocks()
    section: list[str] = []
    for line in lines:
        time = _LOGGED.search(line, 0, _TIME_WITHIN)
        if time and (not section or sum(map(len, section)) > _SECTION):
            blocks.code("\n".join(section))
            section.clear()
            blocks.heading(2, time[0])
        section.append(line)
    blocks.code("\n".join(section))
    if len(text) > LONGEST_LOG:
        blocks.heading(2, "The rest of this log was not read")
    return Reading("", blocks.text(), min(1.0, LONGEST_LOG / max(1, len(text))))


# ---------------------------------------------------------------- text with headings


HeadedKind = Literal["rst", "asciidoc", "org"]

# A part of a document: "title" of the whole, "heading" with its level, "code", or "text".
_Part = tuple[Literal["title", "heading", "code", "text"], int, str]

_UNDERLINE = re.compile(r"([=\-~^\"'*+#.:_`<>])\1{2,}\s*")


def read_headed(kind: HeadedKind, source: str) -> Reading:
    """Read a document whose lines end with "\\n"; its title is the first heading if it has none."""
    blocks = Blocks()
    title = first = ""
    prose: list[str] = []
    for part, level, text in _PARTS[kind](source.expandtabs().split("\n")):
        if part == "text":
            prose.append(text)
            continue
        blocks.page_text(set_plain("\n".join(prose)))
        prose.clear()
        if part == "code":
            blocks.code(text)
        elif part == "title":
            title = title or one_line(text)
        else:
            first = first or one_line(text)
            blocks.heading(level, text)
    blocks.page_text(set_plain("\n".join(prose)))
    return Reading(title or first, blocks.text())


# ---------------------------------------------------------------- reStructuredText

_RST_DIRECTIVE = re.compile(r"\.\. ((?:[\w+.-]++:(?!:))?[\w+.-]++):: *+(.*)")
_RST_OPTION = re.compile(r" *:[\w -]+:(?: .*)?")
_RST_STEERING = re.compile(r"\.\. _| +:(?:maxdepth|class|name|alt|width|hidden|caption):")
_RST_CODE = frozenset({"code", "code-block", "sourcecode", "parsed-literal"})


def _rst(lines: Sequence[str]) -> Iterator[_Part]:
    """Headings are underlined, and each character of a line is a level, in order of appearance.

    Source: docutils, reStructuredText Markup Specification, "Sections".
    """
    levels: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        directive = _RST_DIRECTIVE.fullmatch(line.strip())
        at += 1
        if _underlines(line, lines[at : at + 1]):
            is_between = at > 1 and lines[at - 2].rstrip() == lines[at].rstrip()
            mark = lines[at][0] * (2 if is_between else 1)
            if mark not in levels:
                levels.append(mark)
            yield "heading", levels.index(mark) + 1, line.strip()
            at += 1
        elif directive[1] in _RST_CODE if directive else line.rstrip().endswith("::"):
            if directive is None:
                yield "text", 0, line.rstrip()[:-1].rstrip(" :") + ":" * (line.strip() != "::")
            code, at = _indented(lines, at, line)
            yield "code", 0, "\n".join(each for each in code if not _RST_OPTION.fullmatch(each))
        elif directive is not None:
            yield "text", 0, directive[2]
        elif not (_RST_STEERING.match(line) or _UNDERLINE.fullmatch(line)):
            yield "text", 0, line


def _underlines(words: str, following: Sequence[str]) -> bool:
    if not following or not words.strip() or _UNDERLINE.fullmatch(words):
        return False
    return _UNDERLINE.fullmatch(following[0]) is not None and len(following[0].rstrip()) + 2 >= len(
        words.strip()
    )


def _indented(lines: Sequence[str], at: int, before: str) -> tuple[list[str], int]:
    """The lines indented further than ``before``, and the number of the line after them."""
    end = _line_of(lines, at, rf" {{0,{_indentation(before)}}}\S.*")
    return _dedented(lines[at:end]), end


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _dedented(lines: Sequence[str]) -> list[str]:
    margin = min((_indentation(each) for each in lines if each.strip()), default=0)
    return [each[margin:] for each in lines]


# ---------------------------------------------------------------- AsciiDoc

_ADOC_HEADING = re.compile(r"(={1,6}) (.*)")
_ADOC_UNDERLINES = "=-~^+"  # two-line titles, by level
_ADOC_FENCE = re.compile(r"(-{4,}+|\.{4,}+|`{3,}+).*")
_ADOC_STEERING = re.compile(
    r"//.*|:!?[\w-]+!?:.*|\[[^\]]*\]|(?:ifdef|ifndef|ifeval|endif|include)::.*|\+"
)


def _asciidoc(lines: Sequence[str]) -> Iterator[_Part]:
    at = 0
    while at < len(lines):
        line, under = lines[at].rstrip(), lines[at + 1 : at + 2]
        heading = _ADOC_HEADING.fullmatch(line)
        fence = _ADOC_FENCE.fullmatch(line)
        if heading is not None:
            yield "heading", len(heading[1]), heading[2].rstrip(" =")
        elif (
            line.strip()
            and _underlines(line, under)
            and under[0][0] in _ADOC_UNDERLINES
            and abs(len(under[0].rstrip()) - len(line)) <= 2
        ):
            yield "heading", _ADOC_UNDERLINES.index(under[0][0]) + 1, line
            at += 1
        elif fence is not None:
            end = _line_of(lines, at + 1, re.escape(fence[1]) + r"\s*")
            yield "code", 0, "\n".join(lines[at + 1 : end])
            at = end
        elif not _ADOC_STEERING.fullmatch(line):
            yield "text", 0, line
        at += 1


def _line_of(lines: Sequence[str], at: int, pattern: str) -> int:
    """The number of the next line that matches as a whole; that after the last if none does."""
    wanted = re.compile(pattern)
    return next((n for n in range(at, len(lines)) if wanted.fullmatch(lines[n])), len(lines))


# ---------------------------------------------------------------- Org

_ORG_HEADING = re.compile(r"(\*++) (.*)")
_ORG_TITLE = re.compile(r"#\+title:(.*)", re.IGNORECASE)
_ORG_CODE = re.compile(r"#\+begin_(?:src|example|export)\b.*", re.IGNORECASE)
_ORG_STEERING = re.compile(r"#(?:\+\S.*| .*)?|:(?:PROPERTIES|END|LOGBOOK|ID|CUSTOM_ID):.*")


def _org(lines: Sequence[str]) -> Iterator[_Part]:
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        heading = _ORG_HEADING.fullmatch(lines[at].rstrip())
        if heading is not None:
            words, _, tags = heading[2].rstrip().rpartition(" ")
            is_tagged = tags.startswith(":") and tags.endswith(":")
            yield "heading", len(heading[1]), words if is_tagged else heading[2]
        elif (title := _ORG_TITLE.fullmatch(line)) is not None:
            yield "title", 0, title[1]
        elif _ORG_CODE.fullmatch(line):
            end = _line_of(lines, at + 1, r"(?i)\s*#\+end_.*")
            yield "code", 0, "\n".join(_dedented(lines[at + 1 : end]))
            at = end
        elif not _ORG_STEERING.fullmatch(line):
            yield "text", 0, lines[at]
        at += 1


_PARTS: dict[HeadedKind, Callable[[Sequence[str]], Iterator[_Part]]] = {
    "rst": _rst,
    "asciidoc": _asciidoc,
    "org": _org,
}
