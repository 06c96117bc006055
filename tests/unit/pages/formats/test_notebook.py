"""Notebooks: text as it is, code in fences, output as far as it is short."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import PageUnreadable
from bot.pages.formats.notebook import LONGEST_OUTPUT, read_notebook

PYTHON = {"language_info": {"name": "python"}}


def cell(kind: str, source: Any, **more: Any) -> dict[str, Any]:
    return {"cell_type": kind, "source": source, **more}


def notebook(*cells: dict[str, Any], **metadata: Any) -> str:
    return json.dumps({"cells": list(cells), "metadata": {**PYTHON, **metadata}, "nbformat": 4})


def text_of(*cells: dict[str, Any]) -> str:
    return read_notebook(notebook(*cells), "a.ipynb").text


def test_a_notebook() -> None:
    source = notebook(
        cell("markdown", ["# Prices\n", "See [them](x)."]),
        cell("code", "x = [1, 2]\nx[0]", outputs=[{"data": {"text/plain": ["1"]}}]),
        cell("raw", "as it is"),
    )
    assert read_notebook(source, "a.ipynb")[:3] == (
        "Prices",
        "# Prices\nSee them.\n\n```python\nx = [1, 2]\nx[0]\n```\n\n```\n1\n```\n\nas it is",
        1.0,
    )


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ({"output_type": "stream", "text": ["one\n", "two\n"]}, "```\none\ntwo\n```"),
        ({"output_type": "error", "ename": "KeyError", "evalue": "'x'"}, "```\nKeyError: 'x'\n```"),
        ({"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo="}}, ""),
        ({"data": {"text/plain": "\x1b[31mred\x1b[0m"}}, "```\nred\n```"),
        ({"data": {"text/plain": "a ``` b"}}, "````\na ``` b\n````"),
    ],
)
def test_what_an_output_shows(output: dict[str, Any], shown: str) -> None:
    text = text_of(cell("code", "f()", outputs=[output]))
    assert text == f"```python\nf()\n```\n\n{shown}".strip()


def test_a_long_output_is_cut_at_a_line_and_counted() -> None:
    log = "".join(f"line {number}\n" for number in range(2_000))
    source = notebook(cell("code", "f()", outputs=[{"output_type": "stream", "text": log}]))
    reading = read_notebook(source, "a.ipynb")
    assert reading.text.endswith("\n…\n```")
    assert len(reading.text) < LONGEST_OUTPUT + 50
    assert reading.kept == pytest.approx(LONGEST_OUTPUT / len(log), abs=0.01)


def test_the_title_of_the_metadata_comes_first() -> None:
    assert read_notebook(notebook(cell("markdown", "# A"), title="B"), "a").title == "B"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["cells", "source", "outputs", "cell_type", "data", "text", "metadata"]
            ),
            inner,
            max_size=4,
        )
    ),
)


@given(st.lists(JSON, max_size=4))
def test_cells_of_any_shape_are_read(cells: list[Any]) -> None:
    reading = read_notebook(json.dumps({"cells": cells}), "a.ipynb")
    assert 0.0 <= reading.kept <= 1.0


@pytest.mark.parametrize("source", ["", "{", "[]", '{"cells": 5}', "[" * 100_000, '"text"'])
def test_what_is_no_notebook_is_named(source: str) -> None:
    with pytest.raises(PageUnreadable, match=r"^a\.ipynb is a Jupyter notebook that is damaged; "):
        read_notebook(source, "a.ipynb")
