"""Converts plain text to page text: paragraphs unchanged, code and columns in fences.

Nothing in plain text is markup: a line that begins with "#" is a comment and not a heading, and
``matrix[3][4]`` is not a link (see ``bot.pages.literal``). Text laid out with spaces, such as code,
a table of columns or a drawing, keeps them in a fence.
"""

from __future__ import annotations

import re
import sys
from textwrap import dedent

from bot.pages.literal import fenced, literal

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
    """Columns of white space that all lines of a paragraph begin with."""
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
