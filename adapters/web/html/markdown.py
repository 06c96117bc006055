"""Renders answers as HTML: Markdown by markdown-it, which is then always sanitized.

Models write answers from pages that anyone may have written. Their HTML is removed, links lead to
web addresses only, and footnote marks become links that scripts recognise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from html import escape
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from bot.rendering.footnotes import link_target
from bot.rendering.verbatim import answer_parser, with_marks

LONGEST_CODE = 12_000  # characters of the longest code that is coloured
CODE_KEPT = 512  # cached pieces of coloured code, because pages are shown more than once

# Pygments knows five hundred, of which some take long for code that was written for that.
LANGUAGES = frozenset(
    {
        *("bash", "console", "pycon", "powershell", "python", "javascript", "jsx", "typescript"),
        *("tsx", "json", "yaml", "toml", "ini", "properties", "html", "xml", "css", "http", "sql"),
        *("postgresql", "psql", "plpgsql", "c", "cpp", "csharp", "java", "kotlin", "scala", "go"),
        *("rust", "swift", "php", "ruby", "perl", "lua", "r", "haskell", "elixir", "docker"),
        *("make", "nginx", "diff"),
    }
)
_PROMPT = re.compile(r"[ \t]*\$ \S")

Coloured = tuple[tuple[str, str], ...]
"""Pieces of code with the CSS class of their colour ("" for plain); joined they are the code."""


def coloured(code: str, language: str) -> Coloured:
    """Split code, whose fence names ``language``, into coloured pieces."""
    language = language.strip().lower()
    if _lexer(language) is None and _PROMPT.match(code):  # no other language is guessed
        language = "console"
    if _lexer(language) is None or len(code) > LONGEST_CODE:
        return (("", code),)
    return _lexed(code, language)


def language_of(info: str) -> str:
    """Return the language in the info string of a fence ("python title=x", "{.python}")."""
    words = info.strip().strip("{}").split()
    return words[0].lstrip(".") if words else ""


@lru_cache(CODE_KEPT)
def _lexed(code: str, language: str) -> Coloured:
    return tuple(_merged(_lexer(language).get_tokens_unprocessed(code)))


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


@lru_cache(CODE_KEPT)
def _lexer(language: str) -> Any:
    """Return the lexer of a language by its name or the ending of its files; None without one."""
    # Imported when the first code is shown, because the import is slow.
    from pygments.lexers import find_lexer_class_by_name, find_lexer_class_for_filename
    from pygments.util import ClassNotFound

    try:
        found = find_lexer_class_by_name(language)
    except ClassNotFound:
        found = find_lexer_class_for_filename(f"x.{language}")
    is_known = found is not None and not LANGUAGES.isdisjoint(found.aliases)
    return found(stripnl=False, ensurenl=False) if is_known else None


LONGEST_FORMULA = 2_000  # characters of one formula
MOST_LINES = 100  # of one formula
FORMULAS_KEPT = 512  # formulas in the cache

MATH_ELEMENTS = frozenset(
    {
        *("math", "mrow", "mi", "mn", "mo", "ms", "mtext", "mspace", "mstyle"),
        *("mpadded", "mphantom"),
        *("mfrac", "msqrt", "mroot", "msub", "msup", "msubsup", "munder", "mover", "munderover"),
        *("mmultiscripts", "mprescripts", "none", "mtable", "mtr", "mtd"),
    }
)
MATH_ATTRIBUTES = frozenset(
    {
        *("display", "displaystyle", "scriptlevel", "mathvariant", "linethickness", "columnalign"),
        *("stretchy", "fence", "separator", "form", "accent", "accentunder"),
        *("largeop", "symmetric"),
        *("movablelimits", "lspace", "rspace", "width", "height", "depth", "minsize", "maxsize"),
    }
)
_INLINE = re.compile(
    r"\$\$(?P<two>[^$\n]+?)\$\$|(?<![\w$])\$(?=\S)(?P<one>[^$\n]+?)(?<=\S)\$(?![\w$])"
)
_ROUND = re.compile(
    r"(?<!\\)\\\((?P<one>(?:[^\\]|\\[^()])++)\\\)|(?<!\\)\\\[(?P<two>(?:[^\\]|\\[^\[\]])++)\\\]"
)
# "$5 and $10" is money: a formula has a single letter, an operator or a command.
_FORMULA = re.compile(
    r"\\[A-Za-z]+|[\^_=<>+*/|±≤≥∑∫√]|^[A-Za-z]$|[A-Za-z]\(|(?<![A-Za-z])[A-Za-z]'"
)
# Answers contain "\\[7\\]" and "\\[^1\\]" for brackets of a page: a formula needs a sign of LaTeX.
_LATEX = re.compile(r"(?<!\\)\\[A-Za-z]{2,}|(?<=[\w)}\]|'])\^")


def read_formulas(parser: MarkdownIt) -> MarkdownIt:
    r"""Make a parser read $…$, $$…$$, \(…\) and \[…\] as tokens ``formula``, with the LaTeX as
    ``content`` and the source text as ``markup``."""
    parser.block.ruler.before(
        "fence", "formula_block", _block, {"alt": ["paragraph", "blockquote", "list"]}
    )
    parser.inline.ruler.before("backticks", "formula", _formula)
    return parser


def _block(state: StateBlock, begin: int, end: int, silent: bool) -> bool:
    """Parse a formula on lines of its own."""
    start = state.bMarks[begin] + state.tShift[begin]
    opener = state.src[start : start + 2]
    closer = {"$$": "$$", "\\[": "\\]"}.get(opener)
    if closer is None or state.sCount[begin] - state.blkIndent >= 4:
        return False
    end = min(end, begin + MOST_LINES)
    line, found = begin, state.src.find(closer, start + 2, state.eMarks[begin])
    while found < 0:
        line += 1
        if line >= end or state.isEmpty(line):
            return False
        found = state.src.find(closer, state.bMarks[line], state.eMarks[line])
    if state.src[found + 2 : state.eMarks[line]].strip():
        return False  # it is part of a sentence
    if opener == "\\[" and not _LATEX.search(state.src[start + 2 : found]):
        return False
    if silent:
        return True
    token = state.push("formula", "math", 0)
    token.block = True
    token.content = state.src[start + 2 : found].strip()
    token.markup = state.src[start : found + 2]
    token.map = [begin, line + 1]
    state.line = line + 1
    return True


def _formula(state: StateInline, silent: bool) -> bool:
    first = state.src[state.pos]
    pattern = {"$": _INLINE, "\\": _ROUND}.get(first)
    match = pattern.match(state.src, state.pos, state.posMax) if pattern else None
    if match is None:
        return False
    latex = match["one"] or match["two"]
    likely = _LATEX if first == "\\" else _FORMULA
    if not (first == "$" and match["two"]) and not likely.search(latex):
        return False
    if not silent:
        token = state.push("formula", "math", 0)
        token.content, token.markup = latex.strip(), match.group()
        token.block = bool(match["two"])
    state.pos = match.end()
    return True


def formula_html(formula: Token) -> str:
    """Return a formula as MathML, or as it was written if it cannot be shown so."""
    return mathml(formula.content, formula.block) or f"<code>{escape(formula.markup)}</code>"


@lru_cache(FORMULAS_KEPT)
def mathml(latex: str, is_block: bool) -> str:
    """Convert a formula to MathML, which ``safe`` sanitizes; "" if it cannot be shown."""
    if not latex.strip() or len(latex) > LONGEST_FORMULA or not _closes(latex):
        return ""
    # Imported with the first formula, because loading its table of symbols takes a moment.
    from latex2mathml.converter import convert_to_element

    try:
        root = convert_to_element(latex, display="block" if is_block else "inline")
    except Exception:  # noqa: BLE001  (it reads what anybody wrote, and has no error of its own)
        return ""
    for element in root.iter():
        element.text = _characters(element.text or "")
        if element.tag not in MATH_ELEMENTS or element.text.startswith("\\"):
            return ""  # an unknown command
    return ElementTree.tostring(root, "unicode", short_empty_elements=False)


def _closes(latex: str) -> bool:
    """Return True if all braces are closed, which may not be so in an unfinished answer."""
    depth = 0
    for brace in re.findall(r"\\.|[{}]", latex):
        depth += {"{": 1, "}": -1}.get(brace, 0)
        if depth < 0:
            return False
    return depth == 0


def _characters(text: str) -> str:
    """Return text with the converter's character references for operators resolved."""
    return re.sub(r"&#x([0-9A-Fa-f]{1,6});", lambda match: chr(int(match[1], 16)), text)


