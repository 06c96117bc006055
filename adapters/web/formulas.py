"""Converts LaTeX formulas in answers and pages to MathML, which browsers render.

Formulas are untrusted. From the output of ``latex2mathml``, only presentation elements and
attributes of MathML Core are allowed (https://www.w3.org/TR/mathml-core/). A formula that cannot be
parsed, or that contains anything else, is left as it was written.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from xml.etree import ElementTree

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

LONGEST = 2_000  # characters of one formula
MOST_LINES = 100  # of one formula
KEPT = 512  # formulas in the cache

ELEMENTS = frozenset(
    {
        *("math", "mrow", "mi", "mn", "mo", "ms", "mtext", "mspace", "mstyle"),
        *("mpadded", "mphantom"),
        *("mfrac", "msqrt", "mroot", "msub", "msup", "msubsup", "munder", "mover", "munderover"),
        *("mmultiscripts", "mprescripts", "none", "mtable", "mtr", "mtd"),
    }
)
ATTRIBUTES = frozenset(
    {
        *("display", "displaystyle", "scriptlevel", "mathvariant", "linethickness", "columnalign"),
        *("stretchy", "fence", "separator", "form", "accent", "accentunder"),
        *("largeop", "symmetric"),
        *("movablelimits", "lspace", "rspace", "width", "height", "depth", "minsize", "maxsize"),
    }
)
_NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
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
# Answers contain "\\[7\\]" for brackets of a page, so a formula must have a sign of LaTeX.
_LATEX = re.compile(r"(?<!\\)\\[A-Za-z]{2,}|\^")
_PLACE = re.compile('<code class="formula">(\\d+)</code>')


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


class Formulas:
    """The formulas of one text. They are inserted after sanitizing, which would remove MathML;
    until then a placeholder stands for each."""

    def __init__(self) -> None:
        self._made: list[str] = []

    def place(self, latex: str, written: str, is_block: bool) -> str:
        """Return a placeholder for a formula, or what was ``written`` if it cannot be shown."""
        made = mathml(latex, is_block)
        if not made:
            return f"<code>{escape(written)}</code>"
        self._made.append(made)
        return f'<code class="formula">{len(self._made) - 1}</code>'

    def put_in(self, html: str) -> str:
        """Insert the formulas into the sanitized HTML."""
        return _PLACE.sub(lambda match: self._made[int(match[1])], html)


@lru_cache(KEPT)
def mathml(latex: str, is_block: bool) -> str:
    """Convert a formula to MathML; "" if it cannot be shown."""
    if not latex.strip() or len(latex) > LONGEST or not _closes(latex):
        return ""
    # Imported with the first formula, because loading its table of symbols takes a moment.
    from latex2mathml.converter import convert_to_element

    try:
        root = convert_to_element(latex, display="block" if is_block else "inline")
        return _written(root)
    except Exception:  # noqa: BLE001  (it reads what anybody wrote, and has no error of its own)
        return ""


def _closes(latex: str) -> bool:
    """Return True if all braces are closed, which may not be so in an unfinished answer."""
    depth = 0
    for brace in re.findall(r"\\.|[{}]", latex):
        depth += {"{": 1, "}": -1}.get(brace, 0)
        if depth < 0:
            return False
    return depth == 0


def _written(element: ElementTree.Element) -> str:
    """Serialize an element and its content. Raises ``ValueError`` if an element is not allowed."""
    name = element.tag.removeprefix(_NAMESPACE)
    if name not in ELEMENTS:
        raise ValueError(name)
    kept = "".join(
        f' {key}="{escape(value)}"' for key, value in element.attrib.items() if key in ATTRIBUTES
    )
    words = _characters(element.text or "")
    if words.startswith("\\"):
        raise ValueError(words)  # an unknown command
    within = "".join(f"{_written(child)}{escape(child.tail or '')}" for child in element)
    return f"<{name}{kept}>{escape(words)}{within}</{name}>"


def _characters(text: str) -> str:
    """Return text with the converter's character references for operators resolved."""
    return re.sub(r"&#x([0-9A-Fa-f]{1,6});", lambda match: chr(int(match[1], 16)), text)
