"""Writes page text (see ``bot.pages.page.Page``): blocks of Markdown that show the words unchanged.

HTML, PDF and plain text are not Markdown: their ``__init__``, ``2*3*4`` and lines that begin with
"#" are meant literally. A word whose characters Markdown would take for markup becomes inline code,
and a line that would become a heading, a table row or an entry of a table of contents gets a
backslash before its first character. Most text needs neither and stays unchanged; otherwise only
white space is altered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import unquote

from bot.text.patterns import lazy_regex
from bot.text.sentences import blocks, sentences
from bot.text.terms import has_cjk

# ---------------------------------------------------------------- literal text


CODE_START, CODE_END = "\x02", "\x03"
"""The marks around inline code in the input of ``literal``. No document contains them: control
characters are removed before.
"""

STRUCK_START, STRUCK_END = "\ufdd4", "\ufdd5"
"""The marks around struck-out text there and in trees of HTML; noncharacters, which are removed
from documents as well.
"""

CHECKED, UNCHECKED = "☑", "☐"
"""The signs of tick boxes and radio buttons, before or after their text, in every format."""

_MARKED = re.compile(r"[*_`\\\x02\x03]|&#?\w|\]\(")
_CODE = re.compile(f"{CODE_START}([^{CODE_START}{CODE_END}]*){CODE_END}")
_LOOSE_START = re.compile(rf"(?:(?<! ) ++)?{CODE_START}(\s++)")
_LOOSE_END = re.compile(rf"(?<!\s)(\s++){CODE_END} *+")
_ADJACENT = re.compile(f"{CODE_END}{CODE_START}")
_TICKS = re.compile("`+")
_STRUCK = re.compile(f"{STRUCK_START}([^{STRUCK_START}{STRUCK_END}]*){STRUCK_END}")
_STRUCK_ON = re.compile(rf"{STRUCK_END}(\s*+){STRUCK_START}")

# Code marked by the author of a text file or a comment: `like` ``this``, unlike `this'.
_AUTHORS_CODE = re.compile(
    rf"(?<![\w`])(`+)(?![`\s])(?:(?!\1|\n|{CODE_START}).){{1,200}}(?<![`\s])\1(?![\w`])"
)
_APART = rf"\s{CODE_START}{CODE_END}{STRUCK_START}{STRUCK_END}"  # what is no part of a word
_WORD = re.compile(rf"[^{_APART}]+")
# What Markdown takes for markup: CommonMark 0.31, sections 2.4 (backslash escapes), 2.5 (entities),
# 6.1 (code spans), 6.3 (links), and what may begin or end emphasis (6.2): an underscore at the edge
# of a word, an asterisk inside one. Asterisks around words, as people type them for emphasis, are
# left alone.
_MARKUP = re.compile(
    r"`|\\(?=[!-/:-@\[-`{-~])|\\$|&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,31});|\]\("
    r"|(?<!\w)_|_(?!\w)|\w\*+\w|[^\w\s*]\*+[^\w\s*]",
    re.MULTILINE,
)
_SENTENCE_MARKS = ".,;:!?"
_STRUCTURE = re.compile(r"^(?=[ \t]*(?:#{1,6}(?:[ \t]|$)|\||\+[ \t]))([ \t]*)", re.MULTILINE)


def literal(text: str) -> str:
    """Markdown for a paragraph, heading or cell of plain text.

    ``text`` may hold inline code between ``CODE_START`` and ``CODE_END``, and struck-out text, code
    included, between ``STRUCK_START`` and ``STRUCK_END``.
    """
    is_struck = STRUCK_START in text
    if is_struck:
        text = _STRUCK_ON.sub(r"\1", text)
    if _MARKED.search(text):
        text = _with_code(text).strip() if CODE_START in text else _with_code(text)
    if "#" in text or "|" in text or "+" in text:
        text = _STRUCTURE.sub(r"\1\\", text)
    return with_tildes(text) if is_struck else text


def struck(text: str) -> str:
    """Mark words as struck out within a text."""
    return f"{STRUCK_START}{text}{STRUCK_END}" if text.strip() else text


def with_tildes(text: str) -> str:
    """Put tildes around struck-out text: see ``bot.text.struck``."""
    text = _STRUCK.sub(lambda match: _in_tildes(match[1]), _STRUCK_ON.sub(r"\1", text))
    return text.replace(STRUCK_START, "").replace(STRUCK_END, "")


def _in_tildes(words: str) -> str:
    words = words.replace("~~", "")
    body = words.strip()
    if not body:
        return words
    shown, end = words[: words.find(body[0])], 0
    for one in sentences(body):
        gap = body[end : one.start]
        shown += f"~~{gap}~~" if gap else "~~" * (not end)
        shown += body[one.start : one.end]
        end = one.end
    return f"{shown}~~{words[len(words.rstrip()) :]}"


def code_span(code: str) -> str:
    """Inline code in Markdown, delimited by a run of backticks that the code does not contain."""
    runs = {len(run) for run in _TICKS.findall(code)}
    ticks = "`" * next(n for n in range(1, len(runs) + 2) if n not in runs)
    room = " " if code[:1] == "`" or code[-1:] == "`" else ""
    return f"{ticks}{room}{code}{room}{ticks}"


def fenced(code: str) -> str:
    """A fenced block of code in Markdown."""
    longest = max(map(len, _TICKS.findall(code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{code}\n{fence}"


def _with_code(text: str) -> str:
    if CODE_START in text:
        text = _LOOSE_START.sub(rf"\1{CODE_START}", text)
        text = _LOOSE_END.sub(rf"{CODE_END}\1", text)
    pieces, done = [], 0
    for start, end in _taken_for_markup(text):
        while end - start > 1 and text[end - 1] in _SENTENCE_MARKS:
            end -= 1
        pieces += [text[done:start], CODE_START, text[start:end], CODE_END]
        done = end
    text = _ADJACENT.sub("", "".join((*pieces, text[done:])))
    text = _CODE.sub(lambda match: code_span(match[1]) if match[1] else "", text)
    return text.replace(CODE_START, "").replace(CODE_END, "")


def _taken_for_markup(text: str) -> list[tuple[int, int]]:
    """The words outside code whose characters Markdown would not show, in order."""
    hidden = _CODE.sub(lambda match: CODE_START * len(match[0]), text)
    if "`" in hidden:
        hidden = _AUTHORS_CODE.sub(lambda match: CODE_START * len(match[0]), hidden)
    if not _MARKUP.search(hidden):
        return []
    words = (match.span() for match in _WORD.finditer(hidden))
    return [span for span in words if _MARKUP.search(hidden, *span)]


# ---------------------------------------------------------------- blocks


MOST_CHARACTERS = 5_000_000
"""Characters of page text after which the rest of a document is not read: five times a long novel.
"""

WIDEST_CELL = 1_000  # characters; a table with a larger cell is used for layout
DEEPEST_ITEM = 6  # list levels; deeper levels are not indented further
DEEPEST_HEADING = 6  # of Markdown
LONGEST_HEADING = 300  # characters; longer text is a paragraph that was styled as a heading

_SPACE = lazy_regex(r"\s+")
_SPACES = lazy_regex(r"[ \t]{2,}|\t")
_AROUND_BREAK = lazy_regex(r"(?:(?<![ \t])[ \t]++)?\n[ \t\n]*+")
_NEEDS_COLON = lazy_regex(r"[^:：.?!…。？！,;]$")
_MARKED_CODE = lazy_regex(f"{CODE_START}[^{CODE_START}{CODE_END}]*{CODE_END}")
_UNMARKED = str.maketrans("", "", CODE_START + CODE_END)
_GENERATED = lazy_regex(
    r"\b(?:description automatically generated|AI-generated content).*", re.I | re.S
)
_REACHES = lazy_regex(r"\(?\s*<?(?:mailto|tel):([^\s<>()?]++)", re.I)
_HERE = lazy_regex(
    r"(?:(?:click|see|in|at|under|on) )?"
    r"(?:here|(?:this|the) (?:link|page|file|document|site|website|form|folder|sheet|list))"
    r"|(?:unter |in |auf )?(?:hier|(?:diese[mnrs]?|de[mnr]) (?:link|seite|datei|dokument|formular))"
    r"|(?:cliquez )?ici|ce lien|aquí|este enlace|(?:点击|點擊)?(?:这里|這裡|此处|此處)",
    re.I,
)
"""Labels of links that tell nothing without the address."""
_PAGE = lazy_regex(r"\(?\s*<?(https?://[^\s<>()]++|[\w.%~/-]++(?=[\s>)]|\Z))", re.I)
_CJK = "\u2e80-\u303f\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff60"
_IS_CJK = lazy_regex(f"[{_CJK}]")
_BREAK_IN_CJK = lazy_regex(f"(?<=[{_CJK}])[ \t]*\r?\n[ \t]*(?=[{_CJK}])")


class Blocks:
    """Collects the blocks of a text, in order."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._last = ""  # kind of the last block
        self.length = 0  # characters so far

    @property
    def full(self) -> bool:
        """True if the text has reached ``MOST_CHARACTERS``."""
        return self.length >= MOST_CHARACTERS

    def heading(self, level: int, text: str) -> None:
        words = one_line(text)
        if len(words) > LONGEST_HEADING:
            self.paragraph(words)
        elif words:
            self._add("heading", f"{'#' * max(1, min(level, DEEPEST_HEADING))} {literal(words)}")

    def paragraph(self, text: str) -> None:
        """Add a paragraph; its line breaks stay."""
        text = _SPACES.sub(" ", _AROUND_BREAK.sub("\n", text)).strip()
        if text:
            self._add("paragraph", literal(text))

    def item(self, depth: int, marker: str, text: str) -> None:
        """Add a list item; ``depth`` counts from 0, ``marker`` is "-" or like "3."."""
        words = one_line(text)
        if words:
            self._add("item", f"{'  ' * min(depth, DEEPEST_ITEM)}{marker} {literal(words)}")

    def more(self, depth: int, text: str) -> None:
        """Add another line to the last item."""
        words = one_line(text)
        if words:
            self._add("item", f"{'  ' * (min(depth, DEEPEST_ITEM) + 1)}{literal(words)}")

    def code(self, text: str, language: str = "") -> None:
        """Add a fenced block; only empty lines around the code are removed."""
        text = without_marks(text).strip("\n").rstrip()
        if text.strip():
            block = fenced(text)
            ticks = block[: block.index("\n")]
            self._add("code", f"{ticks}{language}{block[len(ticks) :]}")

    def table(self, rows: Iterable[Sequence[str]]) -> None:
        """Add a table whose first row is its header. Empty rows and columns are left out."""
        filled = [[one_line(cell) for cell in row] for row in rows]
        filled = [row for row in filled if any(row)]
        width = max((len(row) for row in filled), default=0)
        used = [i for i in range(width) if any(len(row) > i and row[i] for row in filled)]
        for number, row in enumerate(filled):
            self.row([row[i] if i < len(row) else "" for i in used], first=number == 0)

    def row(self, cells: Sequence[str], *, first: bool, is_headed: bool = True) -> None:
        """Add one row of a table; the first one is followed by the line that makes it a header."""
        line = table_row(cells)
        if first:
            below = f"\n{'| --- ' * len(cells)}|" if is_headed else ""
            self._add("row", f"{line}{below}", joined=False)
        else:
            self._add("row", line)

    def page_text(self, text: str, below: int = 0) -> None:
        """Add blocks produced by another reader, its headings ``below`` so many levels."""
        if below:
            parts, done = [], 0
            for each in blocks(text):
                if each.kind == "heading":
                    deeper = "#" * min(below, DEEPEST_HEADING - each.level)
                    parts += [text[done : each.start], deeper]
                    done = each.start
            text = "".join((*parts, text[done:]))
        if text.strip():
            self._add("blocks", text.strip("\n"))

    def text(self) -> str:
        return "".join(self._parts)

    def _add(self, kind: str, block: str, *, joined: bool = True) -> None:
        goes_on = joined and kind == self._last and kind in ("item", "row")
        if self._parts:
            self._parts.append("\n" if goes_on else "\n\n")
        self._parts.append(block)
        self._last = kind
        self.length += len(block) + 2


