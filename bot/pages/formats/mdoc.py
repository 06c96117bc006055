"""The macros of BSD manual pages (mdoc(7)), which mark words semantically and can be nested."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from bot.pages.formats.blocks import Blocks, Reading, labelled, one_line
from bot.pages.formats.roff import Roff, arguments
from bot.text.listed import listed

# fmt: off
_ENCLOSING = {
    "Op": ("[", "]"), "Aq": ("<", ">"), "Bq": ("[", "]"), "Brq": ("{", "}"), "Dq": ("“", "”"),
    "Pq": ("(", ")"), "Ql": ("‘", "’"), "Qq": ('"', '"'), "Sq": ("‘", "’"), "Eq": ("", ""),
}
_OPENING = {
    "Oo": "[", "Ao": "<", "Bo": "[", "Bro": "{", "Do": "“", "Po": "(", "Qo": '"', "So": "‘",
    "Xo": "", "Eo": "", "Bk": "", "Rs": "",
}
_CLOSING = {
    "Oc": "]", "Ac": ">", "Bc": "]", "Brc": "}", "Dc": "”", "Pc": ")", "Qc": '"', "Sc": "’",
    "Xc": "", "Ec": "", "Ek": "", "Re": "",
}
_PLAIN = listed("Ad An Ar Cd Cm Dv Em Er Ev Fa Fd Ft Ic Li Ms Mt No Pa Sx Sy Tn Va Vt Lb In Hf")
_REFERENCE = listed("%A %B %C %D %I %J %N %O %P %Q %R %T %U %V")
_SYSTEMS = {
    "Bsx": "BSD/OS", "Bx": "BSD", "Dx": "DragonFly", "Fx": "FreeBSD", "Nx": "NetBSD",
    "Ox": "OpenBSD", "Ux": "UNIX", "At": "AT&T UNIX",
}
_CALLABLE = (
    {"Fl", "Nm", "Xr", "Fn", "Ns", "Ap", "Pf", "Lk", "St", "Sm", "Ta", "Nd"}
    | set(_ENCLOSING) | set(_OPENING) | set(_CLOSING) | set(_SYSTEMS) | _PLAIN
)
# fmt: on
_CLOSE = frozenset(".,:;)]?!")
_OPEN = frozenset("([")
_MOST_NESTED = 30


@dataclass(slots=True)
class _List:
    """An open list: its kind ("-bullet", "-enum", "-tag" and so on), and its items so far."""

    kind: str
    items: int = 0
    rows: list[list[str]] = field(default_factory=list)


class _Line:
    """Words on one line, joined with or without spaces."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.glue = True
        self.spaced = True

    def add(self, text: str, *, opens: bool = False) -> None:
        if self._parts and not self.glue and self.spaced:
            self._parts.append(" ")
        self._parts.append(text)
        self.glue = opens

    def space(self, *, on: bool) -> None:
        """Switch spaces between the following words on or off."""
        if self._parts and not self.glue and not on:
            self._parts.append(" ")
        self.spaced = on

    def close(self, text: str) -> None:
        self._parts.append(text)
        self.glue = False

    def text(self) -> str:
        return "".join(self._parts)


