"""Cuts Markdown into parts that a platform accepts, at the boundaries of its blocks.

A text becomes atoms: pieces that are never cut. A block that fits into a part is one atom. A longer
one becomes several: a list or quote is cut by the blocks inside, a table by rows, code by lines, a
paragraph by sentences or words. Each part is then filled with atoms while there is room. The
running time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.rendering.phrases import by_sentence, cut

MINIMUM = 80  # the smallest limit: room for the marks of a fence or quote and a few words
_WORTH_BEGINNING = 4  # a block that must be cut starts in a part only if 1/4 of it is free
_DEEPEST = 16  # lists and quotes inside each other; what is deeper is cut like a paragraph
_LEAST_ROOM = 40  # characters beside the margins of three lines, for a fence around some code
_LONGEST_MARKER = 8  # characters of a fence's marker when it is repeated

_parser = MarkdownIt("commonmark").enable("table").disable("reference")
_parser.core.ruler.enableOnly(["block"])

_QUOTE = re.compile(r" {0,3}> ?")
_BULLET = re.compile(r"[ \t]*(?:[-+*]|\d{1,9}[.)])(?: {1,4}(?! )| |\t|$)")
_HEAD = re.compile(r"(?:[ \t]*(?:>[ \t]?|(?:[-+*]|\d{1,9}[.)]|#{1,6})(?:[ \t]+|$)))*[ \t]*")


def split(text: str, limit: int) -> list[str]:
    """Split Markdown into parts of at most ``limit`` characters, cut where a reader pauses.

    Blocks stay whole if they fit, and a heading stays with what follows. An over-long fence is
    closed and reopened, an over-long table repeats its header, and quotes keep their marks. Links,
    inline code and footnote marks are not cut. Only white space around parts is dropped. An
    unclosed fence is closed.

    Raises ``ValueError`` for a limit under ``MINIMUM``.
    """
    if limit < MINIMUM:
        raise ValueError(f"parts of {limit} are too small for Markdown; at least {MINIMUM}")
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "\ufffd")
    parts = [_Part(limit)]
    for atom in _atoms(text, _Room(limit)):
        if parts[-1].add(atom):
            continue
        for each in (*parts[-1].without_heading(), atom):
            if not parts[-1].add(each):
                parts.append(_Part(limit))
                parts[-1].add(each)
    return [shown for part in parts if (shown := part.shown().strip("\n").rstrip()).strip()]


# ---------------------------------------------------------------- parts


@dataclass(frozen=True, slots=True, eq=False)
class _Container:
    """A list item, or a quote. ``first`` precedes its first line, ``margin`` each further one."""

    first: str
    margin: str

    @property
    def is_quote(self) -> bool:
        return self.margin == "> "


@dataclass(frozen=True, slots=True)
class _Atom:
    """Source text that is not cut, without the margins of the containers around it, ``path``.

    ``glue`` joins it to the previous atom in the same part; ``lead`` opens a part that begins with
    it; ``tail`` closes one that ends with it. The innermost ``opens`` containers begin with it.
    ``keeps_next``: it must not end a part, like a heading. ``begins_cut``: it begins a block that
    is cut; ``ends_cut``: it ends one that would swallow what follows without an empty line.
    """

    text: str
    glue: str = "\n"
    path: tuple[_Container, ...] = ()
    lead: str = ""
    tail: str = ""
    opens: int = 0
    keeps_next: bool = False
    begins_cut: bool = False
    ends_cut: bool = False


@dataclass(slots=True)
class _Part:
    """A part of at most ``limit`` characters, as its atoms and what is shown of each."""

    limit: int
    atoms: list[_Atom] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    _size: int = 0
    _begun: set[_Container] = field(default_factory=set)  # items whose bullets are in this part

    def add(self, atom: _Atom) -> bool:
        """Add an atom if there is room, or if it is the first."""
        if not self.atoms:
            piece = self._first(atom) + self._lined(atom.lead + atom.text, atom)
        else:
            left = self.limit - self._size
            if atom.begins_cut and left < self.limit // _WORTH_BEGINNING:
                return False
            piece = self._glued(atom) + self._lined(atom.text, atom)
            if len(piece) + len(self._lined(atom.tail, atom)) > left:
                return False
        self.atoms.append(atom)
        self.pieces.append(piece)
        self._size += len(piece)
        self._begun.update(atom.path[len(atom.path) - atom.opens :])
        return True

    def without_heading(self) -> list[_Atom]:
        """Remove the atoms at the end that must not end a part, unless there are no others."""
        at = len(self.atoms)
        while at and self.atoms[at - 1].keeps_next:
            at -= 1
        removed = self.atoms[at:] if at else []
        if removed:
            del self.atoms[at:], self.pieces[at:]
            self._size = self.limit  # nothing fits any more
        return removed

    def shown(self) -> str:
        tail = self._lined(self.atoms[-1].tail, self.atoms[-1]) if self.atoms else ""
        return "".join(self.pieces) + tail

    def _first(self, atom: _Atom) -> str:
        """The margin of a line that begins with an atom."""
        opened = len(atom.path) - atom.opens
        return "".join(map(self._margin, atom.path[:opened])) + "".join(
            container.first for container in atom.path[opened:]
        )

    def _lined(self, text: str, atom: _Atom) -> str:
        """Put the margins before the lines of a text but the first."""
        if "\n" not in text or not atom.path:
            return text
        opened = len(atom.path) - atom.opens
        margin = "".join(map(self._margin, atom.path[:opened])) + "".join(
            container.margin for container in atom.path[opened:]
        )
        first, *lines = text.split("\n")
        return "\n".join([first, *(margin + line if line else margin.rstrip() for line in lines)])

    def _margin(self, container: _Container) -> str:
        """A quote keeps its marks; an item whose bullet is in an earlier part moves to the left."""
        return container.margin if container.is_quote or container in self._begun else ""

    def _glued(self, atom: _Atom) -> str:
        """What joins an atom to the previous one, up to the margin of its line."""
        if "\n" not in atom.glue:
            return atom.glue
        previous = self.atoms[-1]
        around = ""
        for container, other in zip(previous.path, atom.path, strict=False):
            if container is not other:
                break
            around += self._margin(container)
        before, *empty, after = atom.glue.split("\n")
        if not empty and previous.ends_cut and atom.glue == "\n":
            empty = [""]
        lines = [before, *(around.rstrip() for _ in empty[:1]), self._first(atom) + after]
        return "\n".join(lines)


# ---------------------------------------------------------------- blocks


@dataclass(frozen=True, slots=True)
class _Room:
    """The length of the longest atom, without the ``margin`` of its first line."""

    characters: int
    margin: int = 0
    depth: int = 0

    def fits(self, *texts: str) -> bool:
        return self.left(*texts) >= 0

    def left(self, *texts: str) -> int:
        lines = sum(text.count("\n") for text in texts)
        return self.characters - sum(map(len, texts)) - lines * self.margin

    def inside(self, container: _Container) -> _Room:
        width = max(len(container.first), len(container.margin))
        return _Room(self.characters - width, self.margin + width, self.depth + 1)

    @property
    def is_narrow(self) -> bool:
        return self.characters - 2 * self.margin < _LEAST_ROOM


def _atoms(text: str, room: _Room) -> Iterator[_Atom]:
    """The atoms of a text, each of which fits with its lead and tail."""
    lines = text.split("\n")
    tokens = _parser.parse(text)
    done = 0
    for token in tokens:
        if token.level or token.map is None:
            continue
        start, end = _trimmed(lines, *token.map)
        for count, atom in enumerate(_block(token, tokens, lines[start:end], start, room)):
            yield atom if count else replace(atom, glue="\n\n" if start > done else "\n")
        done = max(done, end)


def _trimmed(lines: list[str], start: int, end: int) -> tuple[int, int]:
    while start < end and not lines[start].strip():
        start += 1
    while start < end and not lines[end - 1].strip():
        end -= 1
    return start, end


def _block(
    token: Token, tokens: list[Token], lines: list[str], start: int, room: _Room
) -> Iterator[_Atom]:
    """The atoms of one block with these ``lines``, the first of which is line ``start``."""
    text = "\n".join(lines)
    is_open = token.type == "fence" and not _is_closed(token, len(lines))
    tail = f"\n{token.markup}" if is_open else ""
    if room.fits(text, tail):
        yield _Atom(text, tail=tail, keeps_next=token.type == "heading_open")
        return
    match token.type:
        case "fence":
            atoms = _fence(token, lines[0], lines[1:] if is_open else lines[1:-1], room)
        case "code_block":
            atoms = _code(lines, "", "", "    ", room)
        case "table_open":
            atoms = _ended(_table(lines, room))
        case "blockquote_open":
            inner = [_QUOTE.sub("", line, count=1) for line in lines]
            atoms = _inside(_Container("> ", "> "), inner, text, room)
        case "bullet_list_open" | "ordered_list_open":
            atoms = _list(tokens, lines, start, room)
        case _:
            atoms = _ended(_paragraph(text, room))
    for count, atom in enumerate(atoms):
        yield atom if count else replace(atom, begins_cut=True)


def _ended(atoms: Iterator[_Atom]) -> Iterator[_Atom]:
    previous = next(atoms)
    for atom in atoms:
        yield previous
        previous = atom
    yield replace(previous, ends_cut=True)


def _list(tokens: list[Token], lines: list[str], start: int, room: _Room) -> Iterator[_Atom]:
    done = 0
    for token in tokens:
        if token.type != "list_item_open" or token.level != 1 or token.map is None:
            continue
        first, end = token.map[0] - start, token.map[1] - start
        if not 0 <= first < len(lines):
            continue
        first, end = _trimmed(lines, first, min(end, len(lines)))
        found = _BULLET.match(lines[first])
        bullet = found.group() if found else ""
        columns = max(len(bullet.expandtabs(4)), 2)
        inner = [lines[first][len(bullet) :]]
        inner += (_moved(line, columns) for line in lines[first + 1 : end])
        item = _Container(bullet if bullet[-1:] in (" ", "\t") else f"{bullet} ", " " * columns)
        atoms = _inside(item, inner, "\n".join(lines[first:end]), room)
        for count, atom in enumerate(atoms):
            yield atom if count else replace(atom, glue="\n\n" if first > done else "\n")
        done = end


def _moved(line: str, columns: int) -> str:
    bare = line.lstrip(" \t")
    margin = line[: len(line) - len(bare)].expandtabs(4)
    return margin[columns:] + bare


def _inside(container: _Container, lines: list[str], source: str, room: _Room) -> Iterator[_Atom]:
    """The atoms of a container with the ``lines`` inside; ``source`` is all of it."""
    left, text = room.inside(container), "\n".join(lines)
    if left.depth > _DEEPEST or (container.is_quote and left.is_narrow):
        yield from _paragraph(source, room)
        return
    opened = False
    if left.is_narrow:  # the bullet stands alone, so that nothing else needs room for it
        left = replace(room, depth=left.depth)
        yield _Atom("", path=(container,), opens=1, keeps_next=True)
        opened = True
    atoms = iter([_Atom(text)]) if text.strip() and left.fits(text) else _atoms(text, left)
    for atom in atoms:
        opens = atom.opens if opened else len(atom.path) + 1
        yield replace(atom, path=(container, *atom.path), opens=opens)
        opened = True
    if not opened:
        yield _Atom("", path=(container,), opens=1)


def _fence(token: Token, opening: str, code: list[str], room: _Room) -> Iterator[_Atom]:
    marker = token.markup[:_LONGEST_MARKER]
    info = token.info.strip() if len(token.info) <= room.characters // 4 else ""
    first = opening[: opening.find(token.markup)] + marker + info
    atoms = _code(code, f"{marker}{info}\n", f"\n{marker}", "", room)
    previous = next(atoms, None)
    if previous is None:
        yield _Atom(f"{first}\n{marker}")
        return
    if room.fits(first, "\n", previous.text, previous.tail):
        previous = replace(previous, text=f"{first}\n{previous.text}", lead="")
    else:
        yield _Atom(first, tail=previous.tail)
    for atom in atoms:
        yield previous
        previous = atom
    yield replace(previous, text=previous.text + previous.tail, tail="")


def _code(lines: list[str], lead: str, tail: str, margin: str, room: _Room) -> Iterator[_Atom]:
    """Lines of code unchanged; one that is too long is cut at any character. ``margin`` precedes
    the rest of it in another part."""
    for line in lines:
        if room.fits(lead, line, tail):
            yield _Atom(line, lead=lead, tail=tail)
            continue
        pieces = cut(line.replace("`", "\0"), room.left(lead, margin, tail))
        for count, piece in enumerate(pieces):
            text, glue = piece.replace("\0", "`"), "" if count else "\n"
            yield _Atom(text, glue, lead=lead + margin if count else lead, tail=tail)


def _table(lines: list[str], room: _Room) -> Iterator[_Atom]:
    """Rows under their header; a row too long for that becomes a paragraph."""
    header, *rows = "\n".join(lines[:2]), *lines[2:]
    if len(header) > room.characters // 2:  # too long to repeat
        if room.fits(header):
            yield _Atom(header)
        else:
            yield from _paragraph(lines[0], room)  # the delimiter row is meaningless now
        for row in rows:
            yield from _paragraph(row, room)
        return
    yield _Atom(header, keeps_next=True)
    under_header = True
    for row in rows:
        if not room.fits(header, "\n", row):
            first, *others = _paragraph(row, room)
            yield replace(first, glue="\n\n")
            yield from others
            under_header = False
        elif under_header:
            yield _Atom(row, lead=f"{header}\n")
        else:
            yield _Atom(f"{header}\n{row}", "\n\n")
            under_header = True


def _paragraph(text: str, room: _Room) -> Iterator[_Atom]:
    """Sentence by sentence; where one does not fit, word by word, or piece by piece."""
    if room.fits(text):
        yield _Atom(text)
        return
    head = _HEAD.match(text)
    done = 0
    for sentence in by_sentence(text, head.end() if head else 0, room.characters // 2):
        whole = sentence[0][0], sentence[-1][1]
        for start, end in [whole] if room.fits(text[slice(*whole)]) else sentence:
            pieces = [text[start:end]]
            if not room.fits(*pieces):
                pieces = list(cut(pieces[0].replace("\n", " "), room.left()))
            for count, piece in enumerate(pieces):
                yield _Atom(piece, "" if count else text[done:start] if done else "\n")
            done = end


def _is_closed(fence: Token, lines: int) -> bool:
    code = fence.content.count("\n") + (not fence.content.endswith("\n") and fence.content != "")
    return code <= lines - 2
