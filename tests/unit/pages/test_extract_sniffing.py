"""Detection of the markup of a text without a file ending."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.extract import markup_of


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ("Title\n=====\n\nSee :ref:`x`.\n", "rst"),
        ("Title\n*****\n\n.. code-block:: c\n\n   x\n", "rst"),
        (".. highlight:: c\n\n.. _a:\n\n.. index:: x\n\nwords\n", "rst"),
        ("git-add(1)\n==========\n\nNAME\n----\nx\n\n-n::\n\tDo nothing.\n", "asciidoc"),
        ("= Title\n\n[source,c]\n----\nx\n----\n", "asciidoc"),
        ("a::\n\tb\n\nc::\n\td\n\ne::\n\tsee linkgit:git-add[1]\n", "asciidoc"),
        ("Release notes\n=============\n\n * a change\n", "text"),
        ("# Markdown\n\n[x](y) and `code`\n", "text"),
        ("Dear all,\n\nthe meeting: at 9::30. See a::b in C++.\n", "text"),
        ("key: value\nother: [1, 2]\n", "text"),
        ("def f(x):\n    return x::int\n", "text"),
        ("", "text"),
    ],
)
def test_the_markup_of_a_text(text: str, markup: str) -> None:
    assert markup_of(text) == markup


@given(st.text(st.sampled_from("abc .:=-_`'[]<>|#*\n"), max_size=300))
def test_any_text_has_one(text: str) -> None:
    assert markup_of(text) in ("rst", "asciidoc", "text")


@pytest.mark.parametrize("piece", ["=", "[", "<<a", ":a", "`a<", "a::", ".. ", "\n\n", ":a:`"])
def test_no_text_takes_long(piece: str) -> None:
    markup_of(piece * 100_000)
