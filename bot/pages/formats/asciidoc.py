"""Converts AsciiDoc to page text.

No maintained Python library reads it, so this follows the language reference
(https://docs.asciidoctor.org/asciidoc/latest/) and the older form used by Git's manual: sections,
lists, delimited blocks, tables, inline markup. Comments, attributes and conditions are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from bot.pages.formats.asciidoc_inline import Inline
from bot.pages.formats.blocks import (
    WIDEST_CELL,
    Blocks,
    Reading,
    labelled,
    one_line,
    unwrapped,
    without_marks,
)

_SECTION = re.compile(
    r"(={1,6}|#{1,6})[ \t]++"
    r"([^ \t\n]++(?:[ \t]++(?!\1[ \t]*+\Z)[^ \t\n]++)*+)(?:[ \t]++\1)?[ \t]*+"
)
_UNDERLINE = re.compile(r"([=\-~^+])\1{1,}[ \t]*")
_UNDERLINES = "=-~^+"  # by level, from the document title down
_OFF_BY = 3  # characters by which the length of an underline may differ from its title's
_ENTRY = re.compile(r":(!?[\w-]+!?):(?:[ \t]++(.*+))?")
_BLOCK_ATTRIBUTES = re.compile(r"\A\[(?!\[)((?:[^\]\"]|\"[^\"]*+\"|\")*+)\][ \t]*+")
_ANCHOR = re.compile(r"\[\[[^\]]*\]\][ \t]*")
_BLOCK_TITLE = re.compile(r"\.(?=[^\s.])(.+)")
_DELIMITER = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|`{3,}.*)[ \t]*")
_TABLE = re.compile(r"([|,!:])={3,}[ \t]*")
_CONDITION = re.compile(r"\A(?:ifdef|ifndef|ifeval|endif|include)::[^\[]*\[(.*)\][ \t]*")
_BLOCK_MACRO = re.compile(r"(?:image|video|audio|toc|icon)::[^\[]*\[.*\][ \t]*")
_RULE = re.compile(r"(?:'{3,}|-{3}|- - -|\*{3}|<{3,})[ \t]*")
_BULLET = re.compile(r"[ \t]*(\*{1,5}|-|•)[ \t]+(?=\S)")
_NUMBER = re.compile(r"[ \t]*(?:(\.{1,5})|(\d{1,3})\.|([a-zA-Z])\.|<(\d{1,3}|\.)>)[ \t]+(?=\S)")
_TERM = re.compile(r"[ \t]*(?!//)(\S.*?)(:{2,4}|;;)(?:[ \t]++(\S.*+))?[ \t]*+", re.S)
_BLOCKS = (_DELIMITER, _TABLE, _BLOCK_ATTRIBUTES, _CONDITION)
_ADMONITIONS = frozenset({"note", "tip", "important", "warning", "caution"})
_CELL = re.compile(
    r"(?:\d{0,3}(?:\.\d{1,3})?[+*])?(?:[<^>](?:\.[<^>])?|\.[<^>])?[adehlmsv]?(?<!\\)\|"
)
_REPEATED = re.compile(r"(\d+)\*")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,1000}>")
_MOST_COLUMNS = 200


def read_asciidoc(source: str) -> Reading:
    """Read a document that uses "\\n" for its line ends; return its title and text."""
    reader = _Reader(source.split("\n"))
    reader.read()
    return Reading(reader.title, reader.blocks.text())


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self.blocks = Blocks()
        self.title = ""
        self._lines = lines
        self._at = 0
        self._attributes: dict[str, str] = {}
        self._inline = Inline(self._attributes)
        self._noted = 0  # footnotes written so far
        self._style = ""  # block attributes for the next block
        self._depth = -1  # of the current list; -1 outside
        self._markers: list[str] = []  # of the open lists
        self._counts: list[int] = []
        self._attached = False  # a "+" attaches the next block to the item
        self._label = ""  # of the admonition, for the next paragraph

    def read(self) -> None:
        while self._at < len(self._lines):
            self._block()

    # ------------------------------------------------------------ blocks

    def _block(self) -> None:
        line = self._lines[self._at].rstrip()
        if not line or self._is_silent(line):
            self._at += 1
        elif (title := self._heading(line)) is not None:
            level, words, used = title
            self._at += used
            self._end_list()
            words = one_line(self._inline.render(words))
            self.title = self.title or without_marks(words)
            is_title = level == 1 and not self.blocks.length
            self.blocks.heading(level, words)
            if is_title:
                self._header()
        elif match := _BLOCK_TITLE.fullmatch(line):
            self._at += 1
            self._say(match[1])
        elif _TABLE.fullmatch(line):
            self._table(line)
        elif _DELIMITER.fullmatch(line):
            self._delimited(line)
        elif self._item(line):
            pass
        elif line[0] in " \t" and not self._is_definition():
            lines = self._paragraph_lines()
            indent = min(len(each) - len(each.lstrip()) for each in lines or [""])
            self._code([each[indent:] for each in lines])
        else:
            self._paragraph()

    def _header(self) -> None:
        """Read the lines directly below the title: author, revision and attributes."""
        while self._at < len(self._lines) and (line := self._lines[self._at].strip()):
            if not self._is_silent(line):
                self._say(line)
            self._at += 1

    def _is_silent(self, line: str) -> bool:
        """True if a line is a comment, an attribute or similar, without text of its own."""
        if line.startswith("//") and not line.startswith("///"):
            return True
        if match := _ENTRY.fullmatch(line):
            self._attributes[match[1].strip("!").lower()] = match[2] or ""
            return True
        if _ANCHOR.fullmatch(line) or _BLOCK_MACRO.fullmatch(line) or _RULE.fullmatch(line):
            return True
        if match := _CONDITION.fullmatch(line):
            if match[1] and not line.startswith(("include", "ifeval", "endif")):
                self._lines[self._at] = match[1]
                return False
            return True
        if match := _BLOCK_ATTRIBUTES.fullmatch(line):
            self._style = match[1].strip()
            name = self._style.partition(",")[0].partition("%")[0].strip().lower()
            self._label = name.capitalize() if name in _ADMONITIONS else ""
            return True
        if line == "+" and self._depth >= 0:
            self._attached = True
            return True
        return False

    def _heading(self, line: str) -> tuple[int, str, int] | None:
        """Level, text and number of lines of a section title; None for other lines."""
        if self._attached:
            return None
        if match := _SECTION.fullmatch(line):
            return len(match[1]), match[2], 1
        if self._at + 1 >= len(self._lines) or line[0] in " \t" or _DELIMITER.fullmatch(line):
            return None
        under = self._lines[self._at + 1].rstrip()
        near = abs(len(under) - len(line)) <= min(_OFF_BY, max(1, len(line) // 3))
        if near and _UNDERLINE.fullmatch(under) and re.search(r"\w", line):
            return _UNDERLINES.index(under[0]) + 1, line, 2
        return None

    def _delimited(self, line: str) -> None:
        """Read a block between two identical delimiter lines. Blocks that only group other blocks
        are read as those blocks.
        """
        fence = line[:3] if line.startswith("```") else line
        kind = line[0]
        if kind in "=*_" or line == "--":
            self._at += 1
            return
        self._at += 1
        start = self._at
        while self._at < len(self._lines) and self._lines[self._at].rstrip() != fence:
            self._at += 1
        inside = self._lines[start : self._at]
        self._at += 1
        if kind == "/":
            return
        if kind == "+":
            self._paragraphs_of(_TAG.sub("", "\n".join(inside)))
            return
        language = line[3:].strip() if kind == "`" else self._language()
        self._code(inside, language)

    def _language(self) -> str:
        name, _, rest = self._style.partition(",")
        if name.partition("%")[0].strip() not in ("source", ""):
            return ""
        language = rest.partition(",")[0].strip()
        return language if re.fullmatch(r"[\w+#-]+", language) else ""

    def _paragraphs_of(self, text: str) -> None:
        for part in re.split(r"\n[ \t]*\n", text):
            self._say(part)

    def _code(self, lines: list[str], language: str = "") -> None:
        self.blocks.code("\n".join(each.rstrip() for each in lines), language)
        self._done()

    # ------------------------------------------------------------ paragraphs

    def _paragraph(self) -> None:
        verse = self._style.partition(",")[0].strip() in ("verse", "listing", "literal", "source")
        is_code = verse and not self._style.startswith("verse")
        first = self._at
        attached = self._attached or (self._depth >= 0 and self._lines[first][:1] in " \t")
        lines = self._paragraph_lines()
        if is_code:
            self._code(lines, self._language())
            return
        if not attached:
            self._end_list()
        text = "\n".join(line.strip() if not verse else line for line in lines)
        words = self._inline.render(text)
        if verse:
            self.blocks.paragraph(words)
            self._done()
        else:
            self._say(words, shown=True)

    def _paragraph_lines(self) -> list[str]:
        first = self._lines[self._at]
        self._at += 1
        return [first, *self._lines_on(lambda line: self._depth >= 0 and _begins_item(line))]

    def _lines_on(self, ends: Callable[[str], object]) -> list[str]:
        """The lines up to an empty one, the start of a block or one that ``ends`` accepts; no
        comments.
        """
        start = self._at
        while self._at < len(self._lines):
            line = self._lines[self._at].rstrip()
            if not line or line == "+" or any(each.fullmatch(line) for each in _BLOCKS):
                break
            if ends(line):
                break
            self._at += 1
        return [line for line in self._lines[start : self._at] if not re.match(r"//(?!/)", line)]

    def _say(self, text: str, *, shown: bool = False) -> None:
        words = text if shown else self._inline.render(text)
        words = "\n".join(unwrapped(part) for part in re.split(r" \+\n", words))
        if self._label:
            words, self._label = f"{self._label}: {words}", ""
        if self._depth >= 0:
            self.blocks.more(self._depth, words)
        else:
            self.blocks.paragraph(words)
        self._done()

    def _done(self) -> None:
        """End a block: its attributes do not apply to the next one."""
        self._style, self._attached = "", False
        notes = self._inline.notes[self._noted :]
        for number, note in enumerate(notes, self._noted + 1):
            self.blocks.paragraph(f"[^{number}]: {unwrapped(self._inline.render(note))}")
        self._noted += len(notes)

    # ------------------------------------------------------------ lists

    def _item(self, line: str) -> bool:
        """Read a list item if the line begins one."""
        marker, label, rest = "", "", ""
        if match := _BULLET.match(line):
            marker, label, rest = match[1], "-", line[match.end() :]
        elif match := _NUMBER.match(line):
            marker = match[1] or ("1" if match[2] else "a" if match[3] else "<>")
            label, rest = match[2] or match[3] or match[4] or "", line[match.end() :]
        elif (match := _TERM.fullmatch(line)) and not line.startswith("http"):
            marker, label, rest = match[2], match[1], match[3] or ""
        else:
            return False
        self._at += 1
        self._enter(marker)
        if marker in ("::", ":::", "::::", ";;"):
            self._definition(label, rest)
        else:
            words = "\n".join([rest, *self._rest_of_item()])
            sign = "-" if label == "-" else self._number(label)
            self.blocks.item(self._depth, sign, unwrapped(self._inline.render(words)))
        self._done()
        return True

    def _number(self, label: str) -> str:
        if label.isalpha():
            return f"- {label}."
        return f"{label if label.isdigit() else self._counts[self._depth]}."

    def _enter(self, marker: str) -> None:
        """Open the list that a marker belongs to, or return to it."""
        if marker in self._markers:
            keep = self._markers.index(marker) + 1
            del self._markers[keep:], self._counts[keep:]
        else:
            self._markers.append(marker)
            self._counts.append(0)
        self._depth = len(self._markers) - 1
        self._counts[-1] += 1

    def _end_list(self) -> None:
        self._depth = -1
        self._markers.clear()
        self._counts.clear()

    def _rest_of_item(self) -> list[str]:
        """The lines that continue an item's text."""
        found = self._lines_on(lambda line: _begins_item(line) or _NUMBER.match(line))
        return [line.strip() for line in found]

    def _definition(self, term: str, first: str) -> None:
        """Read a term, the terms that share its definition, and the definition's first lines."""
        terms = [term]
        while not first and self._at < len(self._lines):
            line = self._lines[self._at].rstrip()
            match = _TERM.fullmatch(line)
            if match and match[2] == self._markers[-1]:
                terms.append(match[1])
                first = match[3] or ""
                self._at += 1
            elif line:
                break
            elif self._is_definition(1):
                self._at += 1
            else:
                break
        lines = [first] if first else []
        if first or not self._begins_block():
            lines += self._rest_of_item()
        label = ", ".join(unwrapped(self._inline.render(each)) for each in terms)
        words = unwrapped(self._inline.render("\n".join(lines)))
        self.blocks.item(self._depth, "-", labelled(label, words))

    def _is_definition(self, ahead: int = 0) -> bool:
        """True if an indented line is the text of an item, not a literal paragraph."""
        at = self._at + ahead
        line = self._lines[at] if at < len(self._lines) else ""
        return self._depth >= 0 and self._markers[-1][0] in ":;" and line[:1] in " \t"

    def _begins_block(self) -> bool:
        line = self._lines[self._at].rstrip() if self._at < len(self._lines) else ""
        return bool(not line or _DELIMITER.fullmatch(line) or _BULLET.match(line))

    # ------------------------------------------------------------ tables

    def _table(self, fence: str) -> None:
        style = self._style
        start = self._at + 1
        self._at = start
        while self._at < len(self._lines) and self._lines[self._at].rstrip() != fence.rstrip():
            self._at += 1
        inside = [line for line in self._lines[start : self._at] if not line.startswith("//")]
        self._at += 1
        separator = "," if fence[0] == "," or "csv" in style else fence[0]
        per_line = [list(_cells(line, separator)) for line in inside]
        columns = _columns(style) or next((len(cells) for cells in per_line if cells), 1)
        cells: list[str] = []
        for line, found in zip(inside, per_line, strict=True):
            if found and (separator == "," or _CELL.search(line)):
                before = line[: _CELL.search(line).start()] if separator != "," else ""  # type: ignore[union-attr]
                if cells and before.strip():
                    cells[-1] += f"\n{before}"
                cells += found
            elif cells:
                cells[-1] += f"\n{line}"
        shown = [unwrapped(self._inline.render(cell)) for cell in cells]
        if columns < 2 or max(map(len, shown), default=0) > WIDEST_CELL:
            for cell in shown:
                self._say(cell, shown=True)
        else:
            self.blocks.table(shown[i : i + columns] for i in range(0, len(shown), columns))
        self._done()


def _begins_item(line: str) -> bool:
    return bool(_BULLET.match(line) or _TERM.fullmatch(line))


def _cells(line: str, separator: str) -> Iterator[str]:
    """The cells that begin in a line of a table."""
    if separator == ",":
        yield from (cell.strip().strip('"') for cell in line.split(",") if line.strip())
        return
    if separator != "|":
        line = line.replace("|", "\\|").replace(separator, "|")
    starts = list(_CELL.finditer(line))
    ends = [match.start() for match in starts[1:]] + [len(line)]
    for match, end in zip(starts, ends, strict=bool(starts)):
        text = line[match.end() : end].strip().replace("\\|", "|")
        times = _REPEATED.match(match[0])
        yield from [text] * (min(int(times[1]), _MOST_COLUMNS) if times else 1)


def _columns(style: str) -> int:
    """The number of columns that block attributes state; 0 if they do not."""
    match = re.search(r"cols\s*=\s*(?:\"([^\"]*)\"|(\S+))", style)
    if match is None:
        return 0
    count = 0
    for part in re.split(r"[,;]", (match[1] or match[2]).strip()):
        times = re.match(r"\s*(\d{1,3})\*", part)
        count += int(times[1]) if times else 1
    return min(count, _MOST_COLUMNS)
