"""The language of manual pages: escapes, requests, conditions (groff(7)).

``lines`` returns the lines shown on a terminal, without definitions, comments and text for other
devices. ``text`` converts the escapes of a line to characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.pages.literal import CODE_END, CODE_START

_MOST_NESTED = 20  # strings nested in strings
_LONGEST_REQUEST = 5_000  # characters of a line; a longer line is read as text
_MOST_EXPANDED = 200_000
"""Characters that strings may expand to in one page; nested strings could grow without limit."""

# fmt: off
_GLYPHS = {
    "em": "—", "en": "–", "hy": "-", "bu": "•", "co": "©", "rg": "®", "tm": "™", "lq": "“",
    "rq": "”", "oq": "‘", "cq": "’", "aq": "'", "dq": '"', "ga": "`", "ha": "^", "ti": "~",
    "rs": "\\", "sl": "/", "ba": "|", "bv": "|", "br": "|", "or": "|", "->": "→", "<-": "←",
    "<>": "↔", "rA": "⇒", "lA": "⇐", "ua": "↑", "da": "↓", ">=": "≥", "<=": "≤", "!=": "≠",
    "==": "≡", "~=": "≅", "+-": "±", "mu": "×", "di": "÷", "de": "°", "sc": "§", "ps": "¶",
    "dg": "†", "dd": "‡", "12": "½", "14": "¼", "34": "¾", "Fo": "«", "Fc": "»", "fo": "‹",
    "fc": "›", "S1": "¹", "S2": "²", "S3": "³", "Eu": "€", "Po": "£", "Ye": "¥", "ct": "¢",
    "pl": "+", "mi": "−", "eq": "=", "**": "*", "no": "¬", "if": "∞", "sr": "√", "lh": "☜",
    "rh": "☞", "OK": "✓", "ul": "_", "ru": "_", "sq": "□", "ci": "○", "lz": "◊", "mc": "µ",
    "Of": "ª", "Om": "º", "at": "@", "sh": "#", "Do": "$", "lB": "[", "rB": "]", "lC": "{",
    "rC": "}", "la": "⟨", "ra": "⟩", "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ",
    "o/": "ø", "O/": "Ø", "oa": "å", "oA": "Å", "-D": "Ð", "Sd": "ð", "TP": "Þ", "Tp": "þ",
    ",c": "ç", ",C": "Ç", ".i": "ı", "r!": "¡", "r?": "¿", "fm": "′", "sd": "″", "Bq": "„",
    "bq": "‚", "ff": "ff", "fi": "fi", "fl": "fl", "Fi": "ffi", "Fl": "ffl", "IJ": "Ĳ", "ij": "ĳ",
    "*a": "α", "*b": "β", "*g": "γ", "*d": "δ", "*e": "ε", "*l": "λ", "*m": "μ", "*p": "π",
    "*s": "σ", "*w": "ω", "*D": "Δ", "*W": "Ω", "*S": "Σ",
}
# fmt: on
_ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", ":": "\u0308"}
_SIGNS = {"-": "-", "e": "\\", "\\": "\\", " ": " ", "~": " ", "0": " ", "t": "\t", "'": "'"}
_SIGNS |= {"`": "`", ".": ".", "_": "_", '"': ""}
_NOTHING = frozenset("|^&%:/,){}acdpru!?")
_QUOTED = frozenset("ADHLNRSXZbhlovwxBC")  # escapes with an argument between two identical signs
_OF_POD = {"C+": "C++", "C`": CODE_START, "C'": CODE_END, "--": "--", "PI": "pi"}
"""Strings that pod2man defines by moving letters; the first two enclose code."""
_PREDEFINED = {
    **_OF_POD,
    "lq": "“", "rq": "”", "R": "®", "Tm": "™", "Aq": "'", "Ba": "|", "Ge": "≥", "Le": "≤",
    "Ne": "≠", "Pm": "±", "If": "∞", "Rq": "”", "Lq": "“", "q": '"', "S": "", ":": "",
}  # fmt: skip
_UNICODE = re.compile(r"u([0-9A-F]{4,6})(?:_[0-9A-F]{4,6})*")
_NUMERIC = re.compile(r"[ \t]*(!?)[ \t]*\(?([-+]?\d+)?[ \t]*(?:([<>=]=?)[ \t]*([-+]?\d+))?\)?")
_REGISTER = re.compile(r"\\n(?:\[([^\]\\]*)\]|\((..)|[-+]?(.))")
_REQUEST = re.compile(r"[.'][ \t]*([^\s\\]{1,40})?[ \t]*(.*)", re.S)


class Roff:
    """The state of one page: its strings."""

    def __init__(self) -> None:
        self._strings = dict(_PREDEFINED)
        self._expanded = 0  # characters

    # ------------------------------------------------------------ lines

    def lines(self, source: str) -> Iterator[str]:
        """The lines that remain after definitions, comments and conditions are processed."""
        waiting = source.split("\n")
        waiting.reverse()
        last = True  # result of the last .ie
        while waiting:
            line = waiting.pop()
            while line.endswith("\\") and not line.endswith("\\\\") and waiting:
                line = line[:-1] + waiting.pop()
            controls = line[:1] in (".", "'") and len(line) < _LONGEST_REQUEST
            match = _REQUEST.match(line) if controls else None
            name = (match[1] or "") if match else ""
            if match is None:
                yield line
            elif not name or line[1:].lstrip().startswith('\\"'):
                continue
            elif name in ("if", "ie", "el"):
                rest = match[2]
                holds = not last
                if name != "el":
                    holds, rest = self._condition(rest)
                    last = holds if name == "ie" else last
                self._branch(rest, holds, waiting)
            elif name in ("de", "de1", "am", "am1", "ig"):
                _skip_definition(name, match[2], waiting)
            elif name in ("ds", "as", "ds1"):
                self._define(name, match[2])
            elif name in ("rm", "nr", "tr", "ad", "na", "hy", "nh", "ne", "do", "mso", "rr"):
                continue
            else:
                yield line

    def _define(self, request: str, rest: str) -> None:
        name, _, value = rest.partition(" ")
        if name in _OF_POD:
            return
        value = value.lstrip(" ").removeprefix('"')
        before = self._strings.get(name, "") if request == "as" else ""
        if len(before) + len(value) < 10_000:
            self._strings[name] = before + value

    def _condition(self, rest: str) -> tuple[bool, str]:
        """Evaluate a condition as on a terminal; return the result and the rest of the line."""
        rest = rest.lstrip()
        negated = rest.startswith("!")
        rest = rest.removeprefix("!").lstrip()
        if rest[:1] in ("n", "t", "o", "e", "v") and not rest[1:2].isalnum():
            return (rest[0] in "no") is not negated, rest[1:]
        if rest[:1] in ("d", "r", "m", "c", "F", "S") and rest[1:2] in (" ", "\t"):
            _, _, rest = rest[1:].lstrip().partition(" ")
            return negated, rest
        if rest[:1] in ("'", '"') and rest.count(rest[0]) >= 3:
            _, first, second, after = rest.split(rest[0], 3)
            return (self.text(first) == self.text(second)) is not negated, after
        rest = _REGISTER.sub(lambda m: "1" if ".g" in (m[1], m[2]) else "0", rest)
        match = _NUMERIC.match(rest)
        if match is None or match[2] is None:
            return negated, rest.partition(" ")[2]
        value = int(match[2])
        if match[3]:
            compared = int(match[4])
            value = {"<": value < compared, ">": value > compared}.get(match[3], value == compared)
        return (value > 0) is not (negated or match[1] == "!"), rest[match.end() :]

    @staticmethod
    def _branch(rest: str, holds: bool, waiting: list[str]) -> None:
        """Put the text that a condition guards back into ``waiting``, or skip it."""
        rest = rest.lstrip()
        if not rest.startswith("\\{"):
            if holds:
                waiting.append(rest)
            return
        depth, inside = 0, []
        line = rest
        while True:
            depth += line.count("\\{") - line.count("\\}")
            inside.append(line.replace("\\{", "").replace("\\}", "") if depth <= 0 else line)
            if depth <= 0 or not waiting:
                break
            line = waiting.pop()
        if holds:
            inside[0] = inside[0].removeprefix("\\{").removeprefix("\\")
            waiting.extend(reversed([each for each in inside if each.strip()]))

    # ------------------------------------------------------------ escapes

    def text(self, line: str, nested: int = 0) -> str:
        """Resolve the escapes of a line; a comment at its end is dropped."""
        if "\\" not in line:
            return line
        out: list[str] = []
        at = 0
        while (slash := line.find("\\", at)) >= 0:
            out.append(line[at:slash])
            sign = line[slash + 1 : slash + 2]
            at = slash + 2
            if sign in ("", '"', "#"):
                return "".join(out)
            if sign in _SIGNS:
                out.append(_SIGNS[sign])
            elif sign == "(":
                out.append(_glyph(line[at : at + 2]))
                at += 2
            elif sign == "[":
                name, at = _until(line, at, "]")
                out.append(_glyph(name))
            elif sign == "*":
                name, at = _name(line, at)
                value = self._strings.get(name, "")
                self._expanded += len(value)
                if nested < _MOST_NESTED and self._expanded < _MOST_EXPANDED:
                    out.append(self.text(value, nested + 1))
            elif sign in "fFmMgkYV":
                _, at = _name(line, at)
            elif sign == "n":
                at += line[at : at + 1] in ("+", "-")
                name, at = _name(line, at)
            elif sign == "s":
                at = _size(line, at)
            elif sign == "z":
                continue
            elif sign in _QUOTED:
                argument, at = _until(line, at + 1, line[at : at + 1])
                if sign in "obZ":
                    out.append(self.text(argument, nested + 1) if nested < _MOST_NESTED else "")
                elif sign == "N" and argument.isdigit() and len(argument) < 7:
                    out.append(_character(int(argument)))
                elif sign == "C":
                    out.append(_glyph(argument))
                elif sign == "h" and not argument.startswith("-"):
                    out.append(" ")
            elif sign not in _NOTHING:
                out.append(sign)
        out.append(line[at:])
        return "".join(out)


def _skip_definition(request: str, rest: str, waiting: list[str]) -> None:
    words = rest.split('\\"')[0].split()
    at = 0 if request == "ig" else 1
    end = words[at] if len(words) > at else "."
    while waiting:
        line = waiting.pop().split('\\"')[0]
        if line[:1] in (".", "'") and line[1:].strip() == end:
            return


def arguments(rest: str) -> list[str]:
    """The arguments of a macro: words or quoted text. Escapes stay."""
    found: list[str] = []
    at = 0
    while at < len(rest):
        if rest[at] in " \t":
            at += 1
            continue
        if rest.startswith('\\"', at):
            break
        word: list[str] = []
        quoted = rest[at] == '"'
        at += quoted
        while at < len(rest):
            if rest[at] == "\\" and at + 1 < len(rest):
                if rest[at + 1] == '"' and not quoted:
                    at = len(rest)
                    break
                word.append(rest[at : at + 2])
                at += 2
            elif quoted and rest[at] == '"':
                if rest[at + 1 : at + 2] != '"':
                    at += 1
                    break
                word.append('"')
                at += 2
            elif not quoted and rest[at] in " \t":
                break
            else:
                word.append(rest[at])
                at += 1
        found.append("".join(word))
    return found


def _until(line: str, at: int, end: str) -> tuple[str, int]:
    close = line.find(end, at) if end else -1
    return (line[at:], len(line)) if close < 0 else (line[at:close], close + 1)


def _name(line: str, at: int) -> tuple[str, int]:
    """A name of one sign, of two after "(", or of any length between brackets."""
    if line[at : at + 1] == "[":
        return _until(line, at + 1, "]")
    if line[at : at + 1] == "(":
        return line[at + 1 : at + 3], at + 3
    return line[at : at + 1], at + 1


def _size(line: str, at: int) -> int:
    r"""The end of a change of letter size: \s+2, \s-1, \s0, \s(12, \s'12'."""
    at += line[at : at + 1] in ("+", "-")
    if line[at : at + 1] in ("[", "'"):
        return _until(line, at + 1, "]" if line[at] == "[" else "'")[1]
    if line[at : at + 1] == "(":
        return at + 3
    return at + (
        2 if line[at : at + 1] in ("1", "2", "3") and line[at + 1 : at + 2].isdigit() else 1
    )


def _glyph(name: str) -> str:
    if name in _GLYPHS:
        return _GLYPHS[name]
    if len(name) == 2 and name[0] in _ACCENTS and name[1].isalpha():
        return name[1] + _ACCENTS[name[0]]  # composed later, when the text is cleaned
    if match := _UNICODE.fullmatch(name):
        return _character(int(match[1], 16))
    return ""


def _character(code: int) -> str:
    return chr(code) if 0x20 <= code <= 0x10FFFF else ""