def one_line(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def unwrapped(text: str) -> str:
    """Put a wrapped paragraph on one line."""
    return one_line(without_breaks_in_cjk(text))


def without_breaks_in_cjk(text: str) -> str:
    """Remove line breaks between East Asian characters, where they do not stand for a space.

    Source: CSS Text 3, section 4.1.3 (segment breaks).
    """
    return _BREAK_IN_CJK.sub("", text) if "\n" in text and _IS_CJK.search(text) else text


def table_row(cells: Iterable[str]) -> str:
    shown = (literal(cell).replace("|", "\\|") if cell else "" for cell in cells)
    return f"| {' | '.join(shown)} |"


def code(text: str) -> str:
    """Mark words as inline code within a text."""
    return f"{CODE_START}{text}{CODE_END}" if text.strip() else text


def is_code(text: str) -> bool:
    """True if a paragraph consists of inline code only."""
    return CODE_START in text and not _MARKED_CODE.sub("", text).strip()


def labelled(label: str, text: str) -> str:
    """A term with its description, on one line."""
    if not text:
        return label
    return f"{label}{':' if _NEEDS_COLON.search(without_marks(label)) else ''} {text}"


def alternative(text: str) -> str:
    """A picture's alternative text if it says something, else ""."""
    words = one_line(_GENERATED.sub("", text))
    return words if " " in words or has_cjk(words) else ""


def with_address(label: str, target: str) -> str:
    """A link's label, with the address if it leads to a mailbox or a telephone, or if the label
    says nothing but "here"."""
    reached = _REACHES.match(target) or (
        _HERE.fullmatch(label.strip(" *_")) and _PAGE.match(target)
    )
    address = reached[1] if reached else ""
    address = address if address.startswith("http") else unquote(address)
    plain = re.sub(r"\W", "", address)
    return f"{label} ({address})" if plain and plain not in re.sub(r"\W", "", label) else label


def without_marks(text: str) -> str:
    """Remove the marks of inline code, for a title or a block of code."""
    return with_tildes(text).translate(_UNMARKED)
