"""Converts Org files to page text (https://orgmode.org/worg/org-syntax.html).

orgparse, the maintained library for them, only parses the outline and leaves the text in it
unparsed. Left out here: keywords, comments, drawers.
"""

from __future__ import annotations

import re

from bot.pages.formats.blocks import (
    Blocks,
    Reading,
    code,
    labelled,
    one_line,
    unwrapped,
    without_marks,
)

_HEADLINE = re.compile(
    r"(\*++)[ \t]++([^ \t\n]++(?:[ \t]++(?!:[\w@#%:]++(?<=:)[ \t]*+\Z)[^ \t\n]++)*+)"
    r"(?:[ \t]++:[\w@#%:]++(?<=:))?[ \t]*+"
)
_PRIORITY = re.compile(r"(?<!\S)\[#[A-Z]\][ \t]*")
_KEYWORD = re.compile(r"[ \t]*#\+(\w++)(?:\[[^\]]*+\])?:[ \t]*+(.*+)", re.I)
_STEERING = re.compile(r"(?<![ \t])[ \t]*#\+\S.*")
_BEGIN = re.compile(r"[ \t]*#\+begin_(\w++)(?:[ \t]++(\S++))?.*+", re.I)
_COMMENT = re.compile(r"(?<![ \t])[ \t]*#(?:[ \t].*)?")
_FIXED = re.compile(r"(?<![ \t])[ \t]*:(?: (.*)|)")
_DRAWER = re.compile(r"[ \t]*:([\w-]+):[ \t]*")
_LONGEST_DRAWER = 500  # lines; logs of a task's history can be long
_TABLE_ROW = re.compile(r"(?<![ \t])[ \t]*\|(.*)")
_TABLE_RULE = re.compile(r"[ \t]*+\|(?=[+:| ]*+-)[-+:| ]*+")
_ITEM = re.compile(r"([ \t]*)(?:([-+])|([ \t]\*)|(\d{1,3}|[a-zA-Z])([.)]))[ \t]+(?=\S)")
_CHECKBOX = re.compile(r"(?:\[@\w+\][ \t]*)?(\[[ xX-]\][ \t]+)?")
_TERM = re.compile(r"(.+?)(?<![ \t])[ \t]++::(?:[ \t]++|$)")
_RULE = re.compile(r"[ \t]*-{5,}[ \t]*")
_NOTE = re.compile(r"\[fn:([\w-]+)\][ \t]*(.*)", re.S)
_BEFORE, _AFTER = r"(?<![\w\\])", r"(?!\w)"
_INLINE = re.compile(
    rf"{_BEFORE}(?:=(?P<verbatim>[^\s=](?:[^=\n]*[^\s=])?)=|~(?P<code>[^\s~](?:[^~\n]*[^\s~])?)~)"
    rf"{_AFTER}"
    r"|\[\[(?P<target>[^\[\]]+)\](?:\[(?P<label>[^\[\]]+)\])?\]"
    r"|\[fn:(?P<note>[\w-]+)\]"
    r"|<<<?[^<>\n]+>>>?"
    rf"|{_BEFORE}(?:\*(?P<bold>[^\s*](?:[^*]*[^\s*])?)\*|/(?P<italic>[^\s/](?:[^/]*[^\s/])?)/"
    rf"|_(?P<under>[^\s_](?:[^_]*[^\s_])?)_|\+(?P<struck>[^\s+](?:[^+]*[^\s+])?)\+){_AFTER}",
)
_RAISED = re.compile(r"(?<=[^\s{}])[_^]\{([^{}\n]{1,40})\}")
_LITERAL = frozenset({"src", "example", "export"})


