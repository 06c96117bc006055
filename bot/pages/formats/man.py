"""Converts manual pages to page text, for both macro packages, man(7) and mdoc(7).

No maintained Python library reads them. The page's title is its name and section ("ls(1)"); bold
and italic are left out, because manual pages use them everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from bot.errors import PageUnreadable
from bot.pages.formats.blocks import Blocks, Reading, labelled, one_line
from bot.pages.formats.mdoc import Mdoc
from bot.pages.formats.roff import Roff, arguments

_MDOC = re.compile(r"^[.'][ \t]*Dd\b", re.M)
_POINTER = re.compile(r"^[.']so[ \t]+(\S+)", re.M)
_JOINED = {"BI", "BR", "IB", "IR", "RB", "RI"}  # alternating fonts: the arguments form one word
_FONTS = {"B", "I", "SM", "SB", "R", "CW", "C"}
_BULLETS = frozenset({"•", "*", "-", "—", "o", "+", "·", "–", "○", "□"})
_TERM = re.compile(r"[^\n]{0,150}[^\s.:!?]")
"""In pages made by DocBook, a line directly before indented text is the term that it describes."""
_COUNTED = re.compile(r"\(?(\d{1,3})[.)]?")


def read_man(source: str, name: str) -> Reading:
    """Read a manual page that uses "\\n" for its line ends; return its title and text.

    Raises ``PageUnreadable`` for a page that only refers to another one.
    """
    roff = Roff()
    if _MDOC.search(source):
        return Mdoc(roff).read(source)
    reading = _Page(roff).read(source)
    pointer = _POINTER.search(source)
    if not reading.text and pointer:
        raise PageUnreadable(
            f"{name} only points to the manual page {pointer[1]}; read that one.",
        )
    return reading


class _Page:
    def __init__(self, roff: Roff) -> None:
        self._roff = roff
        self._blocks = Blocks()
        self._title = ""
        self._words: list[str] = []  # of the open paragraph
        self._glued = False  # the next word follows without a space
        self._verbatim: list[str] | None = None  # lines of code, while filling is off
        self._tag: list[str] = []  # of the open item
        self._tag_depth = 0
        self._in_item = False
        self._around: list[bool] = []  # for each open indent, whether it is inside an item
        self._awaits_tag = False
        self._link = ""
        self._linked: list[str] = []
        self._macros = self._table_of_macros()

    def read(self, source: str) -> Reading:
        lines = self._roff.lines(source)
        for line in lines:
            if line[:1] in (".", "'") and line.strip() not in (".", "'"):
                self._request(line[1:].strip(), lines)
            elif self._verbatim is not None:
                self._verbatim.append(self._roff.text(line))
            elif not line.strip():
                self._paragraph()
            else:
                if line[0] in " \t":
                    self._break()
                self._say(self._roff.text(line), glue_next=line.endswith("\\c"))
        self._end()
        return Reading(self._title, self._blocks.text())

    # ------------------------------------------------------------ macros

    def _table_of_macros(self) -> dict[str, Callable[[list[str]], None]]:
        table: dict[str, Callable[[list[str]], None]] = {
            "TH": self._head,
            "SH": lambda words: self._section(2, words),
            "SS": lambda words: self._section(3, words),
            "RS": lambda _: self._shift(1),
            "RE": lambda _: self._shift(-1),
            "TP": self._tagged,
            "TQ": self._tagged_too,
            "IP": self._indented,
            "OP": lambda words: self._say(f"[{' '.join(words)}]"),
            "SY": self._synopsis,
            "UR": self._open_link,
            "MT": self._open_link,
            "UE": self._close_link,
            "ME": self._close_link,
        }
        table |= {name: lambda _: self._paragraph() for name in ("PP", "P", "LP", "HP", "YS")}
        table |= {name: lambda _: self._stop_filling() for name in ("nf", "EX", "Vb", "CS", "DS")}
        table |= {name: lambda _: self._fill() for name in ("fi", "EE", "Ve", "CE", "DE")}
        table |= {name: lambda _: self._skip() for name in ("sp", "Sp", "bp")}
        table |= {name: lambda _: self._break() for name in ("br", "ti", "in", "ce")}
        return table

    def _request(self, line: str, lines: Iterator[str]) -> None:
        match = re.match(r"[^\s\\]+", line)
        name = match[0] if match else ""
        words = [self._roff.text(word) for word in arguments(line[len(name) :])]
        if name == "TS":
            self._end_block()
            self._blocks.table(rows_of(lines, self._roff))
        elif name in self._macros:
            self._macros[name](words)
        elif name in _JOINED:
            self._say("".join(words))
        elif name in _FONTS:
            self._say(" ".join(words))

    def _head(self, words: list[str]) -> None:
        if words and not self._title:
            section = f"({words[1]})" if len(words) > 1 and words[1] else ""
            self._title = f"{words[0]}{section}"
            self._blocks.heading(1, self._title)

    def _section(self, level: int, words: list[str]) -> None:
        self._around.clear()
        self._end()
        self._blocks.heading(level, " ".join(words))

    def _shift(self, by: int) -> None:
        above = "".join(self._words).strip()
        if by > 0 and not self._tag and _TERM.fullmatch(above):
            self._words.clear()
            self._tag, self._tag_depth = [above], self._depth
            self._around.append(True)
            return
        if self._verbatim is None:
            self._end_block()
        if by > 0:
            self._around.append(self._in_item)
        elif self._around:
            self._in_item = self._around.pop()

    def _tagged(self, _: list[str]) -> None:
        self._end()
        self._awaits_tag, self._tag_depth = True, self._depth

    def _tagged_too(self, _: list[str]) -> None:
        self._awaits_tag = True

    def _indented(self, words: list[str]) -> None:
        in_item = self._in_item or bool(self._tag)
        self._end()
        if words and words[0].strip():
            self._tag, self._tag_depth = [words[0].strip()], self._depth
        else:
            self._in_item = in_item

    def _synopsis(self, words: list[str]) -> None:
        self._paragraph()
        self._say(" ".join(words))

    def _open_link(self, words: list[str]) -> None:
        self._link = words[0] if words else ""
        self._linked = list(self._words)

    def _close_link(self, words: list[str]) -> None:
        if self._link and self._words == self._linked:
            self._say(self._link)
        self._link = ""
        if words:
            self._glued = True
            self._say(words[0])

    @property
    def _depth(self) -> int:
        """The number of items that enclose the next one."""
        return sum(self._around)

    # ------------------------------------------------------------ text

    def _say(self, text: str, *, glue_next: bool = False) -> None:
        if self._verbatim is not None:
            self._verbatim.append(text)
            return
        if self._awaits_tag:
            if text.strip():
                self._tag.append(one_line(text))
                self._awaits_tag = glue_next
            return
        if self._words and not self._glued:
            self._words.append(" ")
        self._words.append(text.strip() if not glue_next else text.lstrip())
        self._glued = glue_next

    def _break(self) -> None:
        if self._words:
            self._words.append("\n")
            self._glued = True

    def _skip(self) -> None:
        if self._verbatim is not None:
            self._verbatim.append("")
        else:
            self._flush()

    def _paragraph(self) -> None:
        """End the paragraph; the text that follows is outside the item, unless it is nested."""
        if self._verbatim is not None:
            self._verbatim.append("")
            return
        self._end()

    def _stop_filling(self) -> None:
        if self._verbatim is None:
            self._flush()
            self._verbatim = []

    def _fill(self) -> None:
        lines, self._verbatim = self._verbatim, None
        if lines is not None:
            self._put_tag()
            self._blocks.code("\n".join(lines))

    def _end(self) -> None:
        self._end_block()
        self._in_item = bool(self._around) and self._around[-1]
        self._awaits_tag = False

    def _end_block(self) -> None:
        self._fill()
        self._flush()
        self._put_tag()

    def _flush(self) -> None:
        text = re.sub(r"(?:(?<![ \t])[ \t]++)?\n[ \t]*+", "\n", "".join(self._words)).strip()
        self._words.clear()
        self._glued = False
        if not text:
            return
        if self._tag:
            self._put_tag(one_line(text))
        elif self._in_item:
            self._blocks.more(max(0, self._depth - 1), text)
        else:
            self._blocks.paragraph(text)

    def _put_tag(self, text: str = "") -> None:
        """Write an item: its label and its text."""
        tags, self._tag = self._tag, []
        if not tags:
            return
        label = ", ".join(tags)
        counted = _COUNTED.fullmatch(label)
        if label in _BULLETS:
            self._blocks.item(self._tag_depth, "-", text)
        elif counted:
            self._blocks.item(self._tag_depth, f"{counted[1]}.", text)
        else:
            self._blocks.item(self._tag_depth, "-", labelled(label, text))
        self._in_item = True


_SEPARATOR = re.compile(r"tab[ \t]*\((.)\)")
_RULE = re.compile(r"[_=\s]*|\\\^")


def rows_of(lines: Iterator[str], roff: Roff) -> list[list[str]]:
    """Read rows up to the end of the table (``.TE``), which is consumed from ``lines`` too."""
    separator = "\t"
    in_format = True
    rows: list[list[str]] = []
    for line in lines:
        if line.startswith((".TE", "'TE")):
            break
        if in_format:
            if found := _SEPARATOR.search(line):
                separator = found[1]
            in_format = not line.rstrip().endswith(".")
        elif line.startswith(".T&"):
            in_format = True
        elif not _RULE.fullmatch(line) and not line.startswith((".", "'")):
            cells = _cells(line, separator, lines)
            shown = [one_line(roff.text(cell)) for cell in cells]
            rows.append(["" if _RULE.fullmatch(cell) else cell for cell in shown])
    return rows


def _cells(line: str, separator: str, lines: Iterator[str]) -> list[str]:
    """The cells of a row; a text between ``T{`` and ``T}`` spans several lines."""
    cells: list[str] = []
    rest: str | None = line
    while rest is not None:
        if rest.startswith("T{"):
            inside = [rest[2:]]
            rest = None
            for each in lines:
                if each.startswith("T}"):
                    rest = each[2:].removeprefix(separator) if len(each) > 2 else None
                    break
                inside.append(_words(each))
            cells.append(" ".join(inside))
        else:
            cell, found, rest_of = rest.partition(separator)
            cells.append(cell)
            rest = rest_of if found else None
    return cells


def _words(line: str) -> str:
    """A line inside a cell, without font macros."""
    return re.sub(r"^[.'][ \t]*(?:[BIR]{1,2}|SM|SB|br|sp|nf|fi|PP|P)\b[ \t]*", "", line)
