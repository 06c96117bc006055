"""Renders page text as HTML in the form of ``bot.pages.page.Page``, with quoted words marked.

The parser finds the structure. Each piece of text that it returns is located in the page's text, so
that the marks match the quotes character by character. Everything else but bold and struck-out text
is shown literally: a star or a bracket in a page has no meaning here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from html import escape
from itertools import accumulate

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from adapters.web.html.markdown import (
    coloured,
    fence_html,
    language_of,
    safe,
    set_columns,
    set_headings,
)
from bot.research.trace import Quoted

AROUND = 320  # characters shown before and after a quoted passage
EXCERPTS_BELOW = 3  # the level of the headings above excerpts

# The same marks as in ``bot.rendering.verbatim``.
_BOLD = re.compile(r"\*\*((?=[\w“\"'(\[`<])[^*\n]*?[^*\s\\])\*\*(?![0-9A-Za-z_*])")
_NO_BOLD_AFTER = re.compile(r"[0-9A-Za-z_*]")
_OF_LISTS = frozenset({"list_item_open", "bullet_list_close"})
_BORDER = re.compile(r"(?<!\\)\|(?:[ \t]*:?-{3,}:?[ \t]*\|)*|[ \t]`{3,}\w*[ \t]")
_LINE_MARK = re.compile(r"^[ \t]*(?:#{1,6}|[-*+])[ \t]+")
_BROKEN_MARK = re.compile(r"(<mark[^<>]*>)([^<]*)</mark>\1")
_ESCAPED = re.compile(r"\\[#|+]")  # escapes that ``bot.pages.page_markdown`` writes


def page_html(text: str, quoted: Sequence[Quoted] = (), below: int = 1, title: str = "") -> str:
    """Render a page's text as safe HTML. Quoted words are ``mark`` elements whose ``data-q`` lists
    the anchors of their quotes; an element with a quote's anchor as its id is at its beginning.

    A quote without an anchor is only marked. Headings begin below level ``below`` of the page that
    shows the text; a first heading that only repeats the ``title`` shown above is left out.
    """
    tokens = _blocks_of(text)
    if len(tokens) > 2 and tokens[0].type == "heading_open" and tokens[1].content == title:
        end = text.find("\n") % (len(text) + 1)
        if not any(one.start < end for one in quoted):
            tokens = tokens[3:]
    return _html_of(text, tokens, quoted, below)


def line_html(text: str) -> str:
    """Render page text as one line of safe HTML, such as a search result's excerpt."""
    words = " ".join(part for part in (cell.strip() for cell in _BORDER.split(text)) if part)
    words = _LINE_MARK.sub("", words)
    tokens = _parser().parseInline(words)
    return safe(_parser().renderer.render(tokens, _parser().options, {}))


def excerpt_html(text: str, quoted: Sequence[Quoted], gap: Callable[[int], str]) -> str:
    """Render the text around the quoted words, in whole blocks, rows and items; ``gap`` formats the
    number of characters left out."""
    tokens = _blocks_of(text)
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]

    def line(place: int) -> int:
        return bisect_right(starts, max(0, min(place, len(text) - 1))) - 1

    windows = [(line(one.start - AROUND), line(one.end + AROUND)) for one in quoted]
    kept: list[Token] = []
    left_out = 0
    at = 0
    while at < len(tokens):
        token = tokens[at]
        unit = _unit(tokens, at)
        if unit and not any(token.map[0] <= b and a < token.map[1] for a, b in windows):  # type: ignore[index]
            begin, end = token.map or (0, 0)
            left_out += starts[min(end, len(starts) - 1)] - starts[begin]
            at += unit
            continue
        if left_out and (token.level == 0 or token.type in _OF_LISTS):
            kept.append(_gap(gap(left_out), "li" if token.type in _OF_LISTS else "p"))
            left_out = 0
        kept.append(token)
        at += 1
    if left_out:
        kept.append(_gap(gap(left_out)))
    return _html_of(text, kept, quoted, EXCERPTS_BELOW)


def _unit(tokens: Sequence[Token], at: int) -> int:
    """Return the number of tokens of the block, row or item that begins at ``at`` and may be left
    out, or 0. Numbered items may not, because the others would be renumbered."""
    token = tokens[at]
    if token.map is None or token.nesting < 0:
        return 0
    is_row = token.type == "tr_open" and tokens[at - 1].type != "thead_open"
    is_item = token.type == "list_item_open" and not token.info
    if not (is_row or is_item or token.level == 0):
        return 0
    if token.nesting == 0:
        return 1
    closing = token.type.replace("_open", "_close")
    for end in range(at + 1, len(tokens)):
        if tokens[end].type == closing and tokens[end].level == token.level:
            return end - at + 1
    return 0


def _gap(words: str, tag: str = "p") -> Token:
    return Token("html_block", "", 0, content=f'<{tag} class="gap">{escape(words)}</{tag}>\n')


def _blocks_of(text: str) -> list[Token]:
    """Parse a page into blocks, without parsing their content, which may be long."""
    tokens: list[Token] = []
    _parser().block.parse(text, _parser(), {}, tokens)
    return tokens


def _html_of(text: str, tokens: Sequence[Token], quoted: Sequence[Quoted], below: int) -> str:
    set_headings(tokens, below)
    set_columns(tokens)
    found = _Marked(text, quoted)
    for token in tokens:
        found.reach(token)
        if token.type == "inline":
            children: list[Token] = []
            _parser().inline.parse(token.content, _parser(), {}, children)
            token.children = [*found.inline(children)]
        elif token.type == "fence":
            token.type, token.content = "html_block", found.fence(token)
    return _whole_marks(safe(_parser().renderer.render(tokens, _parser().options, {})))


