"""Renders code as HTML, with CSS classes for colours from Pygments if its language is known.

Code comes from models and from pages that anyone may have written. Only the lexers listed here are
used, and only on code of moderate length, because Pygments' lexers are regular expressions that
some code makes slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

LONGEST = 12_000  # characters of the longest code that is coloured
KEPT = 512  # cached pieces of coloured code, because pages are shown more than once

LEXERS = {
    **dict.fromkeys(("sh", "bash", "shell", "zsh"), "bash"),
    **dict.fromkeys(("console", "shell-session", "sh-session", "terminal"), "console"),
    **dict.fromkeys(("python", "py", "python3"), "python"),
    **dict.fromkeys(("pycon", "python-console"), "pycon"),
    **dict.fromkeys(("javascript", "js", "jsx", "mjs"), "javascript"),
    **dict.fromkeys(("typescript", "ts", "tsx"), "typescript"),
    **dict.fromkeys(("yaml", "yml"), "yaml"),
    **dict.fromkeys(("ini", "cfg", "conf", "properties"), "ini"),
    **dict.fromkeys(("c", "h"), "c"),
    **dict.fromkeys(("cpp", "c++", "cc", "hpp"), "cpp"),
    **dict.fromkeys(("csharp", "c#", "cs"), "csharp"),
    **dict.fromkeys(("html", "xhtml"), "html"),
    **dict.fromkeys(("docker", "dockerfile"), "docker"),
    **dict.fromkeys(("make", "makefile"), "make"),
    **dict.fromkeys(("rust", "rs"), "rust"),
    **dict.fromkeys(("ruby", "rb"), "ruby"),
    **dict.fromkeys(("kotlin", "kt"), "kotlin"),
    **dict.fromkeys(("postgresql", "postgres", "psql", "plpgsql"), "postgresql"),
    **dict.fromkeys(("diff", "patch", "udiff"), "diff"),
    **dict.fromkeys(("powershell", "ps1", "pwsh"), "powershell"),
    **{name: name for name in ("json", "toml", "sql", "xml", "css", "java", "go", "swift", "php")},
    **{name: name for name in ("lua", "r", "perl", "nginx", "http", "haskell", "scala", "elixir")},
}
_PROMPT = re.compile(r"[ \t]*\$ \S")

Coloured = tuple[tuple[str, str], ...]
"""Pieces of code with the CSS class of their colour ("" for plain); joined they are the code."""


def coloured(code: str, language: str) -> Coloured:
    """Split code, whose fence names ``language``, into coloured pieces."""
    known = LEXERS.get(language.strip().lower()) or _guessed(code)
    if not known or len(code) > LONGEST:
        return (("", code),)
    return _coloured(code, known)


def language_of(info: str) -> str:
    """Return the language in the info string of a fence ("python title=x", "{.python}")."""
    words = info.strip().strip("{}").split()
    return words[0].lstrip(".") if words else ""


def _guessed(code: str) -> str:
    """Recognise a terminal session by its prompt; no other language is guessed."""
    return "console" if _PROMPT.match(code) else ""


@lru_cache(KEPT)
def _coloured(code: str, name: str) -> Coloured:
    return tuple(_merged(_lexer(name).get_tokens_unprocessed(code)))


def _merged(tokens: Iterator[tuple[int, Any, str]]) -> Iterator[tuple[str, str]]:
    """Merge adjacent pieces of the same colour."""
    last, words = "", ""
    for _, kind, text in tokens:
        colour = _colour(kind)
        if colour != last and text.strip():
            if words:
                yield last, words
            last, words = colour, ""
        words += text
    if words:
        yield last, words


def _colour(kind: Any) -> str:
    """Return the CSS class for a kind of token: six classes for Pygments' eighty kinds."""
    from pygments.token import Comment, Generic, Keyword, Literal, Name

    families = (
        (Generic.Prompt, "hl-p"),
        (Generic.Output, "hl-o"),
        (Generic.Deleted, "hl-d"),
        (Generic.Inserted, "hl-i"),
        (Generic.Heading, "hl-k"),
        (Generic.Subheading, "hl-k"),
        (Comment, "hl-c"),
        (Keyword, "hl-k"),
        (Literal.String, "hl-s"),
        (Literal, "hl-n"),
        (Name.Function, "hl-f"),
        (Name.Class, "hl-f"),
        (Name.Tag, "hl-k"),
        (Name.Attribute, "hl-f"),
        (Name.Builtin, "hl-f"),
        (Name.Variable, "hl-v"),
        (Name.Decorator, "hl-v"),
    )
    return next((name for family, name in families if kind in family), "")


@cache
def _lexer(name: str) -> Any:
    # Imported when the first code is shown, because the import is slow.
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(name, stripnl=False, ensurenl=False)
