"""Reads RTF and LaTeX where pandoc is not installed: text, headings of LaTeX, simple tables."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

from pylatexenc.latex2text import (  # type: ignore[import-untyped]
    LatexNodes2Text,
    MacroTextSpec,
    get_default_latex_context_db,
)
from pylatexenc.latexwalker import (  # type: ignore[import-untyped]
    LatexWalker,
    LatexWalkerError,
)
from pylatexenc.latexwalker import get_default_latex_context_db as get_walker_db
from pylatexenc.macrospec import MacroSpec  # type: ignore[import-untyped]
from striprtf.striprtf import rtf_to_text

from bot.pages.formats import pandoc
from bot.pages.page import Reading
from bot.pages.page_markdown import Blocks, one_line
from bot.pages.plain import read_plain, set_plain

_NOT_SHOWN = re.compile(r"\\(?:strike|striked1|deleted|v)(?![a-z\d])")
_HEADINGS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph")
_STRUCK = ("sout", "st", "xout")
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


def _set_heading(node: Any, l2tobj: Any) -> str:
    level = max(1, _HEADINGS.index(node.macroname))
    return f"\n\n\x1e{level}{l2tobj.nodelist_to_text(node.nodeargd.argnlist[-1:])}\x1e\n\n"


def read_latex(source: str) -> Reading:
    """Read LaTeX; formulas become text as far as Unicode has their signs."""
    shown = get_default_latex_context_db()
    specs = [MacroTextSpec(name, simplify_repl=_set_heading) for name in _HEADINGS]
    specs += [MacroTextSpec(name, simplify_repl="~~%s~~") for name in _STRUCK]
    specs += [MacroTextSpec(name, simplify_repl="") for name in ("maketitle", "cite")]
    specs += [MacroTextSpec("item", simplify_repl="\n- ")]
    shown.add_context_category("own", macros=specs, prepend=True)
    known = get_walker_db()
    known.add_context_category("own", macros=[MacroSpec(name, "{") for name in _STRUCK])
    try:
        nodes, _, _ = LatexWalker(source, latex_context=known).get_latex_nodes()
        text = LatexNodes2Text(latex_context=shown, math_mode="text").nodelist_to_text(nodes)
    except (LatexWalkerError, RecursionError):
        return Reading(*read_plain(source))
    title = _TITLE.search(source)
    blocks = Blocks()
    pieces = _HEADED.split(text)
    blocks.page_text(set_plain(pieces[0]))
    for level, heading, below in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        blocks.heading(int(level), heading)
        blocks.page_text(set_plain(below))
    return Reading(one_line(title[1]) if title else "", blocks.text())
