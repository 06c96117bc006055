"""Cuts Markdown into parts that a platform accepts, at the boundaries of its blocks.

Packing is greedy: each part is filled with atoms (``atoms``) while there is room. The running time
is linear in the text.
"""

from __future__ import annotations

from bot.rendering.atoms import Atom, Source
from bot.rendering.margins import common, rebased

MINIMUM = 80  # the smallest limit: room for the marks of a fence or quote and a few words
_WORTH_BEGINNING = 4  # a block that must be cut starts in a part only if 1/4 of it is free


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
    packer = _Packer(limit)
    for atom in Source(text, limit).atoms():
        packer.add(atom)
    return packer.finish()


class _Packer:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[str] = []
        self._atoms: list[Atom] = []
        self._size = 0

    def add(self, atom: Atom) -> None:
        if self._atoms and not self._join(atom):
            headings = self._trailing_beginnings()
            if len(headings) < len(self._atoms):
                del self._atoms[len(self._atoms) - len(headings) :]
                self._flush()
                for heading in headings:
                    if not self._join(heading):
                        self._flush()
                        self._begin(heading)
                if headings and self._join(atom):
                    return
            self._flush()
        if not self._atoms:
            self._begin(atom)

    def finish(self) -> list[str]:
        self._flush()
        return self._parts

    def _begin(self, atom: Atom) -> None:
        self._atoms = [atom]
        self._size = len(atom.lead) + len(atom.text)

    def _join(self, atom: Atom) -> bool:
        """Add an atom to the current part if it has room; begin a part if there is none."""
        if not self._atoms:
            self._begin(atom)
            return True
        left = self._limit - self._size
        if atom.opens and left < self._limit // _WORTH_BEGINNING:
            return False
        more = len(atom.glue) + len(atom.text)
        if more + len(atom.tail) > left:
            return False
        self._atoms.append(atom)
        self._size += more
        return True

    def _trailing_beginnings(self) -> list[Atom]:
        at = len(self._atoms)
        while at and self._atoms[at - 1].keeps_next:
            at -= 1
        return self._atoms[at:]

    def _flush(self) -> None:
        if not self._atoms:
            return
        first, last = self._atoms[0], self._atoms[-1]
        out = [first.lead]
        for atom in self._atoms:
            glue = "" if atom is first else atom.glue
            path = common(first.path, atom.path) if atom.root == first.root else ()
            inside_line = (atom is first and atom.inside_line) or not (
                atom is first or glue.endswith("\n")
            )
            out.append(rebased(glue, path, inside_line=True))
            out.append(rebased(atom.text, path, inside_line=inside_line))
            if atom is last:
                out.append(rebased(atom.tail, path, inside_line=True))
        part = "".join(out).strip("\n").rstrip()
        if part.strip():
            self._parts.append(part)
        self._atoms = []
