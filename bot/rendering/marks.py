"""Footnote marks in Markdown: reads every form that models write, writes one form.

``[3, 5]``, ``[[3]]``, ``【3】``, ``[^3]``, ``[3](url)`` and ``[3-5]`` become ``[3][5]``; numbers
that were never assigned are dropped. Code, math and escaped marks (``\\[7\\]``) are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping

ESCAPE = re.compile(r"\\[!-/:-@\[-`{-~]")
"""A character that a backslash keeps from being markup (CommonMark 0.31.2, section 2.4)."""

# Fenced and inline code, in which there are no marks or links. An escaped backtick opens no code.
_CODE_PATTERN = (
    rf"(?P<escape>{ESCAPE.pattern})"
    r"|(?:^|(?<=\n)) {0,3}(?P<fence>`{3,}+|~{3,}+)[^\n`]*+\n"
    r"(?:.*?\n)?? {0,3}(?P=fence)[`~]*[ \t]*(?=\n|$)"
    r"|(?:^|(?<=\n)) {0,3}(?:`{3,}+|~{3,}+)[^\n`]*+(?:\n.*|$)"
    r"|(?<!`)(?P<ticks>`{1,20}+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=ticks)(?!`)"
)
_CODE = re.compile(_CODE_PATTERN, re.DOTALL)
# Code, display and inline math, and escaped characters: none of them contains marks.
_LITERAL = re.compile(
    _CODE_PATTERN + r"|\$\$.+?\$\$"
    r"|(?<![\w$])\$(?=\S)[^$\n]+?(?<=\S)\$(?![\w$])",
    re.DOTALL,
)
_BRACKETS = re.compile(r"[\[【［]")  # every mark contains one of these
_OPENERS = re.compile(r"[\\`~$]")  # every literal contains one of these
_NUMBERS = r"\^?\d{1,4}(?:(?:\s*+(?:[,;、，]|-|–|and)\s*+|\s++)\^?\d{1,4})*"
_MARK = re.compile(
    rf"(?P<space>(?:(?<![ \t])[ \t]++)?)(?:"
    rf"\[\[(?P<double>{_NUMBERS})\]\](?:\([^()\s]*\))?"
    rf"|\[(?P<single>{_NUMBERS})\](?:\([^()\s]*\))?(?!\()"
    rf"|【(?P<wide>{_NUMBERS})(?:†[^【】]*)?】"
    rf"|［(?P<full>{_NUMBERS})］"
    rf")"
)
_INDEXED = re.compile(r"[A-Za-z_][\w.]{0,80}(?:\[\d{1,4}\])+")
_ONE = re.compile(r"\[(\d{1,4})\]")
_SPACED_MARK = re.compile(r"(?:(?<![ \t])[ \t]++)?\[\d{1,4}\]")
_RANGE = re.compile(r"(\d{1,4})\s*[-–]\s*\^?(\d{1,4})")
DEEPEST = 8  # marks inside each other
LONGEST_RANGE = 20  # [1-900] is not a list of sources


def normalise(
    text: str, known: Collection[int], is_quoted: Callable[[str], bool] = lambda words: False
) -> str:
    """Write every mark as ``[n]`` and drop unknown numbers.

    A word followed by numbers in brackets (``matrix[3][4]``) is left alone if ``is_quoted`` says
    that pages contain it in that form.
    """
    return outside_literals(text, lambda part: _normalise(part, known, is_quoted))


def numbers_in(text: str) -> list[int]:
    """The numbers of the normalised marks in a piece of text, each once, in order."""
    visible = text if _OPENERS.search(text) is None else _LITERAL.sub("\0", text)
    return list(dict.fromkeys(int(n) for n in _ONE.findall(visible)))


def renumbered(text: str, numbers: Mapping[int, int]) -> str:
    """The text with its normalised marks renumbered; those without a new number stay."""
    return outside_literals(
        text, lambda part: _ONE.sub(lambda m: f"[{numbers.get(int(m[1]), m[1])}]", part)
    )


def without_marks(text: str) -> str:
    """The text without its normalised marks and the space before them."""
    return outside_literals(text, lambda part: _SPACED_MARK.sub("", part))


def literal_spans(text: str) -> list[tuple[int, int]]:
    if _OPENERS.search(text) is None:
        return []  # the usual case; streamed text is checked again with every word
    return [match.span() for match in _LITERAL.finditer(text)]


def code_spans(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _CODE.finditer(text) if match["escape"] is None]


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Apply ``change`` to the text outside code, piece by piece."""
    return _outside(code_spans(text), text, change)


def outside_literals(text: str, change: Callable[[str], str]) -> str:
    """Apply ``change`` to the text outside code, math and escapes, if it may contain marks."""
    if _BRACKETS.search(text) is None:
        return text
    return _outside(literal_spans(text), text, change)


def _outside(spans: Iterable[tuple[int, int]], text: str, change: Callable[[str], str]) -> str:
    out: list[str] = []
    end = 0
    for start, stop in spans:
        out += [change(text[end:start]), text[start:stop]]
        end = stop
    out.append(change(text[end:]))
    return "".join(out)


def as_marks(numbers: Iterable[int]) -> str:
    """Write numbers as marks: ``[3][5]``."""
    return "".join(f"[{number}]" for number in dict.fromkeys(numbers))


def _normalise(text: str, known: Collection[int], is_quoted: Callable[[str], bool]) -> str:
    kept = [match.span() for match in _INDEXED.finditer(text) if is_quoted(match.group())]
    return _outside(kept, text, lambda part: _marked(part, known))


def _marked(text: str, known: Collection[int]) -> str:
    def replace(match: re.Match[str]) -> str:
        written = next(g for g in match.group("double", "single", "wide", "full") if g)
        marks = as_marks(n for n in _numbers(written) if n in known)
        return match["space"] + marks if marks else ""

    # Dropping one mark may leave another: "[[9]5]".
    for _ in range(DEEPEST):
        if (read := _MARK.sub(replace, text)) == text:
            return text
        text = read
    return _BRACKETS.sub("(", text)  # marks are never that deep: none may be left


def _numbers(written: str) -> list[int]:
    found: list[int] = []
    for part in re.split(r"[,;、，]|and", written):
        span = _RANGE.search(part)
        if span and 0 <= int(span[2]) - int(span[1]) < LONGEST_RANGE:
            found += range(int(span[1]), int(span[2]) + 1)
        else:
            found += [int(n) for n in re.findall(r"\d+", part)]
    return found
