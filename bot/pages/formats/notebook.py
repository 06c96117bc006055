"""Converts Jupyter notebooks (.ipynb) to page text: Markdown cells, code and textual output.

The format is https://nbformat.readthedocs.io/en/latest/format_description.html. It is parsed as
plain JSON: nbformat validates notebooks and would add a dozen dependencies for that.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from bot.core.errors import PageUnreadable
from bot.core.texts import said
from bot.pages.markdown import read_markdown
from bot.pages.page import Reading
from bot.pages.page_markdown import Blocks

LONGEST_OUTPUT = 2_000
"""Characters kept of a cell's output: a table or an error fits, a longer output is a log."""

_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")  # terminal colours


def read_notebook(source: str, name: str) -> Reading:
    """Read a notebook; ``name`` is its name in errors.

    Raises ``PageUnreadable`` for a file that is not a notebook.
    """
    notebook, problem = None, "no cells"
    try:
        notebook = json.loads(source)
    except (ValueError, RecursionError) as error:
        problem = str(error)
    cells = _get(notebook, "cells")
    if not isinstance(cells, list):
        raise PageUnreadable(said("unread-notebook", name=name), detail=problem)
    language = _text(_get(notebook, "metadata", "language_info", "name")) or _text(
        _get(notebook, "metadata", "kernelspec", "language")
    )
    title = _text(_get(notebook, "metadata", "title"))
    blocks = Blocks()
    words = kept = 0
    omitted = Counter[str]()
    for cell in cells:
        text = _joined(_get(cell, "source"))
        words += len(text)
        if blocks.full:
            continue
        kept += len(text)
        match _get(cell, "cell_type"):
            case "code":
                blocks.code(text, re.sub(r"\W", "", language))
                outputs = _get(cell, "outputs")
                for output in outputs if isinstance(outputs, list) else []:
                    printed = _output(output)
                    words += len(printed)
                    kept += min(len(printed), LONGEST_OUTPUT)
                    blocks.code(_short(printed))
            case _:
                read = read_markdown(text)
                title = title or read.title
                blocks.page_text(read.text)
                omitted.update(read.omitted)
    if kept < words and blocks.full:
        blocks.heading(2, "The rest of this notebook was not read")
    return Reading(title, blocks.text(), kept / words if words else 1.0, omitted=omitted)


def _output(output: Any) -> str:
    """The text of an output; "" for a picture."""
    match _get(output, "output_type"):
        case "stream":
            text = _joined(_get(output, "text"))
        case "error":
            text = f"{_text(_get(output, 'ename'))}: {_text(_get(output, 'evalue'))}"
        case _:
            text = _joined(_get(output, "data", "text/plain"))
    return _ESCAPES.sub("", text)


def _short(text: str) -> str:
    if len(text) <= LONGEST_OUTPUT:
        return text
    return f"{text[:LONGEST_OUTPUT].rpartition(chr(10))[0] or text[:LONGEST_OUTPUT]}\n…"


def _get(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _joined(value: Any) -> str:
    """A text, which may be stored as a list of lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return _text(value)
