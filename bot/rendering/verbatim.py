"""Converts page text to Markdown that shows it literally, and removes such escapes again; and the
parser of answers.

Page text is Markdown only in part: fenced and inline code, tables, lists and headings are its
structure, as are ``**bold**`` around words, which authors of Markdown pages write, and
``~~struck~~`` text (``bot.text.struck``). Every other character is meant literally (``argv[7]``,
``2000*1024``, ``__init__``, ``<T>``), so characters that a renderer would interpret are escaped
with a backslash (CommonMark 0.31.2, section 2.4). Addresses become code, since an escape inside one
would change it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.core.lines import label
from bot.rendering.marks import ESCAPE, outside_code
from bot.rendering.safety import TRAILING, URL
from bot.text.struck import STRUCK

# In page text, underlined headings, rules, HTML, link definitions and block quotes are literal: the
# readers of pages write none of them.
_parser = (
    MarkdownIt("commonmark")
    .enable("table")
    .disable(["html_block", "reference", "lheading", "hr", "blockquote"])
)
_parser.core.ruler.enableOnly(["block"])

_TILDE = "\ufdd0"  # a noncharacter, for a literal tilde
_GUARD = "¶"  # stands for the words before a text, so that its first line does not begin a block
# A footnote mark with a space before it may be moved before final punctuation.
_APART = r"(?=[ \t]|[.!?…:。！？：]*[ \t]*$)"
_INLINE = re.compile(
    r"(?P<code>(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    rf"|(?P<url>(?i:{URL}))"
    rf"|(?P<struck>{STRUCK.pattern})"
    # Bold encloses words; the stars of "2**3**4", "**kwargs" and "f(**a, **b)" are literal.
    r"|(?<![0-9A-Za-z_*])\*\*(?P<bold>(?=[\w“\"'(\[`<])[^*\n]*?[^*\s\\])\*\*(?![0-9A-Za-z_*])"
    rf"|^(?P<indent>[ \t]*)(?P<line>>|=+[ \t]*$|-+[ \t]*$|-\#|(?:[-+]|\#{{1,6}}){_APART})"
    rf"|^[ \t]*\d{{1,9}}(?P<number>[.)]){_APART}"
    r"|(?<=[0-9A-Za-z])_(?=[0-9A-Za-z])"
    r"|^[ \t]*(?P<escaped>\\[#|+])"  # a line that ``bot.pages.page_markdown`` wrote
    r"|(?P<slash>\\(?![0-9A-Za-z \t]))"
    r"|(?P<act>[*_`~\[\]$]|<(?=[A-Za-z/!?])|&(?=\#?\w+;)|\|(?=\|)|(?<=\|)\|)",
    re.DOTALL | re.MULTILINE,
)
_RULE = re.compile(r"[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*")
_EMPTY_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]*")
_BORDER = re.compile(r"((?<!\\)\|)")
_ITEM = re.compile(r"[ \t]*(?:\d{1,3}[.)]|[•‣◦])[ \t]+\S")  # as in ``bot.text.sentences``
_ROW = re.compile(r"[ \t]*\|.*(?<!\\)\|[ \t]*")
_DELIMITER = re.compile(r"[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*")
_NUMBERED = re.compile(r"((?:(?<![ \t])[ \t]++)?\d{1,9})(?=[.)](?:[ \t]|$))")


def as_markdown(text: str, *, begins_line: bool = True, columns: Sequence[str] = ()) -> str:
    """Convert page text to Markdown that shows it literally.

    ``begins_line``: no other words precede it on its first line. Rows without a head get the head
    ``columns``, or an empty one if the number of cells differs. Indented code becomes a fence, and
    an unclosed fence is closed.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "\ufffd")
    guard = "" if begins_line else _GUARD
    lines, tokens = _parsed((guard + text).split("\n"))
    taken = _lines_of(tokens, "table_open", "fence", "code_block")
    apart = _with_heads(_with_items_apart(lines, tokens), taken, columns)
    if apart != lines:
        lines, tokens = _parsed("\n".join(apart).split("\n"))
    written = "\n".join(_written(lines, tokens)).replace(_TILDE, "\\~")
    return written[len(guard) :]