def read_org(source: str) -> Reading:
    """Read a file that uses "\\n" for its line ends; return its title and text."""
    reader = _Reader(source.split("\n"))
    reader.read()
    return Reading(reader.title or reader.first_heading, reader.blocks.text())


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self.blocks = Blocks()
        self.title = ""
        self.first_heading = ""
        self._lines = lines
        self._at = 0
        self._paragraph: list[str] = []
        self._indents: list[int] = []  # of the open lists, in columns

    def read(self) -> None:
        while self._at < len(self._lines):
            line = self._lines[self._at].expandtabs()
            if not self._takes(line):
                self._paragraph.append(line.strip())
            self._at += 1
        self._flush()

    def _takes(self, line: str) -> bool:
        """Read a line that is not prose; return False for prose."""
        if not line.strip() or _RULE.fullmatch(line):
            self._flush()
            return True
        if line.startswith("*") and (match := _HEADLINE.fullmatch(line)):
            self._flush()
            self._indents.clear()
            words = one_line(_shown(_PRIORITY.sub("", match[2])))
            self.first_heading = self.first_heading or without_marks(words)
            self.blocks.heading(len(match[1]), words)
            return True
        if match := _BEGIN.fullmatch(line):
            self._flush()
            self._environment(match[1].lower(), match[2] or "")
            return True
        if match := _KEYWORD.fullmatch(line):
            if match[1].lower() == "title":
                self.title = f"{self.title} {_shown(match[2])}".strip()
            return True
        if _COMMENT.fullmatch(line) or _STEERING.fullmatch(line):
            self._flush()
            return True
        if (match := _DRAWER.fullmatch(line)) and self._ends_drawer():
            return True
        if _FIXED.fullmatch(line):
            self._fixed_width()
            return True
        if _TABLE_ROW.fullmatch(line):
            self._table()
            return True
        return self._item(line)

    def _flush(self) -> None:
        lines, self._paragraph = self._paragraph, []
        if not lines:
            return
        text = "\n".join(lines)
        if note := _NOTE.match(text):
            self.blocks.paragraph(f"[^{note[1]}]: {unwrapped(_shown(note[2]))}")
            return
        words = "\n".join(unwrapped(_shown(part)) for part in re.split(r"\\\\[ \t]*\n", text))
        if self._indents:
            self.blocks.more(len(self._indents) - 1, words)
        else:
            self.blocks.paragraph(words)

    def _environment(self, name: str, argument: str) -> None:
        """Read a block from #+begin_… to #+end_…; its content is read as text unless literal."""
        if name == "comment" or name in _LITERAL:
            inside = []
            self._at += 1
            end = re.compile(rf"[ \t]*#\+end_{re.escape(name)}[ \t]*", re.I)
            while self._at < len(self._lines) and not end.fullmatch(self._lines[self._at]):
                inside.append(self._lines[self._at])
                self._at += 1
            if name != "comment":
                language = argument if name == "src" and re.fullmatch(r"[\w+#-]+", argument) else ""
                self.blocks.code(_dedented(inside), language)

    def _ends_drawer(self) -> bool:
        """Skip a drawer if it ends before the next headline."""
        for at in range(self._at + 1, min(self._at + _LONGEST_DRAWER, len(self._lines))):
            if self._lines[at].strip().upper() == ":END:":
                self._flush()
                self._at = at
                return True
            if self._lines[at].startswith("*") and _HEADLINE.fullmatch(self._lines[at]):
                return False
        return False

    def _fixed_width(self) -> None:
        self._flush()
        inside = []
        while self._at < len(self._lines) and (
            match := _FIXED.fullmatch(self._lines[self._at].expandtabs())
        ):
            inside.append(match[1] or "")
            self._at += 1
        self._at -= 1
        self.blocks.code(_dedented(inside))

    def _table(self) -> None:
        self._flush()
        rows = []
        while self._at < len(self._lines) and (
            match := _TABLE_ROW.fullmatch(self._lines[self._at])
        ):
            if not _TABLE_RULE.fullmatch(self._lines[self._at]):
                cells = match[1].rstrip().removesuffix("|").split("|")
                rows.append([_shown(cell) for cell in cells])
            self._at += 1
        self._at -= 1
        self.blocks.table(rows)

    def _item(self, line: str) -> bool:
        match = _ITEM.match(line)
        if match is None:
            if line[:1] != " ":
                if not self._paragraph:
                    self._indents.clear()
                return False
            while self._indents and not self._paragraph and _indent(line) <= self._indents[-1]:
                self._indents.pop()
            return False
        self._flush()
        indent = len(match[1])
        while self._indents and self._indents[-1] > indent:
            self._indents.pop()
        if not self._indents or self._indents[-1] < indent:
            self._indents.append(indent)
        text = line[match.end() :]
        box = _CHECKBOX.match(text)
        done = box[1].strip() + " " if box and box[1] else ""
        text = text[box.end() :] if box else text
        lines = [text]
        while self._at + 1 < len(self._lines) and self._goes_on(indent):
            self._at += 1
            lines.append(self._lines[self._at].strip())
        term = _TERM.match(text) if not match[4] else None
        words = unwrapped(_shown("\n".join(lines)))
        if term:
            label = unwrapped(_shown(term[1]))
            rest = unwrapped(_shown("\n".join([text[term.end() :], *lines[1:]])))
            words = labelled(label, rest)
        marker = f"{match[4]}{match[5]}" if match[4] else "-"
        if match[4] and not match[4].isdigit():
            marker = f"- {marker}"
        self.blocks.item(len(self._indents) - 1, marker, done + words)
        return True

    def _goes_on(self, indent: int) -> bool:
        line = self._lines[self._at + 1].expandtabs()
        if not line.strip() or _indent(line) <= indent:
            return False
        return not any(
            each.fullmatch(line) for each in (_STEERING, _TABLE_ROW, _FIXED, _COMMENT)
        ) and not _ITEM.match(line)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _dedented(lines: list[str]) -> str:
    shortest = min((_indent(line) for line in lines if line.strip()), default=0)
    return "\n".join(re.sub(r"^,(?=[*#])", "", line[shortest:].rstrip()) for line in lines)


def _shown(text: str) -> str:
    """The visible text."""

    def words(match: re.Match[str]) -> str:
        for name in ("verbatim", "code"):
            if match[name] is not None:
                return code(match[name])
        if match["target"] is not None:
            return _shown(match["label"]) if match["label"] else match["target"]
        if match["note"] is not None:
            return f"[^{match['note']}]"
        return next(
            (_shown(match[n]) for n in ("bold", "italic", "under", "struck") if match[n]), ""
        )

    return _RAISED.sub(r"\1", _INLINE.sub(words, text))
