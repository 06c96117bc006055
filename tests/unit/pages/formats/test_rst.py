"""reStructuredText: the text as the rendered page shows it."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.formats.rst import read_rst
from tests.unit.pages.formats.order import in_order


def text_of(source: str) -> str:
    return read_rst(dedent(source).strip("\n") + "\n").text


def test_a_document() -> None:
    source = """
        .. highlight:: c
        :tocdepth: 2

        .. _guide:

        *****
        Guide
        *****

        See :ref:`the rules <rules>`, ``x[0]``, `the site <http://a.example>`_ and |it|.

        .. |it| replace:: the *thing*

        Prices
        ======

        .. comment that nobody should see

        - by rail

          always
        - by bus

        Code::

            for x in range(3):
                print(x[0])

        ====  =====
        Item  Price
        ====  =====
        Bus   3 | 4
        ====  =====
        """
    reading = read_rst(dedent(source).strip("\n"))
    assert reading.title == "Guide"
    assert reading.text == (
        "# Guide\n\nSee the rules, `x[0]`, the site and the thing.\n\n## Prices\n\n"
        "- by rail\n  always\n- by bus\n\n"
        "Code:\n\n```\nfor x in range(3):\n    print(x[0])\n```\n\n"
        "| Item | Price |\n| --- | --- |\n| Bus | 3 \\| 4 |"
    )


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (":func:`open`", "`open`"),
        (":py:meth:`~a.b.c`", "`c`"),
        (":class:`!Name`", "`Name`"),
        (":meth:`.close`", "`close`"),
        (":ref:`label`", "label"),
        (":doc:`the page </x/y>`", "the page"),
        (":term:`word`", "word"),
        (":pep:`8`", "PEP 8"),
        (":rfc:`2324`", "RFC 2324"),
        (":kbd:`Ctrl+C`", "Ctrl+C"),
        (":some-other:role:`words in it`", "words in it"),
        ("`default role`", "default role"),
        ("H\\ :sub:`2`\\ O", "H2O"),
        (r"``a\b`` and a\*b", "`a\\b` and a*b"),
        ("a_ and `b c`_", "a and b c"),
        ("**bold** and *italic*", "bold and italic"),
        ("a footnote [1]_.\n\n.. [1] The note.", "a footnote [^1].\n\n[^1]: The note."),
        ("auto [#]_.\n\n.. [#] The note.", "auto [^1].\n\n[^1]: The note."),
        ("| a line\n| another", "a line\nanother"),
        (":Author: Ann\n:tocdepth: 2\n:orphan:\n\nwords", "- Author: Ann\n\nwords"),
        ("words\n\n:param x: the x", "words\n\n- param x: the x"),
        ("-a, --all  take all", "- `-a`, `--all`: take all"),
        ("term : int\n    its meaning", "- term : int: its meaning"),
        ("3. c\n4. d", "3. c\n4. d"),
        ("a. x\nb. y", "- a. x\n- b. y"),
        ("words__init__ and 2*3*4", "words__init__ and `2*3*4`"),
        ("中文的\n句子。", "中文的句子。"),
    ],
)
def test_inline_markup_and_small_blocks(source: str, shown: str) -> None:
    assert text_of(source) == shown


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (".. note:: Take care.", "Note: Take care."),
        (".. warning::\n\n   Take care.", "Warning: Take care."),
        (".. versionadded:: 3.2", "New in version 3.2"),
        (".. versionchanged:: 3.3\n   Takes *paths*.", "Changed in version 3.3: Takes paths."),
        (".. deprecated:: 3.9", "Deprecated since version 3.9"),
        (".. seealso:: The guide.", "See also: The guide."),
        (".. code-block:: python\n   :caption: x\n\n   a = b[0]", "```python\na = b[0]\n```"),
        (".. function:: open(file, *args)\n\n   Opens it.", "- `open(file, *args)`: Opens it."),
        (".. py:class:: A(x)\n            B(y)\n\n   Both.", "- `A(x)`, `B(y)`: Both."),
        (".. class:: A\n\n   One.\n\n   .. method:: b()\n\n      Two.",
         "- `A`: One.\n  - `b()`: Two."),
        (".. toctree::\n   :maxdepth: 2\n\n   a\n   b\n\nwords", "words"),
        (".. index:: single: a\n.. image:: a.png\n   :alt: no\n\nwords", "words"),
        (".. only:: html\n\n   words", "words"),
        (".. include:: /etc/passwd\n\nwords", "words"),
        (".. raw:: html\n\n   <b>x</b>\n\nwords", "words"),
        (".. math:: e = mc^2", "```\ne = mc^2\n```"),
        (".. figure:: a.png\n   :width: 3\n\n   The caption.", "The caption."),
        (".. tab-item:: Linux\n   :sync: a\n\n   Words.", "Linux\n\nWords."),
        (".. nobody-knows:: some words\n   :option: x\n\n   More *words*.",
         "some words\n\nMore words."),
        (".. autoclass:: a.B\n   :members:\n\nwords", "words"),
        (".. list-table::\n   :header-rows: 1\n\n   * - a\n     - b\n   * - c\n     - d",
         "| a | b |\n| --- | --- |\n| c | d |"),
        ("+---+---+\n| a | b |\n+   +---+\n|   | c |\n+---+---+",
         "| a | b |\n| --- | --- |\n| a | c |"),
        (".. productionlist::\n   a: b c\n   d: e", "```\na: b c\nd: e\n```"),
        (".. rubric:: Footnotes", "Footnotes"),
        (".. glossary::\n\n   word\n      its meaning", "- word: its meaning"),
    ],
)  # fmt: skip
def test_directives(source: str, shown: str) -> None:
    assert text_of(source) == shown


def test_a_reference_within_the_document_shows_its_title() -> None:
    source = "See :ref:`rules`.\n\n.. _rules:\n\nThe Rules\n=========\n\nwords\n"
    assert text_of(source).startswith("See The Rules.")


@pytest.mark.parametrize(
    "source",
    [
        "Title\n==\n\nwords and more",
        "words\n    and more\nwords",
        "A\n=\n\nB\n-\n\nC\n^\n\nD\n=\n\nE\n~\n\nwords",
        "====\nTitle\n\nwords",
        "+---+\n| broken table |\n\nwords",
        "=====  ====\na      b\n\nwords",
        ".. code-block:: c\n   x = y\n\nwords",
        "*unclosed and ``unclosed and `unclosed and |unclosed words",
        ".. figure::\n\nwords",
        ".. list-table::\n\n   words without a list",
        ":role:`unclosed words",
        "words " * 3_000,
    ],
)
def test_what_docutils_calls_an_error_loses_no_words(source: str) -> None:
    said = source.replace("code-block:: c", "").replace("list-table", "").replace("figure", "")
    assert in_order([said.replace("role", "")], text_of(source).replace("role", ""))


MARKS = st.sampled_from(
    [*":`*_|.-=+#[]<>\\ \n", "\n\n", "   ", ".. ", "::", "word", "``", "====\n"]
)


@given(st.lists(MARKS, max_size=60).map("".join))
def test_any_text_is_read(source: str) -> None:
    assert "word" in read_rst(source).text or "word" not in source or ".. " in source