def as_label(text: str) -> str:
    """Convert a title, heading or name to one line of Markdown that shows its label literally."""
    return inline(label(text))


def as_words(markdown: str) -> str:
    """Markdown without its escapes; code unchanged."""
    return outside_code(markdown, lambda part: ESCAPE.sub(lambda match: match.group()[1:], part))


# ---------------------------------------------------------------- blocks


def _parsed(lines: list[str]) -> tuple[list[str], list[Token]]:
    """The lines and their blocks. Tildes without a closing fence are an underline, not a fence."""
    while True:
        tokens = _parser.parse("\n".join(lines))
        line = next((t.map[0] for t in tokens if t.map and _is_underline(t, lines)), None)
        if line is None:
            return lines, tokens
        lines = [*lines[:line], lines[line].replace("~", _TILDE), *lines[line + 1 :]]


def _with_items_apart(lines: list[str], tokens: Sequence[Token]) -> list[str]:
    """Insert an empty line before each item that Markdown would join to the line above it."""
    inside = {
        number
        for token in tokens
        if token.type == "paragraph_open" and token.map
        for number in range(token.map[0] + 1, token.map[1])
    }
    return [
        f"\n{line}"
        if number in inside and _ITEM.match(line) and not _NUMBERED.match(lines[number - 1])
        else line
        for number, line in enumerate(lines)
    ]


def _is_underline(token: Token, lines: Sequence[str]) -> bool:
    if token.type != "fence" or token.markup[0] != "~" or token.info or token.map is None:
        return False
    return not _is_closed(token.map[1] - token.map[0], lines[token.map[1] - 1], token.markup)


def _written(lines: list[str], tokens: Sequence[Token]) -> list[str]:
    """The lines with all escapes; an element may hold several lines."""
    out = list(lines)
    code = _lines_of(tokens, "fence", "code_block")
    for number, line in enumerate(lines):
        if number not in code and (_RULE.fullmatch(line) or _EMPTY_HEADING.fullmatch(line)):
            out[number] = re.sub(r"[-*_#]", r"\\\g<0>", line)
    in_table = False
    for token in tokens:
        in_table = (in_table or token.type == "table_open") and token.type != "table_close"
        if token.map is None:
            continue
        start, end = token.map
        if token.type == "table_open":
            out[start:end] = map(_row, lines[start:end])
        elif token.type == "inline" and not in_table:
            _write_words(out, lines, start, token.content)
        elif token.type == "fence":
            _close(out, start, end, token.markup)
        elif token.type == "code_block":
            _fence(out, lines, start, token.content)
    _keep_numbers(out, tokens)
    return out


def _write_words(out: list[str], lines: Sequence[str], start: int, content: str) -> None:
    for number, (was, now) in enumerate(
        zip(content.split("\n"), inline(content).split("\n"), strict=True), start
    ):
        line = lines[number]
        at = line.rfind(was)
        if out[number] == line:  # a rule is already escaped as a whole
            out[number] = line[:at] + now + line[at + len(was) :]


def _close(out: list[str], start: int, end: int, marker: str) -> None:
    """Close a fence that runs to the end of the text."""
    last = out[end - 1].strip()
    if _is_closed(end - start, last, marker):
        return
    margin = out[start][: out[start].find(marker)]
    out[end - 1] = f"{out[end - 1]}\n{margin}{marker}" if last else f"{margin}{marker}"


def _is_closed(count: int, last: str, marker: str) -> bool:
    return count > 1 and last.strip().startswith(marker) and not last.strip().strip(marker[0])


def _fence(out: list[str], lines: Sequence[str], start: int, content: str) -> None:
    """Put indented code into a fence: chat platforms support no other code blocks."""
    code = content.rstrip("\n").split("\n")
    margin = lines[start][: len(lines[start]) - len(code[0])][:-4]
    runs = [len(run) for run in re.findall(r"`{3,}", content)]
    marker = "`" * (max(runs, default=2) + 1)
    for number, line in enumerate(code, start):
        out[number] = f"{margin}{line}"
    out[start] = f"{margin}{marker}\n{out[start]}"
    out[start + len(code) - 1] += f"\n{margin}{marker}"


