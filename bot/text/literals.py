"""Literals in questions: identifiers, options, error codes, file names and symbols.

A word can be replaced by a synonym; a literal cannot. For a question about "html_logo", a text with
"html_logo" is more relevant than one with "the logo of the HTML pages".
"""

from __future__ import annotations

import re

_SPAN = re.compile(r"`([^`\n]{2,80})`")
_TOKEN = re.compile(r"[^\s，。？！、；：（）《》“”‘’]+")
_QUOTES = "\"'`,:;!?"
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"))
_LITERAL = re.compile(
    r"--?[A-Za-z][\w-]*+"  # an option
    r"|\.\w[\w.]*+"  # .env
    r"|[A-Z][A-Z0-9_]{2,}"  # a constant, an abbreviation
    r"|(?=\w*[^\W\d])\w+(?:\.\w+)+"  # conf.py, flask.g
    r"|(?=\w*[a-z0-9][A-Z])\w++"  # bodyLimit
    r"|(?=[^\s_$%@#~=<>{}\\^|&*]*+[_$%@#~=<>{}\\^|&*])\S++"
    r"|\W+"
)
_NO_LITERAL = re.compile(r"[-–—.…/&+|=*#]+|\d+%|[#$]\d+")
_LONGEST = 80  # characters


def literals(question: str) -> tuple[str, ...]:
    """The literals of a question, each once, in order.

    Text in backticks; and words with signs that do not occur in sentences ("@table", "%~",
    "--soft", "main.cf"), with capitals inside or throughout, or called like a function.
    """
    found = dict.fromkeys(match[1].strip() for match in _SPAN.finditer(question))
    for match in _TOKEN.finditer(_SPAN.sub(" ", question)):
        token = match.group().strip(_QUOTES).rstrip(".")
        is_called = token.endswith("()")
        token = _bare(token.removesuffix("()"))
        if not 2 <= len(token) <= _LONGEST or _NO_LITERAL.fullmatch(token):
            continue
        if _LITERAL.fullmatch(token) or (is_called and token.isidentifier()):
            found[token] = None
    return tuple(found)


def has_literal(text: str, literal: str) -> bool:
    """True if a text contains a literal verbatim, and not within a longer word."""
    before = r"(?<!\w)" if literal[0].isalnum() else ""
    after = r"(?!\w)" if literal[-1].isalnum() else ""
    return re.search(f"{before}{re.escape(literal)}{after}", text) is not None


def _bare(token: str) -> str:
    """Remove brackets around a token, and those that only open or only close in it."""
    for opening, closing in _PAIRS:
        is_around = token.startswith(opening) and token.endswith(closing)
        if (is_around and opening in "([") or token.count(opening) != token.count(closing):
            token = token.strip(opening + closing)
    return token.strip(_QUOTES)
