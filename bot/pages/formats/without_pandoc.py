"""Reads RTF and LaTeX where pandoc is not installed: text, headings of LaTeX, simple tables."""

from __future__ import annotations

import re
from itertools import groupby

from pylatexenc.latex2text import (  # type: ignore[import-untyped]
    LatexNodes2Text,
    MacroTextSpec,
    get_default_latex_context_db,
)
from pylatexenc.latexwalker import LatexWalkerError  # type: ignore[import-untyped]
from striprtf.striprtf import rtf_to_text

from bot.pages.formats import pandoc
from bot.pages.page import Reading
from bot.pages.page_markdown import Blocks, one_line
from bot.pages.plain import read_plain, set_plain

_NOT_SHOWN = re.compile(r"\\(?:strike|striked1|deleted|v)(?![a-z\d])")
_HEADINGS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph")
_HEADED = re.compile(r"\x1e(\d)([^\x1e]*)\x1e")
_TITLE = re.compile(r"\\title\s*(?:\[[^\[\]]*\])?\{([^{}]*)\}")


def read_rtf(source: str, name: str) -> Reading:
    """Read RTF; ``name`` is its name in errors. Raises ``ReaderMissing`` if text in it is hidden or
    struck out: only pandoc tells which."""
    if _NOT_SHOWN.search(source):
        raise pandoc.missing(name)
    blocks = Blocks()
    text: str = rtf_to_text(source, errors="replace")  # type: ignore[no-untyped-call]
    for is_row, run in groupby(text.split("\n"), lambda line: line.rstrip().endswith("|")):
        if is_row:
            blocks.table([line.rstrip().removesuffix("|").split("|") for line in run])
        else:
            for line in run:
                blocks.paragraph(line)
    return Reading("", blocks.text())


def read_latex(source: str) -> Reading:
    """Read LaTeX; formulas become text as far as Unicode has their signs."""
    specs = [
        MacroTextSpec(name, simplify_repl=f"\n\n\x1e{max(1, level)}%(2)s\x1e\n\n")
        for level, name in enumerate(_HEADINGS)
    ]
    specs += [MacroTextSpec(name, simplify_repl="~~%(1)s~~") for name in ("sout", "st", "xout")]
    known = get_default_latex_context_db()
    known.add_context_category("headings", macros=specs, prepend=True)
    try:
        text = LatexNodes2Text(latex_context=known, math_mode="text").latex_to_text(source)
    except (LatexWalkerError, RecursionError, ValueError, TypeError, IndexError):
        return Reading(*read_plain(source))
    title = _TITLE.search(source)
    blocks = Blocks()
    pieces = _HEADED.split(text)
    blocks.page_text(set_plain(pieces[0]))
    for level, heading, below in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        blocks.heading(int(level), heading)
        blocks.page_text(set_plain(below))
    return Reading(one_line(title[1]) if title else "", blocks.text())
