"""AsciiDoc: the current syntax, and the older one of Git's manual."""

from __future__ import annotations

from textwrap import dedent

import pytest

from bot.pages.formats.asciidoc import read_asciidoc


def text_of(source: str) -> str:
    return read_asciidoc(dedent(source).strip("\n") + "\n").text


def test_a_document() -> None:
    source = """
        = The Guide
        Ann Author <ann@a.example>
        :toc:
        :product: Ferry

        // a comment
        The {product} costs `x[0]`.
        See <<rules,the rules>> and https://a.example[the site].

        [[rules]]
        == Rules

        [source,python]
        ----
        for x in y[0]:
            print(x)
        ----

        * by rail
        ** fast
        * by bus
        +
        always

        NOTE: Take care.

        |===
        |Item |Price

        |Bus |3
        |===
        """
    reading = read_asciidoc(dedent(source).strip("\n"))
    assert reading.title == "The Guide"
    assert reading.text == (
        "# The Guide\n\nAnn Author <ann@a.example>\n\nThe Ferry costs `x[0]`. See the rules and"
        " the site.\n\n## Rules\n\n```python\nfor x in y[0]:\n    print(x)\n```\n\n"
        "- by rail\n  - fast\n"
        "- by bus\n  always\n\nNOTE: Take care.\n\n| Item | Price |\n| --- | --- |\n| Bus | 3 |"
    )


def test_the_older_form() -> None:
    source = """
        git-add(1)
        ==========

        NAME
        ----
        git-add - Add file contents

        SYNOPSIS
        --------
        [verse]
        'git add' [-n]
        \t  [-v]

        OPTIONS
        -------
        -n::
        --dry-run::
        \tDon't add the file(s), see linkgit:git-commit[1].
        +
        More about it.

        -v::
        \tBe verbose.
        +
        --------
        $ git add -v a[0]
        --------
        """
    assert text_of(source) == (
        "# git-add(1)\n\n## NAME\n\ngit-add - Add file contents\n\n## SYNOPSIS\n\n'git add' [-n]\n"
        "[-v]\n\n## OPTIONS\n\n- -n, --dry-run: Don't add the file(s), see git-commit(1).\n"
        "  More about it.\n- -v: Be verbose.\n\n```\n$ git add -v a[0]\n```"
    )


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("*bold* _em_ **b**old __em__phatic #marked#", "bold em bold emphatic marked"),
        ("`code` and `+literal+` and +old+", "`code` and `literal` and `old`"),
        ("a*b*c and snake_case_name and 2*3", "`a*b*c` and snake_case_name and 2*3"),
        ("*.c and *.h", "*.c and *.h"),
        ("``quoted'' and \"`curved`\"", "“quoted” and “curved”"),
        ("link:a.html[the page] and link:b.html[]", "the page and b.html"),
        ("xref:a.adoc#b[the part] and <<c>>", "the part and c"),
        ("https://a.example/x[] and http://b.example", "https://a.example/x and http://b.example"),
        ("mailto:a@b.example[Ann]", "Ann"),
        ("press kbd:[Ctrl] or menu:File[Save]", "press Ctrl or File > Save"),
        ("image:a.png[no] words", "words"),
        ("((term)) and (((a,b)))hidden", "term and hidden"),
        ("a{nbsp}b {startsb}c{endsb} {unknown}", "a b [c] {unknown}"),
        ("H~2~O and mc^2^", "H2O and mc2"),
        ("HEAD^..HEAD~3", "HEAD^..HEAD~3"),
        ("a footnote:[The note.]", "a [^1]\n\n[^1]: The note."),
        ("one +\ntwo", "one\ntwo"),
        ("&lt;x&gt; &#8217;", "<x> ’"),
        (r"\*not bold*", "*not bold*"),
    ],
)
def test_inline_markup(source: str, shown: str) -> None:
    assert text_of(source) == shown


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("////\nhidden\n////\nseen", "seen"),
        ("ifdef::x[]\nseen\nendif::x[]", "seen"),
        ("include::other.adoc[]\nseen", "seen"),
        (".The title\nwords", "The title\n\nwords"),
        ("....\n a  b\n....", "```\n a  b\n```"),
        ("```python\nx = 1\n```", "```python\nx = 1\n```"),
        (" indented\n  code", "```\nindented\n code\n```"),
        ("====\nAn example.\n====", "An example."),
        ("****\nA sidebar.\n****", "A sidebar."),
        ("[quote]\n____\nSaid.\n____", "Said."),
        ("[NOTE]\n====\nTake care.\n====", "Note: Take care."),
        ("++++\n<b>words</b>\n++++", "words"),
        ("image::a.png[x]\n\n'''\n\n<<<\n\nwords", "words"),
        (". one\n. two\n.. sub", "1. one\n2. two\n  1. sub"),
        ("a. x\nb. y", "- a. x\n- b. y"),
        ("term:: meaning\nother:: more", "- term: meaning\n- other: more"),
        ("a::\n  b:::\n    c\nd::\n  e", "- a\n  - b: c\n- d: e"),
        ('[cols="1,2"]\n|===\n|a\n|b\n2+|c\n|d\n|===', "| a | b |\n| --- | --- |\n| c | d |"),
        ("|===\n|a |b\n\n|x\ny |z\n|===", "| a | b |\n| --- | --- |\n| x y | z |"),
        ('[format="csv"]\n|===\na,b\nc,d\n|===', "| a | b |\n| --- | --- |\n| c | d |"),
        ("|===\n|only one column\n|here\n|===", "only one column\n\nhere"),
        ("== A\n=== B\nwords", "## A\n\n### B\n\nwords"),
    ],
)
def test_blocks(source: str, shown: str) -> None:
    assert read_asciidoc(source).text == shown