class Mdoc:
    """Reads one page."""

    def __init__(self, roff: Roff) -> None:
        self._roff = roff
        self._blocks = Blocks()
        self._title = ""
        self._name = ""
        self._section = ""
        self._line = _Line()
        self._lists: list[_List] = []
        self._head: str | None = None  # of the open item
        self._open_head = False  # the head of the item continues on the next lines
        self._verbatim: list[str] | None = None

    def read(self, source: str) -> Reading:
        for line in self._roff.lines(source):
            if line[:1] in (".", "'") and len(line) > 1:
                self._request(line[1:].strip())
            elif self._verbatim is not None:
                self._verbatim.append(self._roff.text(line))
            elif not line.strip():
                self._flush()
            else:
                self._line.add(self._roff.text(line).strip())
        self._flush()
        return Reading(self._title, self._blocks.text())

    def _request(self, line: str) -> None:
        name, *words = [self._roff.text(word) for word in arguments(line)] or [""]
        match name:
            case "Dt":
                section = f"({words[1]})" if len(words) > 1 and words[1] else ""
                self._title = f"{words[0]}{section}" if words else ""
                self._blocks.heading(1, self._title)
            case "Sh" | "Ss":
                self._flush()
                self._lists.clear()
                self._section = " ".join(words)
                self._blocks.heading(2 if name == "Sh" else 3, self._inline(words))
            case "Pp" | "Lp" | "sp":
                self._flush()
            case "br":
                self._line.close("\n")
                self._line.glue = True
            case "Bl":
                self._flush()
                self._lists.append(_List(words[0] if words else "-item"))
            case "El":
                self._end_list()
            case "It":
                self._item(words)
            case "Bd":
                self._flush()
                self._verbatim = [] if {"-literal", "-unfilled"} & set(words) else None
            case "Ed":
                self._end_display()
            case "D1" | "Dl":
                self._flush()
                self._blocks.code(self._inline(words))
            case "Nm":
                self._own_name(words)
            case "Nd":
                self._line.add(f"— {self._inline(words)}")
            case "Ex":
                names = " ".join(words[1:]) or self._name
                self._line.add(
                    f"The {names} utility exits 0 on success, and >0 if an error occurs."
                )
            case "Fo":
                self._line.add(f"{words[0] if words else ''}(", opens=True)
            case "Fc":
                self._line.close(")")
            case "Sm":
                self._line.space(on=words[:1] != ["off"])
            case "Xc" if self._open_head:
                self._head, self._open_head = self._line.text(), False
                self._line = _Line()
                self._words(words)
            case "Dd" | "Os" | "Bk" | "Ek":
                pass
            case _:
                self._words([name, *words])

    def _words(self, words: list[str]) -> None:
        if self._verbatim is not None:
            self._verbatim.append(self._inline(words))
        else:
            self._set(words, self._line)

    # ------------------------------------------------------------ inline

    def _inline(self, words: list[str], nested: int = 0) -> str:
        line = _Line()
        self._set(words, line, nested)
        return line.text()

    def _set(self, words: list[str], line: _Line, nested: int = 0) -> None:
        """Add words to a line, applying the macros among them to the words that follow."""
        at = 0
        while at < len(words):
            word = words[at]
            at += 1
            following = words[at:]
            if word in _CLOSE:
                line.close(word)
            elif word in _OPEN:
                line.add(word, opens=True)
            elif word in _ENCLOSING and nested < _MOST_NESTED:
                before, after = _ENCLOSING[word]
                tail = len(following)
                while tail and following[tail - 1] in _CLOSE:
                    tail -= 1
                line.add(f"{before}{self._inline(following[:tail], nested + 1)}{after}")
                at += tail
            elif word in _OPENING:
                if _OPENING[word]:
                    line.add(_OPENING[word], opens=True)
            elif word in _CLOSING:
                line.close(_CLOSING[word])
            elif word in ("Ns", "Ap"):
                line.glue = True
                if word == "Ap":
                    line.add("'", opens=True)
            else:
                at += self._semantic(word, following, line)

    def _semantic(self, word: str, following: list[str], line: _Line) -> int:
        """Apply a macro that marks its arguments; return the number of words it consumed."""
        count = next((i for i, each in enumerate(following) if _ends(each)), len(following))
        own = following[:count]
        match word:
            case "Fl":
                for flag in own or [""]:
                    line.add(f"-{flag}")
            case "Nm":
                line.add(" ".join(own) or self._name)
            case "Xr":
                line.add(f"{own[0]}({own[1]})" if len(own) > 1 else " ".join(own))
            case "Fn":
                line.add(f"{own[0]}({', '.join(own[1:])})" if own else "")
            case "Pf":
                line.add(own[0] if own else "", opens=True)
                return min(1, count)
            case "Lk":
                line.add(" ".join(own[1:]) or "".join(own))
            case "In":
                line.add(f"<{' '.join(own)}>")
            case "Ar" if not own:
                line.add("file ...")
            case _ if word in _SYSTEMS:
                line.add(
                    " ".join([*own[:1], _SYSTEMS[word]] if word == "Bx" else [_SYSTEMS[word], *own])
                )
            case _ if word in _PLAIN or word in _REFERENCE or word in ("St", "Lb"):
                for each in own:
                    line.add(each)
                if word in _REFERENCE:
                    line.close(",")
            case "Sm" | "Ta":
                return count if word == "Sm" else 0
            case _:
                line.add(word)
                return 0
        return count

    def _own_name(self, words: list[str]) -> None:
        if words and words[0] not in _CLOSE and not self._name:
            self._name = words[0]
        if self._section.upper() == "SYNOPSIS" and not self._lists:
            self._flush()
        self._words(["Nm", *words])

    # ------------------------------------------------------------ blocks

    def _flush(self) -> None:
        """End the open paragraph."""
        text = re.sub(r"(?:(?<! ) ++)?\n *+", "\n", self._line.text()).strip()
        self._line = _Line()
        depth = len(self._lists) - 1
        if self._head is not None:
            self._put_item(self._head, one_line(text))
            self._head = None
        elif text and depth >= 0:
            self._blocks.more(depth, text)
        elif text:
            self._blocks.paragraph(text)

    def _item(self, words: list[str]) -> None:
        self._flush()
        if not self._lists:
            self._lists.append(_List("-item"))
        self._lists[-1].items += 1
        if self._lists[-1].kind == "-column":
            self._lists[-1].rows.append(self._columns(words))
            return
        if "Xo" in words and "Xc" not in words:
            self._open_head = True
            self._words(words)
        else:
            self._head = self._inline(words)

    def _columns(self, words: list[str]) -> list[str]:
        cells: list[list[str]] = [[]]
        for word in words:
            if word == "Ta":
                cells.append([])
            else:
                cells[-1].append(word)
        return [cell for part in cells for cell in self._inline(part).split("\t")]

    def _put_item(self, head: str, text: str) -> None:
        depth, current = len(self._lists) - 1, self._lists[-1]
        if current.kind == "-enum":
            self._blocks.item(depth, f"{current.items}.", f"{head} {text}".strip())
        else:
            self._blocks.item(depth, "-", labelled(head, text) if head else text)

    def _end_list(self) -> None:
        self._flush()
        if self._lists:
            self._blocks.table(self._lists.pop().rows)

    def _end_display(self) -> None:
        lines, self._verbatim = self._verbatim, None
        if lines is None:
            self._flush()
            return
        if self._head is not None:
            self._flush()
        self._blocks.code("\n".join(lines))


def _ends(word: str) -> bool:
    return word in _CALLABLE or word in _CLOSE or word in _OPEN
