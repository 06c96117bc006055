"""Every reader of marked-up text: nothing is lost or moved, and no text takes long."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.formats.asciidoc import read_asciidoc
from bot.pages.formats.man import read_man
from bot.pages.formats.org import read_org
from bot.pages.formats.rst import read_rst
from tests.unit.pages.formats.order import in_order, phrases


@dataclass(frozen=True, slots=True)
class Markup:
    """``forms`` are what a phrase can be set as, ``marks`` what random text is made of, ``pieces``
    what may be hard to read when it is repeated; ``head`` begins each text."""

    read: Callable[[str], str]
    forms: tuple[str, ...]
    marks: tuple[str, ...] = ()
    pieces: tuple[str, ...] = ()
    head: str = ""


MARKUPS: Mapping[str, Markup] = {
    "asciidoc": Markup(
        lambda source: read_asciidoc(source).text,
        ("{}\n", "== {}\n", "* {}\n", "x:: {}\n", "----\n{}\n----\n", "|===\n|{0} |{0}\n|===\n"),
        (*":`*_|.-=+#[]<>{}()\\^~ \n", "\n\n", "word", "----\n", "|===\n", "::", "http://"),
        ("[", "<<a", "*a ", "`a ", "a::b[", "|a ", "== a\n", "{a", "\n+\n"),
    ),
    "man": Markup(
        lambda source: read_man(source, "x.1").text,
        (".PP\n{}", '.SH "{}"', ".TP\n\\fB\\-x\\fR\n{}", ".nf\n{}\n.fi", ".B {}"),
        pieces=("\\fB", ".B a\n", ".TP\n", ".if n \\{", ".RS\n", "\\*(", "\\(a", '"a'),
        head=".TH X 1\n",
    ),
    "org": Markup(
        lambda source: read_org(source).text,
        ("{}\n", "* {}\n", "- {}\n", "| {0} | {0} |\n", "#+begin_src\n{}\n#+end_src\n"),
        (*":=~*_|/-+#[]<>\\ \n", "\n\n", "word", "#+begin_src\n", "* ", "- ", ":x:\n"),
        ("[[a", "*a ", "=a ", "/a ", "| a ", ": a\n", ":a:\n", "- a\n", "<<a"),
    ),
    "rst": Markup(
        lambda source: read_rst(source).text,
        (
            "{}\n",
            "{}\n" + "=" * 120 + "\n",
            "- {}\n",
            ".. note:: {}\n",
            ".. data:: x\n\n   {}\n",
            "::\n\n   {}\n",
        ),
    ),
}


@pytest.mark.parametrize("name", MARKUPS)
@given(st.data())
def test_every_word_stands_in_the_text_in_order(name: str, data: st.DataObject) -> None:
    markup = MARKUPS[name]
    parts = data.draw(st.lists(st.tuples(st.sampled_from(markup.forms), phrases), max_size=9))
    source = markup.head + "\n".join(form.format(said) for form, said in parts)
    assert in_order([said for _, said in parts], markup.read(source))


@pytest.mark.parametrize("name", [name for name, markup in MARKUPS.items() if markup.marks])
@given(st.data())
def test_any_text_is_read(name: str, data: st.DataObject) -> None:
    markup = MARKUPS[name]
    markup.read("".join(data.draw(st.lists(st.sampled_from(markup.marks), max_size=60))))


@pytest.mark.parametrize(
    ("name", "piece"), [(name, piece) for name in MARKUPS for piece in MARKUPS[name].pieces]
)
def test_no_text_takes_long(name: str, piece: str) -> None:
    markup = MARKUPS[name]
    markup.read(markup.head + piece * 20_000)