def _whole_marks(html: str) -> str:
    """Merge adjacent marks of one quote, because screen readers announce where each begins and
    ends."""
    while (joined := _BROKEN_MARK.sub(r"\1\2", html)) != html:
        html = joined
    return html


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.disable(["code", "html_block", "reference", "lheading", "hr", "blockquote"])
    parser.disable(["emphasis", "escape", "entity", "link", "image", "autolink", "html_inline"])
    parser.disable("text_join")
    parser.inline.ruler.before("backticks", "bold", _bold)
    parser.inline.ruler.before("bold", "escaped", _escaped)
    return parser


def _bold(state: StateInline, silent: bool) -> bool:
    start = state.pos
    if not state.src.startswith("**", start):
        return False
    match = _BOLD.match(state.src, start, state.posMax)
    if match is None or (start and _NO_BOLD_AFTER.match(state.src[start - 1])):
        return False
    if not silent:
        end = state.posMax
        state.push("strong_open", "strong", 1)
        state.pos, state.posMax = match.span(1)
        state.md.inline.tokenize(state)
        state.push("strong_close", "strong", -1)
        state.posMax = end
    state.pos = match.end()
    return True


def _escaped(state: StateInline, silent: bool) -> bool:
    """Parse a backslash that keeps a line from becoming a heading or an item."""
    if state.src[state.pos] != "\\":
        return False
    match = _ESCAPED.match(state.src, state.pos, state.posMax)
    if match is None or state.src[: state.pos].rpartition("\n")[2].strip():
        return False
    if not silent:
        token = state.push("text_special", "", 0)
        token.content, token.markup, token.info = match.group()[1:], match.group(), "escape"
    state.pos = match.end()
    return True


class _Marked:
    """Locates the parser's pieces of a page in the page's text, and marks quotes in them."""

    def __init__(self, text: str, quoted: Sequence[Quoted]) -> None:
        self._text = text
        self._quoted = [one for one in quoted if 0 <= one.start < one.end <= len(text)]
        self._edges = sorted({edge for one in self._quoted for edge in (one.start, one.end)})
        self._begun: set[str] = set()
        self._lines = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
        self._at = 0  # the end of the last piece found in the text
        self._end = len(text)  # the end of the current block

    def reach(self, token: Token) -> None:
        """Move to the beginning of a block."""
        if token.map:
            begin, end = token.map
            self._at = max(self._at, self._line(begin))
            if token.type in ("inline", "fence", "tr_open"):
                self._end = self._line(end)

    def _line(self, number: int) -> int:
        return self._lines[min(number, len(self._lines) - 1)]

    def inline(self, children: Sequence[Token]) -> Iterator[Token]:
        for child in children:
            if child.type in ("text", "text_special"):
                written = child.markup if child.type == "text_special" else child.content
                start = self._found(written)
                html = self._html(child.content, start, is_whole=written != child.content)
                yield Token("html_inline", "", 0, content=html)
            elif child.type == "softbreak":
                html = self._html("\n", self._found("\n"))
                yield Token("html_inline", "", 0, content=html)
            elif child.type == "code_inline":
                start = self._found(child.content)
                html = f"<code>{self._html(child.content, start)}</code>"
                yield Token("html_inline", "", 0, content=html)
            else:
                yield child

    def fence(self, token: Token) -> str:
        """Render a fence, whose lines may be indented less than in the text."""
        starts: list[tuple[int, int]] = []  # position in the code → position in the text
        at, line = 0, token.map[0] + 1 if token.map else 0
        for words in token.content.split("\n"):
            begin = self._line(line)
            found = self._text.find(words, begin, self._line(line + 1)) if words else begin
            starts.append((at, found if found >= 0 else begin))
            at, line = at + len(words) + 1, line + 1
        language = language_of(token.info)
        html, at = "", 0
        for colour, piece in coloured(token.content, language):
            marked = ""
            for words in piece.splitlines(keepends=True):
                number = bisect_right(starts, at, key=lambda pair: pair[0]) - 1
                marked += self._html(words, starts[number][1] + at - starts[number][0])
                at += len(words)
            html += f'<span class="{colour}">{marked}</span>' if colour else marked
        self._at = max(self._at, self._end)
        return fence_html(html, language)

    def _found(self, written: str) -> int:
        """Find a piece after the end of the last one."""
        start = self._text.find(written, self._at, self._end)
        if start < 0 and not written.strip():
            start = self._at
        elif start < 0:  # its white space differs, or it has an escaped bar
            pattern = r"\s+".join(re.escape(word) for word in written.split())
            match = re.compile(pattern.replace(r"\|", r"\\?\|")).search(
                self._text, self._at, self._end
            )
            start = match.start() if match else self._at
        self._at = min(start + len(written), self._end)
        return start

    def _html(self, words: str, start: int, *, is_whole: bool = False) -> str:
        """Render words that begin at ``start`` in the text, with quoted ones marked."""
        end = start + len(words)
        cuts = [] if is_whole else [edge for edge in self._edges if start < edge < end]
        return "".join(
            self._piece(words[a - start : b - start], a, b)
            for a, b in zip((start, *cuts), (*cuts, end), strict=True)
        )

    def _piece(self, words: str, start: int, end: int) -> str:
        around = [one for one in self._quoted if one.start < end and start < one.end]
        if not around:
            return escape(words)
        names = [one.anchor for one in around if one.anchor]
        anchors = ""
        for name in names:
            if name not in self._begun:
                self._begun.add(name)
                anchors += f'<span class="anchor" id="{escape(name)}"></span>'
        about = f' data-q="{escape(" ".join(names))}"' if names else ""
        return f"{anchors}<mark{about}>{escape(words)}</mark>"