PAGE_HEADINGS = 2  # levels that the page itself uses above an answer
TAGS = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote"),
    *("pre", "code", "em", "strong", "s", "a", "sup", "div", "span", "mark"),
    *("table", "thead", "tbody", "tr", "th", "td"),
    *MATH_ELEMENTS,
}
ATTRIBUTES = {
    **dict.fromkeys(MATH_ELEMENTS, MATH_ATTRIBUTES),
    "a": {"href", "class", "role", "data-n", "data-q", "title", "tabindex", "target"},
    "sup": {"class"},
    "p": {"class"},
    "li": {"class"},
    "ol": {"start"},
    "div": {"class", "tabindex"},
    "pre": {"tabindex"},
    "code": {"class"},
    "span": {"class", "id"},
    "mark": {"data-q"},
    "th": {"class"},
    "td": {"class"},
}
_FIGURE = re.compile(r"[-+−±~≈<>≤≥]?\s?[$€£¥]?\d[\d.,\s\u2009%]*\s?(?:[A-Za-zµ°%€£¥]{1,4})?")
_ALIGNED = re.compile(r"text-align:(right|center)")
_SENTENCE_END = re.compile(r"[.!?…](?:\s|$)|[。！？]")


@dataclass(frozen=True, slots=True)
class Place:
    """The target of a footnote mark: a URL of the console, and the anchors of the quotes that
    support its sentence, the closest match first."""

    href: str
    quotes: tuple[str, ...] = ()


