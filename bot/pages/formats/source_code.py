"""Converts source code to page text: code below the names of its functions, classes and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot.core.errors import PageUnreadable
from bot.core.texts import said
from bot.pages.page import Reading
from bot.pages.page_markdown import Blocks

LONGEST_LINE = 2_000  # characters; code with longer lines on average was written by a program
_TOP = 2  # the level of headings of what is not indented

_MODIFIERS = (
    "export|default|public|private|protected|internal|static|async|abstract|final|sealed|partial"
    r"|override|open|data|suspend|inline|virtual|const|unsafe|extern|pub(?:\([a-z]{1,20}\))?"
)
_KEYWORDS = (
    "def|class|interface|struct|enum|union|trait|impl|module|namespace|record|object|protocol|actor"
    r"|extension|function\*?|func|fun|fn|sub|type|typedef|message|service|rpc"
)
_DEFINED = re.compile(
    rf"[ \t]*(?:(?:{_MODIFIERS})[ \t]+){{0,5}}(?:{_KEYWORDS})[ \t]+(?:\([^()\n]{{0,100}}\)[ \t]*)?"
    r"([\w$.:]{1,100})[ \t]*(?:[({:<=;\[|]|$|(?:extends|implements|for|where|struct|interface"
    r"|returns|func|is|as)\b)"
    r"|[ \t]*(?:export[ \t]+)?(?:const|let|var)[ \t]+([\w$]{1,100})[ \t]*=[ \t]*(?:async[ \t]*)?"
    r"(?:function\b|\([^()\n]{0,200}\)[ \t]*=>|\w{1,50}[ \t]*=>)"
    r"|(?i:create)[ \t]+(?:\w+[ \t]+){0,3}?(?i:table|view|function|procedure|trigger|type)[ \t]+"
    r"(?:(?i:if[ \t]+not[ \t]+exists)[ \t]+)?([\w.\"`\[\]]{1,100})"
    r"|(?:resource|data|module|variable|output)[ \t]+((?:\"[^\"\n]{1,80}\"[ \t]*){1,2})\{"
    # a function in C, Java or C#: a type, a name, parameters
    r"|[ \t]{0,8}(?!(?:return|else|new|throw|case|delete|await|yield|if|for|while|switch|using)\b)"
    r"(?:[\w:<>,*&\[\]?]{1,80}[ \t]+){1,5}[*&]{0,2}([\w:~]{1,100})"
    r"\([^;={}\n]{0,300}(?:\)[^;=\n]{0,80})?$"
)
_BESIDE = re.compile(r"[ \t]*(?:#|//|/?\*|--|@|\[)")  # comments and decorators


def read_code(source: str, name: str) -> Reading:
    """Read source code; ``name`` is that of its file. Raises ``PageUnreadable`` for code that a
    program has compressed."""
    lines = source.expandtabs(4).split("\n")
    if len(source) > LONGEST_LINE * sum(map(bool, lines)):
        raise PageUnreadable(said("unread-code", name=name))
    language = name.rpartition(".")[2].lower()
    blocks = Blocks()
    for level, heading, part in _sections(lines):
        if blocks.full:
            blocks.heading(1, "The rest of this file was not read")
            break
        blocks.heading(level, heading)
        blocks.code("\n".join(part), language if language.isalnum() else "")
    return Reading("", blocks.text())


def _sections(lines: Sequence[str]) -> Iterator[tuple[int, str, Sequence[str]]]:
    """The parts of the code, each with its level and the name of what it defines."""
    done, level, name = 0, _TOP, ""
    outer: list[int] = []  # the indentation of the definitions around
    for at, line in enumerate(lines):
        found = _DEFINED.match(line.rstrip()) if len(line) <= LONGEST_LINE else None
        if found is None:
            continue
        begin = at
        while begin > done and _BESIDE.match(lines[begin - 1]):
            begin -= 1
        if begin > done:
            yield level, name, lines[done:begin]
        indent = len(line) - len(line.lstrip())
        while outer and outer[-1] >= indent:
            outer.pop()
        done, level, name = begin, _TOP + len(outer), next(filter(None, found.groups())).strip()
        outer.append(indent)
    yield level, name, lines[done:]
