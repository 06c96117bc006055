"""Answers as Markdown tokens, for platforms that Footnote renders itself.

Footnote marks are told apart in what the parser made of the text: in code, links and words that
were escaped there are none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

_MARK = re.compile(r"\[(\d{1,4})\]")


def answer_parser() -> MarkdownIt:
    """CommonMark with tables and ~~strikethrough~~; no HTML, pictures and link definitions ("[1]:
    …"). Any address makes a link: who renders it decides where it leads."""
    parser = MarkdownIt("commonmark", {"html": False})
    parser.enable(["table", "strikethrough"]).disable(["image", "reference"])
    parser.disable("text_join")  # else what is escaped would be a text like any other
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return parser


def with_marks(children: Sequence[Token], known: Collection[int]) -> Iterator[Token | int]:
    """Inline tokens, with a number in the place of each footnote mark that is ``known``."""
    inside_link = 0
    for child in children:
        inside_link += child.type == "link_open"
        inside_link -= child.type == "link_close"
        if child.type == "text_special":
            yield text_token(child.content)
        elif child.type != "text" or inside_link:
            yield child
        else:
            yield from _pieces(child.content, known)


def _pieces(text: str, known: Collection[int]) -> Iterator[Token | int]:
    end = 0
    for match in _MARK.finditer(text):
        if int(match[1]) in known:
            yield text_token(text[end : match.start()])
            yield int(match[1])
            end = match.end()
    yield text_token(text[end:])


def text_token(words: str) -> Token:
    return Token("text", "", 0, content=words)