Places = Callable[[int, str], Place]
"""Finds the place of a footnote number by the words of its sentence."""


def answer_html(
    text: str, targets: Mapping[int, str], pages: str = "", places: Places | None = None
) -> str:
    """Render the Markdown ``text`` as safe HTML. ``targets`` are the URLs of its footnote numbers.

    A mark leads to its place in ``places``, or without these to its URL, if that is a web address.
    A link to a page of ``targets`` that is not on the web leads to the stored copy below the path
    ``pages``; without that path only the link's words are kept.
    """
    tokens = _parser().parse(text)
    shown = _Shown(targets, pages, places)
    for token in tokens:
        if token.type == "inline" and token.children:
            token.children = [*shown.inline(token.children)]
        elif token.type == "fence":
            language = language_of(token.info)
            pieces = coloured(token.content, language)
            token.type, token.content = "html_block", fence_html(_coloured(pieces), language)
        elif token.type == "formula":
            token.type, token.content = "html_block", f"<p>{formula_html(token)}</p>"
        else:
            shown.begin(token)
    set_headings(tokens, PAGE_HEADINGS)
    set_columns(tokens)
    return safe(_parser().renderer.render(tokens, _parser().options, {}))


def inline_html(text: str) -> str:
    """Render one line of Markdown as safe HTML, without footnotes and links."""
    shown = _Shown({}, "", None)
    tokens = _parser().parseInline(text)
    for token in tokens:
        token.children = [*shown.inline(token.children or ())]
    return safe(_parser().renderer.render(tokens, _parser().options, {}))


def safe(rendered: str) -> str:
    """Sanitize rendered Markdown: keep only what our Markdown can produce."""
    # nh3 escapes a text in time that grows with its square; comments, which it drops, divide it.
    divided = _TAG_OR_TEXT.sub(
        lambda found: f"{found[0]}<!---->" if len(found[0]) >= DIVIDED and found[1] else found[0],
        rendered,
    )
    return nh3.clean(
        scrolling(divided),
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes={"http", "https"},
        url_relative="pass_through",  # only for our own copies of pages: see _leads
        link_rel="noopener noreferrer nofollow",
    )


def fence_html(code: str, language: str) -> str:
    """Return a code block for code that is HTML already."""
    about = f' class="language-{escape(language)}"' if language else ""
    return f"<pre><code{about}>{code}</code></pre>\n"


def _coloured(pieces: Sequence[tuple[str, str]]) -> str:
    return "".join(
        f'<span class="{colour}">{escape(words)}</span>' if colour else escape(words)
        for colour, words in pieces
    )


def scrolling(rendered: str) -> str:
    """Make wide tables and code scroll on their own, also by keyboard."""
    rendered = rendered.replace("<pre>", '<pre tabindex="0">')
    rendered = rendered.replace("<table>", '<div class="wide" tabindex="0"><table>')
    return rendered.replace("</table>", "</table></div>")


def set_headings(tokens: Sequence[Token], below: int) -> None:
    """Shift headings below ``below`` levels of the page, without skipping a level, which would
    confuse users of screen readers."""
    opened = [token for token in tokens if token.type == "heading_open"]
    closed = [token for token in tokens if token.type == "heading_close"]
    levels = sorted({token.tag for token in opened})
    above = below
    for opening, closing in zip(opened, closed, strict=True):
        above = min(below + 1 + levels.index(opening.tag), above + 1, 6)
        opening.tag = closing.tag = f"h{above}"


