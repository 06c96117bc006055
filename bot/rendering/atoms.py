"""Markdown as a sequence of atoms: pieces that are never cut, and how each joins the next.

A block that fits into a part is one atom. A longer one becomes several: a list is split by items, a
table by rows, code by lines, a paragraph by sentences or words. Each atom carries the text that
must open a part that begins with it, and close a part that ends with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.rendering.margins import QUOTE_MARK, Container, Path, Place, margin_of, rebased
from bot.rendering.phrases import by_sentence, cut

_LONGEST_MARKER = 8  # characters of a fence's marker when it is repeated

_parser = MarkdownIt("commonmark").enable("table")
_parser.core.ruler.enableOnly(["block"])

_ITEM_MARK = re.compile(r"[ \t]*(?:[-+*]|\d{1,9}[.)])(?: {1,4}(?! )| |\t|$)")
_HEAD = re.compile(r"(?:[ \t]*(?:>[ \t]?|(?:[-+*]|\d{1,9}[.)]|#{1,6})(?:[ \t]+|$)))*[ \t]*")


@dataclass(frozen=True, slots=True)
class Atom:
    """Source text that is not cut, and how it is joined to its neighbours.

    ``glue`` joins it to the previous atom in the same part; ``lead`` opens a part that begins with
    it; ``tail`` closes one that ends with it. ``root`` is the number of the outermost block,
    ``path`` the containers around the atom. ``inside_line``: it begins in the middle of a source
    line. ``keeps_next``: it must not end a part, like a heading.
    """

    text: str
    glue: str
    root: int
    path: Path = ()
    lead: str = ""
    tail: str = ""
    inside_line: bool = False
    keeps_next: bool = False
    opens: bool = False


class Source:
    """A text as atoms, none of them longer than a part."""

    def __init__(self, text: str, limit: int) -> None:
        self._text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "\ufffd")
        self._limit = limit
        self._lines = self._text.split("\n")
        self._offsets = [0]
        for line in self._lines:
            self._offsets.append(self._offsets[-1] + len(line) + 1)
        self._tokens: list[Token] = _parser.parse(self._text)
        self._end = 0  # of the previous atom, in the text
        self._cut_until = -1  # the end of the last paragraph or table that was cut
        self._root = 0

    def atoms(self) -> Iterator[Atom]:
        return self._within(0, len(self._tokens), 0, len(self._lines), Place((), ()))

    def _within(self, i: int, j: int, first: int, last: int, place: Place) -> Iterator[Atom]:
        """The blocks ``tokens[i:j]`` of a container, and lines that the parser assigned to no
        block.
        """
        line = first
        inner = Place(place.path, place.path)
        while i < j:
            close = self._close(i)
            start, end = self._tokens[i].map or (line, line)
            if start > line:
                yield from self._unread(line, start, place if line == first else inner)
            if not place.path:
                self._root += 1
            yield from self._block(i, close, start, end, place if start == first else inner)
            line = max(line, end)
            i = close + 1
        if last > line:
            yield from self._unread(line, last, place if line == first else inner)

    def _unread(self, start: int, end: int, place: Place) -> Iterator[Atom]:
        """Lines that belong to no block: link definitions, or lines nested too deep."""
        a, b = self._trimmed(start, end, place)
        if a < b:
            yield from self._paragraph(a, b, place)

    def _block(self, i: int, close: int, start: int, end: int, place: Place) -> Iterator[Atom]:
        token = self._tokens[i]
        a, b = self._trimmed(start, end, place)
        if a >= b:
            return
        tail = ""
        if token.type == "fence" and not _is_closed(token, end - start):
            tail = f"\n{place.margin}{token.markup}"
        if self._fits(self._slice(a, b), tail):
            yield self._atom(a, b, place, tail=tail, keeps_next=token.type == "heading_open")
            return
        if token.type == "fence":
            atoms = self._fence(token, a, b if tail else b - 1, b, place)
        elif token.type == "code_block":
            atoms = self._code(a, b, place, "", "")
        elif token.type == "table_open":
            atoms = self._table(a, b, place)
        elif token.type == "list_item_open":
            item = Container(self._indent(a, place), i)
            inside = Place((*place.path, item), place.entry)
            atoms = self._within(i + 1, close, start, end, inside)
        elif token.type == "blockquote_open":
            inside = Place((*place.path, Container(0, i)), place.entry)
            atoms = self._within(i + 1, close, start, end, inside)
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            atoms = self._within(i + 1, close, start, end, place)
        else:
            atoms = self._paragraph(a, b, place)
        first = next(atoms, None)
        if first is not None:
            yield replace(first, opens=True)
        yield from atoms

    # ------------------------------------------------------------ blocks that do not fit

    def _fence(
        self, token: Token, start: int, end: int, after: int, place: Place
    ) -> Iterator[Atom]:
        """Code by lines: ``lines[start]`` opens the fence, the code ends before ``lines[end]``."""
        opening = self._lines[start]
        marker = token.markup[:_LONGEST_MARKER]
        info = token.info.strip() if len(token.info) <= self._limit // 4 else ""
        first = opening[: opening.find(token.markup)] + marker + info
        lead = f"{place.quotes}{marker}{info}\n"
        tail = f"\n{place.margin}{marker}"
        glue = self._glue(start, place)
        self._end = self._offsets[start + 1] - 1
        atoms = self._code(start + 1, end, place, lead, tail)
        previous = next(atoms, None)
        if previous is None:
            yield self._made(first + tail, start, after, place, glue=glue)
            return
        text = f"{first}\n{previous.text}"
        path = place.entry
        previous = replace(previous, text=text, glue=glue, lead="", path=path, inside_line=False)
        if not self._fits(text, tail):
            yield self._made(first, start, start, place, glue=glue, tail=tail)
            previous = replace(previous, text=text[len(first) + 1 :], glue="\n", lead=lead)
        for atom in atoms:
            yield previous
            previous = atom
        yield replace(previous, text=previous.text + tail, tail="")
        self._end = self._offsets[after] - 1

    def _code(self, start: int, end: int, place: Place, lead: str, tail: str) -> Iterator[Atom]:
        """Lines of code unchanged; one that is too long is cut at any character."""
        again = lead + place.quotes if lead else place.quotes + "    "
        inner = Place(place.path, place.path)
        for number in range(start, end):
            line = self._lines[number]
            glue = "\n" if number > start else self._glue(start, place)
            if self._fits(lead + line, tail):
                here = place if number == start and not lead else inner
                yield self._made(line, number, number + 1, here, glue=glue, lead=lead, tail=tail)
                continue
            pieces = cut(line.replace("`", "\0"), self._limit - len(again + tail))
            for count, piece in enumerate(pieces):
                atom = self._made(
                    piece.replace("\0", "`"), number, number + 1, inner,
                    glue="" if count else glue, lead=again if count else lead, tail=tail,
                )  # fmt: skip
                yield replace(atom, inside_line=count > 0)

    def _table(self, start: int, end: int, place: Place) -> Iterator[Atom]:
        """Rows under their header; a row too long for that becomes a paragraph."""
        inner = Place(place.path, place.path)
        again = self._slice(start, start + 2)
        if place.entry != place.path and (bullet := _HEAD.match(again)):
            again = place.margin + again[bullet.end() :]
        lead = rebased(again, place.path, inside_line=False) + "\n"
        if len(lead) > self._limit // 2:
            yield from self._wide_table(start, end, place)
            return
        gap = f"\n{place.margin.rstrip()}\n"
        yield self._atom(start, start + 2, place, keeps_next=True)
        under_header = True
        for number in range(start + 2, end):
            row = self._lines[number]
            if not self._fits(again, "\n", row):
                first, *rest = self._paragraph(number, number + 1, inner)
                yield replace(first, glue=gap)
                yield from rest
                under_header = False
            elif under_header:
                yield self._made(row, number, number + 1, inner, glue="\n", lead=lead)
            else:
                yield self._made(f"{again}\n{row}", number, number + 1, inner, glue=gap)
                under_header = True
        self._cut_until = self._end

    def _wide_table(self, start: int, end: int, place: Place) -> Iterator[Atom]:
        """Rows without their header, which is too long to repeat."""
        if self._fits(self._slice(start, start + 2)):
            yield self._atom(start, start + 2, place)
        else:
            yield from self._paragraph(start, start + 1, place)
            self._end = self._offsets[start + 2] - 1  # the delimiter row is meaningless now
        for number in range(start + 2, end):
            yield from self._paragraph(number, number + 1, Place(place.path, place.path))
        self._cut_until = self._end

    def _paragraph(self, start: int, end: int, place: Place) -> Iterator[Atom]:
        """Sentence by sentence; where one does not fit, word by word, or piece by piece."""
        text = self._slice(start, end)
        if self._fits(text):
            yield self._atom(start, end, place)
            return
        quoted = place.is_quoted
        bullet = _HEAD.match(text) if place.entry != place.path or text[:1] in "#>-+* \t" else None
        head = bullet.end() if bullet else 0
        done = 0
        inner = Place(place.path, place.path)
        for sentence in by_sentence(text, head, self._limit // 2, quoted=quoted):
            groups = [sentence]
            whole = text[sentence[0].start : sentence[-1].end]
            if not self._fits(place.quotes + sentence[0].reopen + whole, sentence[-1].close):
                groups = [[phrase] for phrase in sentence]
            for group in groups:
                first, last = group[0], group[-1]
                glue = text[done : first.start] if done else self._glue(start, place)
                atom = Atom(
                    text[first.start : last.end], glue, self._root,
                    path=inner.path if done else place.entry,
                    lead=place.quotes + first.reopen if done else "",
                    tail=last.close, inside_line=done > 0,
                )  # fmt: skip
                if self._fits(place.quotes + first.reopen + atom.text, atom.tail):
                    yield atom
                else:
                    yield from self._forced(atom, place.quotes)
                done = last.end
        self._end = self._cut_until = self._offsets[end] - 1

    def _forced(self, atom: Atom, quotes: str) -> Iterator[Atom]:
        """Cut an atom that does not fit into pieces."""
        around = quotes + (atom.lead or "") + atom.tail
        for count, piece in enumerate(cut(atom.text, self._limit - len(around))):
            if count == 0:
                yield replace(atom, text=piece)
            else:
                lead = atom.lead or quotes
                yield replace(atom, text=piece, glue="", lead=lead, inside_line=True)

    # ------------------------------------------------------------ measuring and slicing

    def _atom(
        self, start: int, end: int, place: Place, *, tail: str = "", keeps_next: bool = False
    ) -> Atom:
        made = self._made(self._slice(start, end), start, end, place, tail=tail)
        return replace(made, keeps_next=keeps_next)

    def _made(
        self, text: str, start: int, end: int, place: Place, *,
        glue: str | None = None, lead: str = "", tail: str = "",
    ) -> Atom:  # fmt: skip
        """An atom that represents lines ``start:end``."""
        joined = self._glue(start, place) if glue is None else glue
        self._end = max(self._end, self._offsets[end] - 1)
        return Atom(text, joined, self._root, place.entry, lead, tail)

    def _glue(self, start: int, place: Place) -> str:
        """The source between the previous atom and line ``start``, with one empty line at most.

        After a paragraph or table that was cut, there is at least one empty line: its end may open
        a part without the bullet that separated it from what follows.
        """
        glue = self._text[self._end : self._offsets[start]] or "\n"
        if self._end == self._cut_until and glue.count("\n") == 1:
            return f"\n{margin_of(place.entry).rstrip()}{glue}"
        return "\n\n" if not place.is_quoted and glue.count("\n") > 2 else glue

    def _slice(self, start: int, end: int) -> str:
        return self._text[self._offsets[start] : self._offsets[end] - 1]

    def _trimmed(self, start: int, end: int, place: Place) -> tuple[int, int]:
        """The range of lines without the empty lines around it."""
        empty = " \t>" if place.is_quoted else None
        end = min(end, len(self._lines))
        while start < end and not self._lines[start].strip(empty):
            start += 1
        while start < end and not self._lines[end - 1].strip(empty):
            end -= 1
        return start, end

    def _indent(self, line: int, place: Place) -> int:
        """The number of columns by which the content of this line's list item is indented."""
        text = self._lines[line]
        at = 0
        for container in place.path:
            if container.is_quote:
                mark = QUOTE_MARK.match(text, at)
                at = mark.end() if mark else at
            else:
                at += container.indent  # white space, or bullets of enclosing items
        bullet = _ITEM_MARK.match(text, at)
        return max(len(bullet.group().expandtabs(4)), 2) if bullet else 2

    def _close(self, i: int) -> int:
        """The index of the token that closes ``tokens[i]``."""
        token = self._tokens[i]
        if token.nesting != 1:
            return i
        j = i + 1
        while self._tokens[j].level != token.level or self._tokens[j].nesting != -1:
            j += 1
        return j

    def _fits(self, *texts: str) -> bool:
        return sum(map(len, texts)) <= self._limit


def _is_closed(fence: Token, lines: int) -> bool:
    """True if a fence of this many source lines has a closing one."""
    code = fence.content.count("\n") + (not fence.content.endswith("\n") and fence.content != "")
    return code <= lines - 2