def _keep_numbers(out: list[str], tokens: Sequence[Token]) -> None:
    """Turn a list whose numbers have gaps into paragraphs, since renderers would renumber it."""
    for token in tokens:
        if token.type != "ordered_list_open" or token.level:
            continue
        start, end = token.map or (0, 0)
        items = [
            each
            for each in tokens
            if each.type == "list_item_open"
            and each.level == 1
            and each.map is not None
            and start <= each.map[0] < end
        ]
        numbers = [int(item.info) for item in items]
        if numbers == list(range(numbers[0], numbers[0] + len(numbers))):
            continue
        for item in items:
            first = (item.map or (0, 0))[0]
            gap = "\n" if first > start else ""
            out[first] = gap + _NUMBERED.sub(r"\1\\", out[first], count=1)


def _lines_of(tokens: Sequence[Token], *kinds: str) -> frozenset[int]:
    return frozenset(
        number for token in tokens if token.type in kinds and token.map for number in
        range(*token.map)
    )  # fmt: skip


# ---------------------------------------------------------------- tables


def _with_heads(lines: Sequence[str], taken: frozenset[int], columns: Sequence[str]) -> list[str]:
    out: list[str] = []
    before = False
    for number, line in enumerate(lines):
        is_row = number not in taken and _ROW.fullmatch(line) is not None
        if is_row and not before:
            margin = line[: len(line) - len(line.lstrip())]
            cells = max(1, len(_BORDER.findall(line)) - 1)
            above = [""] if out and out[-1].strip() else []
            names = columns if len(columns) == cells else [""] * cells
            above.append(f"{margin}| {' | '.join(name.replace('|', '') for name in names)} |")
            if not _DELIMITER.fullmatch(line):
                above.append(f"{margin}|{' --- |' * cells}")
            out += above
        out.append(line)
        before = is_row
    return out


def _row(line: str) -> str:
    if _DELIMITER.fullmatch(line) or not set(line) - set(" \t|:-"):
        return line
    return "".join(
        part if part == "|" else inline(part.replace("\\|", "|"), in_cell=True)
        for part in _BORDER.split(line)
    )


# ---------------------------------------------------------------- words


def inline(text: str, *, in_cell: bool = False) -> str:
    """The text of one paragraph, or of one table cell, as Markdown."""
    written = _INLINE.sub(lambda match: _shown(match, in_cell), text)
    return re.sub(r"\\?\|", r"\\|", written) if in_cell else written


def _shown(match: re.Match[str], in_cell: bool) -> str:
    whole = match.group()
    if match["url"]:
        address = whole.rstrip(TRAILING + "*_~\\")
        return f"`{address}`{inline(whole[len(address) :])}" if address else whole
    if match["bold"] is not None:
        return f"**{inline(match['bold'])}**"
    if match["struck"] is not None:
        return f"~~{inline(whole[2:-2])}~~"
    if match["escaped"]:  # only at the start of a line; cells are literal
        return whole.replace("\\", "\\\\") if in_cell else whole
    if match["line"]:
        return f"{match['indent']}\\{match['line']}"
    if match["number"]:
        return f"{whole[:-1]}\\{match['number']}"
    return f"\\{whole}" if match["slash"] or match["act"] else whole


_MARK = re.compile(r"\[(\d{1,4})\]")


def answer_parser() -> MarkdownIt:
    """CommonMark with tables and ~~strikethrough~~, without HTML, images and link definitions
    ("[1]: …"). Any address becomes a link; the caller that renders it decides where it leads.
    """
    parser = MarkdownIt("commonmark", {"html": False})
    parser.enable(["table", "strikethrough"]).disable(["image", "reference"])
    parser.disable("text_join")  # otherwise escaped characters would merge into plain text
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return parser


def with_marks(children: Sequence[Token], known: Collection[int]) -> Iterator[Token | int]:
    """Inline tokens, with a number in place of each footnote mark that is ``known``."""
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