def set_columns(tokens: Sequence[Token]) -> None:
    """Align cells by class, because the policy forbids styles, and columns of figures right."""
    cells: list[tuple[int, Token, str]] = []  # of one table: column, opening token, words
    column = 0
    for token, after in zip(tokens, [*tokens, None][1:], strict=True):
        if token.type == "table_open":
            cells = []
        elif token.type == "tr_open":
            column = 0
        elif token.type in ("th_open", "td_open"):
            words = after.content if after is not None else ""
            cells.append((column, token, words.strip()))
            column += 1
        elif token.type == "table_close":
            _align(cells)


def _align(cells: Sequence[tuple[int, Token, str]]) -> None:
    by_column: dict[int, list[str]] = {}
    for column, token, words in cells:
        if token.type == "td_open" and words:
            by_column.setdefault(column, []).append(words)
    figures = {
        column
        for column, words in by_column.items()
        if all(_FIGURE.fullmatch(_MARKS.sub("", one).strip("*` ")) for one in words)
    }
    for column, token, _ in cells:
        stated = _ALIGNED.search(str(token.attrs.pop("style", "")))
        if stated or column in figures:
            token.attrSet("class", stated[1] if stated else "right")


DIVIDED = 2_000  # characters of a text without tags
_TAG_OR_TEXT = re.compile(rf"<[^<>]*+>|((?:&[#\w]{{1,32}};|[^<>&]){{1,{DIVIDED}}}+)")
_MARKS = re.compile(r"(?:(?<!\s)\s++)?\[\d{1,4}\]")


@cache
def _parser() -> MarkdownIt:
    return read_formulas(answer_parser())


class _Shown:
    """Converts inline tokens: footnote marks to HTML, and links to allowed targets."""

    def __init__(self, targets: Mapping[int, str], pages: str, places: Places | None) -> None:
        self._targets = targets
        self._pages = pages
        self._places = places
        self._said = ""  # the text of this paragraph, item or row so far

    def begin(self, token: Token) -> None:
        """Begin a block."""
        if token.type in ("paragraph_open", "heading_open", "tr_open"):
            self._said = ""
        elif token.type in ("th_open", "td_open"):
            self._said += " "

    def inline(self, children: Sequence[Token]) -> Iterator[Token]:
        pieces = list(with_marks(children, self._targets))
        kept: list[bool] = []  # for each open link: whether it is kept
        for piece, after in zip(pieces, [*pieces[1:], None], strict=True):
            if isinstance(piece, int):
                yield Token("html_inline", "", 0, content=self._mark(piece))
            elif piece.type == "formula":
                yield Token("html_inline", "", 0, content=formula_html(piece))
            elif piece.type == "link_open":
                href = _leads(str(piece.attrs.get("href", "")), self._targets, self._pages)
                kept.append(bool(href))
                if href:
                    yield Token("link_open", "a", 1, attrs={"href": href, "target": "_blank"})
            elif piece.type != "link_close" or kept.pop():
                if isinstance(after, int) and piece.type == "text":
                    piece.content = piece.content.rstrip(" ")
                self._said += " " if piece.type == "softbreak" else piece.content
                yield piece

    def _mark(self, number: int) -> str:
        target = link_target(self._targets[number])
        leads = f'href="{escape(target)}" target="_blank"' if target else 'tabindex="0"'
        if self._places is not None:
            place = self._places(number, _last_sentence(self._said))
            leads = f'href="{escape(place.href)}"'
            if place.quotes:
                leads += f' data-q="{escape(" ".join(place.quotes))}"'
        # The role makes screen readers announce a note reference, and not a link named "1".
        about = f'class="mark" data-n="{number}" role="doc-noteref"'
        return f'<sup class="fn"><a {about} {leads}>{number}</a></sup>'


def _last_sentence(said: str) -> str:
    parts = [part for part in _SENTENCE_END.split(said) if part.strip()]
    return parts[-1] if parts else ""


def _leads(href: str, targets: Mapping[int, str], pages: str) -> str:
    """Return a link's target: a web address or the stored copy of a page; "" if there is none."""
    if target := link_target(href):
        return target
    numbers = [number for number, url in targets.items() if unquote(url) == unquote(href)]
    return f"{pages}{numbers[0]}" if pages and numbers else ""
