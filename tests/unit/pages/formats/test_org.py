"""Org files: outline, lists, tables, blocks."""

from __future__ import annotations

from textwrap import dedent

import pytest

from bot.pages.formats.org import read_org


def text_of(source: str) -> str:
    return read_org(dedent(source).strip("\n") + "\n").text


def test_a_file() -> None:
    source = """
        #+TITLE: The Guide
        #+OPTIONS: toc:nil
        # a comment
        * TODO [#A] Travel :work:home:
          :PROPERTIES:
          :ID: 5
          :END:
          Take =x[0]= or ~y~, see [[http://a.example][the site]].
        ** Prices
        | Item | Price |
        |------+-------|
        | Bus  |     3 |

        #+BEGIN_SRC python
          for x in y:
              print(x)
        #+END_SRC
        - by rail
          always
          - fast
        - [X] by bus
        - term :: its meaning
        """
    reading = read_org(dedent(source).strip("\n"))
    assert reading.title == "The Guide"
    assert reading.text == (
        "# TODO Travel\n\nTake `x[0]` or `y`, see the site.\n\n## Prices\n\n"
        "| Item | Price |\n| --- | --- |\n| Bus | 3 |\n\n"
        "```python\nfor x in y:\n    print(x)\n```\n\n"
        "- by rail always\n  - fast\n- [X] by bus\n- term: its meaning"
    )


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("*bold* /italic/ _under_ +struck+", "bold italic under struck"),
        ("a/b/c and 2*3*4 and x_y_z", "a/b/c and `2*3*4` and x_y_z"),
        ("[[file:a.org]] and [[a][b /c/]]", "file:a.org and b c"),
        ("said[fn:1].\n\n[fn:1] The note.", "said[^1].\n\n[^1]: The note."),
        (": fixed\n:  width", "```\nfixed\n width\n```"),
        ("#+begin_quote\nSaid.\n#+end_quote", "Said."),
        ("#+begin_comment\nhidden\n#+end_comment\nseen", "seen"),
        ("#+BEGIN_EXAMPLE\n,* no headline\n#+END_EXAMPLE", "```\n* no headline\n```"),
        ("1. a\n2) b", "1. a\n2) b"),
        ("one\\\\\ntwo", "one\ntwo"),
        ("- a\n\nwords", "- a\n\nwords"),
        ("H_{2}O and mc^{2}", "H2O and mc2"),
        ("-----\nwords", "words"),
        ("<<target>>words", "words"),
    ],
)
def test_what_is_shown(source: str, shown: str) -> None:
    assert text_of(source) == shown


def test_the_title_is_the_first_headline_where_none_is_said() -> None:
    assert read_org("* One\n* Two\n").title == "One"
